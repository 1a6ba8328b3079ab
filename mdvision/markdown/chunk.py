"""Chunks: a document cut into pieces to embed, at borders that a reader would choose.

A chunk never crosses a heading. Within a section it ends at a block's end; tables, fences and `$$`
blocks stay whole while they fit, and are cut at rows or lines when they do not; a line that is
too long by itself is cut between words, and a word within.
"""

from __future__ import annotations

import hashlib
import json
import re
from bisect import bisect_left, bisect_right
from functools import partial
from typing import TYPE_CHECKING

from mdvision.errors import Code, failure
from mdvision.markdown.blocks import scan
from mdvision.markdown.leaves import CODE, FENCE, HTML, TABLE
from mdvision.markdown.mdx import is_mdx
from mdvision.markdown.outline import image_reference, outline
from mdvision.markdown.rules import BLANK_LINES
from mdvision.markdown.select import PATH_SEPARATOR
from mdvision.model import Chunk

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from mdvision.markdown.leaves import Leaf
    from mdvision.markdown.outline import Outline
    from mdvision.markdown.spans import Span

_MATH_MARK = re.compile(r"(?P<opens>^[ \t]*)?\$\$", re.MULTILINE)
_MOST_HEAD_CHARS = 2_000  # of a table's header that each of its pieces repeats
_VISIBLE = re.compile(r"\S")
_LAST_SPACE = re.compile(r"\s(?=\S*\Z)")


def chunk_markdown(
    text: str,
    *,
    path: str | None = None,
    max_size: int = 2000,
    overlap: int = 0,
    length: Callable[[str], int] = len,
) -> tuple[Chunk, ...]:
    r"""Cut a markdown text into chunks.

    Every character that is not white space stands in a chunk, and `text[char_start:char_end]` is
    the chunk's text. White space between chunks is left out.

    Args:
        text: the document.
        path: where it lies; part of each chunk's id.
        max_size: no chunk is longer, as `length` measures it.
        overlap: at most so much of the text before a chunk is repeated at its beginning, in whole
            lines of the same section, unless a block that fits would not be whole then.
        length: measures a text: characters by default, or a tokenizer's count.

    >>> chunks = chunk_markdown("# A\n\nOne.\n\n## B\n\nTwo.\n")
    >>> [(chunk.section_path, chunk.text) for chunk in chunks]
    [(('A',), '# A\n\nOne.'), (('A', 'B'), '## B\n\nTwo.')]

    Raises:
        InvalidInputError: `max_size` is below 1, or `overlap` not between 0 and `max_size`.
    """
    if max_size < 1 or not 0 <= overlap < max_size:
        message = "max_size must be at least 1, and overlap at least 0 and below max_size."
        raise failure(Code.INPUT_INVALID, message, details={"reason": "max_size"})
    parsed = outline(text, mdx=is_mdx(path or ""))
    cutter = _Cutter(parsed, max_size, overlap, length)
    described = _Describer(text, path, parsed, cutter.tables)
    return tuple(
        described.chunk(index, k, span)
        for index, (k, span) in enumerate(
            (k, span)
            for k, section in enumerate(parsed.own_lines(), start=-1)
            for span in cutter.spans(*section)
        )
    )


class _Cutter:
    """Finds where to cut; offsets are those of the parsed text."""

    def __init__(
        self, parsed: Outline, max_size: int, overlap: int, length: Callable[[str], int]
    ) -> None:
        self.source, self.text = parsed.source, parsed.source.text
        self.max_size, self.overlap, self.length = max_size, overlap, length
        self.reach = len(self.text)
        self.line_ends = [*parsed.source.line_starts[1:], len(self.text)]
        self.tables: list[Leaf] = []
        code: list[Span] = []
        ends = [parsed.body_start] if parsed.body_start else []
        for leaf in scan(parsed.scanned, parsed.body_start):
            ends.append(leaf.end)
            if leaf.kind == TABLE:
                self.tables.append(leaf)
            elif leaf.kind in (FENCE, CODE, HTML):
                code.append((leaf.start, leaf.end))
        self.block_ends = _outside(ends, _math(self.text, code))

    def spans(self, start: int, end: int) -> Iterator[Span]:
        """Cut one section."""
        at = start
        while _VISIBLE.search(self.text, at, end):
            blank = BLANK_LINES.match(self.text, at, end)
            at = blank.end() if blank else at
            first, cut = at, self._cut(at, at, end)
            if not _VISIBLE.search(self.text, at, cut):
                at = cut  # white space that is no blank line
                continue
            repeated = self._overlapping(start, at)
            if repeated < at and (shorter := self._cut(repeated, at, end, cut)):
                first, cut = repeated, shorter
            yield first, at + len(self.text[at:cut].rstrip())
            at = cut

    def _cut(self, first: int, at: int, end: int, whole: int = 0) -> int:
        """Where the chunk ends that begins at `first` and has new text from `at` on.

        The furthest border of the best kind. With `whole`, where it would end without the text
        before `at`, 0 when that text would make it tear a block, or a line.
        """
        self.reach = self._reach(first, end)
        limit = end
        for ends in (self.block_ends, self.line_ends):
            k = bisect_right(ends, at)
            count = bisect_left(ends, limit) - k
            border = partial(_border, ends, k, count, limit)
            if cut := self._furthest(first, border, count + 1):
                return cut
            limit = border(0)  # the block, then the line, that is too long by itself
            if whole >= limit:
                return 0
        cut = self._furthest(first, lambda k: at + 1 + k, limit - at) or (0 if whole else at + 1)
        space = _LAST_SPACE.search(self.text, at, cut) if cut else None
        return space.end() if space else cut

    def _furthest(self, at: int, border: Callable[[int], int], count: int) -> int:
        """The last of `count` borders up to which the text fits, or 0, by doubling and halving."""
        step = 1
        while step <= count and self._fits(at, border(step - 1)):
            step *= 2
        low, high = step // 2, min(step, count + 1)  # `low` borders fit; `high` do not
        while high - low > 1:
            middle = (low + high) // 2
            if self._fits(at, border(middle - 1)):
                low = middle
            else:
                high = middle
        return border(low - 1) if low else 0

    def _reach(self, at: int, end: int) -> int:
        """An offset up to which the text no longer fits: none further is measured."""
        step = self.max_size
        while at + step < end and self._measured(at, at + step) <= self.max_size:
            step *= 2
        return min(at + step, end)

    def _fits(self, start: int, end: int) -> bool:
        return end <= self.reach and self._measured(start, end) <= self.max_size

    def _measured(self, start: int, end: int) -> int:
        return self.length(self.source.stored(start, end).rstrip())

    def _overlapping(self, earliest: int, at: int) -> int:
        """The start of the first line that is not blank from which the text is repeated."""
        if not self.overlap:
            return at
        starts = self.source.line_starts
        start = at
        for k in reversed(range(bisect_left(starts, earliest), bisect_left(starts, at))):
            if self.length(self.source.stored(starts[k], at)) > self.overlap:
                break
            if _VISIBLE.search(self.text, starts[k], self.line_ends[k]):
                start = starts[k]
        return start


def _border(ends: Sequence[int], first: int, count: int, limit: int, k: int) -> int:
    """The k-th border: one of `count` ends from index `first` on, and `limit` as the last."""
    return ends[first + k] if k < count else limit


def _math(text: str, code: Sequence[Span]) -> Iterator[Span]:
    """The `$$` blocks: from a line that begins with the mark to the line of the next mark."""
    opened: int | None = None
    starts = [start for start, _ in code]
    for mark in _MATH_MARK.finditer(text):
        k = bisect_right(starts, mark.start()) - 1
        if k >= 0 and mark.start() < code[k][1]:
            continue
        if opened is not None:
            line_end = text.find("\n", mark.end())
            yield opened, len(text) if line_end < 0 else line_end + 1
            opened = None
        elif mark["opens"] is not None:
            opened = mark.start()


def _outside(ends: Sequence[int], protected: Iterator[Span]) -> list[int]:
    """The ends that lie within none of the protected spans; both are in order."""
    kept: list[int] = []
    span = next(protected, None)
    for end in ends:
        while span and span[1] <= end:
            span = next(protected, None)
        if not (span and span[0] < end):
            kept.append(end)
    return kept


class _Describer:
    """Adds to a chunk's text what it takes to cite it."""

    def __init__(self, text: str, path: str | None, parsed: Outline, tables: list[Leaf]) -> None:
        self.text, self.path, self.parsed, self.tables = text, path, parsed, tables
        self.table_starts = [table.start for table in tables]
        self.picture_starts = [picture.start for picture in parsed.pictures]
        self.shift = len(text) - len(parsed.source.original)  # a byte-order mark

    def chunk(self, index: int, row_index: int, span: Span) -> Chunk:
        """Describe the chunk that lies at `span` in the section of a row (-1: before the first)."""
        first, last = span
        source, rows = self.parsed.source, self.parsed.rows
        row = rows[row_index] if row_index >= 0 else None
        path = row.section_path if row else ()
        start = source.stored_offset(first) + self.shift
        end = source.stored_offset(last) + self.shift
        text = self.text[start:end]
        identity = json.dumps((self.path, path, index, text))
        pictures = self.parsed.pictures[
            bisect_left(self.picture_starts, first) : bisect_left(self.picture_starts, last)
        ]
        return Chunk(
            id=hashlib.sha256(identity.encode("ascii")).hexdigest(),
            index=index,
            text=text,
            char_start=start,
            char_end=end,
            heading=row.heading if row else "",
            section_title=path[-1] if path else "",
            section_path=path,
            slug=row.slug if row else "",
            section_start_line=row.line_start if row else 1,
            section_end_line=row.line_end if row else self._preamble_end(),
            chunk_start_line=source.line_at(first),
            chunk_end_line=source.line_at(last - 1),
            images=tuple(image_reference(picture) for picture in pictures),
            context=self._context(path, first),
        )

    def _preamble_end(self) -> int:
        rows = self.parsed.rows
        return rows[0].line_start - 1 if rows else self.parsed.source.line_count

    def _context(self, path: tuple[str, ...], at: int) -> str:
        """What a text that begins at `at` needs to stand alone."""
        context = PATH_SEPARATOR.join(path)
        k = bisect_left(self.table_starts, at) - 1
        if k >= 0 and at < self.tables[k].end:
            source, start = self.parsed.source.text, self.tables[k].start
            head = source[start : source.find("\n", source.find("\n", start) + 1)]
            head = head if len(head) <= _MOST_HEAD_CHARS else ""
            context = f"{context}\n{head}" if context else head
        return context
