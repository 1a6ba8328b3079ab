"""Sizes and prices of pictures, by arithmetic of the tests' own."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mdvision import Code, ImagePolicy, MdVisionError
from mdvision.images.policy import ImageFormat, Preset, estimate_tokens, fit

EDGES = st.one_of(st.integers(1, 60), st.integers(1, 5_000), st.integers(1, 10**7))


def patches(size: tuple[int, int], patch: int) -> int:
    return -(-size[0] // patch) * -(-size[1] // patch)


def is_within(size: tuple[int, int], policy: ImagePolicy) -> bool:
    return (
        max(size) <= policy.max_edge_pixels
        and (policy.short_edge_pixels is None or min(size) <= policy.short_edge_pixels)
        and (policy.max_patches is None or patches(size, policy.patch_pixels) <= policy.max_patches)
    )


@given(
    width=EDGES,
    height=EDGES,
    edge=EDGES,
    short=st.none() | EDGES,
    most=st.none() | st.integers(1, 5_000),
    patch=st.integers(1, 100),
)
def test_any_policy(
    width: int, height: int, edge: int, short: int | None, most: int | None, patch: int
) -> None:
    policy = ImagePolicy(
        max_edge_pixels=edge, short_edge_pixels=short, max_patches=most, patch_pixels=patch
    )
    shown = fit(width, height, policy)
    assert is_within(shown, policy)
    assert 1 <= shown[0] <= width and 1 <= shown[1] <= height
    assert (shown == (width, height)) == is_within((width, height), policy)
    assert fit(*shown, policy) == shown
    assert fit(height, width, policy) == shown[::-1]
    # the shape: what the longer edge's scale gives for the shorter, to a pixel
    scale = Fraction(max(*shown), max(width, height))
    assert abs(min(shown) - max(Fraction(1), min(width, height) * scale)) <= 1


@given(width=st.integers(1, 4_000), height=st.integers(1, 4_000))
def test_no_size_is_given_away(width: int, height: int) -> None:
    policy = ImagePolicy.preset("claude")
    longer: int = max(fit(width, height, policy))
    if longer < max(width, height):
        scale = Fraction(longer + 1, max(width, height))
        larger = max(1, int(width * scale)), max(1, int(height * scale))
        assert not is_within(larger, policy)


@pytest.mark.parametrize(
    ("preset", "size", "shown"),
    [
        ("default", (100_000, 1), (1568, 1)),
        ("default", (1, 100_000), (1, 1568)),
        ("default", (1568, 1568), (1568, 1568)),
        ("default", (1569, 1568), (1568, 1567)),
        ("default", (3000, 2000), (1568, 1045)),
        ("claude", (1920, 1080), (1456, 819)),
        ("claude", (2885, 1615), (1456, 815)),
        ("claude", (1568, 1568), (1092, 1092)),  # 39 x 39 patches: Claude's documentation
        ("openai", (1800, 2400), (768, 1024)),
        ("openai", (4096, 4096), (768, 768)),
        ("openai", (4096, 512), (2048, 256)),
        ("gemini", (6144, 3072), (3072, 1536)),
        ("md-vision", (3136, 100), (1568, 50)),
    ],
)
def test_known_sizes(preset: Preset, size: tuple[int, int], shown: tuple[int, int]) -> None:
    assert fit(*size, ImagePolicy.preset(preset)) == shown


@pytest.mark.parametrize(
    ("preset", "values"),
    [
        ("default", (1568, None, None, 28, 3_750_000, "auto")),
        ("claude", (1568, None, 1568, 28, 3_750_000, "auto")),
        ("claude-high", (2576, None, 4784, 28, 3_750_000, "auto")),
        ("openai", (2048, 768, None, 28, 3_750_000, "auto")),
        ("gemini", (3072, None, None, 28, 3_750_000, "auto")),
        ("md-vision", (1568, None, None, 28, 3_750_000, "png")),
        ("original", (1568, None, None, 28, 3_750_000, "original")),
    ],
)
def test_presets(preset: Preset, values: tuple[object, ...]) -> None:
    policy = ImagePolicy.preset(preset)
    assert values == (
        policy.max_edge_pixels,
        policy.short_edge_pixels,
        policy.max_patches,
        policy.patch_pixels,
        policy.max_bytes,
        policy.format,
    )


def test_the_default_is_the_default() -> None:
    assert ImagePolicy() == ImagePolicy.preset("default")


@pytest.mark.parametrize("size", [(1920, 1080), (1080, 1920), (3840, 2160), (19_200, 10_800)])
def test_tokens_of_a_screen(size: tuple[int, int]) -> None:
    assert estimate_tokens(*size, ImagePolicy()) == 1560


@given(width=EDGES, height=EDGES)
def test_tokens_are_bounded(width: int, height: int) -> None:
    tokens = estimate_tokens(width, height, ImagePolicy())
    assert 1 <= tokens <= 1568
    assert tokens <= patches((width, height), 28)


@pytest.mark.parametrize(
    ("preset", "size", "tokens"),
    [
        ("default", (1092, 1092), 1521),
        ("default", (1568, 1568), 1521),
        ("md-vision", (3840, 2160), 1560),
        ("original", (3840, 2160), 1560),
        ("claude", (200, 200), 64),
        ("claude-high", (1092, 1092), 1521),
        ("claude-high", (1568, 1568), 3136),
        ("claude-high", (1920, 1080), 2691),
        ("openai", (1024, 1024), 765),  # the two examples of OpenAI's guide
        ("openai", (2048, 4096), 1105),
        ("openai", (512, 512), 255),
        ("openai", (513, 512), 425),
        ("gemini", (20, 20), 1120),
        ("gemini", (3072, 3072), 1120),
    ],
)
def test_prices(preset: Preset, size: tuple[int, int], tokens: int) -> None:
    policy = ImagePolicy.preset(preset)
    assert estimate_tokens(*size, policy) == tokens
    assert estimate_tokens(*fit(*size, policy), policy) == tokens
    assert estimate_tokens(*size, replace(policy, max_bytes=1_000, format="png")) == tokens


@given(width=EDGES, height=EDGES)
def test_a_picture_that_fits_costs_what_the_larger_one_does(width: int, height: int) -> None:
    for preset in ("claude-high", "openai"):
        policy = ImagePolicy.preset(preset)  # type: ignore[arg-type]
        assert estimate_tokens(*fit(width, height, policy), policy) <= 4_784
        assert estimate_tokens(*fit(width, height, policy), policy) == estimate_tokens(
            width, height, policy
        )


def test_patches_of_another_size_are_counted_as_such() -> None:
    policy = ImagePolicy(max_edge_pixels=10_000, max_patches=1_536, patch_pixels=32)
    assert estimate_tokens(1_024, 1_024, policy) == 1_024
    assert estimate_tokens(6_400, 6_400, policy) == 39 * 39


@pytest.mark.parametrize("name", ["", "Claude", "gpt", "md_vision"])
def test_unknown_presets(name: Preset) -> None:
    with pytest.raises(MdVisionError) as raised:
        ImagePolicy.preset(name)
    assert raised.value.issue.code is Code.INPUT_INVALID
    assert isinstance(raised.value, ValueError)


@pytest.mark.parametrize(
    ("name", "least"),
    [
        ("max_edge_pixels", 1),
        ("short_edge_pixels", 1),
        ("max_patches", 1),
        ("patch_pixels", 1),
        ("max_bytes", 100),
    ],
)
def test_least_values(name: str, least: int) -> None:
    def policy(value: int) -> ImagePolicy:
        return ImagePolicy(**{name: value})  # type: ignore[arg-type]

    assert getattr(policy(least), name) == least
    for value in (least - 1, -least):
        with pytest.raises(MdVisionError, match=f"at least {least}") as raised:
            policy(value)
        assert raised.value.issue.details["reason"] == name


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("max_edge_pixels", None),
        ("max_edge_pixels", 1568.5),
        ("max_bytes", float("nan")),
        ("max_patches", "1568"),
        ("max_edge_pixels", True),
        ("patch_pixels", None),
    ],
)
def test_what_is_no_whole_number(name: str, value: object) -> None:
    with pytest.raises(MdVisionError, match="whole number") as raised:
        ImagePolicy(**{name: value})  # type: ignore[arg-type]
    assert raised.value.issue.details["reason"] == name


@pytest.mark.parametrize("name", ["jpeg", "PNG", "", "webp"])
def test_unknown_formats(name: ImageFormat) -> None:
    with pytest.raises(MdVisionError, match="original"):
        ImagePolicy(format=name)
