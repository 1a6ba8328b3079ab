"""Viewing one picture."""

from __future__ import annotations

import io
import os
from pathlib import Path

import pytest
from PIL import Image, ImageChops

import mdvision


def test_a_large_picture_is_bounded(tmp_path: Path) -> None:
    Image.new("RGB", (3136, 1000), "red").save(tmp_path / "a.png")
    part = mdvision.view_image(tmp_path / "a.png")
    assert (part.width_pixels, part.height_pixels) == (1568, 500)
    assert (part.source_width_pixels, part.source_height_pixels) == (3136, 1000)
    assert Image.open(io.BytesIO(part.data)).size == (1568, 500)
    assert part.source == str(tmp_path / "a.png")


def test_it_is_what_a_reading_shows(tmp_path: Path) -> None:
    Image.new("RGB", (300, 200), "blue").save(tmp_path / "a.jpg")
    (tmp_path / "a.md").write_text("![](a.jpg)\n")
    shown = mdvision.read_with_images(tmp_path / "a.md").images[0]
    assert mdvision.view_image(tmp_path / "a.jpg").data == shown.data
    png = mdvision.view_image(
        tmp_path / "a.jpg", image_policy=mdvision.ImagePolicy.preset("md-vision")
    )
    assert png.media_type == "image/png"


def test_errors(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(b"no picture")
    with pytest.raises(mdvision.UnsupportedFormatError):
        mdvision.view_image(tmp_path / "a.png")
    with pytest.raises(mdvision.SourceNotFoundError):
        mdvision.view_image(tmp_path / "gone.png")
    loader = mdvision.Loader(mdvision.AccessPolicy(paths=()))
    with pytest.raises(mdvision.AccessDeniedError):
        mdvision.view_image(tmp_path / "a.png", loader=loader)


def opened(part: mdvision.ImagePart) -> Image.Image:
    return Image.open(io.BytesIO(part.data)).convert("RGB")


def chart(width: int, height: int) -> Image.Image:
    """A picture of which each place looks different, as far as 8 bits allow."""
    across = Image.linear_gradient("L").rotate(90).resize((width, height))
    down = Image.linear_gradient("L").resize((width, height))
    fine = Image.effect_noise((64, 48), 80).resize((width, height))
    return Image.merge("RGB", (across, down, fine))


def test_a_region_is_cut_out_at_full_size(tmp_path: Path) -> None:
    whole = chart(4000, 3000)
    whole.save(tmp_path / "a.png")
    part = mdvision.view_image(tmp_path / "a.png", region=(1000, 2000, 640, 480))
    assert opened(part).tobytes() == whole.crop((1000, 2000, 1640, 2480)).tobytes()
    assert part.region == (1000, 2000, 640, 480)
    assert (part.source_width_pixels, part.source_height_pixels) == (4000, 3000)
    assert (part.width_pixels, part.height_pixels) == (640, 480)
    assert part.estimated_tokens == 23 * 18
    assert repr(part) == (
        f"<ImagePart {tmp_path / 'a.png'} 640x480 of (1000, 2000, 640, 480) image/png>"
    )


def test_a_large_region_keeps_to_the_policy(tmp_path: Path) -> None:
    chart(4000, 3000).save(tmp_path / "a.png")
    part = mdvision.view_image(tmp_path / "a.png", region=(0, 0, 3136, 1000))
    assert (part.width_pixels, part.height_pixels) == (1568, 500)
    assert part.region == (0, 0, 3136, 1000)


def test_a_region_beyond_the_edge_is_what_lies_within(tmp_path: Path) -> None:
    whole = chart(300, 200)
    whole.save(tmp_path / "a.png")
    part = mdvision.view_image(tmp_path / "a.png", region=(-50, 150, 100, 100))
    assert part.region == (0, 150, 50, 50)
    assert opened(part).tobytes() == whole.crop((0, 150, 50, 200)).tobytes()


@pytest.mark.parametrize(
    "region", [(300, 0, 10, 10), (0, 0, 0, 5), (5, 5, -3, 5), (0, -9, 5, 9), (1, 2, 3), "no"]
)
def test_regions_that_are_refused(tmp_path: Path, region: tuple[int, int, int, int]) -> None:
    chart(300, 200).save(tmp_path / "a.png")
    with pytest.raises(mdvision.InvalidInputError) as raised:
        mdvision.view_image(tmp_path / "a.png", region=region)
    assert raised.value.issue.details["reason"] == "region"


def test_tiles_of_a_large_picture(tmp_path: Path) -> None:
    whole = chart(3840, 2160)
    whole.save(tmp_path / "a.png")
    found = mdvision.view_tiles(tmp_path / "a.png")
    assert found.overview is not None
    assert (found.overview.width_pixels, found.overview.height_pixels) == (1568, 882)
    assert found.overview.region is None
    assert (found.complete, len(found.grid), found.issues) == (True, 15, ())
    assert [tile.index for tile in found.tiles] == list(range(15))
    assert tuple(tile.box for tile in found.tiles) == found.grid
    for tile in found.tiles:
        left, top, width, height = tile.box
        assert tile.image.region == tile.box
        cut = whole.crop((left, top, left + width, top + height))
        assert opened(tile.image).tobytes() == cut.tobytes()


@pytest.mark.parametrize("size", [(1, 1), (1568, 1568), (1568, 900)])
def test_an_overview_at_full_size_needs_no_tiles(tmp_path: Path, size: tuple[int, int]) -> None:
    Image.new("RGB", size, "red").save(tmp_path / "a.png")
    found = mdvision.view_tiles(tmp_path / "a.png")
    assert found.overview is not None
    assert found.overview.data == (tmp_path / "a.png").read_bytes()
    assert (found.tiles, found.complete, found.issues) == ((), True, ())
    assert len(found.grid) == (1 if max(size) <= 1024 else 4 if min(size) > 1024 else 2)


def test_one_pixel_more_has_tiles(tmp_path: Path) -> None:
    Image.new("RGB", (1569, 900), "red").save(tmp_path / "a.png")
    assert len(mdvision.view_tiles(tmp_path / "a.png").tiles) == 2


def test_the_policy_bounds_the_overview_alone(tmp_path: Path) -> None:
    chart(1000, 800).save(tmp_path / "a.png")
    policy = mdvision.ImagePolicy.preset("openai")
    found = mdvision.view_tiles(tmp_path / "a.png", image_policy=policy)
    assert found.overview is not None
    assert (found.overview.width_pixels, found.overview.height_pixels) == (960, 768)
    (tile,) = found.tiles
    assert (tile.image.width_pixels, tile.image.height_pixels) == (1000, 800)
    assert tile.image.estimated_tokens == found.overview.estimated_tokens == 85 + 4 * 170


@pytest.mark.parametrize(("width", "is_small"), [(3920, False), (3930, True)])
def test_an_overview_below_two_fifths_is_too_small(
    tmp_path: Path, width: int, is_small: bool
) -> None:
    Image.new("RGB", (width, 100), "red").save(tmp_path / "a.png")
    found = mdvision.view_tiles(tmp_path / "a.png")
    reasons = [issue.details.get("reason") for issue in found.issues]
    assert reasons == ["scale"] * is_small
    assert found.complete


def test_a_tall_picture_says_so(tmp_path: Path) -> None:
    Image.new("RGB", (800, 12_000), "red").save(tmp_path / "a.png")
    found = mdvision.view_tiles(tmp_path / "a.png")
    assert "at 13% of the picture's size" in found.issues[0].message
    assert len(found.tiles) == 14


def test_a_budget_of_tiles(tmp_path: Path) -> None:
    Image.new("L", (3840, 2160), 200).save(tmp_path / "a.png")
    found = mdvision.view_tiles(tmp_path / "a.png", max_tiles=4)
    assert [tile.index for tile in found.tiles] == [0, 5, 9, 14]
    assert (found.complete, len(found.grid)) == (False, 15)
    (issue,) = found.issues
    assert issue.code is mdvision.Code.TILE_BUDGET_EXCEEDED
    assert (issue.details["limit"], issue.details["actual"]) == (4, 15)
    left = mdvision.view_image(tmp_path / "a.png", region=found.grid[1])
    assert left.region == found.grid[1] == (896, 0, 1024, 1024)


def test_tiles_of_a_photo_that_lies_on_its_side(tmp_path: Path) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6
    chart(2000, 1200).save(tmp_path / "a.jpg", exif=exif)
    found = mdvision.view_tiles(tmp_path / "a.jpg")
    assert found.overview is not None
    assert (found.overview.source_width_pixels, found.overview.source_height_pixels) == (1200, 2000)
    assert found.grid[-1] == (176, 976, 1024, 1024)
    assert {tile.image.media_type for tile in found.tiles} == {"image/jpeg"}


def test_transparency_lies_on_white(tmp_path: Path) -> None:
    Image.new("RGBA", (2000, 900), (0, 0, 0, 0)).save(tmp_path / "large.png")
    Image.new("RGBA", (20, 10), (0, 0, 0, 0)).save(tmp_path / "small.png")
    for name, tiles in (("large.png", 3), ("small.png", 0)):
        found = mdvision.view_tiles(tmp_path / name)
        assert found.overview is not None
        assert len(found.tiles) == tiles
        for part in (found.overview, *(tile.image for tile in found.tiles)):
            assert Image.open(io.BytesIO(part.data)).mode == "RGB"
            assert opened(part).getextrema() == ((255, 255),) * 3
    region = mdvision.view_image(tmp_path / "small.png", region=(0, 0, 5, 5))
    assert opened(region).getpixel((0, 0)) == (255, 255, 255)


@pytest.mark.parametrize("most", [0, -1, True, 2.0, "3", None])
def test_budgets_that_are_refused(tmp_path: Path, most: int) -> None:
    Image.new("RGB", (9, 9)).save(tmp_path / "a.png")
    with pytest.raises(mdvision.InvalidInputError, match="max_tiles"):
        mdvision.view_tiles(tmp_path / "a.png", max_tiles=most)


def test_tiles_of_what_cannot_be_had(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(b"no picture")
    (tmp_path / "cut.png").write_bytes(b"")
    for look in (mdvision.view_tiles, lambda at: mdvision.view_image(at, region=(0, 0, 1, 1))):
        with pytest.raises(mdvision.UnsupportedFormatError):
            look(tmp_path / "a.png")
        with pytest.raises(mdvision.DecodeError):
            look(tmp_path / "cut.png")
        with pytest.raises(mdvision.SourceNotFoundError):
            look(tmp_path / "gone.png")


def test_whoever_leaves_is_not_worked_for(tmp_path: Path) -> None:
    class Leaving(mdvision.Loader):
        looks = 0

        def checkpoint(self) -> None:
            self.looks += 1
            if self.looks > 3:
                raise KeyError("gone")

    Image.new("RGB", (3840, 2160)).save(tmp_path / "a.png")
    with pytest.raises(KeyError):
        mdvision.view_tiles(tmp_path / "a.png", loader=Leaving())


REAL = os.environ.get("MDVISION_TEST_DATA", "")


@pytest.mark.skipif(not REAL, reason="needs MDVISION_TEST_DATA")
def test_tiles_of_real_pictures_rejoin_to_the_whole() -> None:
    count = 0
    for path in sorted(Path(REAL, "corpus").rglob("*.png")):
        with Image.open(path) as image:
            if (
                max(image.size) <= 1568
                or image.mode not in ("RGB", "RGBA")
                or image.width * image.height > 20_000_000
            ):
                continue
            page = Image.new("RGBA", image.size, "white")
            page.alpha_composite(image.convert("RGBA"))
            whole = page.convert("RGB")
            has_profile = "icc_profile" in image.info
        found = mdvision.view_tiles(path, max_tiles=64)
        if (
            has_profile
            or not found.complete
            or any(i.details.get("reason") != "scale" for i in found.issues)
        ):
            continue
        joined = Image.new("RGB", whole.size, "magenta")
        for tile in found.tiles:
            joined.paste(opened(tile.image), tile.box[:2])
        worst = max(high for _, high in ImageChops.difference(joined, whole).getextrema())
        assert worst <= 1, path
        count += 1
    assert count >= 5


QUARTERS = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="200" height="100" viewBox="0 0 20 10">'
    '<rect width="10" height="10" fill="red"/>'
    '<rect x="10" width="10" height="10" fill="blue"/></svg>'
)


@pytest.mark.parametrize(
    ("region", "shown", "size", "colours"),
    [
        ((0, 0, 100, 100), (0, 0, 100, 100), (400, 400), {(255, 0, 0)}),
        ((100, 50, 50, 50), (100, 50, 50, 50), (200, 200), {(0, 0, 255)}),
        ((90, 0, 20, 10), (90, 0, 20, 10), (80, 40), {(255, 0, 0), (0, 0, 255)}),
        ((150, 50, 900, 900), (150, 50, 50, 50), (200, 200), {(0, 0, 255)}),
    ],
)
def test_a_region_of_an_svg_is_drawn_anew(
    tmp_path: Path,
    region: mdvision.Box,
    shown: mdvision.Box,
    size: tuple[int, int],
    colours: set[tuple[int, int, int]],
) -> None:
    (tmp_path / "a.svg").write_text(QUARTERS)
    part = mdvision.view_image(tmp_path / "a.svg", region=region)
    assert part.region == shown
    assert (part.source_width_pixels, part.source_height_pixels) == (200, 100)
    image = Image.open(io.BytesIO(part.data)).convert("RGB")
    assert image.size == size
    corners = [(2, 2), (size[0] - 3, size[1] - 3)]
    assert {image.getpixel(corner) for corner in corners} == colours


def test_a_region_beside_an_svg_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.svg").write_text(QUARTERS)
    for region in ((300, 0, 10, 10), (0, 0, 0, 10)):
        with pytest.raises(mdvision.InvalidInputError, match="200x100"):
            mdvision.view_image(tmp_path / "a.svg", region=region)
    with pytest.raises(mdvision.InvalidInputError, match="has no tiles"):
        mdvision.view_tiles(tmp_path / "a.svg")


def test_a_place_of_the_outermost_drawing_means_nothing(tmp_path: Path) -> None:
    (tmp_path / "a.svg").write_text(QUARTERS.replace("<svg ", '<svg x="60" y="30" ', 1))
    part = mdvision.view_image(tmp_path / "a.svg", region=(0, 0, 100, 100))
    assert Image.open(io.BytesIO(part.data)).convert("RGB").getpixel((2, 2)) == (255, 0, 0)


@pytest.mark.parametrize("size", ['width="1e-320" height="1e-320"', 'viewBox="0 0 1e-310 1e-310"'])
def test_a_drawing_of_next_to_no_size_is_damaged(tmp_path: Path, size: str) -> None:
    (tmp_path / "a.svg").write_text(f'<svg xmlns="http://www.w3.org/2000/svg" {size}/>')
    with pytest.raises(mdvision.DecodeError):
        mdvision.view_image(tmp_path / "a.svg")
