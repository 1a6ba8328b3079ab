"""Every case of tests/cases by one runner; README.md there says what the keys mean."""

from __future__ import annotations

import base64
import io
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import pytest
import yaml
from PIL import Image

import mdvision
from mdvision import Code, ImagePolicy, Issue, Loader, MarkdownReading, MdVisionError
from mdvision.sources.policy import policy_from_flags

CASES = Path(__file__).parent / "cases"
Case = dict[str, Any]

# What the cases call a kind of error, as a code and a `reason` among the details.
KINDS: dict[str, tuple[Code, str | None]] = {
    "image_missing": (Code.SOURCE_NOT_FOUND, "missing"),
    "http_404": (Code.SOURCE_NOT_FOUND, "http"),
    "too_many_redirects": (Code.FETCH_FAILED, "redirects"),
    "timeout": (Code.FETCH_TIMEOUT, None),
    "response_too_large": (Code.SOURCE_TOO_LARGE, None),
    "unexpected_content_type": (Code.SOURCE_UNSUPPORTED, "html"),
    "not_an_image": (Code.SOURCE_UNSUPPORTED, "not_an_image"),
    "image_is_lfs_pointer": (Code.SOURCE_UNSUPPORTED, "lfs_pointer"),
    "image_empty": (Code.DECODE_FAILED, "empty"),
    "image_corrupt": (Code.DECODE_FAILED, "corrupt"),
    "image_too_large": (Code.PIXEL_LIMIT_EXCEEDED, None),
    "path_not_allowed": (Code.FILE_ACCESS_DENIED, "outside_roots"),
    "domain_not_allowed": (Code.URL_ACCESS_DENIED, "domain"),
    "address_blocked": (Code.URL_ACCESS_DENIED, "private_address"),
    "line_range_invalid": (Code.INPUT_INVALID, "line_range"),
    "line_range_out_of_bounds": (Code.LINE_RANGE_CLAMPED, None),
    "section_not_found": (Code.SECTION_NOT_FOUND, None),
    "ambiguous_section": (Code.SECTION_AMBIGUOUS, None),
    "first frame of 3": (Code.IMAGE_REDUCED, "first_frame"),
    "embed": (Code.CONTENT_DROPPED, "embed"),
    "template": (Code.CONTENT_DROPPED, "template"),
    "expression": (Code.CONTENT_DROPPED, "expression"),
}
COLOURS = {
    "red": (220, 20, 20),
    "green": (20, 160, 40),
    "blue": (20, 40, 220),
    "white": (255, 255, 255),
}


def load(kind: str) -> list[Any]:
    found = []
    for path in sorted(CASES.glob("*/case.yaml")):
        case = yaml.safe_load(path.read_text(encoding="utf-8"))
        if case["kind"] == kind:
            found.append(pytest.param(case, path.parent, id=case["id"]))
    return found


def is_kind(found: Issue, kind: str) -> bool:
    code, reason = KINDS[kind]
    return found.code is code and reason in (None, found.details.get("reason"))


def pixels(image: mdvision.ImagePart) -> Image.Image:
    opened = Image.open(io.BytesIO(image.data))
    opened.load()
    return opened


def colour_name(image: mdvision.ImagePart) -> str:
    """The basic colour nearest to the mean of the picture."""
    mean = pixels(image).convert("RGB").resize((1, 1), Image.Resampling.BOX).getpixel((0, 0))
    return nearest(cast("tuple[int, int, int]", mean))


def nearest(rgb: tuple[int, ...]) -> str:
    def distance(name: str) -> int:
        return sum((a - b) ** 2 for a, b in zip(rgb, COLOURS[name], strict=False))

    return min(COLOURS, key=distance)


# index


def check_rows(index: mdvision.MarkdownFileIndex, rows: list[Case]) -> None:
    assert [row.heading for row in index.rows] == [row["heading"] for row in rows]
    for found, wanted in zip(index.rows, rows, strict=True):
        assert (found.line_start, found.line_end) == (wanted["line_start"], wanted["line_end"])
        assert found.image_count == wanted["n_images"]
        if "slug" in wanted:
            assert found.slug == wanted["slug"]
        if "chars_source" in wanted:
            assert found.char_count == wanted["chars_source"]


@pytest.mark.parametrize(("case", "folder"), load("index"))
def test_index(case: Case, folder: Path) -> None:
    expected = case["expected"]
    files = {"doc.md": expected.get("rows")} | case.get("extra_files", {})
    if (folder / "a_deep.md").exists():  # first of all, in the same process
        mdvision.index_markdown_file(folder / "a_deep.md")
    for name, rows in files.items():
        before = time.monotonic()
        index = mdvision.index_markdown_file(folder / name)
        assert time.monotonic() - before < expected.get("max_seconds", 60)
        if rows is not None:
            check_rows(index, rows)
        fronts = {"doc.md": expected.get("frontmatter")} | case.get("extra_frontmatter", {})
        if fronts.get(name) is not None:
            assert index.metadata == fronts[name]
        if rows and "encoding" not in case and not index.metadata:
            assert index.issues == ()
    index = mdvision.index_markdown_file(folder / "doc.md")
    stored = (folder / "doc.md").read_bytes().decode(case.get("encoding", "utf-8"))
    check_document(index, stored.removeprefix("\ufeff"), expected)
    for read in expected.get("reads", ()):
        check_read(folder / "doc.md", read)


def check_document(index: mdvision.MarkdownFileIndex, stored: str, expected: Case) -> None:
    assert index.char_count == len(stored.replace("\r\n", "\n"))
    for key, found in (("chars_document", index.char_count), ("line_count", index.line_count)):
        if key in expected:
            assert found == expected[key]
    if "utf16_document" in expected:  # a count of other units, which ours is not
        assert len(stored.encode("utf-16-le")) // 2 == expected["utf16_document"]
        assert index.char_count != expected["utf16_document"]
    check_images(index, expected)
    headings = [row.heading for row in index.rows]
    for heading in expected.get("must_not_be_heading", ()):
        assert heading not in headings
    for nested in expected.get("nested_headings", ()):
        assert nested["text"] in re.split(r"\r\n|\r|\n", stored)[nested["line"] - 1]
        assert nested["line"] not in [row.line_start for row in index.rows]
    if expected.get("no_carriage_return_in_headings"):
        assert "\r" not in "".join(headings)


def check_images(index: mdvision.MarkdownFileIndex, expected: Case) -> None:
    for key, found in (
        ("doc_order", [image.source for image in index.images]),
        ("kinds", [image.kind for image in index.images]),
        ("alts", [image.alt for image in index.images]),
    ):
        assert found == expected.get(key, found), key
    if "wiki_images" in expected:
        folder = Path(str(index.path)).parent
        shown = mdvision.read_with_images(str(index.path)).images
        assert [Path(image.source) for image in shown] == [
            folder / name for name in expected["wiki_images"]
        ]
        names = {image.source.rpartition(".")[0] for image in index.images}
        assert names.isdisjoint(expected["wiki_not_images"])


# read


def arguments(read: Case) -> dict[str, Any]:
    given = {key: read[key] for key in ("section", "max_images", "max_chars") if key in read}
    if "slug" in read:
        given["section"] = f"#{read['slug']}"
    if "path" in read:
        given["section"] = " > ".join(read["path"])
    if "line_range" in read and "section" not in given:
        given["line_range"] = tuple(read["line_range"])
    return given


def check_read(document: Path, read: Case) -> None:
    given = arguments(read)
    if "error" in read:
        with pytest.raises(MdVisionError) as raised:
            mdvision.read_with_images(document, **given)
        assert is_kind(raised.value.issue, read["error"])
        return
    reading = mdvision.read_with_images(document, **given)
    if "section" in given and "line_range" in read:
        assert [reading.line_start, reading.line_end] == read["line_range"]
    if "whole" in read:
        assert given == {}
        assert (reading.line_start, reading.line_end) == (1, reading.line_count)
    check_reading(reading, read)
    stored = document.read_bytes().decode("utf-8").removeprefix("\ufeff")
    if read.get("equals_file"):
        assert reading.text == stored
    if "equals_lines" in read:
        first, last = read["equals_lines"]
        assert reading.text == "".join(stored.splitlines(keepends=True)[first - 1 : last])
    if "accept_error" in read:
        assert any(is_kind(found, read["accept_error"]) for found in reading.issues)
    if "table_rows" in read:
        table = re.search(r"(?:^\|.*\n)+", reading.text, re.MULTILINE)
        assert table and table[0].count("\n") == read["table_rows"]
        assert any(
            table[0] in part.text for part in reading.parts if isinstance(part, mdvision.TextPart)
        )
    if "max_chars" in read:
        check_pages(document, given)


def check_reading(reading: MarkdownReading, wanted: Case) -> None:
    if "image_blocks" in wanted:
        assert len(reading.images) == wanted["image_blocks"]
    if "colors" in wanted:
        assert [colour_name(image) for image in reading.images] == wanted["colors"]
    if "behind" in wanted:  # the end of the text before each picture
        ends = [reading.parts[:k] for k, part in enumerate(reading.parts) if part in reading.images]
        texts = [
            "".join(p.text for p in before if isinstance(p, mdvision.TextPart)) for before in ends
        ]
        assert len(texts) == len(wanted["behind"])
        for text, end in zip(texts, wanted["behind"], strict=True):
            assert text.endswith(end), (text[-40:], end)
    for text in (*wanted.get("contains", ()), *wanted.get("text_contains", ())):
        assert text in reading.text
    for text in wanted.get("excludes", ()):
        assert text not in reading.text
    warnings = wanted.get("warnings", [wanted["warning"]] if "warning" in wanted else [])
    assert len(reading.issues) >= len(warnings)
    for warning in warnings:
        assert any(
            is_kind(found, warning["kind"])
            and found.details.get("line") == warning.get("line", found.details.get("line"))
            and found.details.get("source") == warning.get("ref", found.details.get("source"))
            for found in reading.issues
        ), warning


def check_pages(document: Path, given: Case) -> None:
    whole = mdvision.read_with_images(document, section=given["section"])
    text, line = "", whole.line_start
    while line is not None and line <= whole.line_end:
        page = mdvision.read_with_images(
            document, line_range=(line, whole.line_end), max_chars=given["max_chars"]
        )
        assert len(page.text) <= given["max_chars"]
        text += page.text
        assert page.line_end >= line
        line = page.next_line
    assert text == whole.text


@pytest.mark.parametrize(("case", "folder"), load("read"))
def test_read(case: Case, folder: Path) -> None:
    expected, document = case["expected"], folder / case.get("document", "doc.md")
    if "rows" in expected:
        index = mdvision.index_markdown_file(document)
        check_rows(index, expected["rows"])
        check_images(index, expected)
    for read in expected["reads"]:
        check_read(document, read)


# images


def mentioned(found: Issue, words: list[str]) -> bool:
    return all(word in f"{found.message} {found.next_action}" for word in words)


@pytest.mark.parametrize("policy", [ImagePolicy(), ImagePolicy(format="png")], ids=["auto", "png"])
@pytest.mark.parametrize(("case", "folder"), load("image"))
def test_image(case: Case, folder: Path, policy: ImagePolicy) -> None:
    expected = case["expected"]
    reading = mdvision.read_with_images(folder / "doc.md", image_policy=policy)
    assert reading.text == (folder / "doc.md").read_text(encoding="utf-8")  # text_complete
    if "max_memory_mb" in expected:
        assert (
            peak_megabytes(f"read_with_images({str(folder / 'doc.md')!r})")
            < expected["max_memory_mb"]
        )
    if "error" in expected:
        assert reading.images == ()
        (found,) = reading.issues
        assert is_kind(found, expected["error"])
        assert mentioned(found, [str(word) for word in expected.get("message_mentions", ())])
        return
    check_reading(reading, expected)
    image = reading.images[0]
    if "sizes" in expected:
        sizes = [[part.width_pixels, part.height_pixels] for part in reading.images]
        assert sizes == expected["sizes"] == [list(pixels(part).size) for part in reading.images]
    for kind in expected.get("note_any_of", ()):
        assert any(kind in found.message for found in reading.issues)
    if policy.format == "png":
        assert image.media_type == expected.get("out_mime", image.media_type)
        assert image.data.hex().startswith(expected.get("out_magic", ""))
        assert pixels(image).mode == expected.get("out_mode", pixels(image).mode)
    for pixel in expected.get("pixel", ()):
        check_pixel(pixels(image).convert("RGBA"), pixel, expected.get("tolerance", 0))
    if "center_rgb" in expected:
        opened = pixels(image).convert("RGB")
        centre = opened.getpixel((opened.width // 2, opened.height // 2))
        difference = zip(cast("tuple[int, ...]", centre), expected["center_rgb"], strict=True)
        assert all(abs(a - b) <= expected["tolerance"] for a, b in difference)


def peak_megabytes(call: str) -> float:
    """The most memory that a process of its own takes for one call, whatever it ends in."""
    status = Path("/proc/self/status")  # getrusage() of a child begins with what its parent had
    if not status.exists():
        pytest.skip("only Linux tells how much memory a program took at most")
    script = (
        "import contextlib, mdvision\n"
        "from mdvision import AccessPolicy, Loader\n"
        f"with contextlib.suppress(mdvision.MdVisionError): mdvision.{call}\n"
        f"print(open({str(status)!r}).read())"
    )
    command = [sys.executable, "-c", script]
    found = subprocess.run(command, capture_output=True, text=True, check=True)
    peak = re.search(r"^VmHWM:\s*(\d+) kB$", found.stdout, re.MULTILINE)
    assert peak
    return int(peak[1]) / 1_000


def check_pixel(image: Image.Image, wanted: Case, tolerance: int) -> None:
    red, green, blue, alpha = cast("tuple[int, ...]", image.getpixel(tuple(wanted["xy"])))

    def is_grey(value: int) -> bool:
        return all(abs(channel - value) <= tolerance for channel in (red, green, blue))

    if "color" in wanted:
        assert nearest((red, green, blue)) == wanted["color"]
    if "grey" in wanted:
        assert is_grey(wanted["grey"])
        assert alpha == 255
    if "any_of" in wanted:
        assert alpha <= tolerance or is_grey(255)


# access


@dataclass
class Tree:
    """The tree of an access case on disk."""

    root: Path

    @classmethod
    def build(cls, root: Path, tree: dict[str, str]) -> Tree:
        for name, content in tree.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if content.startswith("->"):
                path.symlink_to(content[2:])
            elif content == "fifo":
                os.mkfifo(path)
            elif content.startswith("b64:"):
                path.write_bytes(base64.b64decode(content[4:]))
            else:
                path.write_text(content, encoding="utf-8", newline="")
        return cls(root)


def tree_cases() -> list[Any]:
    return [
        param
        for param in load("access")
        if "checks" in param.values[0]["expected"] and "tree" in param.values[0]
    ]


@pytest.mark.parametrize(("case", "folder"), tree_cases())
def test_access_of_files(
    case: Case, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = case["expected"]
    tree = Tree.build(tmp_path, case["tree"])
    monkeypatch.chdir(tree.root / expected.get("cwd", "."))
    allowed = [str(tree.root / name) for name in expected["allow"]]
    loader = Loader(policy_from_flags(allowed, ["none"], private_network=False))
    for check in expected["checks"]:
        path = check["path"] if "cwd" in expected else str(tree.root / check["path"])
        if "error" in check:
            with pytest.raises(MdVisionError) as raised:
                mdvision.read_with_images(path, loader=loader)
            assert is_kind(raised.value.issue, check["error"])
        elif (tree.root / check["path"]).is_dir():
            assert len(mdvision.index_markdown_folder(path, loader=loader)) > 0
        else:
            check_reading(mdvision.read_with_images(path, loader=loader), check)


def test_access_hidden_and_ignored(tmp_path: Path) -> None:
    case = yaml.safe_load((CASES / "acc-hidden-and-ignored" / "case.yaml").read_text("utf-8"))
    expected = case["expected"]
    project = Tree.build(tmp_path, case["tree"]).root / expected["index_folder"]

    allowed = [str(tmp_path / name) for name in expected["allow"]]
    loader = Loader(policy_from_flags(allowed, ["none"], private_network=False))

    def names(**options: Any) -> list[str]:
        found = mdvision.index_markdown_folder(project, loader=loader, **options)
        return [str(index.path).removeprefix(f"{project}/") for index in found]

    default = expected["files_default"]
    assert names() == default == sorted(default, key=str.encode)
    added = expected["files_with_gitignore_off_adds"]
    assert names(gitignore=False) == sorted([*default, *added], key=str.encode)
    assert set(names(include=expected["never_by_default"])) == set(expected["never_by_default"])
    assert names(exclude=["docs/"]) == [name for name in default if not name.startswith("docs/")]


def table_rows() -> list[Any]:
    case = yaml.safe_load((CASES / "acc-domains" / "case.yaml").read_text("utf-8"))
    return [
        pytest.param(row, id=f"{row['allow']} {row['url']}") for row in case["expected"]["table"]
    ]


@pytest.mark.parametrize("row", table_rows())
def test_access_domains(row: Case, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    if row.get("startup_error"):
        with pytest.raises(mdvision.InvalidInputError):
            policy_from_flags([str(tmp_path)], row["allow"], private_network=False)
        return
    asked: list[object] = []

    def resolver(host: object, *_: object, **__: object) -> list[Any]:
        asked.append(host)
        message = "no network in this test"
        raise OSError(message)

    monkeypatch.setattr("socket.getaddrinfo", resolver)
    policy = policy_from_flags([str(tmp_path)], row["allow"], private_network=False)
    with pytest.raises(MdVisionError) as raised:
        Loader(policy).load(row["url"])
    assert bool(asked) == row["allowed"]
    if not row["allowed"]:
        assert not isinstance(raised.value, mdvision.SourceNotFoundError)


PRIVATE = yaml.safe_load((CASES / "acc-private-addresses" / "case.yaml").read_text("utf-8"))[
    "expected"
]


@pytest.mark.parametrize("url", [*PRIVATE["blocked"], *PRIVATE["not_blocked"]])
def test_access_private_addresses(
    url: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    connected: list[object] = []

    def connect(*arguments: object, **_: object) -> None:
        connected.append(arguments)
        message = "no network in this test"
        raise OSError(message)

    monkeypatch.setattr("socket.socket.connect", connect)
    policy = policy_from_flags([str(tmp_path)], PRIVATE["allow"], private_network=False)
    with pytest.raises(MdVisionError) as raised:
        Loader(policy).load(url)
    assert is_kind(raised.value.issue, PRIVATE["error"]) == (url in PRIVATE["blocked"])
    assert bool(connected) == (url in PRIVATE["not_blocked"])


@pytest.fixture(scope="module")
def redirect_server() -> Iterator[str]:
    """The cases' own server, on a port of loopback that is free."""
    script = CASES / "tools" / "redirect_server.py"
    command = [sys.executable, "-u", str(script)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        yield f"http://127.0.0.1:{process.stdout.readline().strip()}"
        process.terminate()


REDIRECTS = yaml.safe_load((CASES / "acc-redirects" / "case.yaml").read_text("utf-8"))["expected"]


@pytest.mark.parametrize("check", REDIRECTS["checks"], ids=lambda check: check["url"])
def test_access_redirects(check: Case, redirect_server: str, tmp_path: Path) -> None:
    assert REDIRECTS["private_ok_for"] == REDIRECTS["allow"]  # listed exactly
    policy = policy_from_flags([str(tmp_path)], REDIRECTS["allow"], private_network=False)
    seconds = 3 if check.get("error") == "timeout" else 30
    loader = Loader(policy, mdvision.Limits(timeout_seconds=seconds))
    before = time.monotonic()
    if check.get("ok"):
        reading = mdvision.read_with_images(redirect_server + check["url"], loader=loader)
        assert reading.text == "# OK\n\nhello\n"
    else:
        with pytest.raises(MdVisionError) as raised:
            mdvision.read_with_images(redirect_server + check["url"], loader=loader)
        assert is_kind(raised.value.issue, check["error"])
    assert time.monotonic() - before < check.get("max_seconds", 30)
    if "max_memory_mb" in check:
        door = f"loader=Loader(AccessPolicy(domains={tuple(REDIRECTS['allow'])}))"
        call = f"read_with_images({redirect_server + check['url']!r}, {door})"
        assert peak_megabytes(call) < check["max_memory_mb"]
