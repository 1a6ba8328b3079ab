"""SVG drawn as PNG, by resvg: of bounded size, on white, from nothing but its own bytes.

resvg holds the interpreter's lock, takes as long as a filter says, and may end the process, so
whoever calls this does so in a child process (`mdvision.sandbox`).
"""

from __future__ import annotations

import math
import re
import struct
from typing import TYPE_CHECKING, NamedTuple
from xml.etree.ElementTree import Element, tostring

from mdvision.errors import Code, Issue, MdVisionError, failure, issue
from mdvision.images.policy import fit
from mdvision.images.svg_clean import Dropped, clean_svg
from mdvision.images.svg_source import MAX_SVG_BYTES, damaged, parse_svg, svg_words
from mdvision.images.tiles import within_picture

if TYPE_CHECKING:
    from mdvision.images.policy import ImagePolicy
    from mdvision.images.svg_fonts import Fonts
    from mdvision.limits import Limits
    from mdvision.model import Box

MOST_PIXELS = 1568
"""The longer edge of what is drawn at most."""
LEAST_PIXELS = 400
"""The longer edge that a small drawing, an icon, is enlarged to."""
_REGION_SCALE = 4.0  # lines are as sharp at any size, and letters easier to read
_UNSIZED_PIXELS = 800  # one edge of a drawing that names no size at all
_LEAST_STRIP_PIXELS = 0.5
_LEAST_SIDE = 1e-6  # pixels; less is nothing, and too small to be enlarged
_PIXELS_PER_INCH = 96.0  # CSS; resvg's own default refuses all units
_BACKGROUND = "white"  # dark lines on nothing are not to be seen
_MOST_WORDS_CHARS = 600

_LENGTH = re.compile(
    r"\s*\+?([0-9]*\.?[0-9]+(?:e[+-]?[0-9]{1,3})?)\s*(px|pt|pc|mm|cm|in|em|ex|rem|%)?\s*",
    re.IGNORECASE,
)
_UNIT_PIXELS = {
    "px": 1,
    "pt": 96 / 72,
    "pc": 16,
    "mm": 96 / 25.4,
    "cm": 96 / 2.54,
    "in": 96,
    "em": 16,
    "rem": 16,
    "ex": 8,
}
_VIEW_BOX = re.compile(r"[\s,]+")
_PNG_SIZE_AT = 16  # PNG specification, section 11.2.1: IHDR

_TOLD: dict[Dropped, str] = {
    "external_reference": "what it refers to outside of itself is not loaded",
    "html": "HTML in it is drawn as plain text",
    "nested_svg": "a drawing within it, or data of a kind that is no picture's, is left out",
    "script": "its scripts are not run",
}


class DrawnSvg(NamedTuple):
    """An SVG as a picture."""

    png: bytes
    source_width_pixels: int
    """The SVG's own size; that of the picture where it names none."""
    source_height_pixels: int
    region: Box | None
    """The part that is drawn, in pixels of the SVG's own size; None = all of it."""
    issues: tuple[Issue, ...]
    """What of it was not drawn, or otherwise than it says."""


def draw_svg(
    data: bytes,
    policy: ImagePolicy,
    limits: Limits,
    fonts: Fonts,
    region: Box | None = None,
) -> DrawnSvg:
    """Draw SVG or SVGZ at the size at which it is shown: within the policy, and 1568 pixels.

    A drawing smaller than 400 pixels is enlarged to that first. The picture is drawn on white. A
    region, of which what lies outside of the drawing is left off, is drawn up to four times as
    large as it is.

    Raises:
        InvalidInputError: the region is not four whole numbers, or lies outside of the drawing.
        MissingExtraError: resvg-py is not installed; the message says what the SVG says.
        SourceError: more than 5 MB, or than `limits.max_input_bytes`, once inflated.
        UnsupportedFormatError: a document type with declarations, or no SVG.
        DecodeError: damaged, of no size, too deep, or of too many elements.
    """
    root = parse_svg(data, min(MAX_SVG_BYTES, limits.max_input_bytes))
    try:
        from resvg_py import svg_to_bytes
    except ImportError:
        raise _extra_missing(root) from None
    own = own_size(root)
    dropped = clean_svg(root, *(own or (_UNSIZED_PIXELS, _UNSIZED_PIXELS)))
    box = None
    if region is not None:
        own = own or (_UNSIZED_PIXELS, _UNSIZED_PIXELS)
        box = within_picture(region, math.ceil(own[0]), math.ceil(own[1]))
        root, asked = _cut_out(root, own, box, policy)
    else:
        asked = _sized(root, own, policy) if own else _Asked(_UNSIZED_PIXELS, None)
    try:
        png = svg_to_bytes(
            svg_string=tostring(root, "unicode"),
            width=asked.width,
            height=asked.height,
            background=_BACKGROUND,
            dpi=_PIXELS_PER_INCH,
            font_family=fonts.sans_serif or None,
            sans_serif_family=fonts.sans_serif or None,
            serif_family=fonts.serif or None,
            monospace_family=fonts.monospace or None,
            cursive_family=fonts.sans_serif or None,
            fantasy_family=fonts.sans_serif or None,
            font_files=list(fonts.files),
        )
    except ValueError:
        raise damaged("the renderer refuses it") from None
    width, height = own or struct.unpack_from(">II", png, _PNG_SIZE_AT)
    issues = [_told(_TOLD[kind], kind) for kind in sorted(dropped)]
    if not fonts.sans_serif and svg_words(root).texts:
        issues.append(_told("its text is not drawn, for there is no font", "font"))
    return DrawnSvg(png, max(1, round(width)), max(1, round(height)), box, tuple(issues))


def own_size(root: Element) -> tuple[float, float] | None:
    """Width and height in pixels by `width`, `height` and `viewBox`; None when they do not say.

    SVG 2, section 8.2 and CSS Images 3, section 5.1: a side that is missing, or a share, follows
    from the other and the shape of the view box. Without a view box neither is known.

    Raises:
        DecodeError: a side is 0, so that nothing is drawn.
    """
    box = _view_box(root)
    width = _pixels(root.get("width", ""), box and box[0])
    height = _pixels(root.get("height", ""), box and box[1])
    if box:
        if width is None and height is None:
            width, height = box
        elif width is None:
            width = (height or 0) * box[0] / box[1]
        elif height is None:
            height = width * box[1] / box[0]
    if width is None or height is None:
        return None
    if not (_LEAST_SIDE <= width < math.inf and _LEAST_SIDE <= height < math.inf):
        raise damaged("it has no size", "size")
    return width, height


def _view_box(root: Element) -> tuple[float, float] | None:
    """Width and height of the view box."""
    try:
        numbers = [float(part) for part in _VIEW_BOX.split(root.get("viewBox", "").strip())]
    except ValueError:
        return None
    if len(numbers) != 4 or not all(map(math.isfinite, numbers)):  # noqa: PLR2004 - x, y too
        return None
    _, _, width, height = numbers
    return (width, height) if width > 0 and height > 0 else None


def _pixels(length: str, whole: float | None) -> float | None:
    """A length in pixels (CSS Values 3, section 6.2); None when it is `auto` or none."""
    found = _LENGTH.fullmatch(length)
    if not found:
        return None
    unit = (found[2] or "px").lower()
    if unit == "%":
        return None if whole is None else float(found[1]) / 100 * whole
    return float(found[1]) * _UNIT_PIXELS[unit]


class _Asked(NamedTuple):
    """The one side that the renderer is asked for."""

    width: int | None
    height: int | None


def _sized(root: Element, own: tuple[float, float], policy: ImagePolicy) -> _Asked:
    """Give the root the size at which it is drawn, so that no side of it is left to rounding.

    What lies beside the view box at its own size still does. But where the rounding of a narrow
    side would leave a strip of pixels along the other, the drawing is stretched over it.
    """
    longer = max(own)
    scale = min(MOST_PIXELS, max(LEAST_PIXELS, longer)) / longer
    width, height = fit(max(1, round(own[0] * scale)), max(1, round(own[1] * scale)), policy)
    box = _view_box(root)
    if box is None:
        root.set("viewBox", f"0 0 {own[0]!r} {own[1]!r}")
    is_own_shape = box is None or math.isclose(own[0] * box[1], own[1] * box[0], rel_tol=0.001)
    strip = max(width - height * own[0] / own[1], height - width * own[1] / own[0])
    if is_own_shape and strip > _LEAST_STRIP_PIXELS:
        root.set("preserveAspectRatio", "none")
    root.set("width", str(width))
    root.set("height", str(height))
    return _Asked(width, None) if width >= height else _Asked(None, height)


def _cut_out(
    root: Element, own: tuple[float, float], box: Box, policy: ImagePolicy
) -> tuple[Element, _Asked]:
    """The drawing at its own size within one that shows a part of it alone."""
    left, top, wide, high = box
    scale = min(_REGION_SCALE, MOST_PIXELS / max(wide, high))
    width, height = fit(max(1, round(wide * scale)), max(1, round(high * scale)), policy)
    if _view_box(root) is None:
        root.set("viewBox", f"0 0 {own[0]!r} {own[1]!r}")
    for name in ("x", "y"):  # they mean nothing of an outermost drawing
        root.attrib.pop(name, None)
    root.set("width", repr(own[0]))
    root.set("height", repr(own[1]))
    view = {"viewBox": f"{left} {top} {wide} {high}", "width": str(width), "height": str(height)}
    outer = Element(root.tag, {**view, "preserveAspectRatio": "none"})
    outer.append(root)
    return outer, _Asked(width, None) if width >= height else _Asked(None, height)


def _told(what: str, reason: str) -> Issue:
    message = f"The SVG is shown with a difference: {what}."
    return issue(Code.CONTENT_DROPPED, message, details={"reason": reason})


def _extra_missing(root: Element) -> MdVisionError:
    words = svg_words(root)
    said = "; ".join(filter(None, (words.title, words.description, *words.texts)))
    if len(said) > _MOST_WORDS_CHARS:
        said = f"{said[:_MOST_WORDS_CHARS]}..."
    says = f'It says: "{said}"' if said else "It has no text."
    message = f"The picture is SVG, which takes the extra 'svg' to be drawn. {says}"
    action = "Install it: pip install 'mdvision[svg]'."
    return failure(Code.EXTRA_MISSING, message, next_action=action, details={"reason": "svg"})
