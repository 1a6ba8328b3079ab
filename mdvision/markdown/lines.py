"""A text as it is parsed and as it was stored: line ends made one, every offset kept.

Only LF, CRLF and CR end a line (CommonMark 0.31.2, section 2.1); `str.splitlines` knows more.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left, bisect_right

_CRLF = re.compile("\r\n")
_LF = re.compile("\n")


class SourceText:
    r"""A document's text, as stored and with LF as its only line end.

    A leading byte-order mark is dropped and NUL is U+FFFD in both (CommonMark, section 2.3).

    >>> source = SourceText("# A\r\n\r\ntext\r\n")
    >>> source.text, source.line_count
    ('# A\n\ntext\n', 3)
    >>> source.stored(4, 9)
    '\r\ntext'
    """

    __slots__ = ("_crlf", "_line_starts", "line_count", "original", "text")

    def __init__(self, text: str) -> None:
        self.original = text.removeprefix("\ufeff").replace("\0", "\ufffd")
        self.text = self.original
        self._crlf = array("q")  # where in `text` the line ends stand that were two characters
        self._line_starts: array[int] | None = None
        if "\r" in text:
            pairs = enumerate(_CRLF.finditer(self.original))
            self._crlf.extend(pair.start() - seen for seen, pair in pairs)
            self.text = self.original.replace("\r\n", "\n").replace("\r", "\n")
        ends_open = bool(self.text) and not self.text.endswith("\n")
        self.line_count = self.text.count("\n") + ends_open  # a final line end opens no line

    @property
    def line_starts(self) -> array[int]:
        """The offset in `text` at which each line begins, the first at index 0."""
        if self._line_starts is None:
            starts = array("q", (0,) if self.text else ())
            starts.extend(end.end() for end in _LF.finditer(self.text))
            if starts and starts[-1] == len(self.text):
                starts.pop()
            self._line_starts = starts
        return self._line_starts

    def line_at(self, offset: int) -> int:
        """The 1-based line on which the character at `offset` of `text` stands."""
        return bisect_right(self.line_starts, offset)

    def line_end(self, line: int) -> int:
        """The offset in `text` at which the line after `line` begins, or the end of the text."""
        starts = self.line_starts
        return starts[line] if line < len(starts) else len(self.text)

    def stored_offset(self, offset: int) -> int:
        """The offset in `original` of what stands at `offset` of `text`."""
        return offset + bisect_left(self._crlf, offset)

    def within(self, start: int, count: int) -> int:
        """Up to which offset of `text` at most `count` characters are stored from `start` on."""
        last = min(start + count, len(self.text))
        goal = self.stored_offset(start) + count
        offsets = range(start, last + 1)
        return start + bisect_right(offsets, goal, key=self.stored_offset) - 1

    def stored(self, start: int, end: int) -> str:
        """What stands between two offsets of `text`, with its line ends as stored."""
        return self.original[self.stored_offset(start) : self.stored_offset(end)]
