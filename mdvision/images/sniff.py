"""What bytes are, by the bytes alone: the name of a file is never asked."""

from __future__ import annotations

import re

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
_NOT_SPACE = re.compile(rb"\S|\Z")
_BOM = b"\xef\xbb\xbf"
_GIT_LFS = re.compile(
    rb"version https://git-lfs\.github\.com/spec/v1\r?\n"
    rb"(?:[a-z0-9.-]+ [^\n]+\n)*?size ([0-9]+)\r?\n?"  # CRLF: where git changed line ends
)
_SNIFFED_BYTES = 65_536
_POINTER_BYTES = 1_024


def sniff(data: bytes) -> str:
    """What the bytes are: "PNG", "PDF", "SVG", "HTML", ...; "" when nothing is recognised.

    >>> sniff(b"%PDF-1.7"), sniff(b"<svg xmlns='x'/>"), sniff(b"# Title")
    ('PDF', 'SVG', '')
    """
    head = data[:_SNIFFED_BYTES]
    for magic, kind in _MAGIC:
        if magic.match(head):
            return kind
    head = head.removeprefix(_BOM)
    start = _first_element(head)
    if _SVG.match(head, start):
        return SVG
    return "HTML" if _HTML.match(head, start) else ""


def _first_element(head: bytes) -> int:
    """Where XML's declaration, comments and an SVG's document type end.

    By steps: a pattern for all of it would try every way to part many comments.
    """
    at = 0
    while True:
        found = _NOT_SPACE.search(head, at)
        at = found.start() if found else len(head)
        if doctype := _SVG_DOCTYPE.match(head, at):
            at = doctype.end()
            continue
        close = b"-->" if head.startswith(b"<!--", at) else b"?>"
        end = head.find(close, at) if head.startswith((b"<!--", b"<?xml"), at) else -1
        if end < 0:
            return at
        at = end + len(close)


def binary_kind(data: bytes) -> str:
    """The kind of a file that is certainly no text; "" when it may be one.

    A PPM picture may be written in plain figures, so it counts as text here.
    """
    kind = sniff(data[:_POINTER_BYTES])
    return "" if kind in ("PPM", SVG, "HTML") else kind


def git_lfs_size(data: bytes) -> int | None:
    """The size that a Git LFS pointer stands for; None when the bytes are none.

    The format: https://github.com/git-lfs/git-lfs/blob/main/docs/spec.md.
    """
    found = _GIT_LFS.match(data) if len(data) <= _POINTER_BYTES else None
    return int(found[1]) if found else None
