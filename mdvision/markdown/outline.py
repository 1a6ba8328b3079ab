"""The outline of a document: its headings as rows, its pictures, its front matter."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from mdvision.limits import MAX_TITLE_CHARS
from mdvision.markdown.frontmatter import front_matter_end
from mdvision.markdown.further import mask_shortcodes
from mdvision.markdown.lines import SourceText
from mdvision.markdown.mdx import mask_mdx
from mdvision.markdown.references import Collected, Heading, collect
from mdvision.model import HeadingIndexRow, ImageReference

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from mdvision.markdown.pictures import Picture, Unshown
    from mdvision.markdown.spans import Span

PARSER_VERSION = 1
"""Raise it whenever the same text gives another outline: cached ones are then not believed."""


@dataclass(frozen=True, slots=True)
class Outline:
    """A document parsed: all that indexing and reading need, offsets in `source.text`."""

    source: SourceText
    scanned: str
    """`source.text` as it was scanned: in MDX its JavaScript is white space, and the end of a
    shortcode that begins a line is no quote."""
    body_start: int
    """Where the text behind the front matter begins; 0 without front matter."""
    rows: tuple[HeadingIndexRow, ...]
    starts: tuple[int, ...]
    """Where each row's section begins."""
    ends: tuple[int, ...]
    """Where each row's section ends."""
    heading_line_ends: tuple[int, ...]
    """The last line of each heading itself: of an underlined one, its underline."""
    pictures: tuple[Picture, ...]
    unshown: tuple[Unshown, ...]
    nesting_limit_reached: bool

    @property
    def frontmatter(self) -> str:
        """The front matter as stored, fences included, no final line end; "" when there is none."""
        return self.source.stored(0, self.body_start).rstrip("\r\n")

    @property
    def char_count(self) -> int:
        """Code points of the document, each line end counted as one."""
        return len(self.source.text)

    def pictures_in(self, start: int, end: int) -> tuple[Picture, ...]:
        """The pictures whose syntax lies between two offsets."""
        first = bisect_left(self.pictures, start, key=_start)
        last = bisect_left(self.pictures, end, key=_start)
        found = self.pictures[first:last]
        return found[:-1] if found and found[-1].end > end else found

    def picture_across(self, offset: int) -> Picture | None:
        """The picture that an offset falls inside of."""
        k = bisect_left(self.pictures, offset, key=_start) - 1
        return self.pictures[k] if k >= 0 and offset < self.pictures[k].end else None

    def unshown_in(self, start: int, end: int) -> tuple[Unshown, ...]:
        """What looks like a picture and is none, between two offsets."""
        return tuple(one for one in self.unshown if start <= one.start < end)

    def own_lines(self) -> Iterator[Span]:
        """What stands before the first heading, then each heading's lines up to the next one."""
        return pairwise((0, *self.starts, len(self.source.text)))

    @property
    def images(self) -> tuple[ImageReference, ...]:
        """The pictures as the public value."""
        return tuple(image_reference(picture) for picture in self.pictures)


def _start(picture: Picture) -> int:
    return picture.start


def image_reference(picture: Picture) -> ImageReference:
    """A picture as the public value."""
    return ImageReference(
        source=picture.source,
        alt=picture.alt,
        title=picture.title,
        line_start=picture.line_start,
        kind=picture.kind,
    )


def outline(text: str, *, mdx: bool = False) -> Outline:
    r"""Parse a markdown or MDX text.

    >>> [row.heading for row in outline("# Guide\n\n## Setup\n").rows]
    ['# Guide', '## Setup']
    """
    source = SourceText(text)
    body_start = front_matter_end(source.text)
    head, body = source.text[:body_start], mask_shortcodes(source.text[body_start:])
    imports: dict[str, str] | None = None
    if mdx:
        body, imports = mask_mdx(body)
    scanned = head + body
    found = collect(scanned, body_start, scanned.count("\n", 0, body_start) + 1, imports)
    starts = (*(heading.start for heading in found.headings), len(source.text))
    closing = _closing(found.headings)
    return Outline(
        source=source,
        scanned=scanned,
        body_start=body_start,
        rows=tuple(_rows(source, found, closing)),
        starts=starts[:-1],
        ends=tuple(starts[k] for k in closing),
        heading_line_ends=tuple(heading.line_end for heading in found.headings),
        pictures=tuple(found.pictures),
        unshown=found.unshown,
        nesting_limit_reached=found.nesting_limit_reached,
    )


def _rows(
    source: SourceText, found: Collected, closing: Sequence[int]
) -> Iterator[HeadingIndexRow]:
    headings = found.headings
    pictures = [picture.start for picture in found.pictures]
    anchors = slugs(heading.text for heading in headings)
    described = zip(headings, closing, _section_paths(headings), anchors, strict=True)
    for heading, k, path, slug in described:
        start, level = heading.start, heading.level
        end = headings[k].start if k < len(headings) else len(source.text)
        line_after = headings[k].line_start if k < len(headings) else source.line_count + 1
        has_line_end = source.text.endswith("\n", start, end)
        yield HeadingIndexRow(
            heading=f"{'#' * level} {heading.text}".rstrip(),
            level=level,
            line_start=heading.line_start,
            line_end=line_after - 1,
            image_count=bisect_left(pictures, end) - bisect_left(pictures, start),
            char_count=end - start - has_line_end,
            section_path=path,
            slug=slug,
        )


def _closing(headings: Sequence[Heading]) -> list[int]:
    """For each heading the index of the next one of its level or above, which ends its section."""
    closing = [len(headings)] * len(headings)
    around: list[int] = []
    for k, heading in enumerate(headings):
        while around and headings[around[-1]].level >= heading.level:
            closing[around.pop()] = k
        around.append(k)
    return closing


def _section_paths(headings: Sequence[Heading]) -> Iterator[tuple[str, ...]]:
    around: list[Heading] = []
    for heading in headings:
        while around and around[-1].level >= heading.level:
            around.pop()
        around.append(heading)
        yield tuple(outer.text[:MAX_TITLE_CHARS] for outer in around)


def slugs(titles: Iterable[str]) -> list[str]:
    """GitHub's anchors for the headings of one document, in order.

    The algorithm is github-slugger's (https://github.com/Flet/github-slugger): lower case, all but
    letters, marks, digits, connectors, hyphens and spaces dropped, spaces to hyphens, and a number
    behind what was used before.

    >>> slugs(["C++ & co.", "Setup", "Setup"])
    ['c--co', 'setup', 'setup-1']
    """
    used: dict[str, int] = {}
    found: list[str] = []
    for title in titles:
        slug = base = _slug(title.lower())
        while slug in used:
            used[base] += 1
            slug = f"{base}-{used[base]}"
        used[slug] = 0
        found.append(slug)
    return found


_NOT_IN_SLUG = re.compile("[^a-z0-9_ -]")
_LETTER_SYMBOLS = ((0x24B6, 0x24E9), (0x1F130, 0x1F149), (0x1F150, 0x1F169), (0x1F170, 0x1F189))
"""Enclosed letters: symbols by category, but Alphabetic in Unicode's DerivedCoreProperties."""


def _slug(title: str) -> str:
    if title.isascii():  # most are, and one expression takes a tenth of the time
        return _NOT_IN_SLUG.sub("", title).replace(" ", "-")
    kept = (c for c in title if not _NOT_IN_SLUG.match(c) or _is_letter(c))
    return "".join(kept).replace(" ", "-")


def _is_letter(c: str) -> bool:
    """Whether a character is one of Unicode's letters, marks, digits or connectors."""
    category = unicodedata.category(c)
    return not c.isascii() and (
        category[0] in "LM"
        or category in ("Nd", "Nl", "Pc")
        or any(first <= ord(c) <= last for first, last in _LETTER_SYMBOLS)
    )
