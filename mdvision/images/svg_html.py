"""HTML in an SVG (`foreignObject`) as text of the SVG: its words, where they stand.

draw.io and Mermaid write labels so. Beside one draw.io puts, in a `switch`, a text for viewers
without HTML: the label cut off ("Lamp..."), its markup, or "[Not supported by viewer]". That text
knows where it stands; the words are taken from the HTML.
"""

from __future__ import annotations

import re
import textwrap
from typing import TYPE_CHECKING, NamedTuple
from xml.etree.ElementTree import Element

from mdvision.images.svg_source import SVG_NAMESPACE, local_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_BLOCKS = frozenset({"br", "div", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "li", "p", "tr"})
_NUMBER = re.compile(r"\s*(-?[0-9]*\.?[0-9]+)(px|%)?\s*", re.IGNORECASE)
_FONT_SIZE = re.compile(r"font-size\s*:\s*([0-9]{1,3}(?:\.[0-9]+)?)px", re.IGNORECASE)
_WIDTH = re.compile(r"(?<![\w-])width\s*:\s*([0-9]{1,5}(?:\.[0-9]+)?)px", re.IGNORECASE)
_COLOUR = re.compile(
    r"(?<![\w-])color\s*:\s*(#[0-9a-f]{3,8}|rgba?\([^()]{5,40}\)|[a-z]{3,20}(?![\w(]))",
    re.IGNORECASE,
)
_FONT_PIXELS = 14.0
_CHARACTER_WIDTH = 0.55  # of a font's size, on average
_LINE_HEIGHT = 1.2
_MIDDLE = 0.35  # from the base line of small letters to their middle, about
_MOST_CHARS = 2_000
_HTML_FEATURE = "#Extensibility"  # SVG 1.1, appendix N: whoever draws `foreignObject` has it


class _Label(NamedTuple):
    """What HTML says, and how."""

    lines: tuple[str, ...]
    font_pixels: float | None
    colour: str


def html_as_text(
    html: Element, size: tuple[float, float], computed: Callable[[str], str]
) -> Element | None:
    """The words of a `foreignObject`, centred where it stands; None when it has none.

    Args:
        html: the `foreignObject`.
        size: of the drawing in its own units, by which shares (`100%`) are reckoned.
        computed: gives CSS without variables.
    """
    left, width = _length(html, "x", size[0]), _length(html, "width", size[0])
    top, height = _length(html, "y", size[1]), _length(html, "height", size[1])
    label = _label(html, width, computed)
    if not label.lines:
        return None
    kept = {name: value for name, value in html.items() if name in ("class", "transform")}
    text = Element(f"{SVG_NAMESPACE}text", {**kept, "text-anchor": "middle"})
    pixels = label.font_pixels or _FONT_PIXELS
    text.set("font-size", f"{pixels:g}")
    text.set("font-family", "sans-serif")
    return _filled(text, label, left + width / 2, top + height / 2 + _MIDDLE * pixels)


def chosen(
    switch: Element, size: tuple[float, float], computed: Callable[[str], str]
) -> tuple[list[Element], bool]:
    """The children of a `switch` that stay, and whether HTML was put into text.

    What stands in for HTML is kept when it says as much. What would be drawn where there is no
    HTML, behind a child that says so (draw.io's "Text is not SVG"), is not.
    """
    if any(_stands_for_html(child) for child in switch):
        return [], False
    html = next((child for child in switch if local_name(child.tag) == "foreignObject"), None)
    others = [child for child in switch if local_name(child.tag) != "foreignObject"]
    if html is None:
        return others, False
    if not others:
        text = html_as_text(html, size, computed)
        return ([], False) if text is None else ([text], True)
    first = others[0]
    if local_name(first.tag) != "text" or _squeezed(first) == _squeezed(html):
        return others, False
    label = _label(html, 0, computed)
    if not label.lines:
        return others, False
    text = Element(first.tag, first.attrib)
    if label.font_pixels:
        text.set("font-size", f"{label.font_pixels:g}")
    return [_filled(text, label, _length(first, "x", 0), _length(first, "y", 0))], True


def _stands_for_html(element: Element) -> bool:
    return (
        not len(element)
        and _HTML_FEATURE in element.get("requiredFeatures", "")
        and (local_name(element.tag) == "g")
    )


def _squeezed(element: Element) -> str:
    return "".join("".join(element.itertext()).split())


def _label(html: Element, width: float, computed: Callable[[str], str]) -> _Label:
    styles = [computed(style) for element in html.iter() if (style := element.get("style"))]
    colours = [found[1] for style in styles if (found := _COLOUR.search(style))]
    colours += [colour for element in html.iter() if (colour := element.get("color"))]
    sizes = [float(found[1]) for style in styles if (found := _FONT_SIZE.search(style))]
    pixels = sizes[-1] if sizes and sizes[-1] else None
    widths = [float(found[1]) for style in styles if (found := _WIDTH.search(style))]
    is_one_line = any("nowrap" in style for style in styles)
    room = 0 if is_one_line else max(widths, default=width)
    lines = _lines(html, int(room / ((pixels or _FONT_PIXELS) * _CHARACTER_WIDTH)))
    return _Label(tuple(lines), pixels, colours[-1] if colours else "")


def _lines(html: Element, most_chars: int) -> Iterator[str]:
    for line in "".join(_pieces(html))[:_MOST_CHARS].split("\n"):
        words = " ".join(line.split())
        if most_chars > 1:
            yield from textwrap.wrap(words, most_chars, break_long_words=False)
        elif words:
            yield words


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


def _filled(text: Element, label: _Label, x: float, y: float) -> Element:
    """The text with the lines of a label, the middle one of them on `y`."""
    if label.colour:
        text.set("fill", label.colour)
    step = _LINE_HEIGHT * (label.font_pixels or _FONT_PIXELS)
    for number, line in enumerate(label.lines):
        at = y + (number - (len(label.lines) - 1) / 2) * step
        row = Element(f"{SVG_NAMESPACE}tspan", {"x": f"{x:g}", "y": f"{at:g}"})
        row.text = line
        text.append(row)
    return text


def _length(element: Element, name: str, whole: float) -> float:
    found = _NUMBER.fullmatch(element.get(name, ""))
    if not found:
        return 0.0
    return float(found[1]) * (whole / 100 if found[2] == "%" else 1)
