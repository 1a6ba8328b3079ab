"""What bytes are: signatures, text that looks like one, and time in proportion to length."""

from __future__ import annotations

import io
import time

import pytest
from PIL import Image

from mdvision.images.sniff import binary_kind, git_lfs_size, sniff

PADDING = b"\x01\x02\x03\x04" * 10


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"\x00\x00\x00\x20ftypavif" + PADDING, "AVIF"),
        (b"\x00\x00\x00\x20ftypmif1\0\0\0\0mif1miafavif", "AVIF"),
        (b"\x00\x00\x00\x20ftypmif1\0\0\0\0mif1heic", "HEIC"),
        (b"\x00\x00\x00\x18ftypheic" + PADDING, "HEIC"),
        (b"8BPS\0\1" + PADDING, "PSD"),
        (b"%PDF-1.7\n%\xe2\xe3", "PDF"),
        (b"%PDF-1.4 \n1 0 obj", "PDF"),
        (b"PK\x03\x04" + PADDING, "ZIP"),
        (b"\x1f\x8b\x08\0", "gzip"),
        (b"\x7fELF\x02\x01\x01", "ELF"),
        (b"GIF89a\x01\x01\x01\x01\xf7\x01\x31", "GIF"),  # no NUL in its head
        (b"II+\0\x08\0\0\0", "TIFF"),
        (b"RIFF\x10\0\0\0WEBPVP8X", "WebP"),
        (b"RIFF\x10\0\0\0WAVEfmt ", ""),
        (b"\0" * 40, ""),
        (b"", ""),
    ],
)
def test_signatures(data: bytes, kind: str) -> None:
    assert sniff(data) == kind
    assert binary_kind(data) == kind


@pytest.mark.parametrize("version", ["87a", "89a"])
@pytest.mark.parametrize("size", [(1, 1), (257, 257), (320, 200), (2000, 1025), (3338, 10)])
def test_gifs_of_any_size(version: str, size: tuple[int, int]) -> None:
    out = io.BytesIO()
    Image.new("L", size).save(out, "GIF")
    assert sniff(b"GIF" + version.encode() + out.getvalue()[6:]) == "GIF"


@pytest.mark.parametrize(
    "text",
    [
        "BM is a bank",
        "BM" + " x" * 40,
        "P1 is a format",
        "P6 is a format",
        "II* x",
        "MM* x",
        "II\N{MICRO SIGN}",
        "GIF89a is a format",
        "GIF89a\n======\n",
        "GIF87a – older",
        "qoif is quite OK",
        "RIFF 123WEBP is a container of pictures",
        "RIFFabcdWEBP",
        "abcdftypavif is a brand",
        "%PDF-1.7 is a version",
        "%PDF- begins a document",
        "8BPS begins a document",
        "PK is a key",
        "\ufeff# Title",
    ],
)
def test_text_is_no_picture(text: str) -> None:
    assert sniff(text.encode()) == ""
    assert binary_kind(text.encode()) == ""


@pytest.mark.parametrize("text", ["P1 2 3\n", "P6 4 4 255 are the numbers", "<svg>", "<html>"])
def test_markdown_may_begin_so(text: str) -> None:
    assert binary_kind(text.encode()) == ""


@pytest.mark.parametrize(
    "head",
    [
        "",
        "\ufeff",
        "  \n\t",
        "<?xml version='1.0' encoding='UTF-8'?>\n",
        "<!-- made by > hand -->\n<!---->",
        '<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/svg11.dtd">',
        '<!doctype svg [\n<!ENTITY a "b>">\n]>\n',
        "\ufeff<?xml version='1.0'?><!-- a --><!DOCTYPE svg><!-- b -->\n",
    ],
)
@pytest.mark.parametrize("root", ["<svg>", "<svg/>", "<SVG width='1'>", "<svg:svg xmlns:svg='x'>"])
def test_svg(head: str, root: str) -> None:
    assert sniff((head + root).encode()) == "SVG"
    assert sniff((head + root.replace("svg", "svgs").replace("SVG", "SVGS")).encode()) != "SVG"


@pytest.mark.parametrize(
    "text", ["<!DOCTYPE html><p>", "<html lang='en'>", "<!-- a --><head>", "\ufeff\n<BODY>"]
)
def test_html(text: str) -> None:
    assert sniff(text.encode()) == "HTML"


def test_a_pixmap_in_bytes_is_binary() -> None:
    for mode, number in (("1", 4), ("L", 5), ("RGB", 6)):
        for colour in ("black", "white", "gray"):
            out = io.BytesIO()
            Image.new(mode, (40, 30), colour).save(out, "PPM")
            assert out.getvalue().startswith(b"P%d" % number)
            assert binary_kind(out.getvalue()) == "PPM"


def test_a_comment_alone_is_neither() -> None:
    assert sniff(b"<!-- note -->\n# Title\n<svg>") == ""
    assert sniff(b"<htmlish>") == ""


OID = b"oid sha256:" + b"4d7a" * 16


@pytest.mark.parametrize(
    ("data", "size"),
    [
        (b"version https://git-lfs.github.com/spec/v1\n" + OID + b"\nsize 12345\n", 12345),
        (b"version https://git-lfs.github.com/spec/v1\r\n" + OID + b"\r\nsize 12345\r\n", 12345),
        (
            b"version https://git-lfs.github.com/spec/v1\next-0-a sha256:1\n"
            + OID
            + b"\nsize 7\nx 1\n",
            7,
        ),
        (b"version https://git-lfs.github.com/spec/v1\n" + OID + b"\n", None),
        (b"version https://git-lfs.github.com/spec/v1\n" + OID + b"\nsize many\n", None),
        (b"version https://example.org/spec/v1\n" + OID + b"\nsize 1\n", None),
        (
            b"version https://git-lfs.github.com/spec/v1\n" + OID + b"\nsize 1\n" + b"x" * 2000,
            None,
        ),
        (b"", None),
    ],
)
def test_git_lfs_pointers(data: bytes, size: int | None) -> None:
    assert git_lfs_size(data) == size


def seconds(data: bytes) -> float:
    before = time.process_time()
    sniff(data)
    git_lfs_size(data[:1_024])
    return time.process_time() - before


@pytest.mark.parametrize(
    "unit",
    [
        "P6 ", "P6 # \n", "P6 1 # \n#", "P6 1", "<!--", "<!---->", "<!-- -->\n", "<?xml ", "<?xml ?>",
        "<!doctype svg", "<!doctype svg [", "<!doctype svg []", "<!doctype svg>", " ", "\ufeff",
        "<!doctype ", "<a:", "<svg:", "%PDF-1.7 ", "GIF89a", "\n# ", "RIFF", "1", " 1",
    ],
)  # fmt: skip
@pytest.mark.parametrize("start", ["", "P6", "P6 1 ", "<", "<!doctype svg ", "%PDF-1.7"])
def test_time_does_not_grow_faster_than_length(unit: str, start: str) -> None:
    data = (start + unit * 30_000).encode()
    assert seconds(data) < 0.25  # of linear time a hundredth of it
    assert seconds(data * 8) < 0.25  # what is looked at is bounded
