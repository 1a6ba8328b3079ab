"""Which part of a document is meant: a section by what the caller calls it, or a range of lines."""

from __future__ import annotations

import difflib
import unicodedata
from typing import TYPE_CHECKING, NamedTuple

from mdvision.errors import Code, Details, Issue, MdVisionError, failure, issue

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from mdvision.markdown.outline import Outline
    from mdvision.model import HeadingIndexRow, LineRange

PATH_SEPARATOR = " > "
"""Between the titles of a section path in one string."""

_ENDS = 2  # a range has a first and a last line
_FAR = 10**18  # a line farther off is taken for this one: Python refuses to print very long numbers
_CLOSEST = 5
_COMPARED = 5_000  # headings looked through for close ones: difflib is slow


class Slice(NamedTuple):
    """A part of a document, as offsets in its parsed text."""

    start: int
    end: int
    section_path: tuple[str, ...]
    issues: tuple[Issue, ...]


def select(
    outline: Outline,
    section: str | HeadingIndexRow | None = None,
    line_range: LineRange | None = None,
) -> Slice:
    """Find the part that is meant; neither given means all of it.

    A section that is not found falls back to `line_range` when there is one.

    Raises:
        SectionNotFoundError: no such section, and no line range; the closest headings are named.
        InvalidInputError: the line range is empty or outside the document.
    """
    if section is None:
        if line_range is None:
            return Slice(0, len(outline.source.text), (), ())
        return _lines(outline, line_range)
    try:
        return _section(outline, section)
    except MdVisionError as error:
        if line_range is None:
            raise
        found = _lines(outline, line_range)
        return found._replace(issues=(error.issue, *found.issues))


def _lines(outline: Outline, line_range: LineRange) -> Slice:
    count = outline.source.line_count
    are_whole = all(isinstance(line, int) for line in line_range)  # pyright: ignore[reportUnnecessaryIsInstance]
    if len(line_range) != _ENDS or not are_whole:
        message = "line_range must be two whole numbers: the first line and the last."
        raise failure(Code.INPUT_INVALID, message, details={"reason": "line_range"})
    first, last = (max(-_FAR, min(line, _FAR)) for line in line_range)
    if not 1 <= first <= min(last, count):
        message = f"Lines {first} to {last} were asked for; the document has {count} lines."
        details: Details = {"reason": "line_range", "limit": count, "actual": last}
        action = f"Give lines from 1 to {count}, the first not after the last."
        raise failure(Code.INPUT_INVALID, message, next_action=action, details=details)
    issues: tuple[Issue, ...] = ()
    if last > count:
        message = f"Lines up to {last} were asked for; the document has {count} lines."
        bounds = {"limit": count, "actual": last}
        issues = (issue(Code.LINE_RANGE_CLAMPED, message, details=bounds),)
    start = outline.source.line_starts[first - 1]
    return Slice(start, outline.source.line_end(min(last, count)), (), issues)


def _section(outline: Outline, section: str | HeadingIndexRow) -> Slice:
    if isinstance(section, str):
        hits = _matches(outline, section.strip())
    else:
        hits = [k for k, row in enumerate(outline.rows) if row == section]
        hits = hits or [k for k, row in enumerate(outline.rows) if row.slug == section.slug]
        section = section.heading
    if not hits:
        raise _not_found(outline, section)
    first, *others = hits
    issues: tuple[Issue, ...] = ()
    row = outline.rows[first]
    if others:
        lines = tuple(outline.rows[k].line_start for k in others)
        told = [f"{outline.rows[k].line_start} (#{outline.rows[k].slug})" for k in others]
        if len(told) > _CLOSEST:
            told[_CLOSEST:] = [f"{len(told) - _CLOSEST} more"]
        named = ", ".join(told)
        message = (
            f"{section!r} names {len(hits)} sections: line {row.line_start} was taken, not {named}."
        )
        issues = (issue(Code.SECTION_AMBIGUOUS, message, details={"lines": lines}),)
    return Slice(outline.starts[first], outline.ends[first], row.section_path, issues)


def _matches(outline: Outline, wanted: str) -> list[int]:
    """Indices of the rows that the first comparison with any hit finds, the strictest first."""
    for fold in (str, folded):
        sought = fold(wanted)
        for name in (_heading, _heading_line, _title):
            if hits := [k for k in range(len(outline.rows)) if fold(name(outline, k)) == sought]:
                return hits
        if hits := [k for k, row in enumerate(outline.rows) if sought in _tails(row, fold)]:
            return hits
        if fold is str and (
            hits := [k for k, row in enumerate(outline.rows) if f"#{row.slug}" == wanted]
        ):
            return hits
    return []


def _heading(outline: Outline, k: int) -> str:
    return outline.rows[k].heading


def _heading_line(outline: Outline, k: int) -> str:
    """The heading as it stands in the source; of an underlined one its text lines, joined."""
    first, last = outline.rows[k].line_start, outline.heading_line_ends[k]
    start, end = outline.starts[k], outline.source.line_end(max(first, last - 1))
    lines = outline.source.text[start:end].split("\n")
    return " ".join(line.strip(" \t") for line in lines).strip()


def _title(outline: Outline, k: int) -> str:
    row = outline.rows[k]
    return row.heading[row.level :].lstrip(" ")


def _tails(row: HeadingIndexRow, fold: Callable[[str], str]) -> Iterator[str]:
    """The titles down to the row's, joined, from each of its outer headings on."""
    path = row.section_path
    return (fold(PATH_SEPARATOR.join(path[k:])) for k in range(len(path)))


def folded(text: str) -> str:
    """`text` as it compares without regard to case and composition (Unicode's NFC)."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())


def _not_found(outline: Outline, section: str) -> MdVisionError:
    rows = outline.rows[:_COMPARED]
    by_title: dict[str, int] = {}
    for k, row in enumerate(rows):
        by_title.setdefault(folded(row.section_path[-1]), k)
    title = folded(section.strip().lstrip("#").strip().rsplit(PATH_SEPARATOR, 1)[-1])
    close = difflib.get_close_matches(title, by_title, n=_CLOSEST, cutoff=0.5)
    found = [rows[by_title[name]] for name in close]
    message = f"Section not found: {section!r}."
    if found:
        named = ", ".join(f"{row.heading!r} (line {row.line_start})" for row in found)
        message += f" Closest: {named}."
    details: Details = {
        "headings": tuple(row.heading for row in found),
        "lines": tuple(row.line_start for row in found),
    }
    return failure(Code.SECTION_NOT_FOUND, message, details=details)
