"""Regions of a picture against Pillow's own crop of the upright picture."""

from __future__ import annotations

import io
import random

import pytest
from PIL import Image, ImageOps

from mdvision import ImagePolicy, Limits
from mdvision.images.codec import BoundedImage, DecodedImage, bound_image
from mdvision.images.part import OpenImage

SIZE = (60, 40)
BOXES = [(0, 0, 60, 40), (5, 7, 20, 10), (59, 39, 1, 1), (0, 30, 60, 10), (12, 0, 1, 40)]
ORIENTATION_TAG = 0x0112


def noise(size: tuple[int, int] = SIZE, mode: str = "RGB") -> Image.Image:
    rng = random.Random(7)  # noqa: S311 - repeatable
    pixels = rng.randbytes(size[0] * size[1] * len(Image.new(mode, (1, 1)).getbands()))
    return Image.frombytes(mode, size, pixels)


def encoded(image: Image.Image, kind: str = "PNG", **options: object) -> bytes:
    out = io.BytesIO()
    image.save(out, kind, **options)  # type: ignore[arg-type]
    return out.getvalue()


def opened(found: BoundedImage) -> Image.Image:
    image = Image.open(io.BytesIO(found.data))
    image.load()
    assert image.size == (found.width_pixels, found.height_pixels)
    return image


def cut(image: Image.Image, box: tuple[int, int, int, int]) -> Image.Image:
    left, top, width, height = box
    return image.crop((left, top, left + width, top + height))


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("kind", ["PNG", "TIFF", "WEBP"])
def test_every_orientation(kind: str, orientation: int) -> None:
    exif = Image.Exif()
    exif[ORIENTATION_TAG] = orientation
    options = {"lossless": True} if kind == "WEBP" else {}
    data = encoded(noise(), kind, exif=exif, **options)
    upright = ImageOps.exif_transpose(Image.open(io.BytesIO(data))).convert("RGB")
    picture = DecodedImage(data, Limits())
    assert picture.size == upright.size
    width, height = upright.size
    for box in [(0, 0, width, height), (3, 7, 20, 10), (width - 1, height - 1, 1, 1)]:
        found = picture.bounded(ImagePolicy(), box)
        assert found.region == box
        assert (found.source_width_pixels, found.source_height_pixels) == upright.size
        assert opened(found).convert("RGB").tobytes() == cut(upright, box).tobytes()


@pytest.mark.parametrize("mode", ["1", "L", "P", "RGB", "CMYK"])
def test_opaque_modes(mode: str) -> None:
    image = (
        noise(mode="L").convert("1") if mode == "1" else noise(mode="RGB" if mode == "P" else mode)
    )
    image = image.convert(mode)
    data = encoded(image, "TIFF" if mode == "CMYK" else "PNG")
    picture = DecodedImage(data, Limits())
    for box in BOXES:
        shown = opened(picture.bounded(ImagePolicy(), box)).convert("RGB")
        assert shown.tobytes() == cut(image.convert("RGB"), box).tobytes()


@pytest.mark.parametrize("mode", ["RGBA", "LA", "P"])
@pytest.mark.parametrize("box", [None, *BOXES])
def test_transparency_lies_on_white(mode: str, box: tuple[int, int, int, int] | None) -> None:
    if mode == "P":  # one colour of the palette is transparent
        image = noise().quantize(8)
        data = encoded(image, transparency=3)
    else:
        image = noise(mode=mode)
        data = encoded(image)
    rgba = Image.open(io.BytesIO(data)).convert("RGBA")
    page = Image.new("RGBA", rgba.size, "white")
    page.alpha_composite(rgba)
    wanted = page.convert("RGB")
    found = DecodedImage(data, Limits()).bounded(ImagePolicy(), box)
    shown = opened(found)
    assert shown.mode in ("RGB", "L")
    expected = cut(wanted, box) if box else wanted
    worst = max(
        abs(a - b) for a, b in zip(shown.convert("RGB").tobytes(), expected.tobytes(), strict=True)
    )
    assert worst <= 1  # two ways to round


def test_dark_text_on_nothing_is_not_lost() -> None:
    image = Image.new("RGBA", (40, 20), (0, 0, 0, 0))
    image.paste((0, 0, 0, 255), (10, 5, 20, 15))
    found = DecodedImage(encoded(image), Limits()).bounded(ImagePolicy())
    shown = opened(found).convert("RGB")
    assert (shown.getpixel((0, 0)), shown.getpixel((12, 8))) == ((255, 255, 255), (0, 0, 0))


def test_an_opaque_picture_within_bounds_stays_as_it_is() -> None:
    for image in (noise(), noise(mode="L"), noise().quantize(16)):
        data = encoded(image)
        found = DecodedImage(data, Limits()).bounded(ImagePolicy())
        assert (found.data, found.region) == (data, None)


def test_grey_of_16_bits_is_scaled_by_the_whole_picture() -> None:
    image = Image.new("I", (20, 10), 1_000)
    image.paste(100_000, (10, 0, 20, 10))
    data = encoded(image, "TIFF")
    whole = opened(bound_image(data, ImagePolicy(), Limits()))
    picture = DecodedImage(data, Limits())
    for box in [(0, 0, 10, 10), (10, 0, 10, 10)]:
        assert opened(picture.bounded(ImagePolicy(), box)).tobytes() == cut(whole, box).tobytes()


def test_a_jpeg_is_cut_before_it_is_reduced() -> None:
    """The decoder leaves out detail when it is told a smaller size, which it must not be here."""
    stripes = Image.new("L", (4_000, 400), "white")
    for x in range(0, 4_000, 4):
        stripes.paste(0, (x, 0, x + 2, 400))
    data = encoded(stripes, "JPEG", quality=95)
    shown = opened(DecodedImage(data, Limits()).bounded(ImagePolicy(), (2_000, 100, 64, 64)))
    assert shown.size == (64, 64)
    row = [shown.convert("L").getpixel((x, 30)) for x in range(64)]
    assert all((level < 128) == (x % 4 < 2) for x, level in enumerate(row))  # type: ignore[operator]


def test_a_region_is_reduced_by_the_policy_but_a_tile_is_not() -> None:
    data = encoded(Image.linear_gradient("L").resize((2_000, 1_000)))
    picture = OpenImage(data, Limits(), source="a.png")
    policy = ImagePolicy(max_edge_pixels=500, short_edge_pixels=100, max_patches=5)
    region, _ = picture.part(policy, (0, 0, 1_024, 1_000))
    tile, _ = picture.tile(policy, (0, 0, 1_024, 1_000))
    assert max(region.width_pixels, region.height_pixels) <= 500
    assert (tile.width_pixels, tile.height_pixels) == (1_024, 1_000)
    assert tile.region == region.region == (0, 0, 1_024, 1_000)


def test_a_tile_keeps_to_bytes_and_format() -> None:
    picture = OpenImage(encoded(noise((1_500, 1_100))), Limits(), source="")
    small, issues = picture.tile(ImagePolicy(max_bytes=200_000), (0, 0, 1_024, 1_024))
    assert len(small.data) <= 200_000
    assert issues
    jpeg = OpenImage(encoded(noise(), "JPEG"), Limits(), source="")
    assert jpeg.tile(ImagePolicy(), (0, 0, 9, 9))[0].media_type == "image/jpeg"
    assert jpeg.tile(ImagePolicy(format="png"), (0, 0, 9, 9))[0].media_type == "image/png"


def test_the_original_policy_reduces_no_region() -> None:
    data = encoded(noise((1_800, 1_300)), "JPEG")
    policy = ImagePolicy.preset("original")
    found = DecodedImage(data, Limits()).bounded(policy, (10, 10, 1_700, 1_200))
    assert (found.width_pixels, found.height_pixels, found.media_type) == (
        1_700,
        1_200,
        "image/png",
    )
    assert len(found.data) > policy.max_bytes
    assert DecodedImage(data, Limits()).bounded(policy).data == data


def test_an_animation_is_told_of_once() -> None:
    frames = [noise(), Image.new("RGB", SIZE, "red")]
    data = encoded(frames[0], "GIF", save_all=True, append_images=frames[1:])
    picture = DecodedImage(data, Limits())
    assert [i.details["reason"] for i in picture.bounded(ImagePolicy()).issues] == ["first_frame"]
    assert picture.bounded(ImagePolicy(), (0, 0, 9, 9)).issues == ()


def test_looking_twice_gives_the_same() -> None:
    for data in (
        encoded(noise(mode="RGBA")),
        encoded(noise(), "JPEG"),
        encoded(noise().quantize(9)),
    ):
        picture = DecodedImage(data, Limits())
        looks = [(None, (1, 2, 9, 9))[k % 2] for k in range(4)]
        found = [picture.bounded(ImagePolicy(), look).data for look in looks]
        assert found[:2] == found[2:]
