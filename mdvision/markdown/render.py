"""Markdown as HTML and as plain text, by mistletoe: previews, snippets, text to embed.

Nothing here decides where a section begins. mistletoe keeps its token lists in module globals, so
one lock guards every call; it recurses and is superlinear in one paragraph's marks, so what would
take it too deep or too long is given as its plain source instead (NESTING_LIMIT in the log).
"""

from __future__ import annotations

import html
import logging
import re
from threading import Lock
from typing import TYPE_CHECKING

from mistletoe import Document, HtmlRenderer, block_token

from mdvision.errors import Code
from mdvision.limits import MAX_RENDERED_CHARS, MAX_RENDERED_MARKS, MAX_RENDERED_NESTING
from mdvision.markdown.blocks import CODE, FENCE, TABLE, scan
from mdvision.markdown.frontmatter import front_matter_end
from mdvision.markdown.lines import SourceText

if TYPE_CHECKING:
    from mistletoe import span_token

_log = logging.getLogger("mdvision")
_log.addHandler(logging.NullHandler())
_mistletoe = Lock()
_MARK = re.compile(r"[\[\]*_`<!~]")
_LONG_RUN = re.compile(r"[ \t]{200}")
_UNSAFE_SCHEME = re.compile(r"[\x00-\x20]*(?:javascript|vbscript|file|data):", re.IGNORECASE)
_SAFE_DATA = re.compile(r"data:image/(?:gif|png|jpeg|webp);", re.IGNORECASE)


def markdown_to_html(text: str) -> str:
    r"""Render markdown as HTML; raw HTML is escaped, and addresses that run code are emptied.

    Front matter is left out. What is too large or too deeply nested comes as `<pre>`.

    >>> markdown_to_html("# A *b*\n\n<script>x</script>\n")
    '<h1>A <em>b</em></h1>\n&lt;script&gt;x&lt;/script&gt;\n'
    """
    body = _body(text)
    rendered = _rendered(body, _HtmlRenderer)
    return f"<pre>{html.escape(body)}</pre>\n" if rendered is None else rendered


def markdown_to_text(text: str) -> str:
    r"""Render markdown as plain text: marks dropped, code, table cells and alt texts kept.

    Blocks are parted by a blank line, list items by a line end, cells by a tab. Front matter and
    raw HTML tags are left out. What is too large or too deeply nested comes as it is.

    >>> markdown_to_text("## Set *up*\n\n- run `make`\n- see [docs](https://x.test)\n")
    'Set up\n\nrun make\nsee docs\n'
    """
    body = _body(text)
    rendered = _rendered(body, _TextRenderer)
    return body if rendered is None else rendered


def _body(text: str) -> str:
    source = SourceText(text)
    return source.text[front_matter_end(source.text) :]


def _rendered(body: str, renderer: type[HtmlRenderer]) -> str | None:
    if not _is_renderable(body):
        _log.warning("%s: rendered as plain source", Code.NESTING_LIMIT)
        return None
    # A list of lines: given a string, mistletoe splits it at characters that end no line.
    lines = [f"{line}\n" for line in body.removesuffix("\n").split("\n")] if body else []
    with _mistletoe:
        try:
            with renderer() as active:
                return str(active.render(Document(lines)))
        except RecursionError:  # called from deep in a stack already
            _log.warning("%s: rendered as plain source", Code.NESTING_LIMIT)
            return None
        finally:
            block_token.Paragraph.parse_setext = True  # an error inside a quote leaves it False


def _is_renderable(body: str) -> bool:
    """Whether mistletoe takes the text without recursing too deeply or for too long."""
    if len(body) > MAX_RENDERED_CHARS or _LONG_RUN.search(body):
        return False
    for leaf in scan(body):
        if leaf.depth > MAX_RENDERED_NESTING:
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
        return html.escape(token.content)

    @staticmethod
    def render_html_block(token: block_token.HtmlBlock) -> str:
        return html.escape(token.content)

    def escape_url(self, raw: str) -> str:
        unsafe = _UNSAFE_SCHEME.match(raw) and not _SAFE_DATA.match(raw)
        return "" if unsafe else str(super().escape_url(raw))


class _TextRenderer(HtmlRenderer):
    """The text alone; the base class only registers the tokens of raw HTML."""

    def render_document(self, token: block_token.Document) -> str:
        self.footnotes.update(token.footnotes)
        return f"{text}\n" if (text := self._blocks(token, "\n\n")) else ""

    def _blocks(self, token: block_token.BlockToken, between: str) -> str:
        blocks = (self.render(child).strip("\n") for child in token.children or ())
        return between.join(block for block in blocks if block.strip())

    def render_quote(self, token: block_token.Quote) -> str:
        return self._blocks(token, "\n\n")

    def render_list(self, token: block_token.List) -> str:
        return self._blocks(token, "\n")

    def render_list_item(self, token: block_token.ListItem) -> str:
        return self._blocks(token, "\n")

    def render_table(self, token: block_token.Table) -> str:
        rows = [*((token.header,) if hasattr(token, "header") else ()), *token.children]
        return "\n".join("\t".join(map(self.render_inner, row.children)) for row in rows)

    def render_block_code(self, token: block_token.BlockCode) -> str:
        return str(token.content)

    def render_inline_code(self, token: span_token.InlineCode) -> str:
        return str(token.children[0].content)

    def render_raw_text(self, token: span_token.RawText) -> str:
        return str(token.content)

    def render_line_break(self, token: span_token.LineBreak) -> str:
        return "\n"

    def render_thematic_break(self, token: block_token.ThematicBreak) -> str:
        return ""

    def render_html_span(self, token: span_token.HtmlSpan) -> str:
        return ""

    render_html_block = render_html_span

    def _inner(self, token: span_token.SpanToken) -> str:
        return str(self.render_inner(token))

    render_heading = render_paragraph = render_strong = render_emphasis = _inner
    render_strikethrough = render_image = render_link = render_auto_link = _inner
