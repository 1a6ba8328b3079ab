"""Pictures in raw HTML and in MDX's elements; and which elements a picture must not tear.

HTML by its Living Standard: attributes by section 13.1.2.3, `srcset` by 4.8.4.2.1.
"""

from __future__ import annotations

import html
import re
from html.entities import html5
from typing import TYPE_CHECKING, NamedTuple

from mdvision.markdown.angles import BRACES, JSX_TAG
from mdvision.markdown.links import is_data
from mdvision.markdown.pictures import (
    DARK,
    LIGHT,
    Picture,
    Unshown,
    is_picture_name,
    is_template,
    theme_of,
)
from mdvision.markdown.spans import match_end

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mdvision.markdown.inline import RawHtml
    from mdvision.markdown.spans import LineEnds, Span

TAG = re.compile(  # a comment, or any tag: what stands in an attribute is none
    r"<!--(?:-?>|.*?(?:-->|\Z))"
    r"|<(?P<close>/?)(?P<name>[a-z][a-z0-9.-]*)(?=[ \t\n\f/>])"
    r"""(?P<rest>[^<>"']*(?:(?:"[^"]*"|'[^']*')[^<>"']*)*)>""",
    re.IGNORECASE | re.DOTALL,
)
MIN_SVG_PIXELS = 100
"""A smaller inline drawing is an icon."""

_ATTRIBUTE = re.compile(
    r"""([^ \t\n\f"'<>/={}]+)"""
    rf"""(?:[ \t\n\f]*=[ \t\n\f]*(?:"([^"]*)"|'([^']*)'|({BRACES})|([^ \t\n\f"'=<>`]+)))?"""
)
_CHARACTER_REFERENCE = re.compile(r"&(#[0-9]+;?|#[xX][0-9a-fA-F]+;?|[A-Za-z][A-Za-z0-9]*[;=]?)")
_SPACE = " \t\n\f"
_SEPARATOR = re.compile(r"[ \t\n\f,]*")
_CANDIDATE = re.compile(r"([^ \t\n\f]+)[ \t\n\f]*")
_DESCRIPTOR = re.compile(r"([0-9]+(?:\.[0-9]+)?)[wx]")
_REST = re.compile(r"[^,]*")
_NUMBER = re.compile(r"[0-9]+(?:\.[0-9]+)?")
_LENGTH = re.compile(r"\{?\s*([0-9]+(?:\.[0-9]+)?)(?:px)?\s*\}?")
_SVG_TITLE = re.compile(r"<title[^<>]*>([^<>]*)</title>")
_IDENTIFIER = re.compile(r"\{\s*([A-Za-z_$][\w$]*)(?:\.(?:src|default))?\s*\}")
_STRING = re.compile(r""""([^"\\\n]*)"|'([^'\\\n]*)'|`([^`\\]*)`""")
_SHOWS_PICTURES = re.compile(
    r"image|img|picture|photo|figure|illustration|screenshot", re.IGNORECASE
)
_SOURCES = ("src", "img", "image", "sources")


class _Value(NamedTuple):
    """What an attribute says."""

    text: str
    """Character references decoded; "" of an expression."""
    expression: str = ""
    """Braces included; "" of a text."""


_NOTHING = _Value("")


class Tags:
    """Reads tags in the order of the document, and pairs those of elements.

    Args:
        text: of the document.
        imports: in MDX the files that it imports, by their names in it; None elsewhere.
        line_after: finds where the line ends in which a link ends that holds a tag.
    """

    def __init__(self, text: str, imports: Mapping[str, str] | None, line_after: LineEnds) -> None:
        self.text, self.line_after = text, line_after
        self.is_mdx = imports is not None
        self.imports = imports or {}
        self.open: dict[str, list[tuple[int, str]]] = {}
        self.elements: list[Span] = []
        self.pictures: list[Picture] = []
        self.unshown: list[Unshown] = []
        self.drawings: list[Span] = []
        """Those of `<svg>`: what stands in one is a part of it."""

    def read(self, html: Sequence[RawHtml]) -> None:
        """Take the pictures in these tags, and the elements that they close."""
        for raw in html:
            tag = (self.is_mdx and JSX_TAG.match(raw.text)) or TAG.match(raw.text)
            if not tag or not tag["name"]:
                continue  # a comment
            name, rest = tag["name"], tag["rest"]
            if tag["close"]:
                self.close(name.lower(), raw)
                continue
            if name.lower() == "img" or name[0].isupper():
                self.take(raw, name, rest)
            closes_itself = rest.endswith("/") and (name == "svg" or name[0].isupper())
            if name.lower() != "img" and not closes_itself:  # in HTML `<a/>` opens
                self.open.setdefault(name.lower(), []).append((raw.start, rest))

    def close(self, name: str, raw: RawHtml) -> None:
        """A tag that is never closed holds nothing."""
        if not self.open.get(name):
            return
        start, rest = self.open[name].pop()
        if name != "svg":
            self.elements.append((start, raw.end))
        elif not self.open[name]:
            self.drawings.append((start, raw.end))
            if picture := self.drawing(start, raw, rest):
                self.pictures.append(picture)

    def drawing(self, start: int, raw: RawHtml, rest: str) -> Picture | None:
        """The picture of an inline `<svg>`; None of an icon."""
        values = self.attributes(rest)
        edge = _svg_edge(values)
        if edge is not None and edge < MIN_SVG_PIXELS:
            return None
        alt = _text(values, "aria-label")
        if not alt and (title := _SVG_TITLE.search(self.text, start, raw.end)):
            alt = html.unescape(title[1]).strip()
        return Picture(start, raw.end, "", "", alt, "svg", 0, self.settle(raw))

    def take(self, raw: RawHtml, name: str, rest: str) -> None:
        """Take the picture that an `<img>` or an element of MDX shows."""
        values = self.attributes(rest)
        source, expression = self.source(name, values)
        if expression:
            self.unshown.append(Unshown(raw.start, expression, 0, "expression"))
        elif is_template(source):
            self.unshown.append(Unshown(raw.start, source, 0, "template"))
        elif source:
            is_html = name.lower() == "img" and not values.get("src", _NOTHING).expression
            kind = "html" if is_html else "jsx"
            alt, title = _text(values, "alt"), _text(values, "title")
            place = 0, self.settle(raw), theme_of(source) or _theme_of_classes(values)
            picture = Picture(raw.start, raw.end, source, title, alt, kind, *place)
            self.pictures.append(picture)

    def settle(self, raw: RawHtml) -> int:
        """Where the picture of a tag may stand that a link or emphasis may hold."""
        return raw.end if raw.hold_end is None else self.line_after(raw.hold_end)

    def attributes(self, rest: str) -> dict[str, _Value]:
        """The attributes of a tag, by their names in lower case; the first of a name counts.

        Double braces are an object in MDX, and anywhere else what a template fills in.
        """
        values: dict[str, _Value] = {}
        for name, double, single, braces, bare in _ATTRIBUTE.findall(rest.removesuffix("/")):
            if braces and (self.is_mdx or not braces.startswith("{{")):
                value = _Value("", braces)
            else:
                value = _Value(_attribute_text(double or single or braces or bare))
            values.setdefault(name.lower(), value)
        return values

    def source(self, name: str, values: Mapping[str, _Value]) -> tuple[str, str]:
        """The address of what an element shows, or the expression that would give it."""
        if name.lower() == "img":
            shown = values.get("src", _NOTHING)
            address = self.from_expression(shown.expression) or _image_source(values)
            return address, "" if address else shown.expression
        if name in self.imports and is_picture_name(self.imports[name]):
            return self.imports[name], ""
        is_certain = bool(_SHOWS_PICTURES.search(name))
        for attribute in _SOURCES:
            text, expression = values.get(attribute, _NOTHING)
            address = text.strip(_SPACE) or self.from_expression(expression)
            if address and (is_picture_name(address) or (is_certain and attribute == "src")):
                return address, ""
            if expression and is_certain:
                return "", expression
        return "", ""

    def from_expression(self, expression: str) -> str:
        """The address that an expression gives: what it imports, or a text in it; else ""."""
        if named := _IDENTIFIER.fullmatch(expression):
            return self.imports.get(named[1], "")
        texts = [double or single or back for double, single, back in _STRING.findall(expression)]
        return next((text for text in texts if is_picture_name(text) and "${" not in text), "")


def _text(values: Mapping[str, _Value], name: str) -> str:
    return values[name].text if name in values else ""


def _image_source(values: Mapping[str, _Value]) -> str:
    """The address of an `<img>`: `src`; if that is missing or a placeholder, what loads later."""
    source = _text(values, "src").strip(_SPACE)
    if source and not is_data(source):
        return source
    later = (
        _text(values, "data-src").strip(_SPACE),
        _largest(_text(values, "srcset")),
        _largest(_text(values, "data-srcset")),
    )
    known = [address for address in later if address and not is_data(address)]
    return next(filter(None, [*known, source, *later]), "")


def _largest(srcset: str) -> str:
    """The largest picture of a `srcset`; the first of those that are equal.

    >>> _largest("a.png, b.png 2x"), _largest("s.png 320w, l.png 1200w, m.png 640w")
    ('b.png', 'l.png')
    """
    best, size, at = "", 0.0, 0
    while found := _CANDIDATE.match(srcset, match_end(_SEPARATOR, srcset, at)):
        address, at, number = found[1].rstrip(","), found.end(), 1.0
        if address == found[1]:  # else the comma ends it
            described = _DESCRIPTOR.match(srcset, at)
            number = float(described[1]) if described else number
            at = match_end(_REST, srcset, at)
        if number > size:
            best, size = address, number
    return best


def _svg_edge(values: Mapping[str, _Value]) -> float | None:
    """The longer edge of a drawing in pixels; None when it does not say."""
    written = [values[name] for name in ("width", "height") if name in values]
    lengths = [_LENGTH.fullmatch((value.text or value.expression).strip()) for value in written]
    known = [float(length[1]) for length in lengths if length]
    if not known:
        box = _NUMBER.findall(_text(values, "viewbox"))
        known = [float(number) for number in box[2:4]]
    return max(known, default=None)


def _theme_of_classes(values: Mapping[str, _Value]) -> str:
    """The colour scheme for which Tailwind's classes show an element; "" for both."""
    classes = set(f"{_text(values, 'class')} {_text(values, 'classname')}".split())
    if "hidden" in classes and any(c.startswith("dark:") and c != "dark:hidden" for c in classes):
        return DARK
    return LIGHT if "dark:hidden" in classes else ""


def _attribute_text(value: str) -> str:
    """An attribute's value, its character references decoded.

    By HTML's rule for attributes (section 13.2.5.73) one without a semicolon is none before `=` or
    a letter or digit: `?a=1&copy=2` is an address, not a copyright sign.
    """
    return _CHARACTER_REFERENCE.sub(_character, value) if "&" in value else value


def _character(found: re.Match[str]) -> str:
    name = found[1]
    return html.unescape(found[0]) if name[0] == "#" else html5.get(name, found[0])
