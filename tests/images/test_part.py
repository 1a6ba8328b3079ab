"""A picture's bytes as the part of a reading."""

from __future__ import annotations

import hashlib
import io
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from PIL import Image

from mdvision import Code, ImagePolicy, Limits, MdVisionError
from mdvision.images.part import image_part
from mdvision.images.sniff import sniff


def picture(size: tuple[int, int], kind: str = "PNG") -> bytes:
    out = io.BytesIO()
    Image.linear_gradient("L").resize(size).convert("RGB").save(out, kind)
    return out.getvalue()


@pytest.mark.parametrize(
    ("size", "policy", "shown", "tokens"),
    [
        ((56, 28), ImagePolicy(), (56, 28), 2),
        ((1920, 1080), ImagePolicy(), (1568, 882), 1560),
        ((1920, 1080), ImagePolicy.preset("claude"), (1456, 819), 1560),
        ((1920, 1080), ImagePolicy.preset("original"), (1920, 1080), 1560),
        ((1920, 1080), ImagePolicy.preset("md-vision"), (1568, 882), 1560),
    ],
)
def test_sizes_price_and_digest(
    size: tuple[int, int], policy: ImagePolicy, shown: tuple[int, int], tokens: int
) -> None:
    data = picture(size)
    part, issues = image_part(data, policy, Limits(), source="img/x.png")
    assert issues == ()
    assert (part.width_pixels, part.height_pixels) == shown
    assert (part.source_width_pixels, part.source_height_pixels) == size
    assert part.estimated_tokens == tokens
    assert part.sha256 == hashlib.sha256(part.data).hexdigest()
    assert (part.source, part.media_type) == ("img/x.png", "image/png")
    assert (part.alt, part.title, part.markdown, part.line_start) == ("", "", "", 0)
    assert (part.data == data) == (shown == size)
    with Image.open(io.BytesIO(part.data)) as image:
        assert image.size == shown


def test_it_gives_the_same_each_time() -> None:
    data = picture((2000, 1500), "JPEG")
    parts = {image_part(data, ImagePolicy(), Limits(), source="")[0].sha256 for _ in range(3)}
    assert len(parts) == 1


def test_what_was_reduced_and_what_failed() -> None:
    frames = [Image.new("RGB", (9, 9), (k, 0, 0)) for k in (0, 200)]
    out = io.BytesIO()
    frames[0].save(out, "GIF", save_all=True, append_images=frames[1:])
    _, (issue,) = image_part(out.getvalue(), ImagePolicy(), Limits(), source="a.gif")
    assert issue.code is Code.IMAGE_REDUCED
    with pytest.raises(MdVisionError) as raised:
        image_part(b"<html>", ImagePolicy(), Limits(), source="a.gif")
    assert raised.value.issue.code is Code.SOURCE_UNSUPPORTED


def test_pillow_is_loaded_by_the_first_picture_alone() -> None:
    program = (
        "import sys; import mdvision.images.part, mdvision.images.sniff;"
        "assert 'PIL' not in sys.modules;"
        "from mdvision import ImagePolicy; ImagePolicy.preset('claude');"
        "assert 'PIL' not in sys.modules"
    )
    root = Path(__file__).parent.parent.parent
    subprocess.run(
        [sys.executable, "-c", program], check=True, env={**os.environ, "PYTHONPATH": str(root)}
    )


REAL = os.environ.get("MDVISION_TEST_DATA", "")
FORMATS = {"PNG", "JPEG", "GIF", "WebP", "AVIF", "BMP", "ICO", "TIFF"}


@pytest.mark.skipif(not REAL, reason="needs MDVISION_TEST_DATA")
def test_every_picture_of_real_documentation() -> None:
    count = untouched = 0
    before = time.process_time()
    for path in sorted(Path(REAL, "corpus").rglob("*")):
        data = path.read_bytes() if path.is_file() else b""
        if sniff(data) not in FORMATS:
            continue
        part, _ = image_part(data, ImagePolicy(), Limits(), source=path.name)
        count += 1
        untouched += part.data == data
        assert max(part.width_pixels, part.height_pixels) <= 1568
        with Image.open(io.BytesIO(part.data)) as image:
            image.load()
            assert image.size == (part.width_pixels, part.height_pixels)
    assert count > 40
    assert untouched > count / 2
    assert (time.process_time() - before) / count < 0.5
