r"""Values as the text that a person or a model sees; the command line and the server share it.

The text of a reading stands as written. Directly before each picture stands one line

    [picture 1 of 3: docs/img/setup.png, 2400x1200, shown 1568x784]

with a line end in front of it and one behind. It ends the text before the picture; cut off there,
it leaves the source slice. Elsewhere such a line is the source's own.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

from mdvision.errors import Code
from mdvision.limits import MAX_REFERENCE_CHARS
from mdvision.model import ImagePart, TextPart

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from mdvision.errors import Issue
    from mdvision.model import (
        HeadingIndexRow,
        MarkdownFileIndex,
        MarkdownFolderIndex,
        MarkdownReading,
    )

PICTURE_LINE = re.compile(r"\n\[picture \d+ of \d+(?:: [^\n]*)?, \d+x\d+(?:, shown \d+x\d+)?\]\n")
"""What `reading_blocks` puts at the end of the text before each picture."""

INDEX_COLUMNS = "heading\tline_start\tn_images\tchar_count"
"""The columns of a file's table: a row counts its whole section, subsections included."""

_IN_ATTRIBUTE = {'"': "&quot;", "\t": "&#9;", "\n": "&#10;", "\r": "&#13;"}
_SEPARATORS = re.compile(r"[\t\r\n]+")


def reading_blocks(
    reading: MarkdownReading, address: Callable[[ImagePart], str]
) -> Iterator[str | ImagePart]:
    """Give a reading as alternating text and pictures; every picture has its line before it.

    `address` names a picture: a path that the reader of the text can use, or "" for none.
    """
    total = len(reading.images)
    number, pending = 0, ""
    for part in reading.parts:
        if isinstance(part, TextPart):
            pending += part.text
        else:
            number += 1
            yield pending + _picture_line(part, number, total, address(part))
            yield part
            pending = ""
    if pending:
        yield pending


def _picture_line(image: ImagePart, number: int, total: int, address: str) -> str:
    named = f": {_SEPARATORS.sub(' ', address)}" if 0 < len(address) <= MAX_REFERENCE_CHARS else ""
    source = image.source_width_pixels, image.source_height_pixels
    given = image.width_pixels, image.height_pixels
    shown = "" if given == source else ", shown {}x{}".format(*given)
    return f"\n[picture {number} of {total}{named}, {source[0]}x{source[1]}{shown}]\n"


def reading_footer(reading: MarkdownReading, go_on: str = "") -> str:
    """Give what there is to say beside the text: lines, issues, how to go on; "" for nothing."""
    partial = (reading.line_start, reading.line_end) != (
        min(1, reading.line_count),
        reading.line_count,
    )
    lines = (
        [f"lines {reading.line_start}-{reading.line_end} of {reading.line_count}"]
        if partial
        else []
    )
    told = {Code.RESULT_TRUNCATED} if go_on else set[Code]()  # the call that goes on says it
    lines += [issue_line(found) for found in reading.issues if found.code not in told]
    if go_on:
        lines.append(f"go on with: {go_on}")
    return "\n".join(("---", *lines, "")) if lines else ""


def issue_line(found: Issue) -> str:
    """Give an issue in one line: where, what, and what to do.

    >>> from mdvision.errors import Code, issue
    >>> issue_line(issue(Code.SOURCE_NOT_FOUND, "img/x.png was not found.", details={"line": 131}))
    'line 131: img/x.png was not found. Check the path or address.'
    """
    line = found.details.get("line")
    where = f"line {line}: " if line is not None else ""
    return _SEPARATORS.sub(" ", f"{where}{found.message} {found.next_action}".strip())


def file_index_text(index: MarkdownFileIndex) -> str:
    """Give a file's index as md-vision does: front matter and a TSV table in a `<file>`."""
    path = "" if index.path is None else f' path="{escape(index.path, _IN_ATTRIBUTE)}"'
    head = f"<file{path} lines={index.line_count} chars={index.char_count}>\n"
    front = f"{index.frontmatter}\n" if index.frontmatter else ""
    rows = "".join(f"{_index_row(row)}\n" for row in index.rows)
    return f"{head}{front}```tsv\n{INDEX_COLUMNS}\n{rows}```\n</file>\n"


def _index_row(row: HeadingIndexRow) -> str:
    heading = _SEPARATORS.sub(" ", row.heading)
    return f"{heading}\t{row.line_start}\t{row.image_count}\t{row.char_count}"


def index_json(index: MarkdownFileIndex | MarkdownFolderIndex) -> str:
    """Give an index as one line of JSON."""
    return json.dumps(index.to_dict(), ensure_ascii=False)
