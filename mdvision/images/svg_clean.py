"""The pre-pass: an SVG made harmless, and what the renderer lacks put into what it has.

resvg reads files that `image` names by an absolute path, and draws neither HTML (`foreignObject`)
nor variables of CSS. So nothing is left but pictures in the SVG itself and its own `#id`s; HTML
becomes text; `var()` and `light-dark()`, as draw.io writes them, become their values.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

from mdvision.images.svg_html import chosen, html_as_text
from mdvision.images.svg_source import local_name

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

Dropped = Literal["external_reference", "html", "nested_svg", "script"]
_Computed = Callable[[str], str]

_PICTURES = frozenset({"image", "feImage"})
_PICTURE_DATA = re.compile(r"data:image/(?:png|jpe?g|gif|webp)[;,]", re.IGNORECASE)
_URL = re.compile(r"url\(\s*[\"']?\s*([^)\"']*)[\"']?\s*\)?", re.IGNORECASE)
_IMPORT = re.compile(r"@import\b[^;{}]*;?", re.IGNORECASE)

_PROPERTY = re.compile(r"(?<![\w-])(--[\w-]{1,64})\s*:\s*([^;{}\"']{1,64})")
_VARIABLE = re.compile(r"var\(\s*(--[\w-]{1,64})\s*(?:,([^()]*(?:\([^()]*\)[^()]*)?))?\)")
_LIGHT_DARK = re.compile(
    r"light-dark\(\s*((?:[^(),]|\([^()]*\)){1,100}),((?:[^()]|\([^()]*\)){1,100})\)", re.IGNORECASE
)
_NESTED_FUNCTIONS = 4

_FAMILIES = re.compile(r"(font-family\s*:\s*)([^;{}]+)", re.IGNORECASE)
_KNOWN_FAMILY = re.compile(
    r"\b(?:serif|monospace|cursive|fantasy|times|georgia|garamond|palatino|cambria|courier"
    r"|consolas|menlo|monaco|mono)\b",
    re.IGNORECASE,
)


def clean_svg(root: Element, width: float, height: float) -> frozenset[Dropped]:
    """Change a tree into one that may be drawn; gives what of it was dropped.

    Args:
        root: as `parse_svg` gives it.
        width: of the drawing in its own units, by which shares (`100%`) are reckoned.
        height: as well.
    """
    dropped: set[Dropped] = set()
    values = _custom_properties(root)

    def computed(css: str) -> str:
        return _computed(css, values)

    for parent in root.iter():
        parent[:] = _drawable(parent, (width, height), computed, dropped)
        _clean_attributes(parent, computed, dropped)
        if local_name(parent.tag) == "style" and parent.text:
            parent.text = _clean_css(parent.text, computed, dropped)
    return frozenset(dropped)


def _drawable(
    parent: Element, size: tuple[float, float], computed: _Computed, dropped: set[Dropped]
) -> list[Element]:
    """The children that stay, HTML as text."""
    if local_name(parent.tag) == "switch":
        children, is_html = chosen(parent, size, computed)
        if is_html:
            dropped.add("html")
    else:
        children = list(parent)
    kept: list[Element] = []
    for child in children:
        name = local_name(child.tag)
        if name == "script":
            dropped.add("script")
        elif name != "foreignObject":
            kept.append(child)
        elif (text := html_as_text(child, size, computed)) is not None:
            dropped.add("html")
            kept.append(text)
    return kept


# references and styles


def _clean_attributes(element: Element, computed: _Computed, dropped: set[Dropped]) -> None:
    for name, value in list(element.attrib.items()):
        local = local_name(name)
        if local == "href":
            _clean_reference(element, name, dropped)
        elif local == "font-family":
            element.set(name, _with_generic(value))
        elif "(" in value or local == "style":
            element.set(name, _clean_css(value, computed, dropped))


def _clean_reference(element: Element, name: str, dropped: set[Dropped]) -> None:
    """Keep a picture's own data, and elsewhere an `#id`; where a link leads is not drawn anyway."""
    tag, value = local_name(element.tag), element.attrib[name].strip()
    if _PICTURE_DATA.match(value) if tag in _PICTURES else value.startswith("#"):
        element.set(name, value)
        return
    del element.attrib[name]
    if value.startswith("data:"):
        dropped.add("nested_svg")
    elif tag != "a":
        dropped.add("external_reference")


def _clean_css(text: str, computed: _Computed, dropped: set[Dropped]) -> str:
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
    return _FAMILIES.sub(family, computed(text))


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
