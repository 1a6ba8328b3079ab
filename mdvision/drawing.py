"""Drawing: a picture of any kind as the part that shows it; SVG is drawn first, in the sandbox."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from functools import cache, partial
from typing import TYPE_CHECKING

from mdvision.errors import Code, failure
from mdvision.images.part import OpenImage, image_part
from mdvision.images.svg import DrawnSvg, draw_svg
from mdvision.images.svg_fonts import Fonts, spare_font, system_fonts
from mdvision.images.svg_source import is_svg
from mdvision.images.tiles import within_picture
from mdvision.sandbox import SandboxError, run

if TYPE_CHECKING:
    from mdvision.errors import Issue, MdVisionError
    from mdvision.images.policy import ImagePolicy
    from mdvision.limits import Limits
    from mdvision.model import Box, ImagePart

_SECONDS = 8.0
"""For one drawing; real ones take a tenth of a second."""
_MEMORY_BYTES = 500_000_000

_WHY = {
    "timeout": f"it takes longer than {_SECONDS:.0f} seconds",
    "memory": f"it takes more than {_MEMORY_BYTES // 1_000_000} MB of memory",
    "crash": "it ends the renderer, or takes more memory than there is",
    "start": "no process for the renderer could be started",
}


def shown_part(
    data: bytes,
    policy: ImagePolicy,
    limits: Limits,
    *,
    source: str,
    region: Box | None = None,
) -> tuple[ImagePart, tuple[Issue, ...]]:
    """Bound and encode a picture, or a region of it; SVG and SVGZ become PNG.

    The size of the source is the SVG's own, which may be smaller than that of the picture.

    Raises:
        InvalidInputError: the region is not four whole numbers, or lies outside of the picture.
        DecodeError: the bytes are damaged, or take too much to be decoded or drawn.
        UnsupportedFormatError: they are no picture.
        SourceError: they are too many.
        MissingExtraError: they are SVG, and resvg-py is not installed.
    """
    if not is_svg(data):
        if region is None:
            return image_part(data, policy, limits, source=source)
        image = OpenImage(data, limits, source=source)
        return image.part(policy, within_picture(region, image.width_pixels, image.height_pixels))
    drawn = _drawn(data, policy, limits, region)
    limits = replace(limits, max_input_bytes=max(limits.max_input_bytes, len(drawn.png)))
    part, issues = image_part(drawn.png, policy, limits, source=source)
    part = replace(
        part,
        source_width_pixels=drawn.source_width_pixels,
        source_height_pixels=drawn.source_height_pixels,
        region=drawn.region,
    )
    return part, (*drawn.issues, *issues)


def _drawn(data: bytes, policy: ImagePolicy, limits: Limits, region: Box | None) -> DrawnSvg:
    work = partial(_draw, data, policy, limits, region)
    try:
        return run(work, seconds=_SECONDS, memory_bytes=_MEMORY_BYTES)
    except SandboxError as error:
        raise _undrawn(error) from None


def _undrawn(error: SandboxError) -> MdVisionError:
    message = f"The SVG could not be drawn: {_WHY[error.reason]}."
    details = {"reason": error.reason}
    return failure(Code.DECODE_FAILED, message, next_action="Give a PNG of it.", details=details)


# in the child


def _draw(data: bytes, policy: ImagePolicy, limits: Limits, region: Box | None) -> DrawnSvg:
    return draw_svg(data, policy, limits, _fonts(), region)


@cache
def _fonts() -> Fonts:
    """The fonts of the system, or Pillow's own where it has none."""
    try:
        found = system_fonts()
    except ImportError:  # nothing will be drawn
        return Fonts()
    return found if found.sans_serif else _spare_fonts()


def _spare_fonts() -> Fonts:
    font = spare_font()
    if font is None or sys.platform != "linux":  # others come with fonts
        return Fonts()
    # A file in memory, gone with this process however it ends.
    file = os.memfd_create("mdvision-font")
    with open(file, "wb", closefd=False) as out:
        out.write(font.data)
    return Fonts(font.family, font.family, font.family, (f"/proc/self/fd/{file}",))
