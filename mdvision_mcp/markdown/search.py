"""`search_md`: the sections that hold words."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from mdvision.markdown.find import MAX_QUERY_CHARS
from mdvision.rendering import tsv_row, within
from mdvision.searching import search_all
from mdvision_mcp.content import Answer
from mdvision_mcp.markdown.source import URI, all_folders, hints, is_all
from mdvision_mcp.paths import shown_path
from mdvision_mcp.tool import Tool

if TYPE_CHECKING:
    from mdvision.model import SectionMatch
    from mdvision_mcp.tool import Arguments
    from mdvision_mcp.work import Call

_MAX_RESULTS, _RESULTS = 50, 10
_SHOWN_CHARS = 200
_FRAME_CHARS = 200  # of an answer beside its rows


def _search(arguments: Arguments, call: Call) -> Answer:
    uri, query = cast("str", arguments["uri"]), cast("str", arguments["query"])
    everywhere = is_all(uri)
    paths = all_folders(call.settings) if everywhere else [uri]

    def progress(done: int, total: int, _: str) -> None:
        call.progress(done, total, "files are searched")

    most = cast("int", arguments["max_results"])
    with hints(uri, call):
        found = search_all(paths, query, most, call.loader, progress)
    unread = f"{found.unread} files could not be read.\n" if found.unread else ""
    if not found.matches:
        text = f"No section of {uri} holds a word of that query. Try other words, or index_md.\n"
        return Answer(blocks=(text + unread,), meta={"matches": 0})
    rows = [_match_row(match, call if everywhere else None) for match in found.matches]
    kept = within(rows, call.settings.text_chars - _FRAME_CHARS, "sections")
    of_all = f"the best of {found.total}" if found.total > len(rows) else "the best first"
    head = f"{_counted(len(rows))}, {of_all}. Read one with read_md_with_images(uri=...).\n"
    table = "\n".join(("```tsv", "uri\theading\tline\tn_images\tsnippet", *kept, "```", ""))
    return Answer(blocks=(head + table + unread,), meta={"matches": found.total})


def _counted(count: int) -> str:
    return "1 section" if count == 1 else f"{count} sections"


def _match_row(match: SectionMatch, call: Call | None) -> str:
    path = shown_path(match.path, call.loader) if call else match.path
    uri = f"{path}#{match.slug}" if match.slug else path
    heading = match.heading[:_SHOWN_CHARS]
    return tsv_row(uri, heading, str(match.line), str(match.image_count), match.snippet)


SEARCH_MD = Tool(
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
            **URI,
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
)
