"""White space counted in columns, where a tab reaches to the next multiple of four.

An index says where in the text something stands, a column for what it counts; within a tab that is
used by half the column runs ahead while the index waits (CommonMark 0.31.2, section 2.2).
"""

from __future__ import annotations

from mdvision.markdown.rules import SPACES, WHITE
from mdvision.markdown.spans import match_end

TAB_COLUMNS = 4
CODE_COLUMNS = 4
"""Indent from which on a line is indented code."""


def indented(text: str, at: int, column: int) -> tuple[int, int]:
    """(index, column) of the first character from `at` on that is no space or tab."""
    if text[at] not in " \t":
        return at, column
    end = match_end(SPACES, text, at)
    if text[end] != "\t":
        return end, column + end - at
    end = match_end(WHITE, text, at)
    for k in range(at, end):
        column += _width(text[k], column)
    return end, column


def advanced(text: str, at: int, column: int, width: int) -> tuple[int, int]:
    """(index, column) `width` columns on through white space; a wider tab stays where it is."""
    goal = column + width
    while column < goal and text[at] in " \t":
        wide = _width(text[at], column)
        if column + wide > goal:
            return at, goal
        at, column = at + 1, column + wide
    return at, column


def _width(c: str, column: int) -> int:
    return TAB_COLUMNS - column % TAB_COLUMNS if c == "\t" else 1
