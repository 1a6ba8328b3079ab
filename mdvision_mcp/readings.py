"""A reading within a budget: text cut, pictures reduced or named, and the call that goes on."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

from mdvision.errors import Code, issue
from mdvision.images.part import image_part
from mdvision.model import ImagePart, TextPart
from mdvision.rendering import quoted, reading_blocks, reading_footer
from mdvision.viewing import READABLE_SCALE, shown_scale
from mdvision_mcp.content import data_bytes, json_bytes, picture_bytes, scrubbed
from mdvision_mcp.paths import shown_path

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mdvision.errors import Details, Issue
    from mdvision.images.policy import ImagePolicy
    from mdvision.model import MarkdownReading
    from mdvision_mcp.settings import Settings
    from mdvision_mcp.work import Call

DEFAULT_MAX_IMAGES = 10
_PARTS = 8  # of a result's characters one is for the lines of pictures and one for the footer
_BARE_LINE_CHARS = 64  # a picture's line without an address
_LEGIBLE_BYTES = 6_000  # no picture is reduced below this; it is named instead
_TOLD_ISSUES = 20
_NAMED = 3
_SEEN_REASONS = frozenset({"bytes", "quality", "palette"})  # the line before a picture tells enough
_LINE_END = re.compile(r"\r\n|\r|\n")


@dataclass(slots=True)
class Budget:
    """What is left of a result: what one part of it takes the next does not have."""

    chars: int
    bytes: int
    pictures: int

    @property
    def part_chars(self) -> int:
        """Characters of the pictures' lines, and as many of the footer."""
        return self.chars // _PARTS

    @property
    def text_chars(self) -> int:
        """Characters of the document's own text."""
        return self.chars - 2 * self.part_chars

    @property
    def shown_pictures(self) -> int:
        """Pictures for whose lines there is room."""
        return min(self.pictures, self.part_chars // _BARE_LINE_CHARS)

    def picture_bytes(self, reading: MarkdownReading) -> int:
        """Bytes for a reading's pictures: what all that is written beside them leaves."""
        text = sum(json_bytes(part.text) for part in reading.parts if isinstance(part, TextPart))
        return self.bytes - self.bytes // 20 - text - 6 * 2 * self.part_chars

    def take(self, blocks: Sequence[str | ImagePart]) -> None:
        """Take from the budget what an answer holds."""
        for block in blocks:
            if isinstance(block, str):
                self.chars -= len(block)
                self.bytes -= json_bytes(block)
            else:
                self.pictures -= 1
                self.bytes -= picture_bytes(block)


def reading_answer(
    reading: MarkdownReading, max_images: int, budget: Budget, call: Call
) -> tuple[list[str | ImagePart], dict[str, object]]:
    """The blocks of a reading, and the facts for programs."""
    reading = _within_chars(reading, budget.text_chars)
    reading = _within_bytes(reading, budget, call)
    left = budget.part_chars - len(reading.images) * _BARE_LINE_CHARS

    def address(image: ImagePart) -> str:
        nonlocal left
        named = shown_path(image.source, call.loader)
        left -= len(named)
        return named if left >= 0 else ""

    blocks = list(reading_blocks(reading, address))
    go_on = _go_on(reading, max_images, call)
    footer = reading_footer(reading, go_on, max_chars=budget.part_chars)
    if not reading.line_count:
        footer = "\n---\nthe document is empty\n"
    if footer:
        last = blocks.pop() if blocks and isinstance(blocks[-1], str) else ""
        blocks.append(f"{last}{footer}")
    blocks = [scrubbed(block) if isinstance(block, str) else block for block in blocks]
    budget.take(blocks)
    return blocks, _facts(reading)


def image_policy(settings: Settings, share: int) -> ImagePolicy:
    """The bounds of a picture that may take `share` bytes of a result."""
    policy = settings.image_policy
    return replace(policy, max_bytes=min(policy.max_bytes, max(data_bytes(share), _LEGIBLE_BYTES)))


def _within_chars(reading: MarkdownReading, most: int) -> MarkdownReading:
    """Cut what the library gives beyond the bound: a long line, `data:` that no picture replaced.

    At a line's end, or in the line where that alone is too long.
    """
    parts: list[TextPart | ImagePart] = []
    for part in reading.parts:
        if isinstance(part, TextPart):
            if len(part.text) > most:
                ends = list(_LINE_END.finditer(part.text, 0, most))
                keep = ends[-1].end() if ends else most
                parts.append(replace(part, text=part.text[:keep]))
                line = part.line_start + len(ends)  # where the text goes on
                return _cut(replace(reading, parts=tuple(parts)), line, is_torn=not ends)
            most -= len(part.text)
        parts.append(part)
    return reading


def _cut(reading: MarkdownReading, line: int, *, is_torn: bool) -> MarkdownReading:
    """A reading that was cut before `line`, or in it."""
    last = reading.line_end
    issues: list[Issue] = []
    for found in reading.issues:
        if found.code is Code.RESULT_TRUNCATED:
            last = cast("tuple[int, int]", found.details["lines"])[1]
        else:
            issues.append(found)
    if is_torn:
        message = f"Line {line} is too long for an answer; only its beginning is given."
        action = "Search for words in it to see what stands around them."
        details: Details = {"reason": "line", "line": line}
        found = issue(Code.RESULT_TRUNCATED, message, next_action=action, details=details)
        issues.append(found)
        line += 1
    if line > last:
        return replace(reading, issues=tuple(issues), line_end=last, next_line=None)
    details = {"lines": (line, last)}
    issues.append(
        issue(Code.RESULT_TRUNCATED, f"Lines {line} to {last} are left.", details=details)
    )
    return replace(reading, issues=tuple(issues), line_end=line - 1, next_line=line)


def _within_bytes(reading: MarkdownReading, budget: Budget, call: Call) -> MarkdownReading:
    """Reduce the largest pictures until all fit; name the last where that would blur them."""
    room = budget.picture_bytes(reading)
    images = list(reading.images)
    while images and (share := _share(images, room)) is not None and share < _LEGIBLE_BYTES * 2:
        images.pop()
    share = _share(images, room)
    shown: dict[int, ImagePart] = {}
    for image in images:
        call.check()
        is_large = share is not None and picture_bytes(image) > share
        shown[id(image)] = _reduced(image, share or 0, call) if is_large else image
    omitted = [_omitted(image, call) for image in reading.images[len(images) :]]
    parts = (shown.get(id(part)) if isinstance(part, ImagePart) else part for part in reading.parts)
    kept = tuple(part for part in parts if part is not None)
    told = [found for found in reading.issues if found.details.get("reason") not in _SEEN_REASONS]
    return replace(reading, parts=kept, issues=(*told, *omitted, *_reduced_note(kept, call)))


def _omitted(image: ImagePart, call: Call) -> Issue:
    path = shown_path(image.source, call.loader)
    message = f"{path or 'A data: picture'} is not shown: the answer has no room for more."
    action = f"See it with view_image(path={quoted(path)})." if path else "Read fewer lines."
    details = {"line": image.line_start}
    return issue(Code.IMAGE_OMITTED, message, next_action=action, details=details)


def _reduced_note(parts: Sequence[TextPart | ImagePart], call: Call) -> list[Issue]:
    """One line for all pictures of which much is lost: those of small scale are named."""
    paths: list[str] = []
    for part in parts:
        if isinstance(part, ImagePart) and shown_scale(part) < READABLE_SCALE:
            path = shown_path(part.source, call.loader)
            paths += [path] * bool(path and path not in paths)
    if not paths:
        return []
    named = ", ".join(paths[:_NAMED]) + (" and others" if len(paths) > _NAMED else "")
    message = f"{named}: shown much smaller than drawn."
    action = f"See one nearer with view_image(path={quoted(paths[0])}, max_tiles=4)."
    return [issue(Code.IMAGE_REDUCED, message, next_action=action)]


def _share(images: Sequence[ImagePart], room: int) -> int | None:
    """The most that one picture may take for all to take `room` at most; None = anything."""
    sizes = sorted(map(picture_bytes, images))
    if sum(sizes) <= room:
        return None
    for k, size in enumerate(sizes):
        share = max(room, 0) // (len(sizes) - k)
        if size > share:
            return share
        room -= size
    return None


def _reduced(image: ImagePart, share: int, call: Call) -> ImagePart:
    """The picture encoded anew, to take its share of the result."""
    policy = image_policy(call.settings, share)
    part, _ = image_part(image.data, policy, call.settings.limits, source=image.source)
    return replace(
        part,
        source_width_pixels=image.source_width_pixels,
        source_height_pixels=image.source_height_pixels,
        alt=image.alt,
        title=image.title,
        markdown=image.markdown,
        line_start=image.line_start,
    )


def _go_on(reading: MarkdownReading, max_images: int, call: Call) -> str:
    """The call that gives what was cut off."""
    if reading.next_line is None:
        return ""
    cut = next(
        found
        for found in reading.issues
        if "lines" in found.details and found.code is Code.RESULT_TRUNCATED
    )
    first, last = cast("tuple[int, int]", cut.details["lines"])
    more = "" if max_images == DEFAULT_MAX_IMAGES else f", max_images={max_images}"
    uri = quoted(shown_path(reading.source, call.loader))
    return f"read_md_with_images(uri={uri}, line_range=[{first}, {last}]{more})"


def _facts(reading: MarkdownReading) -> dict[str, object]:
    """What programs may want to know of a reading."""
    return {
        "line_start": reading.line_start,
        "line_end": reading.line_end,
        "line_count": reading.line_count,
        "next_line": reading.next_line,
        "issues": [found.code.name for found in reading.issues[:_TOLD_ISSUES]],
    }
