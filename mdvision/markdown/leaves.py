"""Leaf blocks: what the block scanner gives, and what it has in hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import re
    from collections.abc import Sequence

    from mdvision.markdown.links import Definition
    from mdvision.markdown.spans import Span

HEADING, SETEXT, PARAGRAPH = "heading", "setext", "paragraph"
FENCE, CODE, HTML, TABLE = "fence", "code", "html", "table"
BREAK, DEFINITION = "break", "definition"


class Leaf(NamedTuple):
    """A block that holds no other block."""

    kind: str
    line_start: int
    """1-based, inclusive, as is `line_end`."""
    line_end: int
    start: int
    """Offset of the first character of its first line."""
    end: int
    """Offset behind its last line, line end included."""
    depth: int
    """Containers around it; 0 is the root of the document."""
    spans: Sequence[Span]
    """Ranges of its content; outside containers one range may hold several lines."""
    level: int = 0
    """1 to 6 for a heading, else 0."""
    columns: int = 0
    """Cells in a table's header, else 0."""
    definition: Definition | None = None


class OpenLeaf:
    """The leaf that is being read."""

    __slots__ = (
        "columns",
        "depth",
        "end",
        "fence",
        "html_end",
        "kind",
        "last",
        "line",
        "spans",
        "start",
    )

    def __init__(
        self, kind: str, line: int, start: int, end: int, depth: int, spans: list[Span]
    ) -> None:
        self.kind, self.line, self.start, self.depth, self.spans = kind, line, start, depth, spans
        self.last, self.end = line, end  # last line that belongs to it, and where that ends
        self.fence = ""
        self.html_end: re.Pattern[str] | None = None
        self.columns = 0
