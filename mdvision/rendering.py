r"""Values as the text that a person or a model sees; the command line and the server share it.

The text of a reading stands as written. Directly before each picture stands one line

    [picture 1 of 3: docs/img/setup.png, 2400x1200, shown 1568x784]

with a line end in front of it and one behind. It ends the text before the picture; cut off there,
it leaves the source slice. Elsewhere such a line is the source's own. Of a part of a picture it
says which part, as `view_image` takes it:

    [picture 2 of 3: docs/img/map.png, 3840x2160, tile 1, region [896, 0, 1024, 1024]]
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

PICTURE_LINE = re.compile(
    r"\n\[picture \d+ of \d+(?:: [^\n]*)?, \d+x\d+"
    r"(?:, tile \d+)?(?:, region \[\d+, \d+, \d+, \d+\])?(?:, shown \d+x\d+)?\]\n"
)
"""What stands at the end of the text before each picture."""

INDEX_COLUMNS = "heading\tline_start\tn_images\tchar_count"
"""The columns of a file's table: a row counts its whole section, subsections included."""

_IN_ATTRIBUTE = {'"': "&quot;", "\t": "&#9;", "\n": "&#10;", "\r": "&#13;"}
_FRAME_CHARS = 80  # of a footer: its rule, the words between, the number of issues left out
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
            yield pending + picture_line(part, number, total, address(part))
            yield part
            pending = ""
    if pending:
        yield pending


def picture_line(
    image: ImagePart, number: int, total: int, address: str, tile: int | None = None
) -> str:
    """Give the line that stands before a picture, with a line end on either side.

    `tile` is the number of the tile that it is.
    """
    named = f": {_SEPARATORS.sub(' ', address)}" if 0 < len(address) <= MAX_REFERENCE_CHARS else ""
    source = image.source_width_pixels, image.source_height_pixels
    given = image.width_pixels, image.height_pixels
    part = "" if tile is None else f", tile {tile}"
    whole = source
    if image.region is not None:
        part += f", region {list(image.region)}"
        whole = image.region[2:]
    shown = "" if given == whole else ", shown {}x{}".format(*given)
    return f"\n[picture {number} of {total}{named}, {source[0]}x{source[1]}{part}{shown}]\n"


def reading_footer(
    reading: MarkdownReading, go_on: str = "", *, max_chars: int | None = None
) -> str:
    """Give what there is to say under the text: lines, issues, how to go on; "" for nothing.

    It begins with a line end of its own and a rule, so that taking it away gives the text back.
    With `max_chars` the issues that there is no room for are counted.
    """
    partial = (reading.line_start, reading.line_end) != (
        min(1, reading.line_count),
        reading.line_count,
    )
    lines = (
        [f"lines {reading.line_start}-{reading.line_end} of {reading.line_count}"]
        if partial
        else []
    )
    told = [found for found in reading.issues if not (go_on and _is_cut(found))]
    issues = list(map(issue_line, sorted(told, key=_urgency)))
    if max_chars is not None:
        room = max_chars - sum(map(len, lines)) - len(go_on) - _FRAME_CHARS
        issues = within(issues, room)
    lines += issues
    if go_on:
        lines.append(f"go on with: {go_on}")
    return "\n".join(("", "---", *lines, "")) if lines else ""


def _is_cut(found: Issue) -> bool:
    """Whether an issue says which lines are left, as the call that goes on does."""
    return found.code is Code.RESULT_TRUNCATED and "lines" in found.details


def _urgency(found: Issue) -> int:
    """What was cut comes first; last what is said of a picture that is shown all the same."""
    return {Code.RESULT_TRUNCATED: 0, Code.IMAGE_REDUCED: 2}.get(found.code, 1)


def within(lines: list[str], room: int, what: str = "issues") -> list[str]:
    """As many lines as there is room for, line ends counted, and how many more there are."""
    for k, line in enumerate(lines):
        room -= len(line) + 1
        if room < 0:
            return [*lines[:k], f"and {len(lines) - k} {what} more"]
    return lines


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
    front = f"{index.frontmatter}\n" if index.frontmatter else ""
    rows = "".join(f"{index_row(row)}\n" for row in index.rows)
    path = "" if index.path is None else f' path="{escape(index.path, _IN_ATTRIBUTE)}"'
    head = f"<file{path} lines={index.line_count} chars={index.char_count}>"
    return f"{head}\n{front}```tsv\n{INDEX_COLUMNS}\n{rows}```\n</file>\n"


def index_row(row: HeadingIndexRow) -> str:
    """Give a heading as a row of its file's table."""
    return tsv_row(row.heading, str(row.line_start), str(row.image_count), str(row.char_count))


def tsv_row(*cells: str) -> str:
    """Give a row of a table; tabs and line ends in a cell become spaces."""
    return "\t".join(_SEPARATORS.sub(" ", cell) for cell in cells)


def index_json(index: MarkdownFileIndex | MarkdownFolderIndex) -> str:
    """Give an index as one line of JSON."""
    return json.dumps(index.to_dict(), ensure_ascii=False)


def quoted(text: str) -> str:
    """Give a string as it stands in a call."""
    return json.dumps(text, ensure_ascii=False).encode("utf-8", "replace").decode()
