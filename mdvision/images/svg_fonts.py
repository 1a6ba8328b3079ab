"""Fonts for the text of drawings: resvg draws none whose family it does not find.

It has names for the generic families that few machines know, and tells nobody what is missing. So
families are tried out: the narrower ones first, for which most drawings are laid out.
"""

from __future__ import annotations

from typing import NamedTuple

_SANS_SERIF = (
    *("Liberation Sans", "Arial", "Helvetica", "Noto Sans", "DejaVu Sans", "Segoe UI"),
    *("FreeSans", "Ubuntu", "Cantarell", "Roboto", "Open Sans"),
)
_SERIF = (
    *("Liberation Serif", "Times New Roman", "Times", "Noto Serif", "DejaVu Serif"),
    *("Georgia", "FreeSerif"),
)
_MONOSPACE = (
    *("Liberation Mono", "Courier New", "Menlo", "Consolas", "Noto Sans Mono"),
    *("DejaVu Sans Mono", "FreeMono"),
)
_PROBE = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="16" height="16">'
    '<text y="14" font-size="16" font-family="serif">{}</text></svg>'
)


class Fonts(NamedTuple):
    """Families that stand for the generic ones; "" where there is none."""

    sans_serif: str = ""
    serif: str = ""
    monospace: str = ""
    files: tuple[str, ...] = ()
    """Font files beside those of the system."""


def system_fonts() -> Fonts:
    """The families of this system; a sans serif one stands for what is missing.

    Raises:
        ImportError: resvg-py is not installed.
    """
    sans_serif = _first_drawn(_SANS_SERIF)
    serif = _first_drawn(_SERIF)
    some = sans_serif or serif
    return Fonts(some, serif or some, _first_drawn(_MONOSPACE) or some)


def _first_drawn(families: tuple[str, ...]) -> str:
    from resvg_py import svg_to_bytes

    blank = svg_to_bytes(svg_string=_PROBE.format(""))
    for family in families:
        if svg_to_bytes(svg_string=_PROBE.format("M"), serif_family=family) != blank:
            return family
    return ""


class FontFile(NamedTuple):
    """A font to be written to a file."""

    family: str
    data: bytes


def spare_font() -> FontFile | None:
    """The font that Pillow brings, for a system that has none: Latin letters alone."""
    from PIL import ImageFont

    font = ImageFont.load_default(20)
    if not isinstance(font, ImageFont.FreeTypeFont) or not font.font_bytes:
        return None  # Pillow was built without FreeType
    return FontFile(str(font.getname()[0]), font.font_bytes)
