"""Cells of table rows, and pieces joined."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mdvision.markdown.spans import Joined, cell_count, cells, merged


@pytest.mark.parametrize(
    ("row", "wanted"),
    [
        ("a|b", ["a", "b"]),
        ("|a|b|", ["a", "b"]),
        ("| a | b | ", [" a ", " b "]),
        ("|a", ["a"]),
        ("a|", ["a"]),
        ("a", ["a"]),
        ("|", [""]),
        ("||", [""]),
        (r"a\|b|c", [r"a\|b", "c"]),
        (r"|a\|", [r"a\|"]),
        ("", [""]),
    ],
)
def test_cells(row: str, wanted: list[str]) -> None:
    assert [row[start:end] for start, end in cells(row, 0, len(row))] == wanted


@given(st.text(alphabet="|a \\"))
def test_cells_are_counted_as_they_are_made(row: str) -> None:
    assert cell_count(row, 0, len(row)) == len(cells(row, 0, len(row)))


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(1, 9)), max_size=8))
def test_merged_spans_cover_the_same(pairs: list[tuple[int, int]]) -> None:
    spans = [(start, start + size) for start, size in pairs]
    found = merged(spans)
    assert {k for a, b in spans for k in range(a, b)} == {k for a, b in found for k in range(a, b)}
    assert all(a[1] <= b[0] for a, b in pairwise(found))


def test_joined_pieces_lead_back() -> None:
    source = "> one\n> two"
    joined = Joined(source, [(2, 5), (8, 11)], "\n")
    assert joined.text == "one\ntwo"
    for at, c in enumerate(joined.text):
        assert c == "\n" or source[joined.source(at)] == c
    assert joined.source_end(3) == 5
    assert joined.source_end(7) == 11
