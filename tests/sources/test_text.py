"""Bytes to text: every encoding that is told by a mark or can be guessed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mdvision.errors import Code, UnsupportedFormatError
from mdvision.sources.text import decode_text

GERMAN = "# Grüße\r\n\r\nÄpfel und Öl, 漢字\n" * 3


@pytest.mark.parametrize(
    ("encoding", "mark"),
    [
        ("utf-8", b""),
        ("utf-8", b"\xef\xbb\xbf"),
        ("utf-16-le", b"\xff\xfe"),
        ("utf-16-be", b"\xfe\xff"),
        ("utf-32-le", b"\xff\xfe\0\0"),
        ("utf-32-be", b"\0\0\xfe\xff"),
    ],
)
def test_marks_and_utf8_need_no_guess(encoding: str, mark: bytes) -> None:
    found = decode_text(mark + GERMAN.encode(encoding), "a.md")
    assert found == (GERMAN, encoding, ())


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf16_without_a_mark_is_seen_by_its_zeros(encoding: str) -> None:
    text = "# Heading\n\nplain words\n"
    found = decode_text(text.encode(encoding), "a.md")
    assert (found.text, found.encoding) == (text, encoding)
    assert [issue.code for issue in found.issues] == [Code.ENCODING_GUESSED]


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        (
            "# Übersicht\n\nDie Größe der Häuser läßt sich schätzen, außer für Äpfel.\n" * 5,
            "cp1252",
        ),
        ("# 見出し\n\nこれは日本語の文章です。図を見てください。\n" * 5, "cp932"),
        ("# заголовок\n\nэто русский текст, смотрите рисунок ниже.\n" * 5, "cp1251"),
    ],
)
def test_other_encodings_are_guessed_and_named(text: str, encoding: str) -> None:
    found = decode_text(text.encode(encoding), "a.md")
    assert found.text == text
    (issue,) = found.issues
    assert issue.code is Code.ENCODING_GUESSED
    assert issue.message == f"Read as {encoding}, by a guess."
    assert issue.details == {"reason": "guessed"}


def test_bytes_that_do_not_fit_are_replaced_and_told() -> None:
    found = decode_text(b"\xff\xfe" + "ok".encode("utf-16-le") + b"\x00\xd8x", "a.md")
    assert found.text.startswith("ok")
    assert found.issues[0].details["reason"] == "replaced"


@pytest.mark.parametrize(
    "data",
    [
        b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n",
        b"PK\x03\x04\x14\0\x06\0",
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
        b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR",
        b"\xff\xd8\xff\xe0\0\x10JFIF\0",
        b"GIF89a\x01\0\x01\0\x80\0\0",
        b"\x1f\x8b\x08\0\0\0\0\0",
        b"\x7fELF\x02\x01\x01\0",
        b"RIFF\x24\0\0\0WEBPVP8 ",
    ],
)
def test_binary_files_are_no_text(data: bytes) -> None:
    with pytest.raises(UnsupportedFormatError, match="a.md"):
        decode_text(data, "a.md")


@pytest.mark.parametrize(
    "text", ["BM is a bank\n", "P6 and P1\n", "PK means public key\n", "II* x\n", "RIFF\n", ""]
)
def test_text_that_begins_like_a_signature_is_text(text: str) -> None:
    assert decode_text(text.encode(), "a.md").text == text


@given(st.binary(max_size=200))
def test_any_bytes_give_a_text_or_say_what_they_are(data: bytes) -> None:
    try:
        found = decode_text(data, "a.md")
    except UnsupportedFormatError:
        return
    assert isinstance(found.text, str)
    found.text.encode()  # no lone surrogate


@pytest.mark.parametrize(
    "kind", [b"P4 8 1\n\x00", b"P5\n2 2\n255\n\xff\xff\xff\xff", b"P6 1 1 255 \xc8\0\0"]
)
def test_a_portable_pixmap_in_bytes_is_no_text(kind: bytes) -> None:
    with pytest.raises(UnsupportedFormatError, match=r"a\.md is no text: it holds PPM data\."):
        decode_text(kind, "a.md")


@pytest.mark.parametrize("text", ["P1 2 1\n1 0\n", "P3 1 1 255 9 9 9", "P6 4 4 255 größer – " * 99])
def test_one_in_figures_is(text: str) -> None:
    assert decode_text(text.encode(), "a.md").text == text
