"""A picture's bytes made into the part of a reading that shows it, or that shows a piece of it."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import TYPE_CHECKING

from mdvision.images.policy import estimate_tokens
from mdvision.images.tiles import TILE_PIXELS
from mdvision.model import ImagePart

if TYPE_CHECKING:
    from mdvision.errors import Issue
    from mdvision.images.codec import BoundedImage
    from mdvision.images.policy import ImagePolicy
    from mdvision.limits import Limits
    from mdvision.model import Box


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
    return _part(bounded, policy, source), bounded.issues


class OpenImage:
    """A picture decoded once, to look at the whole and at parts of it; all lie on white.

    Raises:
        DecodeError, UnsupportedFormatError, SourceError, MissingExtraError: as `image_part`.
    """

    def __init__(self, data: bytes, limits: Limits, *, source: str) -> None:
        from mdvision.images.codec import DecodedImage  # brings Pillow

        self._decoded = DecodedImage(data, limits)
        self.source = source
        self.width_pixels, self.height_pixels = self._decoded.size

    def part(
        self, policy: ImagePolicy, region: Box | None = None
    ) -> tuple[ImagePart, tuple[Issue, ...]]:
        """Show the whole or a region that lies within; the issues tell what of it was reduced."""
        bounded = self._decoded.bounded(policy, region)
        return _part(bounded, policy, self.source), bounded.issues

    def tile(self, policy: ImagePolicy, box: Box) -> tuple[ImagePart, tuple[Issue, ...]]:
        """Show a tile at full size: of the policy's bounds only that of bytes holds."""
        full = replace(
            policy, max_edge_pixels=TILE_PIXELS, short_edge_pixels=None, max_patches=None
        )
        bounded = self._decoded.bounded(full, box)
        return _part(bounded, policy, self.source), bounded.issues


def _part(bounded: BoundedImage, policy: ImagePolicy, source: str) -> ImagePart:
    return ImagePart(
        data=bounded.data,
        media_type=bounded.media_type,
        width_pixels=bounded.width_pixels,
        height_pixels=bounded.height_pixels,
        source_width_pixels=bounded.source_width_pixels,
        source_height_pixels=bounded.source_height_pixels,
        region=bounded.region,
        source=source,
        alt="",
        title="",
        markdown="",
        line_start=0,
        estimated_tokens=estimate_tokens(bounded.width_pixels, bounded.height_pixels, policy),
        sha256=hashlib.sha256(bounded.data).hexdigest(),
    )
