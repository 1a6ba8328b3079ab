"""Indexes within a budget: every heading, else fewer levels, else the files, else their folders."""

from __future__ import annotations

import posixpath
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING
from xml.sax.saxutils import quoteattr

from mdvision.rendering import file_index_text, index_row, issue_line, tsv_row, within

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from mdvision.errors import Issue
    from mdvision.model import HeadingIndexRow, MarkdownFileIndex

_PARTS = 8  # of a result's characters one is for what stands under the index
_NOTE_CHARS = 300  # of the note on what was left out


def index_text(
    files: Sequence[MarkdownFileIndex], issues: Iterable[Issue], max_level: int, max_chars: int
) -> str:
    """The index of some files in at most `max_chars` characters, and what was left out of it."""
    part = max_chars // _PARTS
    notes = [issue_line(found) for found in issues]
    shown: list[MarkdownFileIndex] = []
    for file in files:
        notes += [f"{file.path}: {issue_line(found)}" for found in file.issues]
        if len(file.frontmatter) > part:
            notes.append(f"{file.path}: the front matter is left out; it is long. Read its lines.")
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
    for level in range(max_level, 0, -1):
        if sum(_length(file, level) for file in files) <= room:
            body = "\n".join(file_index_text(_down_to(file, level)) for file in files)
            yield body, _level_note(files, level, max_level)
    if len(files) == 1:
        yield _first_rows(files[0], max_level, room)
    listed = _file_table(files)
    if len(listed) <= room:
        yield listed, "headings are left out; index_md of one file gives them"
    yield _folders(files, room)


def _file_table(files: Sequence[MarkdownFileIndex]) -> str:
    rows = (
        tsv_row(file.path or "", str(file.line_count), str(len(file.rows)), str(len(file.images)))
        for file in files
    )
    return "\n".join(("```tsv", "path\tlines\tn_headings\tn_images", *rows, "```", ""))


def _length(index: MarkdownFileIndex, level: int) -> int:
    bare = len(file_index_text(replace(index, rows=()))) + 1
    return bare + sum(len(index_row(row)) + 1 for row in index.rows if row.level <= level)


def _down_to(index: MarkdownFileIndex, level: int) -> MarkdownFileIndex:
    return replace(index, rows=tuple(row for row in index.rows if row.level <= level))


def _level_note(files: Sequence[MarkdownFileIndex], level: int, max_level: int) -> str:
    left = sum(level < row.level <= max_level for file in files for row in file.rows)
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


def _folders(files: Sequence[MarkdownFileIndex], room: int) -> tuple[str, str]:
    """The folders that hold the files, as deep as there is room for, with how many they hold."""
    paths = [posixpath.dirname(file.path or "").split("/") for file in files]
    least = len(posixpath.commonprefix(paths)) + 1
    listed: list[str] = []
    for depth in range(max(map(len, paths)), least - 1, -1):
        counts = Counter("/".join(path[:depth]) for path in paths)
        listed = [
            f"<folder path={quoteattr(name or posixpath.curdir)} files={n}/>"
            for name, n in counts.items()
        ]
        if sum(len(line) + 1 for line in listed) <= room:
            break
    body = "\n".join((*within(listed, room, "folders"), ""))
    return body, f"{len(files)} files are too many to list; index_md of one folder lists its files"
