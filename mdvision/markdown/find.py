"""Finding words in a document: which of its sections hold them, and on which line."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from mdvision.errors import Code, failure
from mdvision.markdown.select import folded

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mdvision.markdown.outline import Outline

MAX_QUERY_CHARS = 1_000
_MOST_TERMS = 32
_SNIPPET_CHARS = 200
_BEFORE_HIT_CHARS = 60  # of a line that is too long to be shown whole
_MOST_COUNTED = 100  # occurrences of a term: more say nothing more, and cost
_TERM = re.compile(r'"([^"]*)"?|([^\s"]+)')
_WORD_START = re.compile(r"[^\W_]")
_WITHOUT_SPACES = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]"
)
"""Scripts that put no space between words: Thai, Lao, Burmese, Khmer, Japanese, Chinese."""


class Query:
    """What is looked for: each word, and each phrase in quotes; case does not count.

    A word is found where a word begins: "image" in `images` and `read_image`, not in `pilgrimage`.

    >>> Query('proxy "behind a firewall" proxy').terms
    ['proxy', 'behind a firewall']

    Raises:
        InvalidInputError: there is no word in it, or too much.
    """

    def __init__(self, text: str) -> None:
        if len(text) > MAX_QUERY_CHARS:
            message = f"The query has {len(text):,} characters; {MAX_QUERY_CHARS:,} are the most."
            raise _refused(message, "Ask for a few words.")
        named = (phrase or word for phrase, word in _TERM.findall(folded(text)))
        self.terms = list(dict.fromkeys(" ".join(term.split()) for term in named if term.strip()))
        del self.terms[_MOST_TERMS:]
        if not self.terms:
            raise _refused("The query holds no word.", "Give words, or a phrase in quotes.")
        self._patterns = [_pattern(term) for term in self.terms]

    def counts(self, text: str) -> list[int]:
        """How often each term stands in a folded text, up to a bound."""
        return [_count(pattern, text) for pattern in self._patterns]

    def first(self, text: str) -> int:
        """Where the first term stands in a folded text; 0 when none does."""
        hits = [found.start() for pattern in self._patterns if (found := pattern.search(text))]
        return min(hits, default=0)


def _pattern(term: str) -> re.Pattern[str]:
    words = r"\s+".join(map(re.escape, term.split(" ")))
    begins_word = _WORD_START.match(term) and not _WITHOUT_SPACES.match(term)
    return re.compile(rf"(?<![^\W_]){words}" if begins_word else words)


def _count(pattern: re.Pattern[str], text: str) -> int:
    found = 0
    for _ in pattern.finditer(text):
        found += 1
        if found == _MOST_COUNTED:
            break
    return found


def _refused(message: str, action: str) -> Exception:
    return failure(Code.INPUT_INVALID, message, next_action=action, details={"reason": "query"})


class Hit(NamedTuple):
    """The lines under one heading, up to the next one, that hold a term."""

    rank: tuple[int, int, int]
    """Terms in the title, terms in all, occurrences: the greater, the better."""
    row: int
    """Index of the heading's row; -1 for what stands before the first heading."""
    start: int
    end: int


def find(parsed: Outline, query: Query) -> Iterator[Hit]:
    """Give the parts of a document that hold a term of the query, in order."""
    text = parsed.source.text
    for row, (start, end) in enumerate(parsed.own_lines(), start=-1):
        counts = query.counts(folded(text[start:end]))
        if any(counts):
            title = parsed.rows[row].section_path[-1] if row >= 0 else ""
            in_title = query.counts(folded(title))
            rank = sum(map(bool, in_title)), sum(map(bool, counts)), sum(counts)
            yield Hit(rank, row, start, end)


def snippet(parsed: Outline, hit: Hit, query: Query) -> tuple[int, str]:
    """The line of a hit with the most terms, below the heading where there is one, and its text."""
    source = parsed.source
    first = source.line_at(hit.start)
    lines = source.text[hit.start : hit.end].split("\n")
    if hit.row >= 0:  # the heading says nothing new, unless nothing else is there
        body = parsed.heading_line_ends[hit.row] - first + 1
        lines[:body] = [""] * body if any(map(str.strip, lines[body:])) else lines[:body]
    ranked = ((sum(map(bool, query.counts(folded(line)))), line) for line in lines)
    best, (_, line) = max(
        enumerate(ranked), key=lambda it: (it[1][0], bool(it[1][1].strip()), -it[0])
    )
    return first + best, _around(line, query)


def _around(line: str, query: Query) -> str:
    """A line in one stretch of blanks less, cut round the first term when it is too long."""
    shown = " ".join(line.split())
    if len(shown) <= _SNIPPET_CHARS:
        return shown
    start = max(0, min(query.first(folded(shown)) - _BEFORE_HIT_CHARS, len(shown) - _SNIPPET_CHARS))
    cut = shown[start : start + _SNIPPET_CHARS]
    return ("…" if start else "") + cut + ("…" if start + _SNIPPET_CHARS < len(shown) else "")
