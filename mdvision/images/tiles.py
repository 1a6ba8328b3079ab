"""Tiles that cover a picture: where they lie, and which are shown when not all can be.

Nothing here knows a picture, only its size in pixels. The rules are those of
openai-vision-mcp-server 0.1.10, so that a plan is the same here as there: tiles of 1024 pixels that
overlap by 128, row by row; of too many first those that a wanted region touches, then others spread
evenly.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple, cast

from mdvision.errors import Code, failure

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mdvision.model import Box

TILE_PIXELS = 1024
"""The edge of a tile."""
OVERLAP_PIXELS = 128
"""What a tile shares with its neighbour, so that nothing on the border is cut in both."""
_BOX_NUMBERS = 4
_MARGIN = 0.15  # of a region's own size, added on each side

Fractions = tuple[float, float, float, float]
"""Left, top, width and height of a region, as parts of the picture's: 0.0 to 1.0."""


class TilePlan(NamedTuple):
    """The tiles of one picture, and which of them are shown."""

    grid: tuple[Box, ...]
    """Every tile, row by row; a tile's number is its place here."""
    regions: tuple[Box, ...]
    """The wanted regions in pixels, with a margin."""
    selected: tuple[int, ...]
    """The numbers of the tiles that are shown, rising."""

    @property
    def complete(self) -> bool:
        """Whether every tile is shown."""
        return len(self.selected) == len(self.grid)


def plan_tiles(
    width: int, height: int, max_tiles: int, regions: Sequence[Fractions] = ()
) -> TilePlan:
    """Plan the tiles of a picture of `width` x `height` pixels, `max_tiles` of them at most.

    >>> plan_tiles(2000, 1024, 24).grid
    ((0, 0, 1024, 1024), (896, 0, 1024, 1024), (976, 0, 1024, 1024))
    >>> plan_tiles(2000, 1024, 2).selected
    (0, 2)
    """
    grid = tile_grid(width, height)
    boxes = tuple(expanded(region, width, height) for region in regions)
    wanted = [any(overlap(tile, box) for box in boxes) for tile in grid]
    return TilePlan(grid, boxes, choose(wanted, max_tiles))


def tile_grid(width: int, height: int) -> tuple[Box, ...]:
    """Every tile of a picture, row by row; the last of a row or column lies flush with the edge."""
    columns, rows = _starts(width), _starts(height)
    return tuple(
        (left, top, min(TILE_PIXELS, width), min(TILE_PIXELS, height))
        for top in rows
        for left in columns
    )


def tile_columns(width: int) -> int:
    """How many tiles stand in a row."""
    return len(_starts(width))


def _starts(length: int) -> list[int]:
    last = max(0, length - TILE_PIXELS)
    return [*range(0, last, TILE_PIXELS - OVERLAP_PIXELS), last]


def expanded(region: Fractions, width: int, height: int) -> Box:
    """A region in pixels, 15 % larger on each side, at least one pixel and within the picture.

    >>> expanded((0.5, 0.5, 0.1, 0.1), 1000, 1000)
    (485, 485, 130, 130)
    """
    left, top, wide, high = region
    first_x = max(0, math.floor((left - wide * _MARGIN) * width))
    first_y = max(0, math.floor((top - high * _MARGIN) * height))
    end_x = min(width, math.ceil((left + wide * (1 + _MARGIN)) * width))
    end_y = min(height, math.ceil((top + high * (1 + _MARGIN)) * height))
    return first_x, first_y, max(1, end_x - first_x), max(1, end_y - first_y)


def overlap(one: Box, other: Box) -> bool:
    """Whether two boxes have a pixel in common."""
    return all(one[k] < other[k] + other[k + 2] and other[k] < one[k] + one[k + 2] for k in (0, 1))


def choose(wanted: Sequence[bool], most: int) -> tuple[int, ...]:
    """The numbers of at most `most` tiles, rising: the wanted first, the rest spread evenly.

    The tiles of several pictures may be chosen from at once, one picture's after another's.

    >>> choose([False] * 9, 3), choose([False] * 8 + [True], 2)
    ((0, 4, 8), (3, 8))
    """
    if len(wanted) <= most:
        return tuple(range(len(wanted)))
    first = [number for number, is_wanted in enumerate(wanted) if is_wanted][:most]
    taken = set(first)
    rest = [number for number in range(len(wanted)) if number not in taken]
    return tuple(sorted([*first, *_spread(rest, most - len(first))]))


def _spread(numbers: Sequence[int], count: int) -> list[int]:
    """`count` of the numbers, the first and the last among them; of one, that in the middle."""
    last = len(numbers) - 1
    if count == 1:
        return [numbers[last // 2]]
    # (2ab + c) // 2c is ab / c rounded, a half up
    return [numbers[(2 * slot * last + count - 1) // (2 * (count - 1))] for slot in range(count)]


def within_picture(region: object, width: int, height: int) -> Box:
    """The part of a region that lies within a picture of `width` x `height` pixels.

    Raises:
        InvalidInputError: it is not four whole numbers, or no pixel of it lies within.
    """
    left, top, wide, high = _whole_numbers(region)
    right, bottom = min(left + wide, width), min(top + high, height)
    left, top = max(left, 0), max(top, 0)
    if wide < 1 or high < 1 or right <= left or bottom <= top:
        message = f"The region holds no pixel of the picture, which is {width}x{height}."
        action = "Give left, top, width and height in pixels of the picture."
        raise failure(Code.INPUT_INVALID, message, next_action=action, details={"reason": "region"})
    return left, top, right - left, bottom - top


def _whole_numbers(region: object) -> Box:
    numbers = cast("Sequence[object]", region) if isinstance(region, (tuple, list)) else ()
    if len(numbers) != _BOX_NUMBERS or not all(
        isinstance(number, int) and not isinstance(number, bool) for number in numbers
    ):
        message = "The region must be four whole numbers: left, top, width and height."
        raise failure(Code.INPUT_INVALID, message, details={"reason": "region"})
    return cast("Box", tuple(numbers))
