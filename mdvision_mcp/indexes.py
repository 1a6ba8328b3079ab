"""Indexes within a budget: every heading, else fewer levels, else the files, else their folders."""

from __future__ import annotations

import posixpath
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING
from xml.sax.saxutils import quoteattr

from mdvision.rendering import file_index_text, index_row, issue_line, quoted, tsv_row, within

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from mdvision.errors import Issue
    from mdvision.model import HeadingIndexRow, MarkdownFileIndex

_PARTS = 8  # of a result's characters one is for what stands under the index
_TABLE_LINES = 3
_TITLE_CHARS = 60
_NOTE_CHARS = 300  # of the note on what was left out


def index_text(
    files: Sequence[MarkdownFileIndex], issues: Iterable[Issue], max_level: int, max_chars: int
) -> str:
    """The index of some files in at most `max_chars` characters, and what was left out of it."""
    part = max_chars // _PARTS
    notes = [issue_line(found) for found in issues]
    shown: list[MarkdownFileIndex] = []
    for file in files:
        notes += [f"{quoted(file.path or '')}: {issue_line(found)}" for found in file.issues]
        if len(file.frontmatter) > part:
            notes.append(f"{quoted(file.path or '')}: its long front matter is left out.")
        shown.append(replace(file, frontmatter="") if len(file.frontmatter) > part else file)
    notes = within(notes, part)
    room = max_chars - sum(len(note) + 1 for note in notes) - _NOTE_CHARS
    body, note = next(_forms(shown, max_level, room))
    lines = [*notes, *([note] if note else [])]
    return body + "\n".join(("", "---", *lines, "")) if lines else body


def _forms(
    files: Sequence[MarkdownFileIndex], max_level: int, room: int
) -> Iterator[tuple[str, str]]:
    """The forms that fit, the fullest first, each with a note on what it leaves out."""
    if len(files) == 1 and files[0].rows:
        yield from _levels(files, max_level, 1, room)
        yield _first_rows(files[0], max_level, room)
    yield from _levels(files, max_level, 2, room)  # one title a file stands in the table too
    listed = ""
    for with_titles in (True, False):
        listed = _file_table(files, room, with_titles=with_titles)
        if listed.count("\n") == len(files) + _TABLE_LINES:
            yield listed, "headings are left out; index_md of one file or folder gives them"
    folders = _folders(files, room)
    if folders:
        yield folders
    left = len(files) + _TABLE_LINES - listed.count("\n")
    yield listed, f"{left} files more are left out; narrow by pattern, or find words by search_md"


def _levels(
    files: Sequence[MarkdownFileIndex], most: int, least: int, room: int
) -> Iterator[tuple[str, str]]:
    """Every heading down to a level, the deepest first."""
    for level in range(most, min(most, least) - 1, -1):
        if sum(_length(file, level) for file in files) <= room:
            body = "\n".join(file_index_text(_down_to(file, level)) for file in files)
            yield body, _level_note(files, level)


def _file_table(files: Sequence[MarkdownFileIndex], room: int, *, with_titles: bool) -> str:
    """The files, as many as there is room for."""
    lines = ["```tsv", "path\tlines\tn_headings\tn_images" + "\ttitle" * with_titles]
    room -= sum(map(len, lines)) + len("```") + _TABLE_LINES
    for file in files:
        title = file.rows[0].section_path[0][:_TITLE_CHARS] if file.rows else ""
        counts = file.line_count, len(file.rows), len(file.images)
        line = tsv_row(file.path or "", *map(str, counts), *[title] * with_titles)
        room -= len(line) + 1
        if room < 0:
            break
        lines.append(line)
    return "\n".join((*lines, "```", ""))


def _length(index: MarkdownFileIndex, level: int) -> int:
    bare = len(file_index_text(replace(index, rows=()))) + 1
    return bare + sum(len(index_row(row)) + 1 for row in index.rows if row.level <= level)


def _down_to(index: MarkdownFileIndex, level: int) -> MarkdownFileIndex:
    return replace(index, rows=tuple(row for row in index.rows if row.level <= level))


def _level_note(files: Sequence[MarkdownFileIndex], level: int) -> str:
    left = sum(row.level > level for file in files for row in file.rows)
    if not left:
        return ""
    whose = "one file" if len(files) > 1 else 'a section, uri="path#slug",'
    return f"{left} headings below level {level} are left out; index_md of {whose} gives them"


def _first_rows(index: MarkdownFileIndex, max_level: int, room: int) -> tuple[str, str]:
    """The first headings of a file that has too many of its highest level alone."""
    highest = min(row.level for row in index.rows)
    rows = _down_to(index, min(highest, max_level)).rows
    room -= _length(index, 0)
    kept: list[HeadingIndexRow] = []
    for row in rows:
        room -= len(index_row(row)) + 1
        if room < 0:
            break
        kept.append(row)
    left = len(index.rows) - len(kept)
    note = f"{left} headings are left out, the next from line {rows[len(kept)].line_start} on; "
    note += "search_md finds sections by words, read_md_with_images reads lines"
    return file_index_text(replace(index, rows=tuple(kept))), note


def _folders(files: Sequence[MarkdownFileIndex], room: int) -> tuple[str, str] | None:
    """The folders that hold the files, as deep as there is room for, with how many they hold."""
    paths = [posixpath.dirname(file.path or "").split("/") for file in files]
    least = len(posixpath.commonprefix(paths)) + 1
    for depth in range(max(map(len, paths)), least - 1, -1):
        counts = Counter("/".join(path[:depth]) for path in paths)
        listed = [
            f"<folder path={quoteattr(name or posixpath.curdir)} files={n}/>"
            for name, n in counts.items()
        ]
        if sum(len(line) + 1 for line in listed) <= room and len(listed) > 1:
            note = (
                f"{len(files)} files are too many to list; index_md of one folder lists its files"
            )
            return "\n".join((*listed, "")), note
    return None
