"""The codec against Pillow: every mode and format, every orientation, every kind of damage."""

from __future__ import annotations

import io
import random
import struct
import time
import zlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from PIL import Image, ImageChops, ImageOps

from mdvision import Code, ImagePolicy, Limits, MdVisionError
from mdvision.images.codec import BoundedImage, bound_image
from mdvision.images.policy import estimate_tokens
from mdvision.images.sniff import binary_kind, sniff

LIMITS = Limits()
AUTO = ImagePolicy()


def drawn(mode: str = "RGB", size: tuple[int, int] = (40, 30)) -> Image.Image:
    """A picture with no symmetry: a corner, a diagonal, a gradient."""
    image = Image.linear_gradient("L").resize(size).convert("RGB")
    image.paste((220, 20, 20), (0, 0, size[0] // 3, size[1] // 4))
    image.paste((20, 40, 220), (size[0] // 2, size[1] // 2, size[0] - 3, size[1] - 1))
    if mode in ("RGBA", "LA"):
        alpha = Image.new("L", size, 255)
        alpha.paste(0, (0, size[1] // 2, size[0] // 4, size[1]))
        image.putalpha(alpha)
    if mode == "I;16":
        return Image.frombytes("I;16", (3, 1), struct.pack("<3H", 0, 32768, 65535))
    return image.convert(mode)


def encoded(image: Image.Image, kind: str, **options: object) -> bytes:
    out = io.BytesIO()
    image.save(out, kind, **options)  # type: ignore[arg-type]
    return out.getvalue()


def opened(found: BoundedImage) -> Image.Image:
    image = Image.open(io.BytesIO(found.data))
    image.load()
    assert image.size == (found.width_pixels, found.height_pixels)
    assert Image.MIME[image.format or ""] == found.media_type
    return image


def difference(one: Image.Image, other: Image.Image) -> float:
    """The mean difference of channels."""
    histogram = ImageChops.difference(one.convert("RGB"), other.convert("RGB")).histogram()
    total = sum((k % 256) * count for k, count in enumerate(histogram))
    return total / (3 * one.width * one.height)


def code_of(
    data: bytes, policy: ImagePolicy = AUTO, limits: Limits = LIMITS
) -> tuple[Code, object]:
    with pytest.raises(MdVisionError) as raised:
        bound_image(data, policy, limits)
    return raised.value.issue.code, raised.value.issue.details.get("reason")


@pytest.mark.parametrize(
    ("kind", "mode", "passes", "becomes"),
    [
        ("PNG", "1", True, "PNG"),
        ("PNG", "L", True, "PNG"),
        ("PNG", "LA", True, "PNG"),
        ("PNG", "P", True, "PNG"),
        ("PNG", "RGB", True, "PNG"),
        ("PNG", "RGBA", True, "PNG"),
        ("PNG", "I;16", False, "PNG"),
        ("JPEG", "L", True, "JPEG"),
        ("JPEG", "RGB", True, "JPEG"),
        ("JPEG", "CMYK", False, "JPEG"),
        ("WEBP", "RGB", True, "JPEG"),
        ("WEBP", "RGBA", True, "PNG"),
        ("GIF", "P", True, "PNG"),
        ("BMP", "RGB", False, "PNG"),
        ("TIFF", "RGB", False, "PNG"),
        ("TIFF", "1", False, "PNG"),
        ("TIFF", "F", False, "PNG"),
        ("ICO", "RGBA", False, "PNG"),
        ("JPEG2000", "RGB", False, "PNG"),
        ("AVIF", "RGB", False, "PNG"),
        ("PPM", "RGB", False, "PNG"),
        ("QOI", "RGB", False, "PNG"),
    ],
)
def test_formats_and_modes(kind: str, mode: str, passes: bool, becomes: str) -> None:
    image = drawn(mode)
    options = {"sizes": [image.size]} if kind == "ICO" else {}
    data = encoded(image, kind, **options)
    found = bound_image(data, AUTO, LIMITS)
    assert (found.data == data) == passes
    shown = opened(found)
    assert found.issues == ()
    with Image.open(io.BytesIO(data)) as source:
        assert (found.source_width_pixels, found.source_height_pixels) == source.size == shown.size
        if mode not in ("I;16", "F"):
            white = Image.new("RGBA", source.size, "white")
            assert (
                difference(
                    Image.alpha_composite(white, source.convert("RGBA")),
                    Image.alpha_composite(white, shown.convert("RGBA")),
                )
                < 3
            )
    small = bound_image(data, ImagePolicy(max_edge_pixels=2), LIMITS)
    assert opened(small).format == becomes
    assert max(small.width_pixels, small.height_pixels) == 2
    assert opened(bound_image(data, ImagePolicy(format="png"), LIMITS)).format == "PNG"


def test_sixteen_bits_are_scaled() -> None:
    shown = opened(bound_image(encoded(drawn("I;16"), "PNG"), AUTO, LIMITS))
    assert [shown.convert("L").getpixel((x, 0)) for x in range(3)] in ([0, 127, 255], [0, 128, 255])


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP"])
@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("edge", [1568, 20])
def test_orientation(kind: str, orientation: int, edge: int) -> None:
    exif = Image.Exif()
    exif[0x0112] = orientation
    options = {"lossless": True} if kind == "WEBP" else {"quality": 95} if kind == "JPEG" else {}
    data = encoded(drawn(), kind, exif=exif, **options)
    found = bound_image(data, ImagePolicy(max_edge_pixels=edge), LIMITS)
    with Image.open(io.BytesIO(data)) as source:
        upright = ImageOps.exif_transpose(source)
    assert (found.source_width_pixels, found.source_height_pixels) == upright.size
    shown = opened(found)
    assert difference(upright.resize(shown.size, Image.Resampling.LANCZOS), shown) < 6
    if orientation != 1 or edge == 20:
        assert shown.getexif().get(0x0112) is None
        assert b"Exif" not in found.data


def test_alpha_stays_in_png_and_lies_on_white_in_jpeg() -> None:
    data = encoded(drawn("RGBA", (400, 300)), "PNG")
    small = opened(bound_image(data, ImagePolicy(max_edge_pixels=100), LIMITS))
    assert small.mode == "RGBA"
    assert small.getpixel((5, 60))[3] == 0  # type: ignore[index]
    noise = Image.effect_noise((300, 300), 90).convert("RGBA")
    noise.putalpha(0)
    found = bound_image(encoded(noise, "PNG"), ImagePolicy(max_bytes=5_000), LIMITS)
    if found.media_type == "image/jpeg":
        assert opened(found).convert("L").getextrema() == (255, 255)


def animation(kind: str, frames: int = 3) -> bytes:
    pictures = [
        Image.new("RGB", (12, 10), (200 - k % 99, k // 9, 9 * k % 256)) for k in range(frames)
    ]
    return encoded(pictures[0], kind, save_all=True, append_images=pictures[1:], duration=50)


@pytest.mark.parametrize("kind", ["GIF", "PNG", "WEBP", "TIFF"])
def test_of_many_frames_the_first(kind: str) -> None:
    found = bound_image(animation(kind), AUTO, LIMITS)
    assert difference(opened(found), Image.new("RGB", (12, 10), (200, 0, 0))) < 4
    (issue,) = found.issues
    assert (issue.code, issue.details["frames"]) == (Code.IMAGE_REDUCED, 3)
    assert f"first {'page' if kind == 'TIFF' else 'frame'} of 3" in issue.message


def test_a_long_animation_is_quick() -> None:
    data = animation("GIF", 1_600)
    before = time.process_time()
    assert bound_image(data, AUTO, LIMITS).issues[0].details["frames"] == 1_600
    assert time.process_time() - before < 5


def test_a_foreign_colour_profile_is_converted() -> None:
    from PIL import ImageCms

    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("LAB")).tobytes()
    data = encoded(drawn(size=(100, 80)), "PNG", icc_profile=profile)  # does not fit: passed over
    found = bound_image(data, ImagePolicy(max_edge_pixels=50), LIMITS)
    assert opened(found).info.get("icc_profile") is None


@pytest.mark.parametrize("most", [200, 2_000, 20_000])
@pytest.mark.parametrize("kind", ["PNG", "JPEG"])
@pytest.mark.parametrize("form", ["auto", "png"])
def test_bytes_are_bounded(most: int, kind: str, form: str) -> None:
    noise = Image.effect_noise((500, 400), 120).convert("RGB")
    data = encoded(noise, kind, **({"quality": 95} if kind == "JPEG" else {}))
    policy = ImagePolicy(max_bytes=most, format="png" if form == "png" else "auto")
    found = bound_image(data, policy, LIMITS)
    assert len(found.data) <= most or (found.width_pixels, found.height_pixels) == (1, 1)
    assert opened(found).format in (("PNG",) if form == "png" else ("PNG", "JPEG"))
    assert Code.IMAGE_REDUCED in [issue.code for issue in found.issues]


def test_original_bytes() -> None:
    policy = ImagePolicy.preset("original")
    for data in (
        encoded(drawn(size=(2000, 90)), "PNG"),
        animation("GIF"),
        encoded(drawn("CMYK"), "JPEG"),
    ):
        found = bound_image(data, policy, LIMITS)
        assert (found.data, found.issues) == (data, ())
    converted = bound_image(encoded(drawn(size=(2000, 90)), "BMP"), policy, LIMITS)
    assert (converted.media_type, converted.width_pixels) == ("image/png", 2000)
    assert converted.issues[0].details["reason"] == "format"


def chunk(name: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))


def bomb(width: int, height: int) -> bytes:
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    pixels = chunk(b"IDAT", zlib.compress(bytes(1_000)))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + pixels + chunk(b"IEND", b"")


@pytest.mark.parametrize(
    "size", [(30_000, 30_000), (50_000, 50_000), (12_000, 12_000), (200_000, 1_000)]
)
def test_too_many_pixels_are_seen_in_the_header(size: tuple[int, int]) -> None:
    before = time.process_time()
    with pytest.raises(MdVisionError) as raised:
        bound_image(bomb(*size), AUTO, LIMITS)
    assert time.process_time() - before < 1
    issue = raised.value.issue
    assert issue.code is Code.PIXEL_LIMIT_EXCEEDED
    assert f"{size[0]}x{size[1]}" in issue.message
    assert issue.details == {"limit": 100_000_000, "actual": size[0] * size[1]}


def test_pillow_s_own_limit_is_not_ours() -> None:
    data = encoded(Image.new("1", (9_750, 9_750)), "PNG")  # above Pillow's warning, below our limit
    assert bound_image(data, AUTO, LIMITS).width_pixels == 1568


@pytest.mark.parametrize(
    ("data", "code", "reason"),
    [
        (b"", Code.DECODE_FAILED, "empty"),
        (b"words", Code.SOURCE_UNSUPPORTED, "not_an_image"),
        (b"<!doctype html><p>", Code.SOURCE_UNSUPPORTED, "not_an_image"),
        (b"\0" * 100, Code.SOURCE_UNSUPPORTED, "not_an_image"),
        (b"%PDF-1.7", Code.SOURCE_UNSUPPORTED, "not_an_image"),
        (b"8BPS\0\1" + b"\0" * 40, Code.SOURCE_UNSUPPORTED, "format"),
        (b"\0\0\0\x18ftypheic", Code.SOURCE_UNSUPPORTED, "format"),
        (b"%!PS-Adobe-3.0 EPSF-3.0\n", Code.SOURCE_UNSUPPORTED, "not_an_image"),
        (b"<svg xmlns='x'/>", Code.SOURCE_UNSUPPORTED, "format"),
        (
            b"\xef\xbb\xbf<?xml version='1.0'?>\n<!-- c -->\n<svg/>",
            Code.SOURCE_UNSUPPORTED,
            "format",
        ),
        (
            b"<!DOCTYPE svg PUBLIC 'a' 'b' [ <!ENTITY c 'd'> ]><svg:svg>",
            Code.SOURCE_UNSUPPORTED,
            "format",
        ),
        (b"\x89PNG\r\n\x1a\n", Code.DECODE_FAILED, "corrupt"),
        (b"GIF89a\0\0", Code.DECODE_FAILED, "corrupt"),
    ],
)
def test_what_is_no_picture_is_named(data: bytes, code: Code, reason: str) -> None:
    assert code_of(data) == (code, reason)


def test_bytes_of_input_are_bounded() -> None:
    assert (
        code_of(encoded(drawn(), "PNG"), limits=Limits(max_input_bytes=10))[0]
        is Code.SOURCE_TOO_LARGE
    )


def test_a_text_bomb_in_a_png() -> None:
    data = encoded(drawn(), "PNG")
    text = chunk(b"zTXt", b"k\0\0" + zlib.compress(bytes(60_000_000), 9))
    assert code_of(data[:33] + text + data[33:]) == (Code.DECODE_FAILED, "corrupt")


SOURCES: dict[str, Callable[[], bytes]] = {
    kind: (lambda kind=kind: encoded(drawn(), kind))  # type: ignore[misc]
    for kind in (
        "PNG",
        "JPEG",
        "WEBP",
        "GIF",
        "BMP",
        "TIFF",
        "JPEG2000",
        "AVIF",
        "PPM",
        "QOI",
        "ICO",
    )
}


@pytest.mark.filterwarnings("default")  # a decoder may warn; what it must not do is raise
@pytest.mark.parametrize("kind", SOURCES)
def test_damage_is_an_error_of_ours_or_a_picture(kind: str) -> None:
    data = SOURCES[kind]()
    chance = random.Random(kind)  # noqa: S311 - reproducible, no secret
    for number in range(150):
        if number % 2:
            damaged = data[: chance.randrange(len(data))]
        else:
            changed = bytearray(data)
            for _ in range(chance.randint(1, 6)):
                changed[chance.randrange(len(changed))] = chance.randrange(256)
            damaged = bytes(changed)
        try:
            opened(bound_image(damaged, ImagePolicy(max_edge_pixels=16, format="png"), LIMITS))
        except MdVisionError as error:
            assert error.issue.code in (
                Code.DECODE_FAILED, Code.SOURCE_UNSUPPORTED, Code.PIXEL_LIMIT_EXCEEDED,
            )  # fmt: skip


def test_eight_threads() -> None:
    data = [SOURCES[kind]() for kind in SOURCES] * 6
    policy = ImagePolicy(max_edge_pixels=20)
    alone = [bound_image(one, policy, LIMITS) for one in data]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(lambda one: bound_image(one, policy, LIMITS), data)) == alone


# sniffing


@pytest.mark.parametrize("kind", SOURCES)
def test_kinds_are_told_by_bytes(kind: str) -> None:
    named = {"WEBP": "WebP", "JPEG2000": "JPEG 2000"}.get(kind, kind)
    assert sniff(SOURCES[kind]()) == named
    assert binary_kind(SOURCES[kind]()) == named


# bounds


@pytest.mark.parametrize(
    ("size", "tokens"),
    [
        ((1920, 1080), 1560),
        ((1092, 1092), 1521),
        ((28, 28), 1),
        ((29, 28), 2),
        ((200, 200), 64),
        ((1, 1), 1),
    ],
)
def test_tokens(size: tuple[int, int], tokens: int) -> None:
    assert estimate_tokens(*size, ImagePolicy()) == tokens
