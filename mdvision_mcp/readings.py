"""A reading within a budget: text cut, pictures reduced or named, and the call that goes on."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

from mdvision.errors import Code, issue
from mdvision.images.part import image_part
from mdvision.model import ImagePart, TextPart
from mdvision.rendering import reading_blocks, reading_footer
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
    reading: MarkdownReading, uri: str, max_images: int, budget: Budget, call: Call
) -> tuple[list[str | ImagePart], dict[str, object]]:
    """The blocks of a reading, and the facts for programs; `uri` is what the caller named."""
    reading = _within_chars(reading, budget.text_chars)
    reading = _within_bytes(reading, budget, call)
    left = budget.part_chars - len(reading.images) * _BARE_LINE_CHARS

    def address(image: ImagePart) -> str:
        nonlocal left
        named = shown_path(image.source, call.loader)
        left -= len(named)
        return named if left >= 0 else ""

    blocks = list(reading_blocks(reading, address))
    go_on = _go_on(reading, uri, max_images)
    footer = reading_footer(reading, go_on, max_chars=budget.part_chars)
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
    """Cut a line that by itself is longer than the budget; the library gives it whole."""
    parts: list[TextPart | ImagePart] = []
    left = most
    for part in reading.parts:
        if isinstance(part, TextPart):
            if len(part.text) > left:
                parts.append(replace(part, text=part.text[:left]))
                break
            left -= len(part.text)
        parts.append(part)
    else:
        return reading
    message = f"Line {reading.line_end} is too long for an answer; only its beginning is given."
    action = "Search for words in it to see what stands around them."
    details: Details = {"reason": "line", "line": reading.line_end, "limit": most}
    cut = issue(Code.RESULT_TRUNCATED, message, next_action=action, details=details)
    return replace(reading, parts=tuple(parts), issues=(*reading.issues, cut))


def _within_bytes(reading: MarkdownReading, budget: Budget, call: Call) -> MarkdownReading:
    """Reduce the largest pictures until all fit; name the last where that would blur them."""
    room = budget.picture_bytes(reading)
    images = list(reading.images)
    while images and (share := _share(images, room)) is not None and share < _LEGIBLE_BYTES * 2:
        images.pop()
    share = _share(images, room)
    shown: dict[int, ImagePart] = {}
    issues: list[Issue] = []
    for image in images:
        call.check()
        is_large = share is not None and picture_bytes(image) > share
        shown[id(image)] = _reduced(image, share or 0, call) if is_large else image
        if is_large:
            issues.append(_told(Code.IMAGE_REDUCED, image, "is reduced", call))
    issues += [
        _told(Code.IMAGE_OMITTED, image, "is not shown", call)
        for image in reading.images[len(images) :]
    ]
    parts = (shown.get(id(part)) if isinstance(part, ImagePart) else part for part in reading.parts)
    kept = tuple(part for part in parts if part is not None)
    return replace(reading, parts=kept, issues=(*reading.issues, *issues)) if issues else reading


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


def _told(code: Code, image: ImagePart, what: str, call: Call) -> Issue:
    """The issue about a picture that the result has too little room for."""
    path = shown_path(image.source, call.loader)
    message = f"{path or 'A data: picture'} {what}: the answer has no room for more."
    action = f"See it with view_image(path={quoted(path)})." if path else "Read fewer lines."
    return issue(code, message, next_action=action, details={"line": image.line_start})


def _go_on(reading: MarkdownReading, uri: str, max_images: int) -> str:
    """The call that gives what was cut off."""
    if reading.next_line is None:
        return ""
    cut = next(found for found in reading.issues if found.code is Code.RESULT_TRUNCATED)
    first, last = cast("tuple[int, int]", cut.details["lines"])
    more = "" if max_images == DEFAULT_MAX_IMAGES else f", max_images={max_images}"
    return f"read_md_with_images(uri={quoted(uri)}, line_range=[{first}, {last}]{more})"


def quoted(text: str) -> str:
    """A string as it stands in a call."""
    return scrubbed(json.dumps(text, ensure_ascii=False))


def _facts(reading: MarkdownReading) -> dict[str, object]:
    """What programs may want to know of a reading."""
    return {
        "line_start": reading.line_start,
        "line_end": reading.line_end,
        "line_count": reading.line_count,
        "next_line": reading.next_line,
        "section_path": list(reading.section_path),
        "issues": [found.code.name for found in reading.issues[:_TOLD_ISSUES]],
    }
