"""A picture's bytes made into the part of a reading that shows it."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from mdvision.images.policy import ImagePolicy, estimate_tokens
from mdvision.model import ImagePart

if TYPE_CHECKING:
    from mdvision.errors import Issue
    from mdvision.limits import Limits


def image_part(
    data: bytes, policy: ImagePolicy, limits: Limits, *, source: str
) -> tuple[ImagePart, tuple[Issue, ...]]:
    """Bound and encode a picture; the issues tell what of it was reduced.

    Raises:
        DecodeError: the bytes are damaged, or too large once decoded.
        UnsupportedFormatError: they are no picture, or SVG, which `mdvision.drawing` draws.
        SourceError: they are too many.
    """
    from mdvision.images.codec import bound_image  # brings Pillow

    bounded = bound_image(data, policy, limits)
    part = ImagePart(
        data=bounded.data,
        media_type=bounded.media_type,
        width_pixels=bounded.width_pixels,
        height_pixels=bounded.height_pixels,
        source_width_pixels=bounded.source_width_pixels,
        source_height_pixels=bounded.source_height_pixels,
        source=source,
        alt="",
        title="",
        markdown="",
        line_start=0,
        estimated_tokens=estimate_tokens(bounded.width_pixels, bounded.height_pixels),
        sha256=hashlib.sha256(bounded.data).hexdigest(),
    )
    return part, bounded.issues
