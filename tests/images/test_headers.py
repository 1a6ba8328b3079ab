"""Pictures that take Pillow quadratic time as they are: told by a ratio, so that no clock decides."""

from __future__ import annotations

import io
import time
from collections.abc import Callable

import pytest
from PIL import Image

from mdvision import ImagePolicy, Limits
from mdvision.images.codec import BoundedImage, bound_image
from mdvision.images.headers import without_slow_parts


def jpeg(exif_parts: int) -> bytes:
    out = io.BytesIO()
    exif = Image.Exif()
    exif[0x0112] = 6  # lying on its side
    Image.new("RGB", (40, 30), "red").save(out, "JPEG", exif=exif)
    data = out.getvalue()
    at = data.index(b"\xff\xdb")  # behind the first part
    return data[:at] + b"\xff\xe1\0\x0aExif\0\0xx" * exif_parts + data[at:]


def plain_ppm(comments: int, end: bytes = b"\n") -> bytes:
    head = b"P3 # plain\n2 1" + end + b"255" + end
    return head + b"1 2 3 " + (b"#c" + end) * comments + b"4 5 6" + end


def bounded(data: bytes) -> BoundedImage:
    return bound_image(data, ImagePolicy(), Limits())


@pytest.mark.parametrize("made", [jpeg, plain_ppm])
def test_time_grows_with_the_bytes(made: Callable[[int], bytes]) -> None:
    def seconds(count: int) -> float:
        data = made(count)
        before = time.process_time()
        bounded(data)
        return time.process_time() - before

    seconds(1)  # loads the plugin
    assert seconds(400_000) < 10 * max(seconds(100_000), 0.01)


@pytest.mark.parametrize("end", [b"\n", b"\r", b"\r\n"])
@pytest.mark.parametrize("comments", [0, 1, 1_000])
def test_comments_are_no_pixels(end: bytes, comments: int) -> None:
    with Image.open(io.BytesIO(bounded(plain_ppm(comments, end)).data)) as image:
        assert [image.getpixel((x, 0)) for x in range(2)] == [(1, 2, 3), (4, 5, 6)]


def test_a_raw_ppm_is_left_as_it_is() -> None:
    raw = b"P6\n1 2\n255\n##\n##\n"
    assert without_slow_parts(raw, "PPM") == raw
    with Image.open(io.BytesIO(bounded(raw).data)) as image:
        assert image.getpixel((0, 1)) == tuple(b"##\n")


def test_a_few_parts_of_exif_keep_the_orientation() -> None:
    assert bounded(jpeg(3)).width_pixels == 30
    assert bounded(jpeg(1_000)).width_pixels == 40  # no camera writes so many: they are dropped
