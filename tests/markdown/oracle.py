"""What other parsers see in a document: markdown-it-py's rows, cmark-gfm's verdict.

Both follow the specification; neither shares a line with the scanner under test. Front matter is
markdown-it's plugin's matter there and ours here; an empty line behind it is all that is assumed.
"""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import NamedTuple

import cmarkgfm
from cmarkgfm.cmark import Options
from markdown_it import MarkdownIt
from markdown_it.token import Token

_IMG = re.compile(
    r"""<!--(?:-?>|.*?(?:-->|\Z))|<(img)\b((?:[^<>"']|"[^"]*"|'[^']*')*)>""",
    re.IGNORECASE | re.DOTALL,
)
_SRC = re.compile(r"""\s(?:data-)?src\s*=\s*(?:"\s*[^"\s]|'\s*[^'\s]|[^\s"'>/])""", re.IGNORECASE)


class Row(NamedTuple):
    """A root heading, and the pictures of its section."""

    level: int
    text: str
    line: int
    image_count: int


class Outline(NamedTuple):
    """What a parser sees."""

    rows: list[Row]
    image_count: int


def parser() -> MarkdownIt:
    return MarkdownIt("commonmark", {"maxNesting": 10_000}).enable(["table", "strikethrough"])


def html_images(raw: str) -> int:
    """`<img>` with a source, outside comments."""
    return sum(1 for tag in _IMG.finditer(raw) if tag[1] and _SRC.search(tag[2]))


def flat(tokens: list[Token] | None) -> str:
    """Heading text by the rule: text, code and alt kept, raw HTML and marks dropped."""
    pieces: list[str] = []
    for token in tokens or ():
        if token.type in ("text", "code_inline", "text_special"):
            pieces.append(token.content)
        elif token.type == "image":
            pieces.append(flat(token.children))
        elif token.type in ("softbreak", "hardbreak"):
            pieces.append(" ")
    return "".join(pieces).strip(" \t\n")


def markdown_it(text: str, engine: MarkdownIt | None = None) -> Outline:
    """What markdown-it-py sees, root headings alone."""
    tokens = (engine or parser()).parse(text)
    headings: list[tuple[int, str, int]] = []
    images: list[tuple[int, int]] = []
    for k, token in enumerate(tokens):
        if token.type == "heading_open" and token.level == 0:
            assert token.map
            headings.append((int(token.tag[1]), flat(tokens[k + 1].children), token.map[0] + 1))
        elif token.type == "inline":
            children = token.children or []
            count = sum(child.type == "image" for child in children)
            count += sum(html_images(c.content) for c in children if c.type == "html_inline")
            images.append(((token.map or [0])[0] + 1, count))
        elif token.type == "html_block":
            images.append(((token.map or [0])[0] + 1, html_images(token.content)))
    rows = []
    for k, (level, title, line) in enumerate(headings):
        ends = (other[2] for other in headings[k + 1 :] if other[0] <= level)
        end = next(ends, 10**9)
        rows.append(Row(level, title, line, sum(n for at, n in images if line <= at < end)))
    return Outline(rows, sum(count for _, count in images))


class _Verdict(HTMLParser):
    """Root headings and pictures in the HTML that cmark-gfm renders."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.depth = 0
        self.heading: list[str] | None = None
        self.headings: list[tuple[int, str]] = []
        self.images = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in ("blockquote", "li"):
            self.depth += 1
        elif re.fullmatch("h[1-6]", tag):
            self.heading = []
        elif tag == "img":
            self.images += 1
            if self.heading is not None:
                self.heading.append(dict(attrs).get("alt") or "")
        elif tag == "br" and self.heading is not None:
            self.heading.append(" ")

    def handle_endtag(self, tag: str) -> None:
        if tag in ("blockquote", "li"):
            self.depth -= 1
        elif re.fullmatch("h[1-6]", tag) and self.heading is not None:
            if not self.depth:
                text = re.sub(r"[ \t\n]+", " ", "".join(self.heading)).strip(" ")
                self.headings.append((int(tag[1]), text))
            self.heading = None

    def handle_data(self, data: str) -> None:
        if self.heading is not None:
            self.heading.append(data)


def cmark_gfm(text: str) -> tuple[list[tuple[int, str]], int]:
    """Root headings (level, text) and the number of bracket images, as cmark-gfm renders them.

    Raw HTML is dropped by its safe mode, so `<img>` is not counted.
    """
    rendered = cmarkgfm.markdown_to_html_with_extensions(
        text, options=Options.CMARK_OPT_DEFAULT, extensions=["table", "strikethrough"]
    )
    verdict = _Verdict()
    verdict.feed(re.sub(r"<!-- raw HTML omitted -->", "", rendered))
    return verdict.headings, verdict.images


def squeezed(text: str) -> str:
    """A heading text as the rendered form can be compared."""
    return re.sub(r"[ \t\n]+", " ", text).strip(" ")
