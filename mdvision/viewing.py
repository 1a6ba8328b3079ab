"""Viewing: one picture, bounded for a model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mdvision.drawing import shown_part
from mdvision.images.policy import ImagePolicy
from mdvision.sources.loader import Loader

if TYPE_CHECKING:
    from mdvision.model import ImagePart, Source


def view_image(
    source: Source, *, image_policy: ImagePolicy | None = None, loader: Loader | None = None
) -> ImagePart:
    """View a picture as `read_with_images` would show it.

    Args:
        source: path or URL.
        image_policy: its bounds and format.
        loader: the door to go through; by default one that trusts the caller.

    Raises:
        DecodeError: it is damaged, or too large once decoded.
        UnsupportedFormatError: it is no picture.
        SourceError: it is missing, too large, slow, or not to be had.
        AccessDeniedError: the loader's policy forbids it.
        MissingExtraError: it is SVG, and the extra `svg` is not installed.
    """
    loader = loader or Loader()
    found = loader.load(source)
    part, _ = shown_part(found.data, image_policy or ImagePolicy(), loader.limits, source=found.uri)
    return part
