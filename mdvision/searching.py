"""Searching: the sections of a file or folder that hold the words asked for, with no index kept."""

from __future__ import annotations

import heapq
import os
import posixpath
from contextlib import suppress
from typing import TYPE_CHECKING

from mdvision.errors import Code, MdVisionError, failure
from mdvision.markdown.find import Query, find, snippet
from mdvision.markdown.select import folded
from mdvision.model import SectionMatch
from mdvision.sources.document import load_text, parse_document
from mdvision.sources.files import list_markdown
from mdvision.sources.loader import Loader

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mdvision.markdown.find import Hit
    from mdvision.markdown.outline import Outline
    from mdvision.model import Source
    from mdvision.sources.document import LoadedText


def search_markdown(
    path: Source, query: str, *, max_results: int = 10, loader: Loader | None = None
) -> tuple[SectionMatch, ...]:
    """Find the sections of a markdown file, page or folder that hold words.

    A section is what stands between one heading and the next, so each place is found once. The best
    come first: those with most of the terms in the title, then those with most of them anywhere,
    then those with most occurrences, then by order. Files of a folder are those that
    `index_markdown_folder` takes; one that cannot be read is passed over.

    Args:
        path: file, folder or URL.
        query: words, and phrases in double quotes; case does not count.
        max_results: sections given at most.
        loader: the door to go through; by default one that trusts the caller.

    Raises:
        InvalidInputError: there is no word in the query, or `max_results` is below 1.
        SourceError: the file or folder is missing, or is no text.
        AccessDeniedError: the loader's policy forbids it.
    """
    return search_all((path,), query, max_results, loader)


def search_all(
    paths: Sequence[Source], query: str, max_results: int, loader: Loader | None
) -> tuple[SectionMatch, ...]:
    """Search several files or folders as one."""
    if max_results < 1:
        message = f"max_results is {max_results}; it must be at least 1."
        raise failure(Code.INPUT_INVALID, message, details={"reason": "max_results"})
    asked = Query(query)
    best: list[tuple[tuple[int, int, int], int, SectionMatch]] = []  # a heap, the worst first
    order = 0
    for name, loaded in _texts(paths, loader or Loader()):
        if not any(asked.counts(folded(loaded.text))):
            continue  # most files of a folder need not be parsed
        parsed = parse_document(*loaded).outline
        for hit in find(parsed, asked):
            order -= 1  # of equals the first is the better; no two are equal in this
            if len(best) < max_results:
                heapq.heappush(best, (hit.rank, order, _match(name, parsed, hit, asked)))
            elif hit.rank > best[0][0]:
                heapq.heapreplace(best, (hit.rank, order, _match(name, parsed, hit, asked)))
    return tuple(match for *_, match in sorted(best, reverse=True))


def _texts(paths: Sequence[Source], loader: Loader) -> Iterator[tuple[str, LoadedText]]:
    for source in paths:
        path = os.fspath(source)
        if not loader.is_folder(path):
            yield path, load_text(path, loader)
            continue
        for file in list_markdown(path, loader).files:
            name = posixpath.join(path, file)
            with suppress(MdVisionError):
                yield name, load_text(name, loader)


def _match(path: str, parsed: Outline, hit: Hit, query: Query) -> SectionMatch:
    line, text = snippet(parsed, hit, query)
    row = parsed.rows[hit.row] if hit.row >= 0 else None
    pictures = row.image_count if row else len(parsed.pictures_in(hit.start, hit.end))
    return SectionMatch(
        path=path,
        heading=row.heading if row else "",
        section_path=row.section_path if row else (),
        slug=row.slug if row else "",
        line=line,
        snippet=text,
        image_count=pictures,
    )
