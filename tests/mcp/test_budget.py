"""No answer passes its limits, and the calls that footers give reach every block once."""

from __future__ import annotations

import base64
import io
import json
import random
import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mcp.types import CallToolResult
from PIL import Image

from mdvision import index_markdown_text
from mdvision.rendering import PICTURE_LINE
from mdvision_mcp.indexes import index_text
from mdvision_mcp.settings import Settings
from tests.mcp.talk import ask, picture, settings_for, texts

GO_ON = re.compile(
    r'go on with: read_md_with_images\(uri=("(?:[^"\\]|\\.)*"), line_range=(\[\d+, \d+\])'
)


def size(result: CallToolResult) -> int:
    return len(result.model_dump_json(by_alias=True, exclude_none=True).encode())


def within(result: CallToolResult, asked: Settings) -> None:
    assert size(result) <= asked.max_result_bytes
    assert len(texts(result)) <= asked.max_result_chars


def body_and_footer(result: CallToolResult) -> tuple[str, str]:
    body, rule, footer = texts(result).rpartition("\n---\n")
    if not rule:
        body, footer = footer, ""
    return PICTURE_LINE.sub("", body), footer


def _follow(asked: Settings, arguments: dict[str, object]) -> None:
    """Follow every footer of an answer in several parts; no part may come twice."""
    seen: set[str] = set()
    pending = [arguments]
    while pending:
        call = pending.pop()
        key = json.dumps(call, sort_keys=True)
        assert key not in seen, "the calls go round"
        seen.add(key)
        (found,) = ask(asked, ("read_md_with_images", call))
        within(found, asked)
        for uri, lines in GO_ON.findall(texts(found)):
            pending.append({"uri": json.loads(uri), "line_range": json.loads(lines)})
        for uri, rest in re.findall(
            r'go on with: \w+\(uri=("[^"]*"), sections=(\[.*?\])\)', texts(found)
        ):
            pending.append({"uri": json.loads(uri), "sections": json.loads(rest)})


def read_on(asked: Settings, arguments: dict[str, object]) -> tuple[list[str], int]:
    """The bodies of a reading and of all that its footers lead to, and the pictures shown."""
    bodies: list[str] = []
    pictures = 0
    while True:
        (found,) = ask(asked, ("read_md_with_images", arguments))
        assert not found.is_error, texts(found)
        within(found, asked)
        pictures += sum(block.type == "image" for block in found.content)
        body, footer = body_and_footer(found)
        bodies.append(body)
        more = GO_ON.search(footer)
        if not more:
            return bodies, pictures
        arguments = {"uri": json.loads(more[1]), "line_range": json.loads(more[2])}


BLOCKS = st.sampled_from(
    [
        "A line of a paragraph.\nAnd another one.\n\n",
        "- item\n- item\n\n  more\n\n",
        "```python\n" + "code = 1\n" * 30 + "```\n\n",
        "| a | b |\n|---|---|\n" + "| c | d |\n" * 40 + "\n",
        "## Heading\n\n",
        "![red](red.png)\n\n",
        "> quote\n> more\n\n",
        "word " * 300 + "\n\n",
        f"![d](data:image/png;base64,{base64.b64encode(picture('green')).decode()})\n\n",
        "<div>\n\u2028\x01\x02 \U0001f680 \u6f22</div>\n\n",
    ]
)


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(BLOCKS, min_size=1, max_size=60), st.sampled_from(["\n", "\r\n", "\r"]))
def test_footers_reach_every_block_once(tmp_path: Path, blocks: list[str], end: str) -> None:
    text = "".join(blocks).replace("\n", end)
    (tmp_path / "a.md").write_text(text, encoding="utf-8", newline="")
    (tmp_path / "red.png").write_bytes(picture("red"))
    asked = settings_for(tmp_path, max_result_chars=4_000, max_result_bytes=40_000)
    bodies, pictures = read_on(asked, {"uri": "a.md", "max_images": 50})
    data = re.compile(r"!\[d\]\(data:[^)]*\)")  # leaves the text where its picture is shown
    assert data.sub("", "".join(bodies)) == data.sub("", text)
    assert pictures <= text.count("![")


def noise(width: int, height: int, seed: int = 0) -> bytes:
    data = io.BytesIO()
    pixels = random.Random(seed).randbytes(width * height * 3)  # noqa: S311 - repeatable
    Image.frombytes("RGB", (width, height), pixels).save(data, "PNG")
    return data.getvalue()


def test_pictures_are_reduced_until_they_fit(tmp_path: Path) -> None:
    for k in range(4):
        (tmp_path / f"{k}.png").write_bytes(noise(500, 500, k))  # 750 kB each
    (tmp_path / "small.png").write_bytes(picture("red"))
    names = ["0", "1", "small", "2", "3"]
    (tmp_path / "a.md").write_text("".join(f"![{n}]({n}.png)\n\n" for n in names))
    asked = settings_for(tmp_path)
    (found,) = ask(asked, ("read_md_with_images", {"uri": "a.md"}))
    within(found, asked)
    images = [block for block in found.content if block.type == "image"]
    assert len(images) == 5
    assert images[2].data == base64.b64encode(picture("red")).decode()
    assert size(found) > 400_000  # the room is used
    assert body_and_footer(found)[1] == ""  # the line before each tells its size


def test_pictures_beyond_the_room_are_named(tmp_path: Path) -> None:
    (tmp_path / "n.png").write_bytes(noise(200, 200))  # 120 kB
    (tmp_path / "a.md").write_text("![n](n.png)\n\n" * 20)
    asked = settings_for(tmp_path, max_result_bytes=100_000)
    (found,) = ask(asked, ("read_md_with_images", {"uri": "a.md", "max_images": 20}))
    within(found, asked)
    shown = sum(block.type == "image" for block in found.content)
    body, footer = body_and_footer(found)
    assert 0 < shown < 20
    assert body == "![n](n.png)\n\n" * 20
    assert footer.count("is not shown") == 20 - shown
    assert 'See it with view_image(path="n.png")' in footer


def test_a_line_longer_than_an_answer_is_cut_and_said(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("x" * 100_000 + "\n\nafter\n")
    asked = settings_for(tmp_path, max_result_chars=10_000)
    (found,) = ask(asked, ("read_md_with_images", {"uri": "a.md"}))
    within(found, asked)
    assert "Line 1 is too long" in texts(found)
    bodies, _ = read_on(asked, {"uri": "a.md"})
    assert "".join(bodies[1:]) == "\nafter\n"


def test_a_thousand_broken_pictures_do_not_fill_the_answer(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("".join(f"![](gone-{k}.png)\n" for k in range(1_000)))
    asked = settings_for(tmp_path)
    (found,) = ask(asked, ("read_md_with_images", {"uri": "a.md"}))
    within(found, asked)
    assert re.search(r"and \d+ issues more", texts(found))


def test_several_sections_share_one_budget(tmp_path: Path) -> None:
    text = "".join(f"# S{k}\n\n" + "word word\n\n" * 1_000 for k in range(10))
    (tmp_path / "a.md").write_text(text)
    asked = settings_for(tmp_path, max_result_chars=20_000)
    sections = [f"# S{k}" for k in range(10)]
    (found,) = ask(asked, ("read_md_with_images", {"uri": "a.md", "sections": sections}))
    within(found, asked)
    assert re.search(r'sections=\["# S\d+"', texts(found))
    (all_,) = ask(
        settings_for(tmp_path, max_result_bytes=2_000_000, max_result_chars=200_000),
        ("read_md_with_images", {"uri": "a.md", "sections": sections}),
    )
    assert all(f"\n# S{k}\n" in texts(all_) for k in range(10))


@pytest.mark.parametrize("length", [1, 1_000])
def test_longest_arguments_still_fit(tmp_path: Path, length: int) -> None:
    (tmp_path / "a.md").write_text("# \u6f22\n\n" + "\u6f22\n\n" * 20_000, encoding="utf-8")
    asked = settings_for(tmp_path, max_result_chars=10_000, max_result_bytes=80_000)
    uri = "./" * ((length - 4) // 2) + "a.md"
    sections = ["\x01" * 300] * 9 + ["# \u6f22"]
    for arguments in ({"uri": uri}, {"uri": uri, "sections": sections}, {"uri": "\x01" * 1_000}):
        (found,) = ask(asked, ("read_md_with_images", dict(arguments)))
        within(found, asked)


def test_errors_fit_too(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("".join(f"# title {'x' * 50_000}{k}\n" for k in range(5)))
    asked = settings_for(tmp_path)
    (found,) = ask(
        asked, ("read_md_with_images", {"uri": "a.md", "section": "# title " + "x" * 280})
    )
    assert found.is_error
    within(found, asked)


FILES = st.lists(
    st.tuples(st.integers(1, 60), st.integers(1, 4), st.integers(0, 3_000)), min_size=1, max_size=40
)


@given(FILES, st.sampled_from([4_000, 10_000, 50_000]))
def test_indexes_fit(files: list[tuple[int, int, int]], most: int) -> None:
    indexes = []
    for k, (count, levels, front) in enumerate(files):
        head = f"---\na: {'x' * front}\n---\n" if front else ""
        body = "".join(f"{'#' * (1 + j % levels)} Heading {j}\n\n" for j in range(count))
        indexes.append(index_markdown_text(head + body, path=f"docs/{k % 5}/file-{k}.md"))
    text = index_text(indexes, (), 6, most)
    assert len(text) <= most
    whole = sum(len(index.rows) for index in indexes)
    if whole < 20 and not any(front for *_, front in files):
        assert text.count("\n#") == whole


def test_an_index_that_is_too_long_has_fewer_levels_then_files_then_folders(tmp_path: Path) -> None:
    def index(folders: int, files: int, headings: int) -> str:
        made = [
            index_markdown_text("# A\n" + "## B\n### C\n" * headings, path=f"d/{i}/{j}.md")
            for i in range(folders)
            for j in range(files)
        ]
        return index_text(made, (), 6, 10_000)

    whole, levels, named, counted = (
        index(1, 1, 5),
        index(2, 5, 60),
        index(10, 10, 60),
        index(30, 90, 1),
    )
    assert "### C" in whole
    assert "---" not in whole
    assert "### C" not in levels
    assert "headings below level" in levels
    assert "\nd/3/4.md\t121\t121\t0\tA\n" in named
    assert '<folder path="d/7" files=90/>' in counted
    assert "2700 files" in counted


def test_one_file_with_too_many_headings_of_one_level() -> None:
    text = index_text([index_markdown_text("# Heading\n" * 5_000, path="a.md")], (), 6, 10_000)
    rows = text.count("\n# Heading")
    assert 100 < rows < 5_000
    assert f"{5_000 - rows} headings are left out, the next from line {rows + 1} on" in text


def test_a_long_section_by_its_slug_is_followed_to_its_end(tmp_path: Path) -> None:
    text = "# A\n\nx\n\n# Long\n\n" + "".join(f"word {k}\n\n" for k in range(3_000))
    (tmp_path / "a.md").write_text(text)
    asked = settings_for(tmp_path, max_result_chars=10_000)
    bodies, _ = read_on(asked, {"uri": "a.md#long"})
    assert "".join(bodies) == text[text.index("# Long") :]
    _follow(asked, {"uri": "a.md", "sections": ["#long", "A", "Long", "a.md#long"]})


def test_a_name_with_a_hash_is_no_slug(tmp_path: Path) -> None:
    folder = tmp_path / "C#"
    folder.mkdir()
    (folder / "a#b.md").write_text("# A\n\nx\n\n# See notes.md#setup\n\ny\n")
    uri = "C#/a#b.md"
    sections, missed, index = ask(
        settings_for(tmp_path),
        ("read_md_with_images", {"uri": uri, "sections": ["A", "# See notes.md#setup"]}),
        ("read_md_with_images", {"uri": uri, "section": "zz"}),
        ("index_md", {"uri": f"{uri}#a"}),
    )
    assert not sections.is_error
    assert "SECTION_NOT_FOUND" not in texts(sections)
    assert f'index_md(uri="{uri}")' in texts(missed)
    assert "# A\t1" in texts(index)


def test_long_titles_do_not_swell_what_programs_get(tmp_path: Path) -> None:
    titles = "".join(f"{'#' * k} {chr(1) * 499}\n" for k in range(1, 7))
    (tmp_path / "m.md").write_text(titles + "###### b\n" * 3)
    asked = settings_for(tmp_path, max_result_bytes=40_000)
    (found,) = ask(asked, ("read_md_with_images", {"uri": "m.md", "sections": ["b"] * 10}))
    within(found, asked)


def test_a_cut_line_is_told_however_many_pictures_are_missing(tmp_path: Path) -> None:
    line = "".join(f"![](gone{k}.png) " for k in range(4_000)) + "LAST"
    (tmp_path / "a.md").write_text(f"{line}\n\nnext\n")
    (found,) = ask(settings_for(tmp_path), ("read_md_with_images", {"uri": "a.md"}))
    assert "Line 1 is too long" in texts(found)
    assert "line_range=[2, 3]" in texts(found)


def test_a_flat_folder_lists_what_fits(tmp_path: Path) -> None:
    for k in range(1_200):
        (tmp_path / f"file-{k:04}.md").write_text("# A title of some length\n")
    asked = settings_for(tmp_path, max_result_chars=10_000)
    (found,) = ask(asked, ("index_md", {"uri": "."}))
    within(found, asked)
    rows = texts(found).count("\nfile-")
    assert 50 < rows < 1_200
    assert f"{1_200 - rows} files more are left out; narrow by pattern" in texts(found)


def test_sections_share_the_room_for_pictures(tmp_path: Path) -> None:
    text = ""
    for k in range(5):
        (tmp_path / f"{k}.png").write_bytes(noise(400, 400, k))
        text += f"# S{k}\n\n![p]({k}.png)\n\n"
    (tmp_path / "a.md").write_text(text)
    asked = settings_for(tmp_path)
    sections = [f"# S{k}" for k in range(5)]
    (found,) = ask(asked, ("read_md_with_images", {"uri": "a.md", "sections": sections}))
    within(found, asked)
    sizes = [len(block.data) for block in found.content if block.type == "image"]
    assert len(sizes) == 5
    assert max(sizes) < 3 * min(sizes)


def test_a_page_never_ends_with_a_title(tmp_path: Path) -> None:
    text = "".join(f"## Title {k}\n\n" + "word " * 30 + "\n\n" for k in range(200))
    (tmp_path / "a.md").write_text(text)
    bodies, _ = read_on(settings_for(tmp_path, max_result_chars=4_000), {"uri": "a.md"})
    assert len(bodies) > 3
    assert not any(body.rstrip().split("\n")[-1].startswith("#") for body in bodies)


def test_an_empty_document_is_told(tmp_path: Path) -> None:
    (tmp_path / "a.md").touch()
    (found,) = ask(settings_for(tmp_path), ("read_md_with_images", {"uri": "a.md"}))
    assert "the document is empty" in texts(found)
