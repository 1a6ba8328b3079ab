"""`read_md_with_images`: a file, lines, a section or several, with the pictures in place."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, cast
from urllib.parse import unquote

from mdvision.errors import Code, MdVisionError, SectionNotFoundError, failure
from mdvision.reading import read_with_images
from mdvision.rendering import quoted
from mdvision.sources.files import MARKDOWN_SUFFIXES
from mdvision.sources.resolve import is_url
from mdvision_mcp.content import Answer, error_text
from mdvision_mcp.markdown.source import MAX_NAME_CHARS, URI, document_of, hints
from mdvision_mcp.readings import (
    DEFAULT_MAX_IMAGES,
    Budget,
    image_policy,
    reading_answer,
)
from mdvision_mcp.tool import Tool

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mdvision.errors import Issue
    from mdvision.model import ImagePart, LineRange, MarkdownReading
    from mdvision.sources.loader import Loader
    from mdvision_mcp.tool import Arguments
    from mdvision_mcp.work import Call

_MAX_SECTIONS = 10
_MAX_IMAGES = 50
_SHARES = 10  # of several sections each has at least this part of the characters, or its own call


def _read(arguments: Arguments, call: Call) -> Answer:
    uri, max_images = cast("str", arguments["uri"]), cast("int", arguments["max_images"])
    settings = call.settings
    budget = Budget(settings.text_chars - len(uri), settings.max_result_bytes, max_images)
    sections = cast("list[str]", arguments.get("sections", []))
    if sections:
        return _read_sections(uri, sections, max_images, budget, call)
    lines = cast("list[int]", arguments.get("line_range", []))
    section = cast("str", arguments.get("section", ""))
    blocks, facts = _reading(uri, section, lines, max_images, budget, call)
    return Answer(blocks=tuple(blocks), meta=facts)


def _reading(
    uri: str, section: str, lines: list[int], max_images: int, budget: Budget, call: Call
) -> tuple[list[str | ImagePart], dict[str, object]]:
    with hints(uri, call):
        try:
            reading = read_with_images(
                uri,
                section=section or None,
                line_range=cast("LineRange", tuple(lines)) if lines else None,
                max_images=budget.shown_pictures,
                max_chars=budget.text_chars,
                image_policy=image_policy(call.settings, budget.bytes),
                loader=call.loader,
            )
            if budget.shown_pictures < max_images:
                reading = _by_room(reading)
        except SectionNotFoundError as error:
            action = f"Take a heading from index_md(uri={quoted(document_of(uri, call.loader))})."
            raise SectionNotFoundError(replace(error.issue, next_action=action)) from None
    return reading_answer(reading, max_images, budget, call)


def _by_room(reading: MarkdownReading) -> MarkdownReading:
    """Say what helps where the answer's room, and not max_images, set the number of pictures."""
    action = "Read fewer lines at a time to see more of them."
    issues = tuple(
        replace(found, next_action=action) if found.code is Code.IMAGE_LIMIT_REACHED else found
        for found in reading.issues
    )
    return replace(reading, issues=issues)


def _read_sections(
    uri: str, sections: list[str], max_images: int, budget: Budget, call: Call
) -> Answer:
    """Read several sections in order; what one takes of the budget the next does not have."""
    blocks: list[str | ImagePart] = []
    facts: list[Mapping[str, object]] = []
    missed: list[Issue] = []
    least = budget.chars // _SHARES
    rest = len(_rest(uri, sections, max_images))
    if rest > budget.chars // 4:
        message = f"The names of the sections take {rest:,} characters, which is too many."
        action = "Read fewer sections in one call."
        details = {"reason": "sections"}
        raise failure(Code.INPUT_INVALID, message, next_action=action, details=details)
    budget.chars -= rest
    for number, named in enumerate(sections):
        call.progress(number, len(sections), "sections are read")
        if number and budget.text_chars < least:
            _append(blocks, [_rest(uri, sections[number:], max_images)])
            break
        head = f"[section {number + 1} of {len(sections)}: {named}]\n"
        budget.chars -= len(head) + 1
        path, section = _place(uri, named, call.loader)
        share = replace(budget, bytes=budget.bytes // (len(sections) - number))
        try:
            found, known = _reading(path, section, [], max_images, share, call)
        except MdVisionError as error:
            missed.append(error.issue)
            found = [error_text(error.issue)]
            known = {"error": error.issue.code.name}
        budget.take(found)
        _append(blocks, ["\n" * bool(blocks) + head, *found])
        facts.append(known)
    error_of_all = missed[0] if len(missed) == len(sections) else None
    return Answer(blocks=tuple(blocks), meta={"sections": facts}, error=error_of_all)


def _place(uri: str, named: str, loader: Loader) -> tuple[str, str]:
    """The file and the section that one of several sections names."""
    path, mark, slug = named.rpartition("#")
    if (
        not named.startswith("#")
        and mark
        and (is_url(path) or path.lower().endswith(MARKDOWN_SUFFIXES))
    ):
        return path, f"#{unquote(slug)}"
    return document_of(uri, loader), named


def _rest(uri: str, sections: list[str], max_images: int) -> str:
    named = json.dumps(sections, ensure_ascii=False)
    more = "" if max_images == DEFAULT_MAX_IMAGES else f", max_images={max_images}"
    return f"\n---\ngo on with: read_md_with_images(uri={quoted(uri)}, sections={named}{more})\n"


def _append(blocks: list[str | ImagePart], more: Sequence[str | ImagePart]) -> None:
    """Add blocks; texts that meet become one."""
    for block in more:
        last = blocks[-1] if blocks else None
        if isinstance(block, str) and isinstance(last, str):
            blocks[-1] = last + block
        else:
            blocks.append(block)


READ_MD = Tool(
    name="read_md_with_images",
    title="Read markdown with images",
    description=(
        "Read a markdown file or page, or a section of it, exactly as written, with its"
        " pictures as image blocks where they stand; before each stands a line with its path"
        " and size. Use it when you know what to read, from index_md or search_md. With several"
        " sections in one call a miss costs none of the others. Text that is too long is cut at"
        " a block's end, and the last lines then give the call that goes on. It does not list"
        " folders (index_md) and shows no picture larger than 1568 pixels."
        ' Example: read_md_with_images(uri="docs/guide.md", section="## Setup").'
    ),
    parameters={
        "uri": {
            **URI,
            "description": "Local path or http(s) URL of the markdown file to read; '#slug'"
            " behind it names a section.",
        },
        "section": {
            "type": "string",
            "maxLength": MAX_NAME_CHARS,
            "description": "Heading to read with its subsections, for example"
            " '## Introduction'; also 'Guide > Introduction' or '#introduction'. When it is"
            " found, line_range is not used.",
        },
        "line_range": {
            "type": "array",
            "items": {"type": "integer", "minimum": 1},
            "minItems": 2,
            "maxItems": 2,
            "description": "First and last line to read, 1-based, inclusive, for example"
            " [1, 10]. Used when section is not given or not found.",
        },
        "max_images": {
            "type": "integer",
            "minimum": 0,
            "maximum": _MAX_IMAGES,
            "default": DEFAULT_MAX_IMAGES,
            "description": "Most pictures to show, 0 to 50. Default 10.",
        },
        "sections": {
            "type": "array",
            "items": {"type": "string", "minLength": 1, "maxLength": MAX_NAME_CHARS},
            "maxItems": _MAX_SECTIONS,
            "description": "Up to ten sections to read in one call: headings of uri, or"
            " 'path#slug' of other files, path as in uri. Used instead of section and line_range.",
        },
    },
    required=("uri",),
    run=_read,
)
