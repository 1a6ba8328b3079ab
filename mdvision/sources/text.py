"""Bytes to text: by byte-order mark, else UTF-8, else the best guess, and then it is said."""

from __future__ import annotations

import codecs
from typing import NamedTuple

from mdvision.errors import Code, Issue, failure, issue
from mdvision.images.sniff import binary_kind

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16, whose mark it begins with
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_COMMONEST = "cp1252"  # of the encodings that are not UTF-8 (https://encoding.spec.whatwg.org/)
_SAMPLE_BYTES = 65_536
_MOSTLY = 0.7  # of every other byte: UTF-16 of the Latin alphabet
_AT_MOST = 0.6  # of all bytes: more zeros are no text


class DecodedText(NamedTuple):
    """A text and how it was decoded."""

    text: str
    encoding: str
    """Python's name of the codec: "utf-8"."""
    issues: tuple[Issue, ...]


def decode_text(data: bytes, name: str) -> DecodedText:
    r"""Decode a text file; the byte-order mark is dropped, line ends stay as they are.

    Without a mark: UTF-16 when every other byte is mostly NUL, else UTF-8, else the best guess of
    charset-normalizer, else cp1252.

    >>> decode_text("Grüße".encode("utf-16"), "a.md").text
    'Grüße'

    Raises:
        UnsupportedFormatError: the bytes are those of a picture, an archive or a program.
    """
    if kind := binary_kind(data):
        message = f"{name} is no text: it holds {kind} data."
        raise failure(Code.SOURCE_UNSUPPORTED, message, details={"reason": "binary"})
    for mark, encoding in _BOMS:
        if data.startswith(mark):
            return _decoded(data[len(mark) :], encoding, guessed=False)
    if encoding := _unmarked_utf16(data[:_SAMPLE_BYTES]):
        return _decoded(data, encoding, guessed=True)
    try:
        return DecodedText(data.decode(), "utf-8", ())
    except UnicodeDecodeError as error:
        return _decoded(data, _guess(data, error.start), guessed=True)


def _decoded(data: bytes, encoding: str, *, guessed: bool) -> DecodedText:
    try:
        text, replaced = data.decode(encoding), False
    except UnicodeDecodeError:
        text, replaced = data.decode(encoding, "replace"), True
    if not guessed and not replaced:
        return DecodedText(text, encoding, ())
    how = "with bytes that do not fit replaced by U+FFFD" if replaced else "by a guess"
    details = {"reason": "replaced" if replaced else "guessed"}
    found = issue(Code.ENCODING_GUESSED, f"Read as {encoding}, {how}.", details=details)
    return DecodedText(text, encoding, (found,))


def _unmarked_utf16(sample: bytes) -> str:
    if sample.count(0) >= _AT_MOST * len(sample):
        return ""
    for zeros, encoding in ((sample[1::2], "utf-16-le"), (sample[::2], "utf-16-be")):
        if zeros and zeros.count(0) >= _MOSTLY * len(zeros):
            return encoding
    return ""


def _guess(data: bytes, bad: int) -> str:
    """The likeliest encoding, judged by what surrounds the first byte that is not UTF-8."""
    import charset_normalizer  # slow to import, and seldom needed

    start = max(0, bad - _SAMPLE_BYTES // 2)
    matches = list(charset_normalizer.from_bytes(data[start : start + _SAMPLE_BYTES]))
    if not matches:
        return _COMMONEST
    best = matches[0]
    as_good = [m for m in matches if (m.chaos, m.coherence) == (best.chaos, best.coherence)]
    if any(_COMMONEST in match.could_be_from_charset for match in as_good):
        return _COMMONEST  # a few accents look the same to it in every code page of the West
    try:
        data.decode(best.encoding)
    except UnicodeDecodeError:
        return _COMMONEST
    return best.encoding
