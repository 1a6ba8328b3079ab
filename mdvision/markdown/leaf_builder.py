"""What the block scanner has in hand: the open containers, the open leaf, and the leaves made."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mdvision.markdown.leaves import DEFINITION, PARAGRAPH, Leaf, OpenLeaf
from mdvision.markdown.links import read_definition
from mdvision.markdown.spans import lines_of

if TYPE_CHECKING:
    from mdvision.markdown.spans import Span


class LeafBuilder:
    """Opens, extends and closes leaves; which line does what, the scanner decides."""

    def __init__(self, text: str, start: int = 0, line: int = 1) -> None:
        self.text = text if text.endswith("\n") else text + "\n"
        self.size = len(text)
        self.pos: int = start  # where the current line begins
        self.line: int = line
        self.stack: list[tuple[int, int]] = []  # open containers, outermost first
        self.leaf: OpenLeaf | None = None
        self.done: list[Leaf] = []
        self.nesting_limit_reached = False

    def open(self, kind: str, depth: int, eol: int, spans: list[Span]) -> OpenLeaf:
        """Open a leaf that begins with the current line."""
        self.end_unclaimed(depth)
        self.leaf = OpenLeaf(kind, self.line, self.pos, eol + 1, depth, spans)
        return self.leaf

    def extend(self, leaf: OpenLeaf, eol: int) -> None:
        """The current line belongs to the open leaf."""
        leaf.last, leaf.end = self.line, eol + 1

    def end_unclaimed(self, depth: int) -> None:
        """The open leaf and the containers that did not claim this line are over."""
        if self.leaf:
            self.close()
        del self.stack[depth:]

    def close(self) -> None:
        """The open leaf is over; of a paragraph that is all definitions nothing is left."""
        leaf, self.leaf = self.leaf, None
        if leaf and (leaf.kind != PARAGRAPH or self._take_definitions(leaf)):
            self.put(leaf.kind, leaf)

    def put(self, kind: str, leaf: OpenLeaf, level: int = 0) -> None:
        """Give a leaf out."""
        place = leaf.line, leaf.last, leaf.start, min(leaf.end, self.size), leaf.depth
        self.done.append(Leaf(kind, *place, leaf.spans, level, leaf.columns))

    def put_line(self, kind: str, eol: int, depth: int, span: Span, level: int = 0) -> bool:
        """Give out a leaf of this line alone."""
        self.end_unclaimed(depth)
        end = min(eol + 1, self.size)
        self.done.append(Leaf(kind, self.line, self.line, self.pos, end, depth, [span], level))
        return True

    def _take_definitions(self, leaf: OpenLeaf) -> bool:
        """Turn link definitions at the front of a paragraph into leaves; tells if text is left."""
        if self.text[leaf.spans[0][0]] != "[":
            return True
        lines = list(lines_of(self.text, leaf.spans))
        joined, at, first = "\n".join(self.text[a:b] for a, b in lines), 0, 0
        while found := read_definition(joined, at):
            end, definition = found
            count = joined.count("\n", at, end) + (end == len(joined))
            spans = lines[first : first + count]
            stop = spans[-1][1] + 1
            place = leaf.line, leaf.line + count - 1, leaf.start, min(stop, self.size), leaf.depth
            self.done.append(Leaf(DEFINITION, *place, spans, definition=definition))
            at, first = end, first + count
            leaf.line, leaf.start = leaf.line + count, stop
        if first:
            leaf.spans = lines[first:]
        return bool(leaf.spans)
