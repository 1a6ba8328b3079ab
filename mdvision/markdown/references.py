"""The pictures that a document refers to, in order, and where each one's picture may stand.

Nothing is opened. A picture that stands in a link, emphasis, a heading, a table, or an `<a>`,
`<figure>`, `<picture>` or `<table>` element settles behind the last line of the outermost of
these, so that showing it there tears nothing.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from mdvision.markdown.blocks import Scanner
from mdvision.markdown.further import MARK, marked_at
from mdvision.markdown.inline import (
    SPECIAL,
    Inline,
    InlineImage,
    RawHtml,
    read_cell,
    read_inline,
)
from mdvision.markdown.leaves import CODE, HEADING, HTML, PARAGRAPH, SETEXT, TABLE, Leaf
from mdvision.markdown.pictures import DARK, LIGHT, Picture, Unshown, is_template, theme_of
from mdvision.markdown.spans import Joined, LineEnds, cells, lines_of, merged
from mdvision.markdown.tags import TAG, Tags

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from mdvision.markdown.links import Definition
    from mdvision.markdown.spans import Span

_OPENS = r"!\[|<(?:(?i:img|svg)\b|{})|\{{\{{[<%]|:::image"
_ELEMENT = r"[A-Z][\w.]*[ \t\n](?=[^<]*\b(?:src|img|image|sources)[ \t\n]*=)"
_MDX_ELEMENT = r"[A-Z][\w.]*[ \t\n/]"  # its name may be that of a picture
_HOLDS = r"</?(?i:a|figure|picture|table)\b|</(?i:svg)\b"
_CANDIDATES = {
    is_mdx: (re.compile(_OPENS.format(element)), re.compile(f"{_OPENS.format(element)}|{_HOLDS}"))
    for is_mdx, element in ((False, _ELEMENT), (True, _MDX_ELEMENT))
}
"""How a picture may begin, in any form; and the same with the tags of elements that a picture must
not tear."""

_TAG_OR_MARK = re.compile(rf"{TAG.pattern}|(?P<mark>{MARK.pattern})", TAG.flags)
_BETWEEN_THEMES = re.compile(r"(?:[\s>]|<[^<>]*>|\{[^{}]*\}|\]\([^()]*\)|\[)*")
_MOST_BETWEEN_THEMES = 400  # characters
_Placed = TypeVar("_Placed", Picture, Unshown)


class Heading(NamedTuple):
    """A heading at the root of the document."""

    text: str
    """Plain: text, code and alternative texts."""
    level: int
    line_start: int
    line_end: int
    start: int
    """Offset of the first character of its first line."""


class Collected(NamedTuple):
    """What one pass over a document finds."""

    headings: list[Heading]
    pictures: list[Picture]
    nesting_limit_reached: bool
    unshown: tuple[Unshown, ...] = ()


def collect(
    text: str, start: int = 0, line: int = 1, imports: Mapping[str, str] | None = None
) -> Collected:
    """Find the headings and pictures of `text` (LF only) from offset `start`, line `line`, on.

    In MDX, where `imports` are the files that the document imports by their names in it, markdown
    stands in elements as well, and nothing is code because it is indented.

    Of the leaves only headings and those that may hold a picture are kept until the end, when all
    definitions are known: a large document costs little more than its text.
    """
    scanner = Scanner(text, start, line)
    candidates = _Candidates(text, start, *_CANDIDATES[imports is not None])
    definitions: dict[str, Definition] = {}
    headings: list[Heading] = []
    marked: list[tuple[int, Leaf]] = []  # the headings that are not plain already
    holding: list[Leaf] = []
    for leaf in scanner.leaves():
        if leaf.definition:
            definitions.setdefault(leaf.definition.label, leaf.definition)
            continue
        if leaf.kind in (HEADING, SETEXT):
            if not leaf.depth:
                title = text[leaf.spans[0][0] : leaf.spans[-1][1]]
                if SPECIAL.search(title):
                    marked.append((len(headings), leaf))
                headings.append(_heading(leaf, title))
        elif leaf.kind not in (PARAGRAPH, HTML, TABLE) and (leaf.kind != CODE or imports is None):
            continue
        if candidates.are_in(leaf):
            holding.append(leaf)
    for k, leaf in marked:
        headings[k] = _heading(leaf, read_inline(text, leaf.spans, definitions).text)
    found = _Finder(text, definitions, imports)
    for leaf in holding:
        found.look_into(leaf)
    pictures, unshown = found.settled()
    pictures, unshown = (
        _numbered(text, pictures, line, start),
        _numbered(text, unshown, line, start),
    )
    return Collected(headings, pictures, scanner.nesting_limit_reached, tuple(unshown))


class _Candidates:
    """Tells which leaves may hold a picture, by one search through the text in their order."""

    def __init__(
        self, text: str, start: int, pictures: re.Pattern[str], candidates: re.Pattern[str]
    ) -> None:
        self.text, self.pattern = text, candidates
        self.next = start if pictures.search(text, start) else len(text)

    def are_in(self, leaf: Leaf) -> bool:
        if self.next < leaf.start or self.next == 0:
            found = self.pattern.search(self.text, leaf.start)
            self.next = found.start() if found else len(self.text)
        return self.next < leaf.end


def _heading(leaf: Leaf, title: str) -> Heading:
    return Heading(title.strip(" \t"), leaf.level, leaf.line_start, leaf.line_end, leaf.start)


class _Finder:
    """Finds the pictures in one leaf after another, all definitions known."""

    def __init__(
        self, text: str, definitions: Mapping[str, Definition], imports: Mapping[str, str] | None
    ) -> None:
        self.text, self.definitions, self.is_mdx = text, definitions, imports is not None
        self.line_after = LineEnds(text)
        self.tags = Tags(text, imports, self.line_after)

    def look_into(self, leaf: Leaf) -> None:
        pictures, first = self.tags.pictures, len(self.tags.pictures)
        for inline in self.inlines(leaf):
            for image in inline.images:
                self.take(image)
            self.tags.read(inline.html)
            self.tags.unshown += [
                Unshown(at, source, 0, "embed" if is_embed else "template")
                for at, source, is_embed in inline.unread
            ]
        if leaf.kind in (HEADING, SETEXT, TABLE):
            pictures[first:] = [found._replace(settle=leaf.end) for found in pictures[first:]]

    def inlines(self, leaf: Leaf) -> Iterator[Inline]:
        text, mdx = self.text, self.is_mdx
        if leaf.kind == HTML and not mdx:
            yield _read_html(text, leaf)
        elif leaf.kind != TABLE:
            yield read_inline(text, leaf.spans, self.definitions, mdx=mdx)
        else:
            header, _, *rows = lines_of(text, leaf.spans)
            for row in (header, *rows):
                if _CANDIDATES[mdx][1].search(text, *row):
                    for cell in cells(text, *row)[: leaf.columns]:
                        yield read_cell(text, cell, self.definitions, mdx=mdx)

    def take(self, image: InlineImage) -> None:
        start, end, source, title, alt, kind, hold_end = image
        if is_template(source):
            self.tags.unshown.append(Unshown(start, source, 0, "template"))
            return
        settle = end if hold_end is None else self.line_after(hold_end)
        place = 0, settle, theme_of(source)
        self.tags.pictures.append(Picture(start, end, source, title, alt, kind, *place))

    def settled(self) -> tuple[list[Picture], list[Unshown]]:
        """All in order; those in elements behind the line on which the outermost one ends."""
        drawings, elements = merged(self.tags.drawings), merged(self.tags.elements)
        found: list[Picture] = []
        for picture in sorted(self.tags.pictures):
            if (inside := _around(drawings, picture)) and inside != picture[:2]:
                continue  # a part of a drawing
            settle = picture.settle
            if element := _around(elements, picture):
                settle = max(settle, self.line_after(element[1]))
            found.append(picture._replace(settle=settle))
        unshown = [one for one in sorted(self.tags.unshown) if not _around(drawings, one)]
        return _of_one_theme(self.text, found), unshown


def _around(spans: Sequence[Span], found: Picture | Unshown) -> Span | None:
    """The span that holds a picture."""
    k = bisect_right(spans, found.start, key=_first) - 1
    end = found.end if isinstance(found, Picture) else found.start
    return spans[k] if k >= 0 and end <= spans[k][1] else None


def _first(span: Span) -> int:
    return span[0]


def _of_one_theme(text: str, pictures: list[Picture]) -> list[Picture]:
    """The pictures without those for a dark colour scheme beside which the light one stands."""

    def are_twins(one: Picture, other: Picture) -> bool:
        if {one.theme, other.theme} != {DARK, LIGHT}:
            return False
        between = text[one.end : other.start][: _MOST_BETWEEN_THEMES + 1]
        return len(between) <= _MOST_BETWEEN_THEMES and bool(_BETWEEN_THEMES.fullmatch(between))

    twins = [are_twins(one, other) for one, other in pairwise(pictures)]
    before, after = [False, *twins], [*twins, False]
    return [
        picture
        for k, picture in enumerate(pictures)
        if picture.theme != DARK or not (before[k] or after[k])
    ]


def _numbered(text: str, found: Sequence[_Placed], line: int, at: int) -> list[_Placed]:
    """What was found, in order, with the lines on which it begins; `line` is that of `at`."""
    numbered: list[_Placed] = []
    for one in found:
        line += text.count("\n", at, one.start)
        at = one.start
        numbered.append(one._replace(line_start=line))
    return numbered


def _read_html(text: str, leaf: Leaf) -> Inline:
    """What stands in an HTML block, read without the marks of the containers around it."""
    joined = Joined(text, leaf.spans, "\n")
    images: list[InlineImage] = []
    html: list[RawHtml] = []
    at = 0
    while found := _TAG_OR_MARK.search(joined.text, at):
        start, at = found.span()
        if not found["mark"]:
            html.append(RawHtml(found[0], joined.source(start), joined.source_end(at)))
        elif further := marked_at(joined.text, start):
            at, source, title, alt, kind = further
            place = joined.source(start), joined.source_end(at)
            images.append(InlineImage(*place, source, title, alt, kind, None))
    return Inline("", images, html, [])
