"""Searching: the sections of a file or folder that hold the words asked for, with no index kept."""

from __future__ import annotations

import math
import os
import posixpath
from contextlib import suppress
from heapq import nlargest
from typing import TYPE_CHECKING, NamedTuple

from mdvision.errors import Code, MdVisionError, failure
from mdvision.markdown.find import Hit, Query, find, snippet
from mdvision.markdown.select import folded
from mdvision.model import SectionMatch
from mdvision.sources.document import load_document, load_text, parse_document
from mdvision.sources.files import list_markdown
from mdvision.sources.loader import Loader

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mdvision.markdown.outline import Outline
    from mdvision.model import Progress, Source

_TITLE_WEIGHT = 3  # of a term in the title, against one in the text: three words there outweigh it


def search_markdown(
    path: Source, query: str, *, max_results: int = 10, loader: Loader | None = None
) -> tuple[SectionMatch, ...]:
    """Find the sections of a markdown file, page or folder that hold words.

    A section is what stands between one heading and the next, so each place is found once. The best
    come first: those with the words in the title, then those with most of the words; a word that
    few sections hold counts for more than one that many do. Of a question only the words that tell
    something are looked for. Files of a folder are those that `index_markdown_folder` takes; one
    that cannot be read is passed over.

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
    return search_all((path,), query, max_results, loader).matches


class SearchResult(NamedTuple):
    """What a search found."""

    matches: tuple[SectionMatch, ...]
    """The best, in order."""
    total: int
    """Sections that hold a word, all together."""
    unread: int
    """Files that could not be read."""


class _Found(NamedTuple):
    """A hit, and the file that it is in."""

    path: str
    hit: Hit


def search_all(
    paths: Sequence[Source],
    query: str,
    max_results: int,
    loader: Loader | None,
    progress: Progress | None = None,
) -> SearchResult:
    """Search several files or folders as one."""
    if max_results < 1:
        message = f"max_results is {max_results}; it must be at least 1."
        raise failure(Code.INPUT_INVALID, message, details={"reason": "max_results"})
    asked, loader = Query(query), loader or Loader()
    names = list(_names(paths, loader))
    found: list[_Found] = []
    unread = 0
    for k, (name, is_asked_for) in enumerate(names):
        if progress:
            progress(k, len(names), name)
        try:
            loaded = load_text(name, loader)
        except MdVisionError:
            if is_asked_for:
                raise
            unread += 1
            continue
        if asked.are_in(folded(loaded.text)):  # most files of a folder need not be parsed
            for hit in find(parse_document(*loaded).outline, asked):
                loader.checkpoint()
                found.append(_Found(name, hit))
    weights = _weights([it.hit for it in found], len(asked.terms))
    best = nlargest(
        max_results, range(len(found)), key=lambda k: (*_rank(found[k].hit, weights), -k)
    )
    outlines: dict[str, Outline] = {}
    for path in {found[k].path for k in best}:
        with suppress(MdVisionError):  # gone meanwhile
            outlines[path] = load_document(path, loader).outline
    matches = (_match(found[k], outlines.get(found[k].path), asked) for k in best)
    return SearchResult(tuple(match for match in matches if match), len(found), unread)


def _names(paths: Sequence[Source], loader: Loader) -> Iterator[tuple[str, bool]]:
    """The files to search, each with whether the caller named it himself."""
    for source in paths:
        path = os.fspath(source)
        if loader.is_folder(path):
            files = list_markdown(path, loader).files
            yield from ((posixpath.join(path, file), False) for file in files)
        else:
            yield path, True


def _weights(hits: Sequence[Hit], terms: int) -> list[float]:
    """What each term counts for: the more, the fewer sections hold it."""
    holding = [sum(hit.counts[k] > 0 for hit in hits) for k in range(terms)]
    return [math.log(1 + len(hits) / count) if count else 0.0 for count in holding]


def _rank(hit: Hit, weights: Sequence[float]) -> tuple[float, float, int]:
    """Terms in title and text, by weight; then those in the title; then how often they stand."""
    in_title = sum(weight for weight, there in zip(weights, hit.in_title, strict=True) if there)
    in_all = sum(weight for weight, count in zip(weights, hit.counts, strict=True) if count)
    return _TITLE_WEIGHT * in_title + in_all, in_title, sum(hit.counts)


def _match(found: _Found, parsed: Outline | None, query: Query) -> SectionMatch | None:
    row_index = found.hit.row
    if parsed is None or row_index >= len(parsed.rows):
        return None
    line, text = snippet(parsed, row_index, query)
    row = parsed.rows[row_index] if row_index >= 0 else None
    first = parsed.starts[0] if parsed.starts else len(parsed.source.text)
    return SectionMatch(
        path=found.path,
        heading=row.heading if row else "",
        section_path=row.section_path if row else (),
        slug=row.slug if row else "",
        line=line,
        snippet=text,
        image_count=row.image_count if row else len(parsed.pictures_in(0, first)),
    )
