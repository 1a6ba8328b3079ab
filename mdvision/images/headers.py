"""What headers tell that Pillow tells too late, or slowly: sizes, pages, kinds of compression."""

from __future__ import annotations

import io
import struct
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_PNG = b"\x89PNG\r\n\x1a\n"
_ICO_ENTRY = struct.Struct("<8xII")
_DIB_HEADERS = frozenset(size.to_bytes(4, "little") for size in (40, 52, 56, 64, 108, 124))
_PLAIN_PPM = (b"P1", b"P2", b"P3")
_EXIF = b"Exif\0\0"
_MAX_EXIF_PARTS = 100  # a camera writes one
_ANIMATION_FRAME_BYTES = 16  # of an ANMF chunk, before the chunks of the frame itself


def without_slow_parts(data: bytes, kind: str) -> bytes:
    """The same picture without what takes Pillow quadratic time.

    Pillow copies the rest of a plain PPM for every comment in it, and the EXIF data read so far for
    every further part of it: 20 MB of either take minutes.
    """
    if kind == "PPM" and data.startswith(_PLAIN_PPM):
        lines = io.BytesIO(data.replace(b"\r", b"\n"))  # both end a comment
        return b"\n".join(line.partition(b"#")[0] for line in lines)
    if kind == "JPEG" and data.count(_EXIF) > _MAX_EXIF_PARTS:
        return data.replace(_EXIF, bytes(len(_EXIF)))
    return data


def largest_size(data: bytes, kind: str) -> tuple[int, int] | None:
    """The size of an ICO's or WebP's largest picture; None when it is not to be found here.

    Pillow decodes an ICO, and makes room for a WebP, as soon as it is opened.
    """
    try:
        if kind == "ICO":
            return max(_ico_sizes(data), key=lambda size: size[0] * size[1], default=None)
        return _webp_size(data) if kind == "WebP" else None
    except (struct.error, IndexError):
        return None


def _ico_sizes(data: bytes) -> Iterator[tuple[int, int]]:
    """Sizes by the pictures' own headers: the directory's are a byte each, and may be wrong."""
    (count,) = struct.unpack_from("<H", data, 4)
    for number in range(count):
        _, at = _ICO_ENTRY.unpack_from(data, 6 + 16 * number)
        if data.startswith(_PNG, at):
            yield struct.unpack_from(">II", data, at + 16)
        elif data.startswith(b"\x0c\0\0\0", at):
            width, height = struct.unpack_from("<HH", data, at + 4)
            yield width, height // 2  # the mask stands above the picture
        elif data[at : at + 4] in _DIB_HEADERS:
            width, height = struct.unpack_from("<ii", data, at + 4)
            yield abs(width), abs(height) // 2


def _webp_size(data: bytes) -> tuple[int, int] | None:
    """By the first chunk (https://developers.google.com/speed/webp/docs/riff_container)."""
    name = data[12:16]
    if name == b"VP8X":
        return (
            int.from_bytes(data[24:27], "little") + 1,
            int.from_bytes(data[27:30], "little") + 1,
        )
    if name == b"VP8L":
        (bits,) = struct.unpack_from("<I", data, 21)
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    width, height = struct.unpack_from("<HH", data, 26)
    return width & 0x3FFF, height & 0x3FFF


def is_lossy_webp(data: bytes) -> bool:
    """Whether the picture, or the first frame, is lossy: by the kind of its bitstream chunk."""
    at = 12
    while at + 8 <= len(data):
        name = data[at : at + 4]
        if name in (b"VP8 ", b"VP8L"):
            return name == b"VP8 "
        size = int.from_bytes(data[at + 4 : at + 8], "little")
        at += 8 + (_ANIMATION_FRAME_BYTES if name == b"ANMF" else size + size % 2)
    return False


def tiff_pages(data: bytes) -> int:
    """How many directories are chained (TIFF 6.0, section 2; BigTIFF has wider numbers).

    Pillow would read all that is in them.
    """
    order = "<" if data.startswith(b"II") else ">"
    is_big = data[2:4] in (b"+\0", b"\0+")
    count_form, offset_form, entry_bytes = (
        (order + "Q", order + "Q", 20) if is_big else (order + "H", order + "I", 12)
    )
    seen: set[int] = set()
    at_pointer = 8 if is_big else 4
    try:
        while (at := struct.unpack_from(offset_form, data, at_pointer)[0]) and at not in seen:
            (entries,) = struct.unpack_from(count_form, data, at)
            seen.add(at)
            at_pointer = at + struct.calcsize(count_form) + entries * entry_bytes
    except struct.error:
        pass  # the chain ends outside the file
    return len(seen)
