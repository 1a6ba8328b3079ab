"""Finding words in a document: which of its sections hold them, and on which line."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from mdvision.errors import Code, failure
from mdvision.markdown.select import folded

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mdvision.markdown.outline import Outline

MAX_QUERY_CHARS = 1_000
_MOST_TERMS = 32
_SNIPPET_CHARS = 200
_BEFORE_HIT_CHARS = 60  # of a line that is too long to be shown whole
_MOST_COUNTED = 100  # occurrences of a term: more say nothing more, and cost
_TERM = re.compile(r'"([^"]*)"?|([^\s"]+)')
_AROUND_WORD = "?!,;:…"  # of a question; other marks may be what is looked for
_WORD_START = re.compile(r"[^\W_]")
_WITHOUT_SPACES = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]"
)
"""Scripts that put no space between words: Thai, Lao, Burmese, Khmer, Japanese, Chinese."""
_EVERYWHERE = frozenset(
    re.findall(
        r"\w+",
        """a about an and any are as at be by can could do does for from get had has have how i if
        in into is it its me my no not of on or our out please show should so tell than that the
        their them then there these they this to up was we were what when where which who why will
        with would you your""",
    )
)
"""English words that questions are made of; they say nothing of what is looked for."""


class Query:
    """What is looked for: each word, and each phrase in quotes; case does not count.

    A word is found where a word begins: "image" in `images` and `read_image`, not in `pilgrimage`.
    Of a question only the words that tell something count.

    >>> Query('How do I set a proxy "behind a firewall"?').terms
    ['set', 'proxy', 'behind a firewall']

    Raises:
        InvalidInputError: there is no word in it, or too much.
    """

    def __init__(self, text: str) -> None:
        if len(text) > MAX_QUERY_CHARS:
            message = f"The query has {len(text):,} characters; {MAX_QUERY_CHARS:,} are the most."
            raise _refused(message, "Ask for a few words.")
        found = [
            " ".join(phrase.split()) or word.strip(_AROUND_WORD).removesuffix("'s") or word
            for phrase, word in _TERM.findall(folded(text))
        ]
        telling = [term for term in found if term not in _EVERYWHERE | set(_AROUND_WORD)]
        self.terms = list(dict.fromkeys(filter(None, telling or found)))[:_MOST_TERMS]
        if not self.terms:
            raise _refused("The query holds no word.", "Give words, or a phrase in quotes.")
        self._patterns = [_pattern(term) for term in self.terms]
        self._rarest = [max(term.split(" "), key=len) for term in self.terms]

    def counts(self, text: str) -> list[int]:
        """How often each term stands in a folded text, up to a bound."""
        pairs = zip(self._rarest, self._patterns, strict=True)  # `in` is faster than a pattern
        return [_count(pattern, text) if word in text else 0 for word, pattern in pairs]

    def are_in(self, text: str) -> bool:
        """Whether any term may stand in a folded text."""
        return any(word in text for word in self._rarest)

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

    row: int
    """Index of the heading's row; -1 for what stands before the first heading."""
    in_title: Sequence[bool]
    """Which of the query's terms the title holds."""
    counts: Sequence[int]
    """How often each term stands there, title included."""


def find(parsed: Outline, query: Query) -> Iterator[Hit]:
    """Give the parts of a document that hold a term of the query, in order."""
    text = parsed.source.text
    for row, (start, end) in enumerate(parsed.own_lines(), start=-1):
        counts = query.counts(folded(text[start:end]))
        if any(counts):
            title = parsed.rows[row].section_path[-1] if row >= 0 else ""
            yield Hit(row, list(map(bool, query.counts(folded(title)))), counts)


def snippet(parsed: Outline, row: int, query: Query) -> tuple[int, str]:
    """The line with the most terms under a heading, below that where there is one, and its text."""
    source = parsed.source
    start, end = list(parsed.own_lines())[row + 1]
    first = source.line_at(start)
    lines = source.text[start:end].split("\n")
    if row >= 0:  # the heading says nothing new, unless nothing else is there
        body = parsed.heading_line_ends[row] - first + 1
        lines[:body] = [""] * body if any(map(str.strip, lines[body:])) else lines[:body]
    ranks = [(sum(map(bool, query.counts(folded(line)))), bool(line.strip())) for line in lines]
    best = max(range(len(lines)), key=lambda k: (ranks[k], -k))
    return first + best, _around(lines[best], query)


def _around(line: str, query: Query) -> str:
    """A line with single blanks, cut round the first term when it is too long."""
    shown = " ".join(line.split())
    if len(shown) <= _SNIPPET_CHARS:
        return shown
    start = max(0, min(query.first(folded(shown)) - _BEFORE_HIT_CHARS, len(shown) - _SNIPPET_CHARS))
    cut = shown[start : start + _SNIPPET_CHARS]
    return ("…" if start else "") + cut + ("…" if start + _SNIPPET_CHARS < len(shown) else "")
