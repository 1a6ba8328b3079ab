"""Viewing: one picture, bounded for a model; a region of it from nearer, or all of it in tiles."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mdvision.drawing import shown_part
from mdvision.errors import Code, failure, issue
from mdvision.images.part import OpenImage
from mdvision.images.policy import ImagePolicy
from mdvision.images.svg_source import is_svg
from mdvision.images.tiles import plan_tiles
from mdvision.model import ImageRegion, ImageTiles
from mdvision.sources.loader import Loader

if TYPE_CHECKING:
    from mdvision.errors import Details, Issue
    from mdvision.images.tiles import TilePlan
    from mdvision.model import Box, ImagePart, Source

READABLE_SCALE = 0.4
"""Below it the small text of a screenshot or a plan cannot be read."""


def view_image(
    source: Source,
    *,
    region: Box | None = None,
    image_policy: ImagePolicy | None = None,
    loader: Loader | None = None,
) -> ImagePart:
    """View a picture as `read_with_images` would show it, or a region of it from nearer.

    Args:
        source: path or URL.
        region: left, top, width and height of the part to show, in pixels of the source after
            orientation. It is cut out at full size, then bounded; what lies outside of the picture
            is left off, and `region` of the result is what is shown. It lies on white. Of an SVG
            it is drawn up to four times as large as it is.
        image_policy: its bounds and format.
        loader: the door to go through; by default one that trusts the caller.

    Raises:
        InvalidInputError: the region is not four whole numbers, or lies outside of the picture.
        DecodeError: it is damaged, or too large once decoded.
        UnsupportedFormatError: it is no picture.
        SourceError: it is missing, too large, slow, or not to be had.
        AccessDeniedError: the loader's policy forbids it.
        MissingExtraError: it is SVG, and the extra `svg` is not installed.
    """
    return look(source, region, image_policy or ImagePolicy(), loader or Loader())[0]


def look(
    source: Source, region: Box | None, policy: ImagePolicy, loader: Loader
) -> tuple[ImagePart, tuple[Issue, ...]]:
    """Do as `view_image` does; the issues tell what of the picture was reduced."""
    found = loader.load(source)
    return shown_part(found.data, policy, loader.limits, source=found.uri, region=region)


def view_tiles(
    source: Source,
    *,
    max_tiles: int = 24,
    image_policy: ImagePolicy | None = None,
    loader: Loader | None = None,
) -> ImageTiles:
    """View a large picture as an overview and tiles of 1024 pixels that overlap by 128.

    The overview keeps to `image_policy`; a tile is at full size, and keeps to its bytes and format.
    An overview at full size needs no tiles. Of more than `max_tiles` those given are spread evenly
    (TILE_BUDGET_EXCEEDED); the others can be had by `view_image` with a box of `grid`. An overview
    below 0.4 of the size is too small to read, which an issue says (IMAGE_REDUCED). Transparency
    lies on white.

    Args:
        source: path or URL.
        max_tiles: tiles at most, at least 1; the overview does not count.
        image_policy: bounds of the overview; format and bytes of each picture.
        loader: the door to go through; by default one that trusts the caller.

    Raises:
        InvalidInputError: `max_tiles` is no whole number of at least 1.
        DecodeError, UnsupportedFormatError, SourceError, AccessDeniedError, MissingExtraError:
            as `view_image`.
    """
    _check_max_tiles(max_tiles)
    loader, policy = loader or Loader(), image_policy or ImagePolicy()
    image = open_image(source, loader)
    plan = plan_tiles(image.width_pixels, image.height_pixels, max_tiles)
    overview, notes = image.part(policy)
    scale = shown_scale(overview)
    if scale == 1:
        return ImageTiles(overview=overview, tiles=(), grid=plan.grid, complete=True, issues=notes)
    issues = [*notes, *_too_small(scale), *_left_out(plan)]
    tiles: list[ImageRegion] = []
    for index in plan.selected:
        loader.checkpoint()
        part, notes = image.tile(policy, plan.grid[index])
        tiles.append(ImageRegion(index=index, box=plan.grid[index], image=part))
        issues += notes
    return ImageTiles(
        overview=overview,
        tiles=tuple(tiles),
        grid=plan.grid,
        complete=plan.complete,
        issues=tuple(issues),
    )


def _check_max_tiles(most: object) -> None:
    if isinstance(most, bool) or not isinstance(most, int) or most < 1:
        message = f"max_tiles is {most!r}; it must be a whole number of at least 1."
        raise failure(Code.INPUT_INVALID, message, details={"reason": "max_tiles", "limit": 1})


def open_image(source: Source, loader: Loader) -> OpenImage:
    """Bring a picture and decode it once, for several looks at it; it raises as `view_image`."""
    found = loader.load(source)
    if is_svg(found.data):
        message = "An SVG has no tiles: its regions are drawn anew, at any size."
        action = "View a region of it."
        raise failure(Code.INPUT_INVALID, message, next_action=action, details={"reason": "svg"})
    return OpenImage(found.data, loader.limits, source=found.uri)


def shown_scale(image: ImagePart) -> float:
    """How large a picture or its region is shown: 1.0 = as it is, 0.5 = at half the edge."""
    width, height = image.source_width_pixels, image.source_height_pixels
    if image.region is not None:
        *_, width, height = image.region
    return max(image.width_pixels, image.height_pixels) / max(width, height)


def _too_small(scale: float) -> list[Issue]:
    if scale >= READABLE_SCALE:
        return []
    message = f"The overview is at {int(scale * 100)}% of the picture's size, too small to read."
    action = "Read the tiles; take the overview for the layout alone."
    details: Details = {"reason": "scale"}
    return [issue(Code.IMAGE_REDUCED, message, next_action=action, details=details)]


def _left_out(plan: TilePlan) -> list[Issue]:
    if plan.complete:
        return []
    given, there = len(plan.selected), len(plan.grid)
    message = f"{given} of the {there} tiles are given."
    action = "Raise max_tiles, or view the others by their boxes."
    details: Details = {"limit": given, "actual": there}
    return [issue(Code.TILE_BUDGET_EXCEEDED, message, next_action=action, details=details)]
