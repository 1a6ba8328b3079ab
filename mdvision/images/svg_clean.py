"""The pre-pass: an SVG made harmless, and what the renderer lacks put into what it has.

resvg reads files that `image` names by an absolute path, and draws neither HTML (`foreignObject`)
nor variables of CSS. So nothing is left but pictures in the SVG itself and its own `#id`s; HTML
becomes text; `var()` and `light-dark()`, as draw.io writes them, become their values.
"""

from __future__ import annotations

import re
import textwrap
from typing import TYPE_CHECKING, Literal
from xml.etree.ElementTree import Element

from mdvision.images.svg_source import SVG_NAMESPACE, local_name

if TYPE_CHECKING:
    from collections.abc import Iterator

Dropped = Literal["external_reference", "html", "script"]

_PICTURES = frozenset({"image", "feImage"})
_PICTURE_DATA = re.compile(r"data:image/(?:png|jpe?g|gif|webp)[;,]", re.IGNORECASE)
_URL = re.compile(r"url\(\s*[\"']?\s*([^)\"']*)[\"']?\s*\)?", re.IGNORECASE)
_IMPORT = re.compile(r"@import\b[^;{}]*;?", re.IGNORECASE)

_PROPERTY = re.compile(r"(--[\w-]{1,64})\s*:\s*([^;{}\"']{1,64})")
_VARIABLE = re.compile(r"var\(\s*(--[\w-]{1,64})\s*(?:,([^()]*(?:\([^()]*\)[^()]*)?))?\)")
_LIGHT_DARK = re.compile(
    r"light-dark\(\s*((?:[^(),]|\([^()]*\))*),((?:[^()]|\([^()]*\))*)\)", re.IGNORECASE
)
_NESTED_FUNCTIONS = 4

_FAMILIES = re.compile(r"(font-family\s*:\s*)([^;{}]+)", re.IGNORECASE)
_KNOWN_FAMILY = re.compile(
    r"\b(?:serif|monospace|cursive|fantasy|times|georgia|garamond|palatino|cambria|courier"
    r"|consolas|menlo|monaco|mono)\b",
    re.IGNORECASE,
)

_BLOCKS = frozenset({"br", "div", "h1", "h2", "h3", "h4", "h5", "h6", "li", "p", "tr"})
_NUMBER = re.compile(r"\s*(-?[0-9]*\.?[0-9]+)(px|%)?\s*", re.IGNORECASE)
_FONT_SIZE = re.compile(r"font-size\s*:\s*([0-9]{1,3}(?:\.[0-9]+)?)px", re.IGNORECASE)
_COLOUR = re.compile(
    r"(?:^|[;\s])color\s*:\s*(#[0-9a-f]{3,8}|[a-z]{3,20}|rgb\([^()]{5,40}\))", re.IGNORECASE
)
_FONT_PIXELS = 14.0
_CHARACTER_WIDTH = 0.55  # of a font's size, on average
_LINE_HEIGHT = 1.2
_MOST_LABEL_CHARS = 2_000


def clean_svg(root: Element, width: float, height: float) -> frozenset[Dropped]:
    """Change a tree into one that may be drawn; gives what of it was dropped.

    Args:
        root: as `parse_svg` gives it.
        width: of the drawing in its own units, by which shares (`100%`) are reckoned.
        height: as well.
    """
    dropped: set[Dropped] = set()
    values = _custom_properties(root)
    for parent in root.iter():
        parent[:] = list(_drawable(parent, (width, height), dropped))
        _clean_attributes(parent, values, dropped)
        if local_name(parent.tag) == "style" and parent.text:
            parent.text = _clean_css(parent.text, values, dropped)
    return frozenset(dropped)


def _drawable(
    parent: Element, size: tuple[float, float], dropped: set[Dropped]
) -> Iterator[Element]:
    """The children that stay, those in HTML as text."""
    has_other = any(local_name(child.tag) != "foreignObject" for child in parent)
    has_fallback = has_other and local_name(parent.tag) == "switch"
    for child in parent:
        name = local_name(child.tag)
        if name == "script":
            dropped.add("script")
        elif name != "foreignObject":
            yield child
        elif not has_fallback and (text := _as_text(child, size)) is not None:
            dropped.add("html")
            yield text


# references and styles


def _clean_attributes(element: Element, values: dict[str, str], dropped: set[Dropped]) -> None:
    for name, value in list(element.attrib.items()):
        local = local_name(name)
        if local == "href":
            _clean_reference(element, name, dropped)
        elif local == "font-family":
            element.set(name, _with_generic(value))
        elif "(" in value or local == "style":
            element.set(name, _clean_css(value, values, dropped))


def _clean_reference(element: Element, name: str, dropped: set[Dropped]) -> None:
    """Keep a picture's own data, and elsewhere an `#id`; where a link leads is not drawn anyway."""
    tag, value = local_name(element.tag), element.attrib[name].strip()
    if _PICTURE_DATA.match(value) if tag in _PICTURES else value.startswith("#"):
        element.set(name, value)
        return
    del element.attrib[name]
    if tag != "a":
        dropped.add("external_reference")


def _clean_css(text: str, values: dict[str, str], dropped: set[Dropped]) -> str:
    def own(found: re.Match[str]) -> str:
        address = found[1].strip()
        if address.startswith("#"):
            return found[0]
        if not address.startswith("data:"):
            dropped.add("external_reference")
        return "url(#)"  # leads nowhere, as it would have

    def gone(_: re.Match[str]) -> str:
        dropped.add("external_reference")
        return ""

    def family(found: re.Match[str]) -> str:
        return found[1] + _with_generic(found[2])

    text = _URL.sub(own, _IMPORT.sub(gone, text))
    return _FAMILIES.sub(family, _computed(text, values))


def _with_generic(families: str) -> str:
    """Font families with `sans-serif` behind them: resvg takes a serif for all that is unknown.

    >>> _with_generic("Helvetica"), _with_generic("Times,serif")
    ('Helvetica, sans-serif', 'Times,serif')
    """
    return families if _KNOWN_FAMILY.search(families) else f"{families.rstrip()}, sans-serif"


def _custom_properties(root: Element) -> dict[str, str]:
    """Values of CSS variables, wherever they are set; those that lean on others are left out."""
    texts = (
        text
        for element in root.iter()
        for text in (element.get("style"), local_name(element.tag) == "style" and element.text)
        if text
    )
    found = {name: value.strip() for text in texts for name, value in _PROPERTY.findall(text)}
    return {name: value for name, value in found.items() if "var(" not in value}


def _computed(text: str, values: dict[str, str]) -> str:
    """CSS with its variables replaced, the light of two colours taken.

    >>> _computed("fill: light-dark(var(--a, #fff), rgb(0, 0, 0))", {})
    'fill: #fff'
    """

    def value(found: re.Match[str]) -> str:
        return values.get(found[1]) or (found[2] or "").strip() or found[0]

    for _ in range(_NESTED_FUNCTIONS):
        before, text = text, _VARIABLE.sub(value, text)
        text = _LIGHT_DARK.sub(lambda found: found[1].strip(), text)
        if text == before:
            break
    return text


# HTML


def _as_text(html: Element, size: tuple[float, float]) -> Element | None:
    """The words of a `foreignObject`, centred where it stands; None when it has none."""
    styles = [style for element in html.iter() if (style := element.get("style"))]
    sizes = [float(found[1]) for style in styles if (found := _FONT_SIZE.search(style))]
    colours = [found[1] for style in styles if (found := _COLOUR.search(style))]
    pixels = (sizes[-1] if sizes else 0) or _FONT_PIXELS
    left, width = _length(html, "x", size[0]), _length(html, "width", size[0])
    top, height = _length(html, "y", size[1]), _length(html, "height", size[1])
    lines = _lines(html, int(width / (pixels * _CHARACTER_WIDTH)))
    if not lines:
        return None
    text = Element(f"{SVG_NAMESPACE}text", _carried(html))
    text.set("text-anchor", "middle")
    text.set("font-size", f"{pixels:g}")
    text.set("font-family", "sans-serif")
    if colours:
        text.set("fill", colours[-1])
    x, middle = left + width / 2, top + height / 2
    first = middle + pixels * (0.35 - _LINE_HEIGHT * (len(lines) - 1) / 2)
    for number, line in enumerate(lines):
        y = first + number * pixels * _LINE_HEIGHT
        row = Element(f"{SVG_NAMESPACE}tspan", {"x": f"{x:g}", "y": f"{y:g}"})
        row.text = line
        text.append(row)
    return text


def _carried(html: Element) -> dict[str, str]:
    """What places and styles an element, other than its box."""
    return {name: html.attrib[name] for name in ("class", "transform") if name in html.attrib}


def _length(element: Element, name: str, whole: float) -> float:
    found = _NUMBER.fullmatch(element.get(name, ""))
    if not found:
        return 0.0
    return float(found[1]) * (whole / 100 if found[2] == "%" else 1)


def _lines(html: Element, most_chars: int) -> list[str]:
    text = "".join(_pieces(html))[:_MOST_LABEL_CHARS]
    lines = (" ".join(line.split()) for line in text.split("\n"))
    if most_chars < 1:
        return [line for line in lines if line]
    return [
        part for line in lines for part in textwrap.wrap(line, most_chars, break_long_words=False)
    ]


def _pieces(element: Element) -> Iterator[str]:
    """The text of HTML, with a line end around its blocks."""
    name = local_name(element.tag).lower()
    if name in ("script", "style"):
        return
    around = "\n" if name in _BLOCKS else ""
    yield around
    yield (element.text or "").replace("\n", " ")
    for child in element:
        yield from _pieces(child)
        yield (child.tail or "").replace("\n", " ")
    yield around
