"""`index_md`: the headings of a file, a page or a folder."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, cast
from urllib.parse import unquote

from mdvision.errors import Code, SourceNotFoundError, failure
from mdvision.indexing import index_markdown_file, index_markdown_folder, index_markdown_url
from mdvision.limits import MAX_HEADING_LEVEL
from mdvision.sources.resolve import is_url
from mdvision_mcp.content import Answer
from mdvision_mcp.indexes import index_text
from mdvision_mcp.markdown.source import MAX_NAME_CHARS, URI, all_folders, hints, is_all
from mdvision_mcp.paths import shown_path
from mdvision_mcp.tool import Tool

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mdvision.errors import Issue
    from mdvision.model import MarkdownFileIndex
    from mdvision_mcp.tool import Arguments
    from mdvision_mcp.work import Call


def _index(arguments: Arguments, call: Call) -> Answer:
    uri = cast("str", arguments["uri"])
    pattern = cast("str", arguments.get("pattern", ""))
    issues: list[Issue] = []
    with hints(uri, call):
        if is_all(uri):
            files: Sequence[MarkdownFileIndex] = [
                replace(index, path=shown_path(index.path or "", call.loader))
                for folder in all_folders(call.settings)
                for index in _folder(folder, pattern, issues, call)
            ]
        elif call.loader.is_folder(uri):
            files = _folder(uri, pattern, issues, call)
        elif pattern:
            message = f"pattern chooses among the files of a folder; {uri} is none."
            raise failure(Code.INPUT_INVALID, message, details={"reason": "pattern"})
        else:
            files = [_file(uri, call)]
    if not files:
        raise SourceNotFoundError(next(i for i in issues if i.code is Code.SOURCE_NOT_FOUND))
    issues = [found for found in issues if found.details.get("reason") != "empty"]
    level = cast("int", arguments["max_level"])
    text = index_text(files, issues, level, call.settings.text_chars)
    return Answer(blocks=(text,), meta={"files": len(files)})


def _folder(
    uri: str, pattern: str, issues: list[Issue], call: Call
) -> tuple[MarkdownFileIndex, ...]:
    before = call.step.done  # in the folders before

    def progress(done: int, total: int, _: str) -> None:
        call.progress(before + done, before + total, "files are indexed")

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


INDEX_MD = Tool(
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
            **URI,
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
            "maxLength": MAX_NAME_CHARS,
            "description": "Of a folder, only the files that this gitignore-style pattern"
            " names, for example 'api/**' or '*.mdx'.",
        },
    },
    required=("uri",),
    run=_index,
)
