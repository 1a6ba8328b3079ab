"""Viewing one picture."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from PIL import Image

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
