"""Where a slice is cut and where pictures stand in it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mdvision.markdown.outline import outline
from mdvision.markdown.split import cut_at, lay_out, leaves_text

LONG = "https://x.test/" + "p" * 512
DATA = "data:image/png;base64,AAAA"
FRAGMENTS = st.sampled_from(
    [
        "![a](a.png) ", "[![b](b.png)](u) ", f"![d]({DATA}) ", f"[![e]({DATA})](u) ", f"![l]({LONG})\n",
        "*![f](f.png)*\n", "# ![h](h.png)\n", "| ![t](t.png) | ![u](u.png) |\n|---|---|\n| x | y |\n\n",
        "<figure>\n\n![g](g.png)\n\n</figure>\n\n", "<picture><img src=p.png></picture>\n", "text\n", "\n",
        f"| a |\n|---|\n| ![v](v.png) ![w]({DATA}) |\n\n", "\r\n", "![r]\n\n", "[r]: r.png\n\n",
    ]
)  # fmt: skip


@given(st.lists(FRAGMENTS, max_size=10).map("".join))
def test_pieces_are_the_slice_in_order(text: str) -> None:
    parsed = outline(text)
    size = len(parsed.source.text)
    pieces = lay_out(0, size, parsed.pictures)
    at = 0
    for piece in pieces:
        assert piece.start == at
        assert piece.picture is not None or piece.end > piece.start
        at = piece.end
    assert at == size
    assert [p.picture for p in pieces if p.picture is not None] == list(range(len(parsed.pictures)))
    for piece in pieces:
        if piece.picture is None:
            continue
        picture = parsed.pictures[piece.picture]
        if leaves_text(picture):
            assert (piece.start, piece.end) == (picture.start, picture.end)
        else:
            assert piece.start == piece.end >= picture.end or any(
                leaves_text(later) and later.start == piece.start for later in parsed.pictures
            )


def place(text: str, number: int = 0) -> str:
    """The text before a picture's place."""
    parsed = outline(text)
    pieces = lay_out(0, len(parsed.source.text), parsed.pictures)
    (at,) = [piece.start for piece in pieces if piece.picture == number]
    return parsed.source.text[:at]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("x ![a](a.png)", " y\n"),
        ("x [![a](a.png)](u) y\n", "z\n"),
        ("x **b ![a](a.png) b** y\n", "z\n"),
        ("# t ![a](a.png) u\n", "z\n"),
        ("t ![a](a.png)\nu\n===\n", "z\n"),
        ("| a |\n|---|\n| ![a](a.png) |\n| z |\n", "\nz\n"),
        ("<table><tr><td>\n\n![a](a.png)\n\n</td></tr></table>\n", "\nz\n"),
        ("<figure>\n\n![a](a.png)\n\n<figcaption>c</figcaption>\n</figure>\n", "\nz\n"),
        ("x <a href=u>\n![a](a.png)</a> y\n", "z\n"),
        ("<a name=x>\n\n![a](a.png)", "\n\nz\n"),
        ("<picture>\n<source srcset=b.webp>\n<img src=a.png>\n</picture>\n", "\nz\n"),
    ],
)
def test_a_picture_tears_nothing(before: str, after: str) -> None:
    assert place(before + after) == before


def test_order_is_kept_when_an_earlier_picture_stands_late() -> None:
    text = "[![a](a.png)](u) ![b](b.png) c\nd\n"
    assert place(text, 0) == place(text, 1) == "[![a](a.png)](u) ![b](b.png) c\n"


def pages(text: str, size: int) -> list[str]:
    parsed = outline(text)
    found, at, end = [], 0, len(parsed.source.text)
    while at < end:
        cut = cut_at(parsed, at, end, size)
        assert cut > at
        found.append(parsed.source.text[at:cut])
        at = cut
    return found


@given(st.lists(FRAGMENTS, max_size=10).map("".join), st.integers(1, 80))
def test_pages_join_to_the_whole(text: str, size: int) -> None:
    parsed = outline(text)
    found = pages(text, size)
    assert "".join(found) == parsed.source.text
    for page in found[:-1]:
        assert page.endswith("\n")


@pytest.mark.parametrize(
    ("size", "first"),
    [
        (100, "one\n\ntwo\ntwo\n\n- a\n- b\n\nlong line of text\n"),
        (40, "one\n\ntwo\ntwo\n\n- a\n- b\n"),
        (15, "one\n\ntwo\ntwo\n"),
        (13, "one\n\ntwo\ntwo\n"),
        (12, "one\n"),
        (3, "one\n"),
        (1, "one\n"),
    ],
)
def test_where_a_page_ends(size: int, first: str) -> None:
    assert pages("one\n\ntwo\ntwo\n\n- a\n- b\n\nlong line of text\n", size)[0] == first


def test_a_block_that_is_too_long_is_cut_at_a_line() -> None:
    assert pages("aaaa\nbbbb\ncccc\n", 11) == ["aaaa\nbbbb\n", "cccc\n"]


def test_what_leaves_the_text_does_not_count() -> None:
    text = f"![a]({DATA}{'A' * 100})\n\nsecond\n\nthird\n"
    assert pages(text, 12)[0] == text.removesuffix("\nthird\n")
