"""What a close look at a large picture gives."""

from __future__ import annotations

from dataclasses import dataclass

from mdvision.errors import Issue
from mdvision.model.reading import ImagePart
from mdvision.model.types import Box
from mdvision.value import Value


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageRegion(Value):
    """One tile of a picture."""

    index: int
    """Its place in the grid, row by row, from 0: 7."""
    box: Box
    """Where it lies in the source, after orientation: (896, 0, 1024, 1024)."""
    image: ImagePart
    """What is seen there, at full size."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageTiles(Value):
    """A picture as an overview, and as overlapping tiles that show its detail."""

    overview: ImagePart | None
    """The whole picture within the policy; None where only tiles were asked for."""
    tiles: tuple[ImageRegion, ...]
    """The tiles that are given, in order; () when the overview is at full size."""
    grid: tuple[Box, ...]
    """Every tile that it takes to cover the picture, in order, given or not."""
    complete: bool
    """Whether all detail is there: every tile, or an overview at full size."""
    issues: tuple[Issue, ...]
    """What was left out or reduced, and an overview that is too small to read."""
