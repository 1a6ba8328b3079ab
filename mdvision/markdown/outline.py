"""The outline of a document: its headings as rows, its pictures, its front matter."""

from __future__ import annotations

import unicodedata
from bisect import bisect_left
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mdvision.markdown.frontmatter import front_matter_end
from mdvision.markdown.lines import SourceText
from mdvision.markdown.mdx import mask_mdx
from mdvision.markdown.references import Picture, collect
from mdvision.model import HeadingIndexRow, ImageReference

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

PARSER_VERSION = 1
"""Raise it whenever the same text gives another outline: cached ones are then not believed."""


@dataclass(frozen=True, slots=True)
class Outline:
    """A document parsed: all that indexing and reading need, offsets in `source.text`."""

    source: SourceText
    scanned: str
    """`source.text` as it was scanned: in MDX its JavaScript is white space."""
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
    nesting_limit_reached: bool

    @property
    def frontmatter(self) -> str:
        """The front matter as stored, fences included, no final line end; "" when there is none."""
        return self.source.stored(0, self.body_start).rstrip("\r\n")

    @property
    def char_count(self) -> int:
        """Code points of the document, each line end counted as one."""
        return len(self.source.text)

    @property
    def images(self) -> tuple[ImageReference, ...]:
        """The pictures as the public value."""
        return tuple(image_reference(picture) for picture in self.pictures)


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
    scanned = source.text
    if mdx:
        scanned = scanned[:body_start] + mask_mdx(scanned[body_start:])
    found = collect(scanned, body_start, scanned.count("\n", 0, body_start) + 1)
    starts = tuple(heading.start for heading in found.headings)
    levels = [heading.level for heading in found.headings]
    closed_by = _closing_headings(levels)
    line_count = source.line_count
    lines = [heading.line_start for heading in found.headings] + [line_count + 1]
    all_starts = (*starts, len(source.text))
    ends = tuple(all_starts[k] for k in closed_by)
    picture_starts = [picture.start for picture in found.pictures]
    titles = [heading.text for heading in found.headings]
    rows = tuple(
        HeadingIndexRow(
            heading=f"{'#' * level} {title}".rstrip(),
            level=level,
            line_start=lines[k],
            line_end=lines[closed_by[k]] - 1,
            image_count=bisect_left(picture_starts, ends[k]) - bisect_left(picture_starts, starts[k]),
            char_count=ends[k] - starts[k] - source.text.endswith("\n", starts[k], ends[k]),
            section_path=path,
            slug=slug,
        )
        for k, (level, title, path, slug) in enumerate(
            zip(levels, titles, _section_paths(levels, titles), slugs(titles), strict=True)
        )
    )
    return Outline(
        source=source,
        scanned=scanned,
        body_start=body_start,
        rows=rows,
        starts=starts,
        ends=ends,
        heading_line_ends=tuple(heading.line_end for heading in found.headings),
        pictures=tuple(found.pictures),
        nesting_limit_reached=found.nesting_limit_reached,
    )


def _closing_headings(levels: Sequence[int]) -> list[int]:
    """For each heading the index of the one that ends its section; their number for the last."""
    closed_by = [len(levels)] * len(levels)
    around: list[int] = []
    for k, level in enumerate(levels):
        while around and levels[around[-1]] >= level:
            closed_by[around.pop()] = k
        around.append(k)
    return closed_by


def _section_paths(levels: Sequence[int], titles: Sequence[str]) -> Iterable[tuple[str, ...]]:
    around: list[tuple[int, str]] = []
    for level, title in zip(levels, titles, strict=True):
        while around and around[-1][0] >= level:
            around.pop()
        around.append((level, title))
        yield tuple(name for _, name in around)


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
        base = "".join(c for c in title.lower() if _is_slug_character(c)).replace(" ", "-")
        slug = base
        while slug in used:
            used[base] += 1
            slug = f"{base}-{used[base]}"
        used[slug] = 0
        found.append(slug)
    return found


_LETTER_SYMBOLS = ((0x24B6, 0x24E9), (0x1F130, 0x1F149), (0x1F150, 0x1F169), (0x1F170, 0x1F189))
"""Enclosed letters: symbols by category, but Alphabetic in Unicode's DerivedCoreProperties."""


def _is_slug_character(c: str) -> bool:
    if c.isascii():
        return c.isalnum() or c in "-_ "
    category = unicodedata.category(c)
    return (
        category[0] in "LM"
        or category in ("Nd", "Nl", "Pc")
        or any(first <= ord(c) <= last for first, last in _LETTER_SYMBOLS)
    )
