"""The pictures that a document refers to, in order, and where each one's picture may stand.

Nothing is opened. A picture that stands in a link, emphasis, a heading, a table, or an `<a>`,
`<figure>`, `<picture>` or `<table>` element settles behind the last line of the outermost of
these, so that showing it there tears nothing.
"""

from __future__ import annotations

import html
import re
from bisect import bisect_right
from html.entities import html5
from typing import TYPE_CHECKING, NamedTuple

from mdvision.markdown.blocks import Scanner
from mdvision.markdown.inline import (
    SPECIAL,
    Inline,
    InlineImage,
    RawHtml,
    read_cell,
    read_inline,
)
from mdvision.markdown.leaves import HEADING, HTML, PARAGRAPH, SETEXT, TABLE, Leaf
from mdvision.markdown.links import is_data
from mdvision.markdown.spans import Joined, cells, lines_of, merged

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from mdvision.markdown.links import Definition
    from mdvision.markdown.spans import Span

_HELD_BY = r"a|figure|picture|table"
_CANDIDATE = re.compile(rf"!\[|<(?:img|/?(?:{_HELD_BY}))\b", re.IGNORECASE)
_PICTURE = re.compile(r"!\[|<img\b", re.IGNORECASE)
_TAG = re.compile(  # a comment, or any tag: what stands in an attribute is none
    r"<!--(?:-?>|.*?(?:-->|\Z))"
    r"|<(?P<close>/?)(?P<name>[a-z][a-z0-9-]*)(?=[ \t\n\f/>])"
    r"""(?P<rest>[^<>"']*(?:(?:"[^"]*"|'[^']*')[^<>"']*)*)>""",
    re.IGNORECASE | re.DOTALL,
)
_ATTRIBUTE = re.compile(
    r"""([^ \t\n\f"'<>/=]+)"""
    r"""(?:[ \t\n\f]*=[ \t\n\f]*(?:"([^"]*)"|'([^']*)'|([^ \t\n\f"'=<>`]+)))?"""
)
_CHARACTER_REFERENCE = re.compile(r"&(#[0-9]+;?|#[xX][0-9a-fA-F]+;?|[A-Za-z][A-Za-z0-9]*[;=]?)")
_HTML_SPACE = " \t\n\f"


class Picture(NamedTuple):
    """A picture that the text refers to."""

    start: int
    """Offset of its `!` or `<`."""
    end: int
    source: str
    title: str
    alt: str
    kind: str
    """"inline", "reference" or "html"."""
    line_start: int
    settle: int
    """Offset at which its picture may stand: `end`, or behind the outermost construct around it."""


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


def collect(text: str, start: int = 0, line: int = 1) -> Collected:
    """Find the headings and pictures of `text` (LF only) from offset `start`, line `line`, on.

    Of the leaves only headings and those that may hold a picture are kept until the end, when all
    definitions are known: a large document costs little more than its text.
    """
    scanner = Scanner(text, start, line)
    candidates = _Candidates(text, start)
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
        elif leaf.kind not in (PARAGRAPH, HTML, TABLE):
            continue
        if candidates.are_in(leaf):
            holding.append(leaf)
    for k, leaf in marked:
        headings[k] = _heading(leaf, read_inline(text, leaf.spans, definitions).text)
    return Collected(
        headings,
        _pictures(text, holding, definitions),
        scanner.nesting_limit_reached,
    )


class _Candidates:
    """Tells which leaves may hold a picture, by one search through the text in their order."""

    def __init__(self, text: str, start: int) -> None:
        self.text = text
        self.next = start if _PICTURE.search(text, start) else len(text)

    def are_in(self, leaf: Leaf) -> bool:
        if self.next < leaf.start or self.next == 0:
            found = _CANDIDATE.search(self.text, leaf.start)
            self.next = found.start() if found else len(self.text)
        return self.next < leaf.end


def _heading(leaf: Leaf, title: str) -> Heading:
    return Heading(title.strip(" \t"), leaf.level, leaf.line_start, leaf.line_end, leaf.start)


def _pictures(
    text: str, leaves: Sequence[Leaf], definitions: Mapping[str, Definition]
) -> list[Picture]:
    tags, line_after = _Elements(), _LineEnds(text)
    found: list[Picture] = []
    for leaf in leaves:
        block_end = leaf.end if leaf.kind in (HEADING, SETEXT, TABLE) else None
        line_at = _LineCounter(text, leaf)
        for inline in _inlines(text, leaf, definitions):
            pictures = [_from_brackets(image, line_after) for image in inline.images]
            pictures += tags.read(inline.html)
            for picture in sorted(pictures):
                settle = picture.settle if block_end is None else block_end
                found.append(picture._replace(line_start=line_at(picture.start), settle=settle))
    return _settled(text, found, merged(tags.elements))


def _inlines(text: str, leaf: Leaf, definitions: Mapping[str, Definition]) -> Iterator[Inline]:
    if leaf.kind == HTML:
        yield Inline("", [], _tags_of(text, leaf))
    elif leaf.kind != TABLE:
        yield read_inline(text, leaf.spans, definitions)
    else:
        header, _, *rows = lines_of(text, leaf.spans)
        for row in (header, *rows):
            if _CANDIDATE.search(text, *row):
                for cell in cells(text, *row)[: leaf.columns]:
                    yield read_cell(text, cell, definitions)


def _tags_of(text: str, leaf: Leaf) -> list[RawHtml]:
    """The tags in an HTML block, read without the marks of the containers around it."""
    joined = Joined(text, leaf.spans, "\n")
    return [
        RawHtml(tag[0], joined.source(tag.start()), joined.source_end(tag.end()))
        for tag in _TAG.finditer(joined.text)
    ]


def _from_brackets(image: InlineImage, line_after: _LineEnds) -> Picture:
    kind = "reference" if image.is_reference else "inline"
    settle = image.end if image.hold_end is None else line_after(image.hold_end)
    return Picture(image.start, image.end, image.source, image.title, image.alt, kind, 0, settle)


def _settled(text: str, pictures: list[Picture], elements: list[Span]) -> list[Picture]:
    """The pictures, those in elements behind the line on which the outermost one ends."""
    starts, line_after = [start for start, _ in elements], _LineEnds(text)
    found: list[Picture] = []
    for picture in pictures:
        k = bisect_right(starts, picture.start) - 1
        if k >= 0 and picture.end <= elements[k][1]:
            settle = max(picture.settle, line_after(elements[k][1]))
            picture = picture._replace(settle=settle)  # noqa: PLW2901 - the same picture
        found.append(picture)
    return found


class _LineEnds:
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


class _LineCounter:
    """Counts lines within one leaf, forward only."""

    def __init__(self, text: str, leaf: Leaf) -> None:
        self.text, self.at, self.line = text, leaf.start, leaf.line_start

    def __call__(self, offset: int) -> int:
        self.line += self.text.count("\n", self.at, offset)
        self.at = max(self.at, offset)
        return self.line


class _Elements:
    """Reads tags in raw HTML, and pairs those of the elements that a picture must not tear."""

    def __init__(self) -> None:
        self.open: dict[str, list[int]] = {}
        self.elements: list[Span] = []

    def read(self, html: Sequence[RawHtml]) -> Iterator[Picture]:
        """Give the pictures in these tags."""
        for raw in html:
            tag = _TAG.match(raw.text)
            name = (tag["name"] or "").lower() if tag else ""
            if tag and name == "img":
                if picture := _from_tag(tag, raw):
                    yield picture
            elif tag and name:
                self.pair(name, raw, is_end=bool(tag["close"]))

    def pair(self, name: str, raw: RawHtml, *, is_end: bool) -> None:
        """A tag that is never closed holds nothing."""
        if not is_end:
            self.open.setdefault(name, []).append(raw.start)
        elif self.open.get(name):
            self.elements.append((self.open[name].pop(), raw.end))


def _from_tag(tag: re.Match[str], raw: RawHtml) -> Picture | None:
    """The picture of an `<img>`; None when it has no source. Lazy loading's data-src counts."""
    attributes: dict[str, str] = {}
    for name, double, single, bare in _ATTRIBUTE.findall(tag["rest"].removesuffix("/")):
        attributes.setdefault(name.lower(), _attribute_text(double or single or bare))
    source = attributes.get("src", "").strip(_HTML_SPACE)
    lazy = attributes.get("data-src", "").strip(_HTML_SPACE)
    if lazy and (not source or is_data(source)):
        source = lazy
    if not source:
        return None
    title, alt = attributes.get("title", ""), attributes.get("alt", "")
    return Picture(raw.start, raw.end, source, title, alt, "html", 0, raw.end)


def _attribute_text(value: str) -> str:
    """An attribute's value, its character references decoded.

    By HTML's rule for attributes (section 13.2.5.73) one without a semicolon is none before `=` or
    a letter or digit: `?a=1&copy=2` is an address, not a copyright sign.
    """
    return _CHARACTER_REFERENCE.sub(_character, value) if "&" in value else value


def _character(found: re.Match[str]) -> str:
    name = found[1]
    return html.unescape(found[0]) if name[0] == "#" else html5.get(name, found[0])
