"""How a slice of a document is given: where it is cut, and where each picture stands in it."""

from __future__ import annotations

from bisect import bisect_right
from itertools import takewhile
from typing import TYPE_CHECKING, NamedTuple

from mdvision.limits import MAX_REFERENCE_CHARS
from mdvision.markdown.blocks import scan
from mdvision.markdown.leaves import HEADING, SETEXT
from mdvision.markdown.links import is_data

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mdvision.markdown.outline import Outline
    from mdvision.markdown.pictures import Picture


class Piece(NamedTuple):
    """A stretch of the text, or the place of a picture."""

    start: int
    end: int
    """Offsets in the parsed text; of a picture, those of the syntax that left the text."""
    picture: int | None = None
    """Index of the picture among those laid out; None for text."""


def leaves_text(picture: Picture) -> bool:
    """Whether the picture's own syntax is so long that it leaves the text once it is shown."""
    if picture.kind == "reference":  # the address stands elsewhere
        return False
    if picture.kind == "svg":  # the drawing itself
        return picture.end - picture.start > MAX_REFERENCE_CHARS
    return is_data(picture.source) or len(picture.source) > MAX_REFERENCE_CHARS


def lay_out(start: int, end: int, pictures: Sequence[Picture]) -> list[Piece]:
    """Divide a slice into text and places of pictures, in order and without a gap.

    A picture stands behind its syntax, or behind the construct that it would tear (`settle`). One
    whose syntax leaves the text stands exactly there, and those before it do not come after it.
    """
    places = _places(end, pictures)
    pieces: list[Piece] = []
    at = start
    for k, (picture, place) in enumerate(zip(pictures, places, strict=True)):
        if place > at:
            pieces.append(Piece(at, place))
            at = place
        after = picture.end if leaves_text(picture) else at
        pieces.append(Piece(at, after, k))
        at = after
    if end > at:
        pieces.append(Piece(at, end))
    return pieces


def _places(end: int, pictures: Sequence[Picture]) -> list[int]:
    places: list[int] = []
    bound = end  # where the next picture stands whose syntax leaves the text
    for picture in reversed(pictures):
        if leaves_text(picture):
            bound = picture.start
            places.append(bound)
        else:
            places.append(min(picture.settle, bound))
    return places[::-1]


def cut_at(outline: Outline, start: int, end: int, max_chars: int) -> int:
    """Where a slice of more than `max_chars` characters is cut; `end` when it is not.

    At a block's end; a block that is longer by itself, at a line's end; a line that is longer by
    itself is given whole. Syntax that leaves the text does not count.
    """
    source, room = outline.source, max_chars
    limit = source.within(start, room)
    for picture in outline.pictures_in(start, end):
        if picture.start >= limit:
            break
        if leaves_text(picture):
            room += picture.end - picture.start
            limit = source.within(start, room)
    if limit >= end:
        return end
    starts = source.line_starts
    line = bisect_right(starts, limit)  # the number of the line in which the limit lies
    first = bisect_right(starts, start)
    by_line = starts[line - 1] if line > first else source.line_end(first)
    fitting = takewhile(lambda block_end: block_end <= limit, _block_ends(outline, start))
    by_block = max(fitting, default=start)
    return by_block if by_block > start else _off_pictures(outline, start, by_line)


def _off_pictures(outline: Outline, start: int, cut: int) -> int:
    """A cut between lines, moved before the picture whose syntax it would tear, or behind it."""
    source = outline.source
    while picture := outline.picture_across(cut):
        before = source.line_starts[source.line_at(picture.start) - 1]
        if before > start and not outline.picture_across(before):
            return before
        cut = source.line_end(source.line_at(picture.end - 1))
    return cut


def _block_ends(outline: Outline, start: int) -> Iterator[int]:
    """The ends of the leaf blocks behind `start`, in order; none parts a title from its text."""
    if start < outline.body_start:
        yield outline.body_start
    k = bisect_right(outline.starts, start)
    known = outline.starts[k - 1] if k else outline.body_start  # no container is open there
    for leaf in scan(outline.scanned, known):
        if leaf.end > start and leaf.kind not in (HEADING, SETEXT):
            yield leaf.end
