"""The codec tried hard: every kind of pixel, damage, bombs, threads, and what must not be carried on."""

from __future__ import annotations

import io
import random
import struct
import time
import tracemalloc
import warnings
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image, ImageChops, ImageCms, ImageOps

from mdvision import Code, ImagePolicy, Limits, MdVisionError
from mdvision.images.codec import BoundedImage, bound_image

LIMITS = Limits()
AUTO = ImagePolicy()
SMALL = ImagePolicy(max_edge_pixels=16)


def asymmetric(size: tuple[int, int] = (48, 32)) -> Image.Image:
    """Four corners of four colours."""
    image = Image.new("RGB", size, (240, 240, 240))
    w, h = size
    for box, colour in (
        ((0, 0, w // 2, h // 2), (200, 30, 30)),
        ((w // 2, 0, w, h // 2), (30, 160, 30)),
        ((0, h // 2, w // 2, h), (30, 30, 200)),
        ((0, 0, w // 6, h // 4), (250, 250, 30)),
    ):
        image.paste(colour, box)
    return image


def encoded(image: Image.Image, kind: str, **options: object) -> bytes:
    out = io.BytesIO()
    image.save(out, kind, **options)
    return out.getvalue()


def opened(found: BoundedImage) -> Image.Image:
    image = Image.open(io.BytesIO(found.data))
    image.load()
    assert image.size == (found.width_pixels, found.height_pixels)
    assert Image.MIME[(image.format or "").replace("MPO", "JPEG")] == found.media_type
    return image


def furthest(one: Image.Image, other: Image.Image) -> int:
    """The largest difference in any channel of any pixel."""
    difference = ImageChops.difference(one.convert("RGBA"), other.convert("RGBA"))
    return max(high for _, high in difference.getextrema())  # type: ignore[misc]


def failed(data: bytes, policy: ImagePolicy = AUTO, limits: Limits = LIMITS) -> MdVisionError:
    with pytest.raises(MdVisionError) as raised:
        bound_image(data, policy, limits)
    return raised.value


def chunk(name: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))


def png(
    size: tuple[int, int], depth: int, colour: int, rows: bytes, *chunks: bytes, interlace: int = 0
) -> bytes:
    """A PNG by hand; each row in `rows` begins with its filter byte."""
    header = struct.pack(">IIBBBBB", *size, depth, colour, 0, 0, interlace)
    return b"".join(
        (
            b"\x89PNG\r\n\x1a\n",
            chunk(b"IHDR", header),
            *chunks,
            chunk(b"IDAT", zlib.compress(rows)),
            chunk(b"IEND", b""),
        )
    )


# --- pixels ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("compression", [None, "tiff_lzw", "tiff_adobe_deflate", "packbits"])
@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGB", "RGBA", "CMYK"])
def test_tiff(mode: str, compression: str | None) -> None:
    image = asymmetric().convert(mode)
    data = encoded(image, "TIFF", compression=compression)
    shown = opened(bound_image(data, AUTO, LIMITS))
    assert (shown.format, shown.mode) == ("PNG", "L" if mode in ("1", "L", "LA") else "RGB") or (
        mode == "LA" and shown.mode == "RGB"
    )
    with Image.open(io.BytesIO(data)) as source:
        assert furthest(shown, source.convert("RGB")) == 0


def test_fax() -> None:
    page = Image.new("1", (64, 40), 1)
    page.paste(0, (3, 5, 30, 20))
    shown = opened(bound_image(encoded(page, "TIFF", compression="group4"), AUTO, LIMITS))
    assert furthest(shown, page) == 0


@pytest.mark.parametrize("kind", ["PNG", "TIFF", "PPM"])
@pytest.mark.parametrize("mode", ["I;16", "I;16B", "I"])
def test_16_bit_grey(kind: str, mode: str) -> None:
    order = {"I;16": "<4H", "I;16B": ">4H", "I": "<4i"}[mode]
    image = Image.frombytes(mode, (4, 1), struct.pack(order, 0, 257, 32768, 65535))
    if mode == "I" and kind == "PNG":
        image = image.convert("I;16")
    if mode == "I;16B" and kind == "PPM":
        image = image.convert("I")
    shown = opened(bound_image(encoded(image, kind), AUTO, LIMITS))
    assert shown.mode == "L"
    values = [shown.getpixel((x, 0)) for x in range(4)]
    assert values[::3] == [0, 255] and values[1] == 1 and values[2] in (127, 128, 129)


def test_16_bit_colour() -> None:
    row = b"\0" + struct.pack(">9H", 0, 32768, 65535, 65535, 0, 32768, 257, 257, 257)
    found = bound_image(png((3, 1), 16, 2, row), AUTO, LIMITS)
    shown = opened(found)
    pixels = [shown.getpixel((x, 0)) for x in range(3)]
    assert pixels[0] in ((0, 127, 255), (0, 128, 255))
    assert pixels[1] in ((255, 0, 127), (255, 0, 128))
    assert pixels[2] == (1, 1, 1)
    assert found.data[24] == 8


def test_a_transparent_level_of_16_bit_grey_hides_no_other_level() -> None:
    rows = b"\0" + struct.pack(">3H", 0, 200, 200 * 257)
    found = bound_image(
        png((3, 1), 16, 0, rows, chunk(b"tRNS", struct.pack(">H", 200))), AUTO, LIMITS
    )
    assert opened(found).convert("RGBA").getpixel((2, 0)) == (200, 200, 200, 255)


def test_floating_point_is_spread() -> None:
    image = Image.frombytes("F", (3, 1), struct.pack("<3f", -2.5, 0.0, 2.5))
    shown = opened(bound_image(encoded(image, "TIFF"), AUTO, LIMITS))
    low, middle, high = (shown.getpixel((x, 0)) for x in range(3))
    assert (low, high) == (0, 255) and middle in (127, 128)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 1e38, 0.0])
def test_floating_point_that_has_no_range(value: float) -> None:
    image = Image.frombytes("F", (2, 1), struct.pack("<2f", value, 0.0))
    assert opened(bound_image(encoded(image, "TIFF"), AUTO, LIMITS)).mode == "L"


def test_interlaced() -> None:
    passes = b"\0\x10" * 1 + b"\0\x20" * 1  # Adam7 of 1x2: passes 1 and 7
    data = png((1, 2), 8, 0, passes, interlace=1)
    found = bound_image(data, AUTO, LIMITS)
    assert found.data == data
    shown = opened(bound_image(data, ImagePolicy(max_edge_pixels=1), LIMITS))
    assert shown.size == (1, 1)


@pytest.mark.parametrize("transparency", [3, b"\x00\x80\xff"])
def test_palette_with_transparency(transparency: int | bytes) -> None:
    image = asymmetric().quantize(8)
    data = encoded(image, "PNG", transparency=transparency)
    assert bound_image(data, AUTO, LIMITS).data == data
    shown = opened(bound_image(data, SMALL, LIMITS))
    with Image.open(io.BytesIO(data)) as source:
        plain = source.convert("RGBA").resize(shown.size, Image.Resampling.BOX)
    assert shown.mode == "RGBA"
    assert furthest(shown.getchannel("A"), plain.getchannel("A")) < 70  # an edge is smoothed


def test_opaque_alpha_is_dropped() -> None:
    data = encoded(asymmetric().convert("RGBA"), "TIFF")
    assert opened(bound_image(data, AUTO, LIMITS)).mode == "RGB"


def linear_profile() -> bytes:
    """sRGB with its curves replaced by straight lines: light as it is measured."""
    profile = bytearray(ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes())
    (count,) = struct.unpack_from(">I", profile, 128)
    for number in range(count):
        name, at, size = struct.unpack_from(">4sII", profile, 132 + 12 * number)
        if name in (b"rTRC", b"gTRC", b"bTRC"):
            profile[at : at + size] = (b"curv" + bytes(8)).ljust(size, b"\0")
    # the name stands in it, in two bytes a letter or in one
    return bytes(profile).replace(b"sRGB", b"line").replace(b"s\0R\0G\0B", b"l\0i\0n\0e")


@pytest.mark.parametrize("mode", ["RGB", "RGBA", "P"])
@pytest.mark.parametrize("kind", ["PNG", "TIFF"])
def test_a_profile_is_applied(mode: str, kind: str) -> None:
    image = Image.new("RGB", (40, 40), (55, 55, 55))  # linear 55 is sRGB 128
    if mode == "RGBA":
        image.putalpha(100)
    elif mode == "P":
        image = image.quantize(2)
    data = encoded(image, kind, icc_profile=linear_profile())
    shown = opened(bound_image(data, SMALL, LIMITS))
    pixel = shown.convert("RGBA").getpixel((8, 8))
    assert isinstance(pixel, tuple)
    assert all(125 <= value <= 131 for value in pixel[:3])
    assert pixel[3] == (100 if mode == "RGBA" else 255)
    assert "icc_profile" not in shown.info


@pytest.mark.parametrize("profile", [b"", b"x", b"\0" * 200, linear_profile()[:300]])
@pytest.mark.parametrize("mode", ["RGB", "RGBA", "CMYK", "L"])
def test_a_damaged_profile_costs_nothing(profile: bytes, mode: str) -> None:
    image = asymmetric().convert(mode)
    kind = "TIFF" if mode == "CMYK" else "PNG"
    shown = opened(bound_image(encoded(image, kind, icc_profile=profile), SMALL, LIMITS))
    plain = opened(bound_image(encoded(image, kind), SMALL, LIMITS))
    assert furthest(shown, plain) == 0


def test_cmyk_as_pillow_converts_it() -> None:
    data = encoded(asymmetric((100, 80)).convert("CMYK"), "JPEG", quality=95)
    shown = opened(bound_image(data, AUTO, LIMITS))
    with Image.open(io.BytesIO(data)) as source:
        plain = source.convert("RGB")
    assert shown.mode == "RGB"
    assert furthest(shown.getchannel("G"), plain.getchannel("G")) < 60  # JPEG twice
    for point in ((60, 20), (80, 70), (20, 60)):
        one, other = shown.getpixel(point), plain.getpixel(point)
        assert isinstance(one, tuple) and isinstance(other, tuple)
        assert all(abs(a - b) < 6 for a, b in zip(one, other, strict=True))


# --- orientation ----------------------------------------------------------------------------------


@pytest.mark.parametrize("orientation", [*range(1, 9), 0, 9, 65535])
@pytest.mark.parametrize("kind", ["PNG", "WEBP", "TIFF", "AVIF", "JPEG"])
def test_upright(kind: str, orientation: int) -> None:
    exif = Image.Exif()
    exif[0x0112] = orientation
    options = {"lossless": True} if kind == "WEBP" else {}
    if kind in ("AVIF", "JPEG"):
        options = {"quality": 100, "subsampling": "4:4:4"}  # type: ignore[dict-item]
    data = encoded(asymmetric(), kind, exif=exif, **options)
    with Image.open(io.BytesIO(data)) as source:
        upright = ImageOps.exif_transpose(source).convert("RGB")
    for policy in (AUTO, ImagePolicy(max_edge_pixels=24), ImagePolicy(format="png")):
        found = bound_image(data, policy, LIMITS)
        assert (found.source_width_pixels, found.source_height_pixels) == upright.size
        shown = opened(found)
        expected = upright.resize(shown.size, Image.Resampling.BOX)
        assert expected.size == shown.size
        for x in (1, shown.width * 3 // 4, shown.width // 4):
            for y in (1, shown.height * 3 // 4, shown.height // 3):
                one = shown.convert("RGB").getpixel((x, y))
                other = expected.getpixel((x, y))
                assert isinstance(one, tuple) and isinstance(other, tuple)
                assert all(abs(a - b) < 24 for a, b in zip(one, other, strict=True)), (x, y)
        if found.data != data:
            assert shown.getexif().get(0x0112) is None


# --- what goes through, and what is carried on ----------------------------------------------------


def exif_with_place() -> Image.Exif:
    exif = Image.Exif()
    exif[0x010E] = "SECRETWORDS"
    exif.get_ifd(0x8825).update({1: "N", 2: (48.0, 51.0, 30.0), 0x1D: "SECRETDAY"})
    return exif


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("JPEG", {"exif": exif_with_place(), "comment": b"SECRETWORDS", "xmp": b"SECRETWORDS"}),
        ("PNG", {"exif": exif_with_place()}),
        ("WEBP", {"exif": exif_with_place(), "xmp": b"SECRETWORDS"}),
        ("GIF", {"comment": b"SECRETWORDS"}),
        ("TIFF", {"exif": exif_with_place(), "description": "SECRETWORDS"}),
        ("AVIF", {"exif": exif_with_place(), "xmp": b"SECRETWORDS"}),
        ("JPEG2000", {"comment": "SECRETWORDS"}),
    ],
)
@pytest.mark.parametrize("policy", [SMALL, ImagePolicy(max_edge_pixels=16, format="png")])
def test_no_word_or_place_is_carried_on(
    kind: str, options: dict[str, object], policy: ImagePolicy
) -> None:
    data = encoded(asymmetric(), kind, **options)
    assert b"SECRET" in data
    found = bound_image(data, policy, LIMITS)
    assert b"SECRET" not in found.data
    shown = opened(found)
    assert dict(shown.getexif()) == {}
    assert not set(shown.info) - {"jfif", "jfif_version", "jfif_unit", "jfif_density"}


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP", "GIF"])
def test_only_what_fits_goes_through(kind: str) -> None:
    data = encoded(asymmetric(), kind)
    for policy, passes in (
        (AUTO, True),
        (ImagePolicy(max_edge_pixels=48), True),
        (ImagePolicy(max_edge_pixels=47), False),
        (ImagePolicy(short_edge_pixels=32), True),
        (ImagePolicy(short_edge_pixels=31), False),
        (ImagePolicy(max_patches=4), True),
        (ImagePolicy(max_patches=3), False),
        (ImagePolicy(max_bytes=max(100, len(data))), True),
        (ImagePolicy(max_bytes=max(100, len(data) - 1)), len(data) <= 100),
        (ImagePolicy(format="png"), kind == "PNG"),
        (ImagePolicy(format="original", max_edge_pixels=1, max_bytes=100), True),
    ):
        found = bound_image(data, policy, LIMITS)
        assert (found.data == data) == passes, policy
        opened(found)


@pytest.mark.parametrize(
    ("kind", "options", "becomes"),
    [
        ("JPEG", {}, "JPEG"),
        ("WEBP", {}, "JPEG"),
        ("WEBP", {"lossless": True}, "PNG"),
        ("PNG", {}, "PNG"),
        ("GIF", {}, "PNG"),
        ("AVIF", {}, "PNG"),
        ("JPEG2000", {}, "PNG"),
    ],
)
def test_encoded_after_the_source(kind: str, options: dict[str, object], becomes: str) -> None:
    assert opened(bound_image(encoded(asymmetric(), kind, **options), SMALL, LIMITS)).format == (
        becomes
    )


@pytest.mark.parametrize(("lossless", "becomes"), [(True, "PNG"), (False, "JPEG")])
def test_the_first_frame_is_encoded_after_its_source(lossless: bool, becomes: str) -> None:
    data = encoded(
        asymmetric(), "WEBP", save_all=True, append_images=[asymmetric().rotate(180)],
        lossless=lossless, allow_mixed=False,
    )  # fmt: skip
    found = bound_image(data, AUTO, LIMITS)
    assert opened(found).format == becomes
    assert furthest(opened(found), asymmetric()) < 120  # the other frame differs by 220
    assert [issue.details["frames"] for issue in found.issues] == [2]


def test_the_colour_of_small_jpegs_is_whole() -> None:
    for edge, sampling in ((500, (1, 1)), (600, (2, 2))):
        data = encoded(asymmetric((700, 500)), "JPEG")
        shown = opened(bound_image(data, ImagePolicy(max_edge_pixels=edge), LIMITS))
        assert shown.layer[0][1:3] == sampling  # type: ignore[attr-defined]


def test_alpha_lies_on_white() -> None:
    image = noise("RGB").convert("RGBA")
    image.paste((0, 0, 0, 0), (60, 0, 120, 90))
    data = encoded(image, "PNG")
    shown = opened(bound_image(data, ImagePolicy(max_bytes=4_000), LIMITS))
    assert shown.format == "JPEG"
    on_white = shown.convert("RGBA")
    page = Image.new("RGBA", on_white.size, "white")
    page.alpha_composite(on_white)
    right = page.getpixel((shown.width * 3 // 4, shown.height // 2))
    assert isinstance(right, tuple) and min(right[:3]) > 250


@pytest.mark.parametrize("sizes", [[(16, 16)], [(16, 16), (32, 32)], [(64, 64), (16, 16)]])
@pytest.mark.parametrize("form", ["png", "bmp"])
def test_of_icons_the_largest(sizes: list[tuple[int, int]], form: str) -> None:
    data = encoded(asymmetric((64, 64)), "ICO", sizes=sizes, bitmap_format=form)
    found = bound_image(data, AUTO, LIMITS)
    assert opened(found).size == max(sizes)
    assert found.issues == ()


def test_a_picture_of_several_cameras_is_a_jpeg() -> None:
    data = encoded(asymmetric(), "MPO", save_all=True, append_images=[asymmetric().rotate(90)])
    found = bound_image(data, AUTO, LIMITS)
    assert (found.data, found.media_type, found.issues) == (data, "image/jpeg", ())
    assert opened(bound_image(data, SMALL, LIMITS)).format == "JPEG"


def test_pages_are_counted_by_their_chain() -> None:
    pages = [Image.new("L", (3, 2), shade) for shade in (10, 200, 90)]
    for big in (False, True):
        data = encoded(pages[0], "TIFF", save_all=True, append_images=pages[1:], big_tiff=big)
        for policy in (AUTO, ImagePolicy(format="original")):
            found = bound_image(data, policy, LIMITS)
            assert opened(found).getpixel((0, 0)) == 10
            assert found.issues[-1].details["frames"] == 3
            assert "first page of 3" in found.issues[-1].message


def test_a_chain_of_pages_that_is_a_ring() -> None:
    pages = [Image.new("L", (3, 2), shade) for shade in (10, 200)]
    data = bytearray(encoded(pages[0], "TIFF", save_all=True, append_images=pages[1:]))
    (first,) = struct.unpack_from("<I", data, 4)
    (entries,) = struct.unpack_from("<H", data, first)
    (second,) = struct.unpack_from("<I", data, first + 2 + 12 * entries)
    (others,) = struct.unpack_from("<H", data, second)
    struct.pack_into("<I", data, second + 2 + 12 * others, first)
    assert bound_image(bytes(data), AUTO, LIMITS).issues[0].details["frames"] == 2


def test_many_pages_are_quick() -> None:
    data = bytearray(encoded(Image.new("L", (2, 2)), "TIFF"))
    (first,) = struct.unpack_from("<I", data, 4)
    (entries,) = struct.unpack_from("<H", data, first)
    pointer = first + 2 + 12 * entries
    for _ in range(50_000):
        struct.pack_into("<I", data, pointer, len(data))
        data += data[first : first + 2 + 12 * entries] + bytes(4)
        pointer = len(data) - 4
    before = time.process_time()
    assert bound_image(bytes(data), AUTO, LIMITS).issues[0].details["frames"] == 50_001
    assert time.process_time() - before < 2  # Pillow's own count takes 6 s


# --- bytes ----------------------------------------------------------------------------------------


def noise(mode: str) -> Image.Image:
    bands = len(Image.new(mode, (1, 1)).getbands())
    made = random.Random(mode).randbytes(bands * 120 * 90)  # noqa: S311 - reproducible
    return Image.frombytes(mode, (120, 90), made)


@pytest.mark.parametrize("mode", ["L", "RGB", "RGBA"])
@pytest.mark.parametrize("form", ["auto", "png"])
@pytest.mark.parametrize("kind", ["PNG", "JPEG"])
@pytest.mark.parametrize("most", [100, 120, 200, 500, 999, 1_000, 1_500, 5_000])
def test_bytes_hold(mode: str, form: str, kind: str, most: int) -> None:
    image = noise(mode)
    data = encoded(image if kind == "PNG" else image.convert("RGB"), kind, quality=95)
    policy = ImagePolicy(max_bytes=most, format="png" if form == "png" else "auto")
    found = bound_image(data, policy, LIMITS)
    assert len(found.data) <= most
    shown = opened(found)
    if form == "png":
        assert shown.format == "PNG"
    assert found.issues
    assert {issue.code for issue in found.issues} == {Code.IMAGE_REDUCED}
    reasons = [issue.details["reason"] for issue in found.issues]
    assert len(set(reasons)) == len(reasons)
    assert ("bytes" in reasons) == (shown.size != image.size)


@settings(max_examples=60, deadline=None)
@given(
    width=st.integers(1, 90),
    height=st.integers(1, 90),
    edge=st.integers(1, 120),
    most=st.integers(100, 4_000),
    form=st.sampled_from(["auto", "png"]),
    kind=st.sampled_from(["PNG", "JPEG", "WEBP", "GIF", "BMP"]),
)
def test_every_bound_holds_at_once(
    width: int, height: int, edge: int, most: int, form: str, kind: str
) -> None:
    image = noise("RGB").crop((0, 0, width, height))
    policy = ImagePolicy(
        max_edge_pixels=edge, max_bytes=most, format="png" if form == "png" else "auto"
    )
    found = bound_image(encoded(image, kind), policy, LIMITS)
    assert len(found.data) <= most
    assert max(opened(found).size) <= min(edge, max(width, height))
    assert (found.source_width_pixels, found.source_height_pixels) == (width, height)


def test_a_picture_as_wide_as_can_be() -> None:
    found = bound_image(encoded(Image.new("L", (100_000, 1), 9), "PNG"), AUTO, LIMITS)
    assert opened(found).size == (1568, 1)


# --- bombs ----------------------------------------------------------------------------------------


def icon(picture: bytes) -> bytes:
    return struct.pack("<3H4B2H2I", 0, 1, 1, 0, 0, 0, 0, 1, 32, len(picture), 22) + picture


def webp_header(width: int, height: int) -> bytes:
    body = b"WEBPVP8X" + struct.pack("<II", 10, 2)
    body += (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little")
    return b"RIFF" + struct.pack("<I", len(body)) + body


def gif(screen: tuple[int, int], frame: tuple[int, int]) -> bytes:
    head = b"GIF89a" + struct.pack("<2H", *screen) + b"\x80\0\0" + bytes(6)
    return head + b"," + struct.pack("<4H", 0, 0, *frame) + b"\0\x02\x02\x44\x01\0;"


HUGE = png((30_000, 30_000), 8, 2, bytes(1_000))
DIB = struct.pack("<IiiHHIIiiII", 40, 20_000, 2 * 20_000, 1, 32, 0, 0, 0, 0, 0, 0)


@pytest.mark.parametrize(
    ("data", "size"),
    [
        (HUGE, "30000x30000"),
        (icon(png((12_000, 11_000), 8, 0, b"")), "12000x11000"),
        (icon(DIB), "20000x20000"),
        (webp_header(16_383, 16_383), "16383x16383"),
        (webp_header(1 << 24, 7), "16777216x7"),
        (gif((60_000, 60_000), (1, 1)), "60000x60000"),
        (gif((5, 5), (13_000, 13_000)), "13000x13000"),
        (gif((5, 5), (60_000, 60_000)), "more pixels"),
        (b"qoif" + struct.pack(">2I2B", 20_000, 20_000, 3, 0), "20000x20000"),
        (b"P6 20000 20000 255 ", "20000x20000"),
        (b"BM" + struct.pack("<IHHI", 54, 0, 0, 54) + DIB, "20000x40000"),
    ],
)
def test_bombs(data: bytes, size: str) -> None:
    encoded(Image.new("L", (1, 1)), "PNG")  # Pillow's own start is not measured
    tracemalloc.start()
    before = time.process_time()
    error = failed(data)
    spent = time.process_time() - before
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert error.issue.code is Code.PIXEL_LIMIT_EXCEEDED
    assert size in error.issue.message
    assert error.issue.details["limit"] == 100_000_000
    assert spent < 0.5
    assert peak < 5_000_000


def test_a_limit_below_pillow_s() -> None:
    limits = Limits(max_decoded_pixels=48 * 32)
    data = encoded(asymmetric(), "PNG")
    assert bound_image(data, AUTO, limits).data == data
    assert failed(encoded(asymmetric((48, 33)), "PNG"), limits=limits).issue.details == {
        "limit": 48 * 32,
        "actual": 48 * 33,
    }


@pytest.mark.parametrize("kind", ["PNG", "GIF"])
def test_above_pillow_s_limit_and_below_ours(kind: str) -> None:
    data = encoded(Image.new("1", (9_750, 9_750)), kind)
    before = Image.MAX_IMAGE_PIXELS
    assert bound_image(data, AUTO, LIMITS).width_pixels == 1568
    assert before == Image.MAX_IMAGE_PIXELS


def test_a_row_of_millions_of_pixels_is_quick() -> None:
    frame = encoded(Image.new("RGB", (12, 2)), "WEBP", lossless=True)[12:]
    part = bytes(6) + (11).to_bytes(3, "little") + (1).to_bytes(3, "little") + bytes(4) + frame
    body = webp_header(1 << 23, 2)[8:] + b"ANIM" + struct.pack("<I", 6) + bytes(6)
    for _ in range(2):
        body += b"ANMF" + struct.pack("<I", len(part)) + part
    before = time.process_time()
    found = bound_image(b"RIFF" + struct.pack("<I", len(body)) + body, AUTO, LIMITS)
    assert found.source_width_pixels == 1 << 23
    assert time.process_time() - before < 2.5  # in blocks of 64 KiB each row takes seconds


def test_text_and_profile_bombs() -> None:
    zeros = zlib.compress(bytes(50_000_000), 9)
    for name in (b"zTXt", b"iCCP"):
        data = png((1, 1), 8, 0, b"\0\0", chunk(name, b"k\0\0" + zeros))
        before = time.process_time()
        try:
            opened(bound_image(data, AUTO, LIMITS))
        except MdVisionError as error:
            assert error.issue.code is Code.DECODE_FAILED
        assert time.process_time() - before < 1


# --- what is no picture ---------------------------------------------------------------------------

POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"a" * 64 + b"\nsize 48211\n"


@pytest.mark.parametrize(
    ("data", "code", "reason", "words"),
    [
        (b"", Code.DECODE_FAILED, "empty", "empty"),
        (b"Not found", Code.SOURCE_UNSUPPORTED, "not_an_image", "something else"),
        (b"<!doctype html>", Code.SOURCE_UNSUPPORTED, "not_an_image", "HTML"),
        (b"%PDF-1.7\n", Code.SOURCE_UNSUPPORTED, "not_an_image", "PDF"),
        (POINTER, Code.SOURCE_UNSUPPORTED, "lfs_pointer", "48211 bytes"),
        (b"\0\0\0\x18ftypheic" + bytes(12), Code.SOURCE_UNSUPPORTED, "format", "HEIC"),
        (b"8BPS\0\1" + bytes(30), Code.SOURCE_UNSUPPORTED, "format", "PSD"),
        (b"<svg/>", Code.SOURCE_UNSUPPORTED, "format", "SVG"),
        (b"P6 0 5 255 ", Code.DECODE_FAILED, "corrupt", "PPM"),
        (png((0, 5), 8, 0, b""), Code.DECODE_FAILED, "corrupt", "PNG"),
        (gif((0, 0), (0, 0)), Code.DECODE_FAILED, "corrupt", "GIF"),
    ],
)
@pytest.mark.parametrize("form", ["auto", "original"])
def test_the_reason_is_told(data: bytes, code: Code, reason: str, words: str, form: str) -> None:
    policy = ImagePolicy.preset("original") if form == "original" else AUTO
    issue = failed(data, policy).issue
    assert (issue.code, issue.details["reason"]) == (code, reason)
    assert words in issue.message
    assert issue.next_action


# --- damage ---------------------------------------------------------------------------------------


def frames() -> list[Image.Image]:
    return [asymmetric((12, 10)).rotate(90 * k) for k in range(4)]


def animation(kind: str) -> bytes:
    first, *rest = frames()
    return encoded(first, kind, save_all=True, append_images=rest)


HEALTHY: dict[str, Callable[[], bytes]] = {
    "png": lambda: encoded(asymmetric(), "PNG", exif=exif_with_place()),
    "palette": lambda: encoded(asymmetric().quantize(20), "PNG", transparency=3),
    "apng": lambda: animation("PNG"),
    "jpeg": lambda: encoded(asymmetric(), "JPEG", exif=exif_with_place()),
    "progressive": lambda: encoded(asymmetric(), "JPEG", progressive=True),
    "mpo": lambda: animation("MPO"),
    "webp": lambda: encoded(asymmetric(), "WEBP", exif=exif_with_place()),
    "webp moving": lambda: animation("WEBP"),
    "gif": lambda: encoded(asymmetric(), "GIF"),
    "gif moving": lambda: animation("GIF"),
    "bmp": lambda: encoded(asymmetric(), "BMP"),
    "tiff": lambda: encoded(asymmetric(), "TIFF", exif=exif_with_place()),
    "tiff lzw": lambda: encoded(asymmetric(), "TIFF", compression="tiff_lzw"),
    "tiff jpeg": lambda: encoded(asymmetric(), "TIFF", compression="jpeg"),
    "tiff fax": lambda: encoded(asymmetric().convert("1"), "TIFF", compression="group4"),
    "tiff pages": lambda: animation("TIFF"),
    "ico": lambda: encoded(asymmetric((32, 32)), "ICO", sizes=[(16, 16), (32, 32)]),
    "ico bmp": lambda: encoded(asymmetric((32, 32)), "ICO", sizes=[(16, 16)], bitmap_format="bmp"),
    "jpeg 2000": lambda: encoded(asymmetric(), "JPEG2000"),
    "avif": lambda: encoded(asymmetric(), "AVIF", exif=exif_with_place()),
    "ppm": lambda: encoded(asymmetric(), "PPM"),
    "qoi": lambda: encoded(asymmetric(), "QOI"),
}
POLICIES = (AUTO, SMALL, ImagePolicy(format="png"), ImagePolicy(max_bytes=300))
DAMAGE_CODES = {Code.DECODE_FAILED, Code.SOURCE_UNSUPPORTED, Code.PIXEL_LIMIT_EXCEEDED}


def damaged(data: bytes, chance: random.Random) -> Iterator[bytes]:
    """Cut, overwritten, shortened and stretched, over and over."""
    while True:
        yield data[: chance.randrange(len(data))]
        changed = bytearray(data)
        for _ in range(chance.randint(1, 8)):
            changed[chance.randrange(len(changed))] = chance.randrange(256)
        yield bytes(changed)
        for _ in range(chance.randint(1, 3)):  # headers, with the values that hurt
            changed[chance.randrange(min(len(changed), 120))] = chance.choice((0, 1, 127, 128, 255))
        yield bytes(changed)
        at = chance.randrange(len(data))
        yield data[:at] + data[at + chance.randint(1, 30) :]
        yield data[:at] + chance.randbytes(chance.randint(1, 30)) + data[at:]


@pytest.mark.parametrize("name", HEALTHY)
def test_whatever_the_damage(name: str) -> None:
    data = HEALTHY[name]()
    opened(bound_image(data, SMALL, LIMITS))
    chance = random.Random(name)  # noqa: S311 - reproducible
    small = Limits(max_decoded_pixels=1_000_000)  # a mutated size must not make the test slow
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        for number, broken in zip(range(120), damaged(data, chance), strict=False):
            try:
                found = bound_image(broken, POLICIES[number % 4], small)
            except MdVisionError as error:
                assert error.issue.code in DAMAGE_CODES
                assert error.__context__ is None or error.__suppress_context__
                assert "/" not in error.issue.message
            else:
                assert len(found.data) <= POLICIES[number % 4].max_bytes
                assert min(found.width_pixels, found.height_pixels) >= 1
        assert [str(warning.message) for warning in heard] == []


@pytest.mark.parametrize("name", ["png", "palette", "jpeg", "webp", "gif", "bmp", "tiff", "qoi"])
def test_cut_short_anywhere_it_is_not_sent(name: str) -> None:
    data = HEALTHY[name]()
    whole = len(data) - (8 if name in ("png", "palette") else len(data) // 10)
    for length in {*range(0, whole, max(1, len(data) // 90)), whole}:
        try:
            assert bound_image(data[:length], AUTO, LIMITS).data != data[:length]
        except MdVisionError as error:
            assert error.issue.code in DAMAGE_CODES - {Code.PIXEL_LIMIT_EXCEEDED}


def test_damaged_metadata_neither_costs_the_picture_nor_is_heard_of() -> None:
    data = HEALTHY["jpeg"]()
    at = data.index(b"Exif\0\0") + 14
    broken = data[:at] + b"\xff" * 30 + data[at + 30 :]
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        assert bound_image(broken, AUTO, LIMITS).data == broken
        with pytest.warns(UserWarning, match="."), Image.open(io.BytesIO(broken)) as image:
            image.getexif()  # Pillow alone warns of it: the damage is one
    assert heard == []


# --- threads --------------------------------------------------------------------------------------


def test_eight_threads_do_what_one_does() -> None:
    sources = [make() for make in HEALTHY.values()] * 3
    at = HEALTHY["jpeg"]().index(b"Exif\0\0") + 14
    noisy = HEALTHY["jpeg"]()[:at] + b"\xff" * 30 + HEALTHY["jpeg"]()[at + 30 :]
    sources[::7] = [noisy] * len(sources[::7])
    alone = [bound_image(data, SMALL, LIMITS) for data in sources]
    filters = list(warnings.filters)
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(lambda data: bound_image(data, SMALL, LIMITS), sources))
    assert together == alone
    assert list(warnings.filters) == filters


def test_the_callers_own_filters_are_left_as_they_are() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        filters = list(warnings.filters)
        bound_image(HEALTHY["tiff"](), AUTO, LIMITS)
        failed(b"\x89PNG\r\n\x1a\n")
        assert list(warnings.filters) == filters
        with pytest.raises(UserWarning):
            warnings.warn("mine", stacklevel=1)
