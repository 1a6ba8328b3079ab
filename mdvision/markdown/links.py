"""What links, images and definitions share: labels, destinations, titles, escapes.

Every function takes a text and a position and gives the position behind what it read, or None. See
CommonMark 0.31.2, sections 4.7 and 6.3.
"""

from __future__ import annotations

import re
from html.entities import html5
from typing import NamedTuple

from mdvision.markdown.spans import match_end

MAX_LABEL_CHARS = 999
LABEL = re.compile(rf"\[((?:[^\[\]\\]|\\.){{1,{MAX_LABEL_CHARS}}})\]", re.DOTALL)
ENTITY = re.compile(r"&(#[xX][0-9a-fA-F]{1,6}|#[0-9]{1,7}|[A-Za-z][A-Za-z0-9]{1,31});")
ESCAPABLE = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")

_GAP = re.compile(r"[ \t]*\n?[ \t]*")  # at most one line end
_SPACE = re.compile(r"[ \t\n]*")
_LINE_REST = re.compile(r"[ \t]*(?:\n|\Z)")
_ANGLED = re.compile(r"<((?:[^<>\n\\]|\\.)*)>")
_PLAIN = re.compile(r"(?:[^\x00-\x20\x7f()\\]|\\[^\x00-\x20\x7f]|\\)+")
_TITLE = re.compile(
    r"""\"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|\(((?:[^()\\]|\\.)*)\)""", re.DOTALL
)
_ESCAPED = re.compile(rf"\\([!-/:-@\[-`{{-~])|{ENTITY.pattern}")
_LABEL_SPACE = re.compile(r"[ \t\n]+")
_MAX_PARENTHESES = 32  # open at once in a destination, as in cmark: more would not be linear


class Definition(NamedTuple):
    """A link reference definition."""

    label: str
    destination: str
    title: str


class Target(NamedTuple):
    """Where a link or an image leads, and where in the text that was said."""

    end: int
    destination: str
    title: str


def normal_label(label: str) -> str:
    """A label as it is compared: white space folded, and Unicode's case."""
    return _LABEL_SPACE.sub(" ", label).strip(" ").casefold()


def entity_text(name: str) -> str:
    r"""The text of `&name;`, or the source again when there is no such entity.

    >>> entity_text("amp"), entity_text("#x41"), entity_text("nothing"), entity_text("#0")
    ('&', 'A', '&nothing;', '\ufffd')
    """
    if name[0] != "#":
        return html5.get(f"{name};", f"&{name};")
    code = int(f"0{name[1:]}", 16) if name[1] in "xX" else int(name[1:])
    is_character = 0 < code < 0x110000 and not 0xD800 <= code < 0xE000  # noqa: PLR2004 - Unicode
    return chr(code) if is_character else "\ufffd"


def unescaped(text: str) -> str:
    """A destination or title with its backslash escapes and entities undone."""
    if "\\" not in text and "&" not in text:
        return text
    return _ESCAPED.sub(lambda found: found[1] or entity_text(found[2]), text)


def is_data(destination: str) -> bool:
    """Whether an address is a `data:` URI (RFC 2397)."""
    return destination[:5].lower() == "data:"


def inline_target(text: str, at: int) -> Target | None:
    """Read the `(...)` behind a bracket; `at` is that of its `(`."""
    at = match_end(_SPACE, text, at + 1)
    address = title = ""
    if found := _destination(text, at):
        at, address = found
        gap = match_end(_SPACE, text, at)
        if gap > at and (named := _title(text, gap)):
            gap, title = match_end(_SPACE, text, named[0]), named[1]
        at = gap
    return Target(at + 1, address, title) if text.startswith(")", at) else None


def read_definition(text: str, at: int) -> tuple[int, Definition] | None:
    """Read the link reference definition at `at`; the end is behind its line."""
    label = LABEL.match(text, at)
    if not label or not text.startswith(":", label.end()) or not label[1].strip(" \t\n"):
        return None
    found = _destination(text, match_end(_GAP, text, label.end() + 1))
    if not found:
        return None
    end, address = found
    name = normal_label(label[1])
    gap = match_end(_GAP, text, end)
    title = _title(text, gap) if gap > end else None
    if title and (rest := _LINE_REST.match(text, title[0])):
        return rest.end(), Definition(name, address, title[1])
    if rest := _LINE_REST.match(text, end):
        return rest.end(), Definition(name, address, "")
    return None


def _destination(text: str, at: int) -> tuple[int, str] | None:
    if text.startswith("<", at):
        found = _ANGLED.match(text, at)
        return (found.end(), unescaped(found[1])) if found else None
    start, depth = at, 0
    while True:
        at = match_end(_PLAIN, text, at)
        c = text[at : at + 1]
        if c == "(" and depth < _MAX_PARENTHESES:
            depth += 1
        elif c == ")" and depth:
            depth -= 1
        else:
            break
        at += 1
    return None if at == start or depth or c == "(" else (at, unescaped(text[start:at]))


def _title(text: str, at: int) -> tuple[int, str] | None:
    found = _TITLE.match(text, at)
    return (found.end(), unescaped(found[found.lastindex or 0])) if found else None
