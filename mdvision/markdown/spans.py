"""Ranges of a source: lines and table cells as spans, and pieces joined that lead back to it."""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import pairwise
from typing import TYPE_CHECKING

from mdvision.markdown.rules import WHITE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Span = tuple[int, int]
"""First offset, and the offset behind the last."""

_BAR = re.compile(r"(?<!\\)\|")


def match_end(pattern: re.Pattern[str], text: str, at: int) -> int:
    """Where what `pattern` matches at `at` ends; `at` when it does not match."""
    found = pattern.match(text, at)
    return found.end() if found else at


def lines_of(text: str, spans: Sequence[Span]) -> Iterator[Span]:
    """The spans line by line, white space at the front of each left out."""
    for start, end in spans:
        at = start
        while at <= end:
            stop = text.find("\n", at, end)
            stop = end if stop < 0 else stop
            yield min(match_end(WHITE, text, at), stop), stop
            at = stop + 1


def cells(text: str, start: int, end: int) -> list[Span]:
    """The cells of one table row, as source ranges."""
    row = text[start:end].rstrip(" \t")
    bars = [start + bar.start() for bar in _BAR.finditer(row)]
    if not bars or bars[0] != start:
        bars.insert(0, start - 1)
    if bars[-1] != start + len(row) - 1 or len(bars) == 1:
        bars.append(start + len(row))
    return [(left + 1, right) for left, right in pairwise(bars)]


def cell_count(text: str, start: int, end: int) -> int:
    """How many cells a table row has, without making them."""
    row = text[start:end].rstrip(" \t")
    bars = _BAR.findall(row)
    borders = len(bars) + (not row.startswith("|"))
    is_closed = borders > 1 and row.endswith("|") and not row.endswith("\\|")
    return borders - is_closed


def merged(spans: Sequence[Span]) -> list[Span]:
    """The spans in order, those that overlap or hold one another made one."""
    found: list[Span] = []
    for start, end in sorted(spans):
        if found and start < found[-1][1]:
            found[-1] = found[-1][0], max(found[-1][1], end)
        else:
            found.append((start, end))
    return found


class Joined:
    """Pieces of a source as one text, every index of which leads back to the source."""

    __slots__ = ("_sources", "_starts", "text")

    def __init__(self, source: str, pieces: Sequence[Span], joint: str) -> None:
        self.text = joint.join(source[start:end] for start, end in pieces)
        self._sources = [start for start, _ in pieces]  # where each piece begins in the source,
        self._starts = [0]  # and where in the text
        for start, end in pieces[:-1]:
            self._starts.append(self._starts[-1] + end - start + len(joint))

    def source(self, at: int) -> int:
        """The source offset of an index into the text."""
        k = bisect_right(self._starts, at) - 1
        return self._sources[k] + at - self._starts[k]

    def source_end(self, at: int) -> int:
        """The source offset behind what ends before an index into the text."""
        return self.source(at - 1) + 1


class LineEnds:
    """Finds where the line ends in which something ends; a long line is searched once."""

    def __init__(self, text: str) -> None:
        self.text, self.known = text, (0, 0)

    def __call__(self, end: int) -> int:
        """The start of the line after the one in which the character before `end` stands."""
        start, stop = self.known
        if not start < end <= stop:
            stop = self.text.find("\n", end - 1) + 1 or len(self.text)
            self.known = end - 1, stop
        return stop
