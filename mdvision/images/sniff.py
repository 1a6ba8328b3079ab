"""What bytes are, by the bytes alone: the name of a file is never asked."""

from __future__ import annotations

import codecs
import re

from mdvision.images.markup import first_element

RASTER = frozenset(
    {
        "PNG",
        "JPEG",
        "GIF",
        "WebP",
        "AVIF",
        "HEIC",
        "TIFF",
        "BMP",
        "ICO",
        "JPEG 2000",
        "QOI",
        "PPM",
        "PSD",
    }
)
"""Kinds that are pictures made of pixels, whether the codec reads them or not."""

SVG = "SVG"

_MAGIC: tuple[tuple[re.Pattern[bytes], str], ...] = tuple(
    (re.compile(pattern, re.DOTALL), kind)
    for pattern, kind in (
        (rb"\x89PNG\r\n\x1a\n", "PNG"),
        (rb"\xff\xd8\xff", "JPEG"),
        (rb"GIF8[79]a.{0,6}[\x00-\x08\x0e-\x1f]", "GIF"),  # text has none of these
        (rb"RIFF.{4}WEBPVP8[ LX]", "WebP"),
        (rb"\x00.{3}ftyp(?:avif|avis|(?:mif1|msf1|miaf).{4}(?:.{4}){0,8}avi[fs])", "AVIF"),
        (rb"\x00.{3}ftyp(?:hei[cxms]|hev[cxms]|mif1|msf1)", "HEIC"),
        (rb"II\*\x00|MM\x00\*|II\+\x00|MM\x00\+", "TIFF"),
        (rb"BM.{4}\x00\x00\x00\x00.{4}[\x0c\x28\x34\x38\x40\x6c\x7c]\x00\x00\x00", "BMP"),
        (rb"\x00\x00\x01\x00[^\x00]\x00", "ICO"),
        (rb"\x00\x00\x00\x0cjP  \r\n\x87\n|\xff\x4f\xff\x51", "JPEG 2000"),
        (rb"qoif.{8}[\x03\x04][\x00\x01]", "QOI"),
        (rb"P[1-6]\s+(?:#[^\n]*\n\s*)*[0-9]+\s+(?:#[^\n]*\n\s*)*[0-9]+\s", "PPM"),
        (rb"8BPS\x00[\x01\x02]", "PSD"),
        (rb"%PDF-[0-9]\.[0-9](?![ \t]+\w)", "PDF"),  # "%PDF-1.7 is a version" is text
        (rb"PK(?:\x03\x04|\x05\x06|\x07\x08)", "ZIP"),
        (rb"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "OLE"),
        (rb"\x1f\x8b\x08", "gzip"),
        (rb"\x7fELF[\x01\x02][\x01\x02]", "ELF"),
    )
)
_SVG = re.compile(rb"<(?:\w+:)?svg[\s>/]", re.IGNORECASE)
_SVG_DOCTYPE = re.compile(rb"<!doctype\s+svg[^>\[]*(?:\[[^\]]*\]\s*)?>", re.IGNORECASE)
_HTML = re.compile(rb"<(?:!doctype\s+html|html|head|body)\b", re.IGNORECASE)
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1f]")
_GIT_LFS = re.compile(
    rb"version https://git-lfs\.github\.com/spec/v1\r?\n"
    rb"(?:[a-z0-9.-]+ [^\n]+\n)*?size ([0-9]+)\r?\n?"  # CRLF: where git changed line ends
)
_SNIFFED_BYTES = 65_536
_HEAD_BYTES = 1_024
_POINTER_BYTES = 1_024
_PLAIN_PPM = (b"P1", b"P2", b"P3")


def sniff(data: bytes) -> str:
    """What the bytes are: "PNG", "PDF", "SVG", "HTML", ...; "" when nothing is recognised.

    >>> sniff(b"%PDF-1.7"), sniff(b"<svg xmlns='x'/>"), sniff(b"# Title")
    ('PDF', 'SVG', '')
    """
    head = data[:_SNIFFED_BYTES]
    for magic, kind in _MAGIC:
        if magic.match(head):
            return kind
    start = first_element(head)
    while doctype := _SVG_DOCTYPE.match(head, start):
        start = first_element(head, doctype.end())
    if _SVG.match(head, start):
        return SVG
    return "HTML" if _HTML.match(head, start) else ""


def binary_kind(data: bytes) -> str:
    """The kind of a file that is certainly no text; "" when it may be one.

    A PPM picture in plain figures counts as text, and so does what only begins like one in bytes.
    """
    head = data[:_HEAD_BYTES]
    kind = sniff(head)
    if kind == "PPM":
        return "" if head.startswith(_PLAIN_PPM) or _may_be_text(head) else kind
    return "" if kind in (SVG, "HTML") else kind


def _may_be_text(head: bytes) -> bool:
    """Whether bytes may begin a text in UTF-8: its last character may be cut off."""
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return False
    return not _CONTROL.search(head)


def git_lfs_size(data: bytes) -> int | None:
    """The size that a Git LFS pointer stands for; None when the bytes are none.

    The format: https://github.com/git-lfs/git-lfs/blob/main/docs/spec.md.
    """
    found = _GIT_LFS.match(data) if len(data) <= _POINTER_BYTES else None
    return int(found[1]) if found else None
