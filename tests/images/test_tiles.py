"""Where tiles lie and which are chosen: by plans of another program, and by counting pixels."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mdvision import Code, MdVisionError
from mdvision.images.tiles import (
    choose,
    expanded,
    overlap,
    plan_tiles,
    tile_columns,
    tile_grid,
    within_picture,
)

PLANS = json.loads((Path(__file__).parent / "tile_plans.json").read_text())
LENGTHS = st.one_of(st.integers(1, 4_000), st.sampled_from([1023, 1024, 1025, 1919, 1920, 1921]))


def box(side: dict[str, float]) -> tuple[float, float, float, float]:
    return side["x"], side["y"], side["width"], side["height"]


@pytest.mark.parametrize("plan", PLANS, ids=lambda p: f"{p['width']}x{p['height']}-{p['maxTiles']}")
def test_plans_are_those_of_openai_vision_mcp_server(plan: dict[str, object]) -> None:
    regions = [box(region) for region in plan["regions"]]  # type: ignore[attr-defined]
    ours = plan_tiles(plan["width"], plan["height"], plan["maxTiles"], regions)  # type: ignore[arg-type]
    assert list(ours.grid) == [box(tile) for tile in plan["grid"]]  # type: ignore[attr-defined]
    assert len(ours.grid) == plan["requiredTiles"]
    assert ours.complete == plan["complete"]
    assert list(ours.selected) == plan["selected"]
    assert list(ours.regions) == [box(region) for region in plan["expandedRegions"]]  # type: ignore[attr-defined]


def test_there_are_fifteen_plans() -> None:
    assert len(PLANS) == 15


@given(width=LENGTHS, height=LENGTHS)
def test_tiles_cover_every_pixel_and_overlap(width: int, height: int) -> None:
    grid = tile_grid(width, height)
    assert len(set(grid)) == len(grid)
    assert all(left >= 0 and left + wide <= width for left, _, wide, _ in grid)
    assert all(top >= 0 and top + high <= height for _, top, _, high in grid)
    assert {tile[2:] for tile in grid} == {(min(1024, width), min(1024, height))}
    assert list(grid) == sorted(grid, key=lambda tile: (tile[1], tile[0]))
    lefts, tops = sorted({t[0] for t in grid}), sorted({t[1] for t in grid})
    assert len(lefts) * len(tops) == len(grid)
    assert len(lefts) == tile_columns(width)
    for starts, length in ((lefts, width), (tops, height)):
        assert starts[0] == 0
        assert starts[-1] == max(0, length - 1024)
        steps = [b - a for a, b in itertools.pairwise(starts)]
        assert all(0 < step <= 896 for step in steps)
        assert steps[:-1] == [896] * (len(steps) - 1)


@given(wanted=st.lists(st.booleans(), max_size=80), most=st.integers(0, 80))
def test_choice(wanted: list[bool], most: int) -> None:
    chosen = choose(wanted, most)
    assert len(chosen) == min(most, len(wanted))
    assert list(chosen) == sorted(set(chosen))
    first = [k for k, is_wanted in enumerate(wanted) if is_wanted][:most]
    assert set(first) <= set(chosen)
    rest = [k for k in chosen if k not in first]
    others = [k for k, is_wanted in enumerate(wanted) if k not in first]
    if len(rest) > 1:  # from the first to the last of the others, in even steps
        places = [others.index(k) for k in rest]
        assert (places[0], places[-1]) == (0, len(others) - 1)
        steps = [b - a for a, b in itertools.pairwise(places)]
        assert max(steps) - min(steps) <= 1


def test_a_half_is_rounded_up() -> None:
    assert choose([False] * 6, 3) == (0, 3, 5)  # the middle of 0 to 5: Python's round gives 2


def test_choice_among_several_pictures() -> None:
    wanted = [False] * 4 + [True, False]  # four tiles of one picture, two of another
    assert choose(wanted, 3) == (0, 4, 5)


@pytest.mark.parametrize(
    ("region", "size", "pixels"),
    [
        ((0.0, 0.0, 1.0, 1.0), (100, 50), (0, 0, 100, 50)),
        ((0.5, 0.5, 0.2, 0.2), (1000, 1000), (470, 470, 260, 260)),
        ((0.9, 0.9, 0.5, 0.5), (100, 100), (82, 82, 18, 18)),
        ((0.5, 0.5, 0.0, 0.0), (101, 101), (50, 50, 1, 1)),
        ((0.0, 0.0, 1.0, 1.0), (1, 1), (0, 0, 1, 1)),
    ],
)
def test_a_region_with_its_margin(
    region: tuple[float, float, float, float], size: tuple[int, int], pixels: tuple[int, ...]
) -> None:
    assert expanded(region, *size) == pixels


BOXES = st.tuples(st.integers(0, 9), st.integers(0, 9), st.integers(1, 9), st.integers(1, 9))


def pixels(one: tuple[int, int, int, int]) -> set[tuple[int, int]]:
    left, top, width, height = one
    return {(x, y) for x in range(left, left + width) for y in range(top, top + height)}


@given(one=BOXES, other=BOXES)
def test_overlap_is_a_pixel_in_common(
    one: tuple[int, int, int, int], other: tuple[int, int, int, int]
) -> None:
    assert overlap(one, other) == bool(pixels(one) & pixels(other))


SIDES = st.integers(-12, 12)


@given(
    region=st.tuples(SIDES, SIDES, SIDES, SIDES), width=st.integers(1, 8), height=st.integers(1, 8)
)
def test_what_lies_outside_is_left_off(
    region: tuple[int, int, int, int], width: int, height: int
) -> None:
    inside = pixels(region) & pixels((0, 0, width, height))
    if inside:
        assert pixels(within_picture(region, width, height)) == inside
    else:
        with pytest.raises(MdVisionError, match=f"is {width}x{height}") as raised:
            within_picture(region, width, height)
        assert raised.value.issue.code is Code.INPUT_INVALID


@pytest.mark.parametrize(
    "region",
    [None, "0123", (), (1, 2, 3), (0, 0, 1, 1, 1), (0.0, 0, 1, 1), (True, 0, 1, 1), {1, 2, 3, 4}],
)
def test_no_region(region: object) -> None:
    with pytest.raises(MdVisionError, match="four whole numbers") as raised:
        within_picture(region, 9, 9)
    assert isinstance(raised.value, ValueError)


def test_a_region_of_any_size_is_told_apart() -> None:
    assert within_picture([0, 0, 10**6_000, 10**6_000], 9, 9) == (0, 0, 9, 9)
    with pytest.raises(MdVisionError):
        within_picture((10**6_000, 0, 1, 1), 9, 9)


def test_a_hundred_million_pixels_in_one_row_are_planned_at_once() -> None:
    plan = plan_tiles(100_000_000, 1, 24)
    assert (len(plan.grid), len(plan.selected)) == (111_607, 24)
    assert (plan.selected[0], plan.selected[-1]) == (0, 111_606)
