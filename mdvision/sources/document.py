"""A markdown document, brought in and parsed: what indexing and reading both begin with."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from mdvision.errors import Code, Issue, issue
from mdvision.limits import MAX_NESTING
from mdvision.markdown.mdx import is_mdx
from mdvision.markdown.outline import Outline, outline
from mdvision.sources.resolve import shown_source
from mdvision.sources.text import decode_text

if TYPE_CHECKING:
    from mdvision.model import Source
    from mdvision.sources.loader import Loader


class Document(NamedTuple):
    """A markdown document, parsed."""

    outline: Outline
    uri: str
    """Where it came from, after redirects: what it names is looked for from there."""
    issues: tuple[Issue, ...]


def parse_document(text: str, uri: str, issues: tuple[Issue, ...] = ()) -> Document:
    """Parse a text; the suffix of its address tells MDX from markdown."""
    parsed = outline(text, mdx=is_mdx(uri))
    if parsed.nesting_limit_reached:
        message = f"Quotes and lists nest more than {MAX_NESTING} deep; deeper marks are text."
        issues += (issue(Code.NESTING_LIMIT, message, details={"limit": MAX_NESTING}),)
    return Document(parsed, uri, issues)


class LoadedText(NamedTuple):
    """A markdown text, not parsed yet."""

    text: str
    uri: str
    issues: tuple[Issue, ...]


def load_text(source: Source, loader: Loader) -> LoadedText:
    """Load a markdown file or page."""
    found = loader.load_markdown(source)
    decoded = decode_text(found.data, shown_source(os.fspath(source)))
    return LoadedText(decoded.text, found.uri, decoded.issues)


def load_document(source: Source, loader: Loader) -> Document:
    """Load and parse a markdown file or page."""
    return parse_document(*load_text(source, loader))
