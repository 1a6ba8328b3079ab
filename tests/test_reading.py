"""Reading: verbatim text, pictures in place, every failure told and none that spoils the rest."""

from __future__ import annotations

import base64
import io
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

import mdvision
from mdvision import Code, ImagePart, ImagePolicy, Loader, MarkdownReading, Resource, TextPart


def png(colour: str = "red", size: tuple[int, int] = (8, 6)) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", size, colour).save(out, "PNG")
    return out.getvalue()


RED, BLUE = png("red"), png("blue")
DATA = f"data:image/png;base64,{base64.b64encode(RED).decode()}"
PERCENT = f"data:image/png,{quote(RED)}"


def joined(reading: MarkdownReading) -> str:
    return "".join(p.text if isinstance(p, TextPart) else p.markdown for p in reading.parts)


FRAGMENTS = st.sampled_from(
    [
        "# A\n", "## B ![h](a.png)\r\n", "Title\n===\n", "text\n", "\n", "\r\n", "\r", "\x0b\u2028\n",
        "![a](a.png) ", "![gone](gone.png)\n", f"![d]({DATA})", f"[![d]({DATA})](u)\r\n", f"![p]({PERCENT})\n",
        "[![l](b.png)](u) x\n", "| ![t](a.png) | ![t](b.png) |\n|---|---|\n| x | ![u](a.png) |\n\n",
        "<img src=a.png>\n", "<figure>\n\n![f](b.png)\n\n</figure>\n\n", "![r]\n\n", "[r]: a.png\n\n",
        "```\n![no](a.png)\n```\n", "- ![i](a.png)\n  more\n", "> ![q](b.png)\n", "---\nt: 1\n---\n", "\0",
    ]
)  # fmt: skip
DOCUMENTS = st.lists(FRAGMENTS, max_size=12).map("".join)
ASSETS = {"a.png": RED, "b.png": BLUE}


@given(DOCUMENTS, st.sampled_from([None, 0, 1, 3]), st.sampled_from([None, 1, 20, 100]))
def test_parts_join_to_the_source(text: str, max_images: int | None, max_chars: int | None) -> None:
    stored = text.replace("\0", "\ufffd").removeprefix("\ufeff")
    pages, line = "", 1
    while True:
        reading = mdvision.read_text_with_images(
            text,
            assets=ASSETS,
            line_range=(line, 10_000) if line > 1 else None,
            max_images=max_images,
            max_chars=max_chars,
        )
        assert joined(reading) == reading.text
        pages += reading.text
        if reading.next_line is None:
            break
        assert reading.next_line == reading.line_end + 1
        line = reading.next_line
    assert pages == stored
    if max_images is not None:
        assert len(reading.images) <= max_images


@given(DOCUMENTS)
def test_pictures_shown_and_issues_are_all_that_the_index_counts(text: str) -> None:
    index = mdvision.index_markdown_text(text)
    reading = mdvision.read_text_with_images(text, assets=ASSETS)
    assert len(reading.images) + len(reading.issues) == len(index.images)
    lines = [image.line_start for image in index.images]
    assert sorted(
        [image.line_start for image in reading.images]
        + [int(str(issue.details["line"])) for issue in reading.issues]
    ) == sorted(lines)
    assert [image.line_start for image in reading.images] == sorted(
        image.line_start for image in reading.images
    )
    for row in index.rows:
        part = mdvision.read_text_with_images(text, section=row, assets=ASSETS)
        assert (part.line_start, part.line_end) == (row.line_start, row.line_end)
        assert len(part.images) + len(part.issues) == row.image_count


@given(DOCUMENTS)
def test_line_starts_of_parts_are_right(text: str) -> None:
    reading = mdvision.read_text_with_images(text, assets=ASSETS)
    seen = ""
    for part in reading.parts:
        if isinstance(part, TextPart):
            before = seen.replace("\r\n", "\n").replace("\r", "\n")
            assert part.line_start == before.count("\n") + 1
        seen += part.text if isinstance(part, TextPart) else part.markdown


def test_sections_without_a_level_give_every_line_once(tmp_path: Path) -> None:
    text = "---\nt: 1\n---\npre\n\n# A\none\n## B\ntwo\n# C\n"
    path = tmp_path / "doc.md"
    path.write_text(text)
    sections = list(mdvision.iter_sections(path))
    assert [(part.section_path, part.text) for part in sections] == [
        ((), "---\nt: 1\n---\npre\n\n"),
        (("A",), "# A\none\n"),
        (("A", "B"), "## B\ntwo\n"),
        (("C",), "# C\n"),
    ]
    first_level = list(mdvision.iter_sections(path, level=1))
    assert [part.text for part in first_level] == ["# A\none\n## B\ntwo\n", "# C\n"]
    with pytest.raises(mdvision.InvalidInputError):
        list(mdvision.iter_sections(path, level=7))


@pytest.mark.parametrize("text", ["", "\n", "\ufeff", "no heading\n"])
def test_documents_without_headings(text: str, tmp_path: Path) -> None:
    path = tmp_path / "doc.md"
    path.write_text(text, encoding="utf-8")
    reading = mdvision.read_with_images(path)
    assert reading.text == text.removeprefix("\ufeff")
    assert "".join(part.text for part in mdvision.iter_sections(path)) == reading.text
    assert reading.section_path == ()


def test_a_slug_behind_the_name_is_the_section(tmp_path: Path) -> None:
    path = tmp_path / "doc.md"
    path.write_text("# A\n\n## B c\n")
    assert mdvision.read_with_images(f"{path}#b-c").text == "## B c\n"
    assert mdvision.read_with_images(f"{path}#b-c", section="# A").line_start == 1
    with pytest.raises(mdvision.SectionNotFoundError):
        mdvision.read_with_images(f"{path}#nothing")
    (tmp_path / "doc.md#b-c").write_text("# the file itself\n")
    assert mdvision.read_with_images(f"{path}#b-c").text == "# the file itself\n"
    with pytest.raises(mdvision.SourceNotFoundError):
        mdvision.read_with_images(tmp_path / "gone.md#b")


def test_data_uris_leave_the_text_once_they_are_shown() -> None:
    text = f"a ![one]({DATA} 'T') b ![two]({PERCENT})\n\n![bad](data:image/png;base64,AAAA)\n"
    reading = mdvision.read_text_with_images(text)
    assert [part.text for part in reading.parts if isinstance(part, TextPart)] == [
        "a ",
        " b ",
        "\n\n![bad](data:image/png;base64,AAAA)\n",
    ]
    one, two = reading.images
    assert (one.markdown, one.source, one.title) == (f"![one]({DATA} 'T')", "", "T")
    assert two.markdown == f"![two]({PERCENT})"
    (bad,) = reading.issues
    assert (bad.details["line"], "source" in bad.details) == (3, False)


def test_a_very_long_address_leaves_the_text_too() -> None:
    long = "p" * 513
    reading = mdvision.read_text_with_images(f"x ![a]({long})\n", assets={long: RED})
    assert reading.parts[0] == TextPart(text="x ", line_start=1)
    assert reading.images[0].markdown == f"![a]({long})"
    just = "p" * 512
    reading = mdvision.read_text_with_images(f"x ![a]({just})\n", assets={just: RED})
    assert reading.images[0].markdown == ""


def test_image_parts_tell_all(tmp_path: Path) -> None:
    (tmp_path / "big.png").write_bytes(png("blue", (3136, 1568)))
    path = tmp_path / "doc.md"
    path.write_text("# A\n\n![alt *text*](big.png 'title')\n")
    (image,) = mdvision.read_with_images(path).images
    assert (image.width_pixels, image.height_pixels) == (1568, 784)
    assert (image.source_width_pixels, image.source_height_pixels) == (3136, 1568)
    assert (image.alt, image.title, image.line_start, image.region) == (
        "alt text",
        "title",
        3,
        None,
    )
    assert image.source == str(tmp_path / "big.png")
    assert image.estimated_tokens == 56 * 28
    image.save(tmp_path / "copy.png")
    assert (tmp_path / "copy.png").read_bytes() == image.data
    assert len(repr(image)) < 200
    assert "\n" not in repr(image)


class Counting:
    """A loader's place in which to count what is asked for and how many at once."""

    def __init__(self, pause_seconds: float = 0.0) -> None:
        self.asked: list[str] = []
        self.at_once = self.most_at_once = 0
        self.pause_seconds = pause_seconds
        self._lock = threading.Lock()

    def __call__(self, _: object, __: object, reference: str, *___: object) -> Resource:
        with self._lock:
            self.asked.append(reference)
            self.at_once += 1
            self.most_at_once = max(self.most_at_once, self.at_once)
        time.sleep(self.pause_seconds)
        with self._lock:
            self.at_once -= 1
        return Resource(data=RED, uri=reference, media_type="")


@pytest.fixture
def counting(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], Counting]:
    def install(pause_seconds: float = 0.0) -> Counting:
        counter = Counting(pause_seconds)
        monkeypatch.setattr(Loader, "load_named", lambda *arguments, **_: counter(*arguments))
        return counter

    return install


def test_pictures_come_side_by_side_and_in_order(counting: Callable[[float], Counting]) -> None:
    counter = counting(0.05)
    names = [f"{k}.png" for k in range(12)]
    reading = mdvision.read_text_with_images("\n\n".join(f"![{n}]({n})" for n in names))
    assert [image.alt for image in reading.images] == names
    assert 2 <= counter.most_at_once <= 8


def test_a_picture_named_twice_is_brought_once(counting: Callable[[float], Counting]) -> None:
    counter = counting(0.0)
    reading = mdvision.read_text_with_images("![a](x.png) ![b](x.png)\n")
    assert [image.alt for image in reading.images] == ["a", "b"]
    assert counter.asked == ["x.png"]


def test_pictures_past_the_limit_are_never_asked_for(counting: Callable[[float], Counting]) -> None:
    counter = counting(0.0)
    text = "\n\n".join(f"![a]({k}.png)" for k in range(9))
    reading = mdvision.read_text_with_images(text, max_images=2)
    assert sorted(counter.asked) == ["0.png", "1.png"]
    (limit,) = reading.issues
    assert (limit.code, limit.details) == (Code.IMAGE_LIMIT_REACHED, {"limit": 2, "actual": 9})
    assert mdvision.read_text_with_images(text, max_images=0).images == ()


def test_badges_are_left_out_when_asked(counting: Callable[[float], Counting]) -> None:
    counter = counting(0.0)
    text = "![b](https://img.shields.io/x) ![c](https://ci.test/badge.svg) ![d](docs/badge.svg)\n"
    reading = mdvision.read_text_with_images(text, skip_badges=True)
    assert counter.asked == ["docs/badge.svg"]
    assert reading.issues == ()
    assert reading.text == text


@pytest.mark.parametrize("options", [{"max_images": -1}, {"max_chars": 0}])
def test_impossible_bounds(options: dict[str, int]) -> None:
    with pytest.raises(mdvision.InvalidInputError):
        mdvision.read_text_with_images("x", **options)  # type: ignore[arg-type]


def test_broken_pictures_cost_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "ok.png").write_bytes(RED)
    (tmp_path / "cut.png").write_bytes(png(size=(300, 300))[:120])
    (tmp_path / "note.txt").write_text("words")
    (tmp_path / "vector.svg").write_text("<svg><rect")
    names = [
        "gone.png",
        "cut.png",
        "note.txt",
        "vector.svg",
        "ftp://x/y.png",
        "ok.png",
        "../",
        "a\x01b",
    ]
    text = "".join(f"![x](<{name}>)\n" for name in names)
    path = tmp_path / "doc.md"
    path.write_text(text)
    reading = mdvision.read_with_images(path)
    assert reading.text == text
    assert len(reading.images) == 1
    found = {str(issue.details["source"]): issue.code for issue in reading.issues}
    assert set(found) == set(names) - {"ok.png"}
    assert found["gone.png"] is Code.SOURCE_NOT_FOUND
    assert found["cut.png"] is Code.DECODE_FAILED
    assert found["note.txt"] is Code.SOURCE_UNSUPPORTED
    assert found["vector.svg"] is Code.DECODE_FAILED


def test_crlf_and_cr_stay(tmp_path: Path) -> None:
    path = tmp_path / "doc.md"
    path.write_bytes(b"# A\r\n\r\n![r](r.png)\r\nx\r# B\n")
    (tmp_path / "r.png").write_bytes(RED)
    reading = mdvision.read_with_images(path)
    assert reading.text == "# A\r\n\r\n![r](r.png)\r\nx\r# B\n"
    assert [part.line_start for part in reading.parts] == [1, 3, 3]
    assert mdvision.read_with_images(path, section="# A").text.endswith("x\r")


def test_policies_reach_the_codec(tmp_path: Path) -> None:
    buffer = io.BytesIO()
    Image.new("RGB", (60, 40), "red").save(buffer, "JPEG")
    (tmp_path / "p.jpg").write_bytes(buffer.getvalue())
    path = tmp_path / "doc.md"
    path.write_text("![p](p.jpg)\n")

    def media_type(policy: ImagePolicy | None) -> tuple[str, int]:
        (image,) = mdvision.read_with_images(path, image_policy=policy).images
        return image.media_type, image.width_pixels

    assert media_type(None) == ("image/jpeg", 60)
    assert media_type(ImagePolicy(format="png")) == ("image/png", 60)
    assert media_type(ImagePolicy(max_edge_pixels=30)) == ("image/jpeg", 30)


def test_blocks_for_model_apis() -> None:
    reading = mdvision.read_text_with_images("a\n\n![r](a.png)\n", assets=ASSETS)
    data = base64.b64encode(reading.images[0].data).decode()
    assert reading.to_anthropic() == [
        {"type": "text", "text": "a\n\n![r](a.png)"},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}},
    ]
    assert reading.to_openai()[1] == {
        "type": "image_url",
        "image_url": {"url": f"data:image/png;base64,{data}"},
    }
    assert reading.to_gemini() == [
        {"text": "a\n\n![r](a.png)"},
        {"inline_data": {"mime_type": "image/png", "data": data}},
    ]
    assert reading.estimated_tokens == 4 + 1


def corpus_files() -> list[Path]:
    data = os.environ.get("MDVISION_TEST_DATA")
    if not data:
        pytest.skip("MDVISION_TEST_DATA is not set")
    return sorted(Path(data, "corpus").rglob("*.md"))


def test_every_section_of_the_corpus_is_given_back_verbatim() -> None:
    shown = 0
    for path in corpus_files():
        stored = path.read_bytes().decode("utf-8")
        whole = "".join(part.text for part in mdvision.iter_sections(path, max_images=0))
        assert whole == stored, path
        if "![" in stored or "<img" in stored:
            reading = mdvision.read_with_images(path)
            assert joined(reading) == stored, path
            shown += len([part for part in reading.parts if isinstance(part, ImagePart)])
        lines = stored.split("\n")
        for row in mdvision.index_markdown_file(path).rows:
            part = mdvision.read_text_with_images(stored, section=row, max_images=0)
            expected = "\n".join(lines[row.line_start - 1 : row.line_end])
            assert part.text in (expected, f"{expected}\n"), (path, row.heading)
    assert shown > 30  # pixels alone, and nothing from the web


def test_sections_are_refused_before_the_first_is_asked_for(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# A\n")
    with pytest.raises(mdvision.InvalidInputError, match="levels 1 to 6"):
        mdvision.iter_sections(tmp_path / "a.md", level=9)
    with pytest.raises(mdvision.InvalidInputError, match="max_chars"):
        mdvision.iter_sections(tmp_path / "a.md", max_chars=0)
    with pytest.raises(mdvision.SourceNotFoundError):
        mdvision.iter_sections(tmp_path / "b.md")


@pytest.mark.parametrize(
    "syntax",
    ['<img src="red.png"\n     alt="x">', "![alt\nmore](red.png)", "![a](red.png\n'title')"],
)
@pytest.mark.parametrize("before", ["", "word word\nword word\n"])
def test_no_page_tears_the_syntax_of_a_picture(tmp_path: Path, syntax: str, before: str) -> None:
    Image.new("RGB", (4, 4), "red").save(tmp_path / "red.png")
    path = tmp_path / "a.md"
    path.write_text(f"# T\n\n{before}{syntax}\nafter it\nand after\n")
    for size in range(1, 60):
        pages, line = [], 1
        while line:
            pages.append(mdvision.read_with_images(path, line_range=(line, 99), max_chars=size))
            line = pages[-1].next_line or 0
        assert "".join(page.text for page in pages) == path.read_text()
        assert sum(len(page.images) for page in pages) == 1
        assert all(found.code is not Code.IMAGE_OMITTED for p in pages for found in p.issues)


def test_lines_that_tear_a_picture_are_told(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text('one\n<img src="red.png"\n alt="x">\nfour\n')
    for lines in ((1, 2), (3, 4), (2, 2), (3, 3)):
        reading = mdvision.read_with_images(tmp_path / "a.md", line_range=lines)
        (found,) = reading.issues
        assert found.code is Code.IMAGE_OMITTED
        assert found.details["lines"] == (2, 3)
        assert found.next_action == "Read lines 2 to 3."
