"""Markdown as HTML and as plain text, by mistletoe: previews, snippets, text to embed.

Nothing here decides where a section begins. mistletoe keeps its token lists in module globals, so
one lock guards every call; it recurses and is superlinear in one paragraph's marks, so what would
take it too deep or too long is given as its plain source instead (NESTING_LIMIT in the log).
"""

# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false
# mistletoe tells the types of few of its attributes.
from __future__ import annotations

import html
import logging
import re
from threading import Lock
from typing import TYPE_CHECKING, Protocol

from mistletoe import block_token
from mistletoe.block_token import Document
from mistletoe.html_renderer import HtmlRenderer

from mdvision.errors import Code
from mdvision.limits import (
    MAX_RENDERED_BLOCKS,
    MAX_RENDERED_CHARS,
    MAX_RENDERED_MARKS,
    MAX_RENDERED_NESTING,
)
from mdvision.markdown.blocks import scan
from mdvision.markdown.frontmatter import front_matter_end
from mdvision.markdown.leaves import CODE, FENCE, TABLE
from mdvision.markdown.lines import SourceText

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from mistletoe import span_token

_log = logging.getLogger("mdvision")
_mistletoe = Lock()
_MARK = re.compile(r"[\[\]*_`<!~]")
_LONG_RUN = re.compile(r"[ \t]{200}")
_UNSAFE_SCHEME = re.compile(r"[\x00-\x20]*(?:javascript|vbscript|file|data):", re.IGNORECASE)
_DROPPED = frozenset({"HtmlSpan", "HtmlBlock", "ThematicBreak"})
_BETWEEN = {"Document": "\n\n", "Quote": "\n\n", "List": "\n", "ListItem": "\n"}
_SAFE_DATA = re.compile(r"data:image/(?:gif|png|jpeg|webp);", re.IGNORECASE)


def markdown_to_html(text: str) -> str:
    r"""Render markdown as HTML; raw HTML is escaped, and addresses that run code are emptied.

    Front matter is left out. What is too large or too deeply nested comes as `<pre>`.

    >>> markdown_to_html("# A *b*\n\n<script>x</script>\n")
    '<h1>A <em>b</em></h1>\n&lt;script&gt;x&lt;/script&gt;\n'
    """
    body = _body(text)
    rendered = _rendered(body, _as_html)
    return f"<pre>{html.escape(body)}</pre>\n" if rendered is None else rendered


def markdown_to_text(text: str) -> str:
    r"""Render markdown as plain text: marks dropped, code, table cells and alt texts kept.

    Blocks are parted by a blank line, list items by a line end, cells by a tab. Front matter and
    raw HTML tags are left out. What is too large or too deeply nested comes as it is.

    >>> markdown_to_text("## Set *up*\n\n- run `make`\n- see [docs](https://x.test)\n")
    'Set up\n\nrun make\nsee docs\n'
    """
    body = _body(text)
    rendered = _rendered(body, _as_text)
    return body if rendered is None else rendered


def _body(text: str) -> str:
    source = SourceText(text.encode("utf-8", "replace").decode())  # no lone surrogate in an address
    return source.text[front_matter_end(source.text) :]


def _rendered(body: str, render: Callable[[HtmlRenderer, Document], str]) -> str | None:
    """What `render` makes of a text; None when mistletoe cannot be asked."""
    if _is_renderable(body):
        # A list of lines: given a string, mistletoe splits it at characters that end no line.
        lines = [f"{line}\n" for line in body.removesuffix("\n").split("\n")] if body else []
        with _mistletoe:
            try:
                with _HtmlRenderer() as renderer:  # type: ignore[no-untyped-call]
                    return render(renderer, Document(lines))
            except RecursionError:  # called from deep in a stack already
                pass
            finally:
                block_token.Paragraph.parse_setext = True  # an error in a quote leaves it False
    _log.warning("%s: rendered as plain source", Code.NESTING_LIMIT)
    return None


def _as_html(renderer: HtmlRenderer, document: Document) -> str:
    return str(renderer.render_document(document))


def _as_text(_: HtmlRenderer, document: Document) -> str:
    return f"{text}\n" if (text := _plain(document)) else ""


def _is_renderable(body: str) -> bool:
    """Whether mistletoe takes the text without recursing too deeply or for too long."""
    if len(body) > MAX_RENDERED_CHARS or _LONG_RUN.search(body):
        return False
    for count, leaf in enumerate(scan(body)):
        if leaf.depth > MAX_RENDERED_NESTING or count == MAX_RENDERED_BLOCKS:
            return False
        if leaf.kind in (FENCE, CODE):
            continue
        spans = leaf.spans if leaf.kind == TABLE else [(leaf.start, leaf.end)]
        if any(len(_MARK.findall(body, *span)) > MAX_RENDERED_MARKS for span in spans):
            return False
    return True


class _HtmlRenderer(HtmlRenderer):
    """mistletoe's HTML with what could run in a browser made harmless."""

    @staticmethod
    def render_html_span(token: span_token.HtmlSpan) -> str:
        """Give a tag as text."""
        return html.escape(str(token.content))

    @staticmethod
    def render_html_block(token: block_token.HtmlBlock) -> str:
        """Give a block of HTML as text."""
        return html.escape(str(token.content))

    @staticmethod
    def escape_url(raw: str) -> str:
        """Give an address, empty when it could run code or read files."""
        is_unsafe = _UNSAFE_SCHEME.match(raw) and not _SAFE_DATA.match(raw)
        return "" if is_unsafe else str(HtmlRenderer.escape_url(raw))


class _Token(Protocol):
    """What mistletoe's tokens have in common."""

    @property
    def children(self) -> Iterable[_Token] | None: ...


def _plain(token: _Token) -> str:
    kind = type(token).__name__
    if kind in _DROPPED:
        return ""
    if kind == "LineBreak":
        return "\n"
    children = list(token.children or ())
    if kind == "Table":
        header = getattr(token, "header", None)
        return "\n".join(map(_plain_row, [header, *children] if header else children))
    if not children:
        return str(getattr(token, "content", ""))
    texts = map(_plain, children)
    if kind not in _BETWEEN:
        return "".join(texts)
    blocks = (text.strip("\n") for text in texts)
    return _BETWEEN[kind].join(block for block in blocks if block.strip())


def _plain_row(row: _Token) -> str:
    return "\t".join(map(_plain, row.children or ()))
