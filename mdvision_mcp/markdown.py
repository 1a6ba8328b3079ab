"""The toolset `markdown`: index, search and read markdown, and look at one picture."""

from __future__ import annotations

import json
import os
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, cast
from urllib.parse import unquote

from mdvision.errors import (
    Code,
    MdVisionError,
    SectionNotFoundError,
    SourceNotFoundError,
    failure,
)
from mdvision.indexing import index_markdown_file, index_markdown_folder, index_markdown_url
from mdvision.limits import MAX_HEADING_LEVEL
from mdvision.markdown.find import MAX_QUERY_CHARS
from mdvision.reading import read_with_images
from mdvision.rendering import picture_line, tsv_row, within
from mdvision.searching import search_all
from mdvision.sources.files import MARKDOWN_SUFFIXES
from mdvision.sources.opening import real_path
from mdvision.sources.resolve import is_url
from mdvision.viewing import view_image
from mdvision_mcp.content import Answer, error_text
from mdvision_mcp.indexes import index_text
from mdvision_mcp.paths import shown_path, with_close_paths
from mdvision_mcp.readings import (
    DEFAULT_MAX_IMAGES,
    Budget,
    image_policy,
    quoted,
    reading_answer,
)
from mdvision_mcp.tool import Tool

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping, Sequence

    from mdvision.errors import Issue
    from mdvision.model import ImagePart, LineRange, MarkdownFileIndex, SectionMatch
    from mdvision_mcp.tool import Arguments, Schema
    from mdvision_mcp.work import Call

_MAX_URI_CHARS = 1_000
_MAX_NAME_CHARS = 300
_MAX_SECTIONS = 10
_MAX_IMAGES = 50
_MAX_RESULTS, _RESULTS = 50, 10
_SHARES = 10  # of several sections each has at least this part of the characters, or its own call
_SHOWN_CHARS = 200
_FRAME_CHARS = 200  # of a search's answer beside its rows


# index_md


def _index(arguments: Arguments, call: Call) -> Answer:
    uri = cast("str", arguments["uri"])
    pattern = cast("str", arguments.get("pattern", ""))
    issues: list[Issue] = []
    with _close_paths(uri, call):
        if _is_all(uri):
            files: Sequence[MarkdownFileIndex] = [
                replace(index, path=shown_path(index.path or "", call.loader))
                for folder in call.settings.policy.paths
                for index in _folder(real_path(folder), pattern, issues, call)
            ]
        elif call.loader.is_folder(uri):
            files = _folder(uri, pattern, issues, call)
        elif pattern:
            message = f"pattern chooses among the files of a folder; {uri} is none."
            raise failure(Code.INPUT_INVALID, message, details={"reason": "pattern"})
        else:
            files = [_file(uri, call)]
    if not files:
        raise SourceNotFoundError(issues[-1])
    level = cast("int", arguments["max_level"])
    text = index_text(files, issues, level, call.settings.text_chars)
    return Answer(blocks=(text,), meta={"files": len(files)})


def _folder(
    uri: str, pattern: str, issues: list[Issue], call: Call
) -> tuple[MarkdownFileIndex, ...]:
    def progress(done: int, total: int, _: str) -> None:
        call.progress(done, total, "files are indexed")

    include = (pattern,) if pattern else ()
    found = index_markdown_folder(uri, include=include, loader=call.loader, progress=progress)
    issues.extend(found.issues)
    return found.files


def _file(uri: str, call: Call) -> MarkdownFileIndex:
    """The index of a file or page, or of one section of it when a "#slug" stands behind."""
    name, mark, slug = uri.rpartition("#")
    if is_url(uri):
        index = index_markdown_url(uri, loader=call.loader)
    else:
        try:
            return index_markdown_file(uri, loader=call.loader)
        except SourceNotFoundError:
            if not mark:
                raise
        index = index_markdown_file(name, loader=call.loader)
    if not mark:
        return index
    row = next((row for row in index.rows if row.slug == unquote(slug)), None)
    if row is None:
        message = f"Section not found: '#{slug}'."
        action = "Call index_md without the #slug for all headings."
        raise failure(Code.SECTION_NOT_FOUND, message, next_action=action)
    rows = tuple(r for r in index.rows if row.line_start <= r.line_start <= row.line_end)
    return replace(index, rows=rows, frontmatter="")


# search_md


def _search(arguments: Arguments, call: Call) -> Answer:
    uri, query = cast("str", arguments["uri"]), cast("str", arguments["query"])
    is_all = _is_all(uri)
    paths = list(map(real_path, call.settings.policy.paths)) if is_all else [uri]
    with _close_paths(uri, call):
        found = search_all(paths, query, cast("int", arguments["max_results"]), call.loader)
    if not found:
        text = f"No section of {uri} holds a word of that query. Try other words, or index_md.\n"
        return Answer(blocks=(text,), meta={"matches": 0})
    rows = [_match_row(match, call if is_all else None) for match in found]
    kept = within(rows, call.settings.text_chars - _FRAME_CHARS, "sections")
    head = f"{len(found)} sections, the best first. Read one with read_md_with_images(uri=...).\n"
    table = "\n".join(("```tsv", "uri\theading\tline\tn_images\tsnippet", *kept, "```", ""))
    return Answer(blocks=(head + table,), meta={"matches": len(found)})


def _match_row(match: SectionMatch, call: Call | None) -> str:
    path = shown_path(match.path, call.loader) if call else match.path
    uri = f"{path}#{match.slug}" if match.slug else path
    heading = match.heading[:_SHOWN_CHARS]
    return tsv_row(uri, heading, str(match.line), str(match.image_count), match.snippet)


# read_md_with_images


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
    with _close_paths(uri, call):
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
        except SectionNotFoundError as error:
            action = f"Take a heading from index_md(uri={quoted(uri.partition('#')[0])})."
            raise SectionNotFoundError(replace(error.issue, next_action=action)) from None
    return reading_answer(reading, uri, max_images, budget, call)


def _read_sections(
    uri: str, sections: list[str], max_images: int, budget: Budget, call: Call
) -> Answer:
    """Read several sections in order; what one takes of the budget the next does not have."""
    blocks: list[str | ImagePart] = []
    facts: list[Mapping[str, object]] = []
    misses = 0
    least = budget.chars // _SHARES
    rest = len(_rest(uri, sections))
    if rest > budget.chars // 4:
        message = f"The names of the sections take {rest:,} characters, which is too many."
        action = "Read fewer sections in one call."
        details = {"reason": "sections"}
        raise failure(Code.INPUT_INVALID, message, next_action=action, details=details)
    budget.chars -= rest
    for number, named in enumerate(sections):
        call.progress(number, len(sections), "sections are read")
        if number and budget.text_chars < least:
            _append(blocks, [_rest(uri, sections[number:])])
            break
        head = f"[section {number + 1} of {len(sections)}: {named}]\n"
        budget.chars -= len(head) + 1
        path, section = _place(uri, named)
        try:
            found, known = _reading(path, section, [], max_images, budget, call)
        except MdVisionError as error:
            misses += 1
            found = [error_text(error.issue)]
            known = {"error": error.issue.code.name}
            budget.take(found)
        _append(blocks, ["\n" * bool(blocks) + head, *found])
        facts.append(known)
    return Answer(blocks=tuple(blocks), meta={"sections": facts}, is_error=misses == len(sections))


def _place(uri: str, named: str) -> tuple[str, str]:
    """The file and the section that one of several sections names."""
    path, mark, slug = named.rpartition("#")
    if mark and (is_url(path) or path.lower().endswith(MARKDOWN_SUFFIXES)):
        return path, f"#{unquote(slug)}"
    return uri.partition("#")[0], named


def _rest(uri: str, sections: list[str]) -> str:
    named = json.dumps(sections, ensure_ascii=False)
    return f"\n---\ngo on with: read_md_with_images(uri={quoted(uri)}, sections={named})\n"


def _append(blocks: list[str | ImagePart], more: Sequence[str | ImagePart]) -> None:
    """Add blocks; texts that meet become one."""
    for block in more:
        last = blocks[-1] if blocks else None
        if isinstance(block, str) and isinstance(last, str):
            blocks[-1] = last + block
        else:
            blocks.append(block)


# view_image


def _view(arguments: Arguments, call: Call) -> Answer:
    path = cast("str", arguments["path"])
    policy = image_policy(call.settings, call.settings.max_result_bytes // 10 * 9)
    with _close_paths(path, call, pictures=True):
        image = view_image(path, image_policy=policy, loader=call.loader)
    line = picture_line(image, 1, 1, shown_path(image.source, call.loader)).lstrip("\n")
    facts = {"width_pixels": image.source_width_pixels, "height_pixels": image.source_height_pixels}
    return Answer(blocks=(line, image), meta=facts)


def _is_all(uri: str) -> bool:
    """Whether a path stands for all allowed folders."""
    return os.path.normpath(uri) == os.curdir


@contextmanager
def _close_paths(named: str, call: Call, *, pictures: bool = False) -> Generator[None]:
    """Name what the caller may have meant when there is nothing at the path that he named."""
    try:
        yield
    except SourceNotFoundError as error:
        raise with_close_paths(error, named, call.loader, pictures=pictures) from None


# what clients are told

_URI: Schema = {"type": "string", "minLength": 1, "maxLength": _MAX_URI_CHARS}

TOOLS = (
    Tool(
        name="index_md",
        title="Index markdown headings",
        description=(
            "List the headings of a markdown file, page, or folder of markdown, to find what to"
            " read. Returns for each file its front matter and a TSV table: heading, line_start,"
            " n_images, char_count; each row counts its whole section. It does not return text or"
            " pictures: pass a heading to read_md_with_images. Looking for words? Use search_md."
            ' Examples: index_md(uri="docs"), index_md(uri="docs/guide.md", max_level=2),'
            ' index_md(uri=".") for everything that may be read. A large folder is answered with'
            " fewer heading levels, then with its files or folders; narrow it by uri or pattern."
        ),
        parameters={
            "uri": {
                **_URI,
                "description": "Local path, http(s) URL, or local folder to index for markdown"
                " headings; 'path#slug' for the headings of one section.",
            },
            "max_level": {
                "type": "integer",
                "minimum": 1,
                "maximum": MAX_HEADING_LEVEL,
                "default": MAX_HEADING_LEVEL,
                "description": "Deepest heading level that is listed, 1 to 6. Default 6.",
            },
            "pattern": {
                "type": "string",
                "maxLength": _MAX_NAME_CHARS,
                "description": "Of a folder, only the files that this gitignore-style pattern"
                " names, for example 'api/**' or '*.mdx'.",
            },
        },
        required=("uri",),
        run=_index,
    ),
    Tool(
        name="read_md_with_images",
        title="Read markdown with images",
        description=(
            "Read a markdown file or page, or a section of it, exactly as written, with its"
            " pictures as image blocks where they stand; before each stands a line with its path"
            " and size. Use it when you know what to read, from index_md or search_md. With several"
            " sections in one call a miss costs none of the others. Text that is too long is cut at"
            " a block's end, and the last lines then give the call that goes on. It does not list"
            " folders (index_md) and shows no picture larger than 1568 pixels (view_image)."
            ' Example: read_md_with_images(uri="docs/guide.md", section="## Setup").'
        ),
        parameters={
            "uri": {
                **_URI,
                "description": "Local path or http(s) URL of the markdown file to read; '#slug'"
                " behind it names a section.",
            },
            "section": {
                "type": "string",
                "maxLength": _MAX_NAME_CHARS,
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
                "items": {"type": "string", "minLength": 1, "maxLength": _MAX_NAME_CHARS},
                "maxItems": _MAX_SECTIONS,
                "description": "Up to ten sections to read in one call: headings of uri, or"
                " 'path#slug' of other files. Used instead of section and line_range.",
            },
        },
        required=("uri",),
        run=_read,
    ),
    Tool(
        name="search_md",
        title="Search markdown",
        description=(
            "Find the sections of a markdown file or folder that hold words; no index is needed."
            " Returns a TSV table, the best first (words in the title, then words found): uri,"
            " heading, line, n_images, snippet. Pass a uri to read_md_with_images. It looks for the"
            ' words as written, at the start of words and in any case, and for "phrases in quotes";'
            " it knows no synonyms, so try several wordings."
            ' Example: search_md(uri="docs", query="proxy \\"behind a firewall\\"").'
        ),
        parameters={
            "uri": {
                **_URI,
                "description": "Local path, http(s) URL, or local folder to search; '.' for all"
                " allowed folders.",
            },
            "query": {
                "type": "string",
                "minLength": 1,
                "maxLength": MAX_QUERY_CHARS,
                "description": "Words, and phrases in double quotes.",
            },
            "max_results": {
                "type": "integer",
                "minimum": 1,
                "maximum": _MAX_RESULTS,
                "default": _RESULTS,
                "description": "Most sections to return, 1 to 50. Default 10.",
            },
        },
        required=("uri", "query"),
        run=_search,
    ),
    Tool(
        name="view_image",
        title="View an image",
        description=(
            "Look at one picture: PNG, JPEG, WebP, GIF (its first frame), BMP, TIFF, AVIF, SVG"
            " and others, reduced to 1568 pixels. Returns a line with its path and true size, and"
            " the picture. Use it for a picture that read_md_with_images names but does not show,"
            " or to see one again. It reads no text out of the picture."
            ' Example: view_image(path="docs/img/setup.png").'
        ),
        parameters={
            "path": {
                **_URI,
                "description": "Local path or http(s) URL of the picture, as the line before a"
                " picture gives it.",
            },
        },
        required=("path",),
        run=_view,
    ),
)
"""The tools of this set."""
