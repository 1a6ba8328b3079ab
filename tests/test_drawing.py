"""SVG among the pictures of a document: drawn aside, bounded, and told when it cannot be."""

from __future__ import annotations

import gzip
import io
import time
from pathlib import Path

import pytest
from PIL import Image

import mdvision
from mdvision import Code, DecodeError, ImagePolicy, Limits, Loader, MissingExtraError, drawing
from mdvision.sandbox import SandboxError

NAMESPACE = "xmlns='http://www.w3.org/2000/svg'"
RED = f"<svg {NAMESPACE} width='600' height='300'><rect width='600' height='300' fill='red'/></svg>"
BOMB = (
    f"<svg {NAMESPACE} width='3000' height='3000'><filter id='f'><feTurbulence"
    " baseFrequency='0.01' numOctaves='200'/></filter><rect width='3000' height='3000'"
    " filter='url(#f)'/></svg>"
)


def test_it_is_shown_like_any_picture(tmp_path: Path) -> None:
    (tmp_path / "a.svg").write_text(RED)
    (tmp_path / "b.svgz").write_bytes(gzip.compress(RED.encode()))
    (tmp_path / "c.png").write_text(RED)  # bytes decide
    text = "# A\n\n![one](a.svg 't') and\n\n![two](b.svgz)\n\n![three](c.png)\n"
    (tmp_path / "a.md").write_text(text)
    reading = mdvision.read_with_images(tmp_path / "a.md")
    assert (reading.text, reading.issues) == (text, ())
    assert [image.alt for image in reading.images] == ["one", "two", "three"]
    for image in reading.images:
        assert image.media_type == "image/png"
        assert Image.open(io.BytesIO(image.data)).convert("RGB").getcolors() == [
            (180_000, (255, 0, 0))
        ]
        assert (image.width_pixels, image.height_pixels) == (600, 300)
        assert (image.source_width_pixels, image.source_height_pixels) == (600, 300)
    assert mdvision.view_image(tmp_path / "a.svg").data == reading.images[0].data


def test_the_size_of_the_source_is_its_own(tmp_path: Path) -> None:
    (tmp_path / "icon.svg").write_text(RED.replace("600", "24").replace("300", "12"))
    (tmp_path / "wide.svg").write_text(RED.replace("600", "6000"))
    icon, wide = (mdvision.view_image(tmp_path / name) for name in ("icon.svg", "wide.svg"))
    assert (icon.source_width_pixels, icon.source_height_pixels) == (24, 12)
    assert (icon.width_pixels, icon.height_pixels) == (400, 200)
    assert (wide.source_width_pixels, wide.width_pixels) == (6000, 1568)


@pytest.mark.parametrize(
    "preset", ["default", "claude", "claude-high", "openai", "gemini", "md-vision", "original"]
)
def test_policies_hold(preset: str) -> None:
    policy = ImagePolicy.preset(preset)  # type: ignore[arg-type]
    square = RED.replace("600", "2000").replace("300", "2000")
    reading = mdvision.read_text_with_images(
        "![](a.svg)", assets={"a.svg": square.encode()}, image_policy=policy
    )
    (image,) = reading.images
    assert image.media_type == "image/png"
    expected = {"openai": 768, "claude": 1092, "claude-high": 1568}  # 1092: 39 patches squared
    assert image.width_pixels == image.height_pixels == expected.get(preset, 1568)


def test_bytes_hold() -> None:
    lines = "".join(
        f"<circle cx='{k * 37 % 1500}' cy='{k * 91 % 1500}' r='{k % 90}' stroke='#{k * 99991 % 4096:03x}' fill='none'/>"
        for k in range(3000)
    )
    data = f"<svg {NAMESPACE} width='1500' height='1500'>{lines}</svg>".encode()
    reading = mdvision.read_text_with_images(
        "![](a.svg)", assets={"a.svg": data}, image_policy=ImagePolicy(max_bytes=50_000)
    )
    (image,) = reading.images
    assert len(image.data) <= 50_000
    assert Code.IMAGE_REDUCED in [issue.code for issue in reading.issues]


def test_limits_hold() -> None:
    loader = Loader(limits=Limits(max_input_bytes=200))
    reading = mdvision.read_text_with_images(
        "![](a.svg)", assets={"a.svg": RED.encode()}, loader=loader
    )
    assert len(reading.images) == 1
    padded = RED.replace("/>", "/>" + " " * 200).encode()
    reading = mdvision.read_text_with_images("![](a.svg)", assets={"a.svg": padded}, loader=loader)
    assert [issue.code for issue in reading.issues] == [Code.SOURCE_TOO_LARGE]


def test_what_was_left_out_is_told_with_its_line() -> None:
    data = RED.replace("/></svg>", "/><image href='http://a.test/x.png'/></svg>").encode()
    reading = mdvision.read_text_with_images("\n\n![](a.svg)\n", assets={"a.svg": data})
    assert len(reading.images) == 1
    (issue,) = reading.issues
    assert issue.code is Code.CONTENT_DROPPED
    assert issue.details == {"reason": "external_reference", "source": "a.svg", "line": 3}


def test_it_takes_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drawing, "_SECONDS", 1.0)
    began = time.monotonic()
    assets = {"a.svg": BOMB.encode(), "b.svg": RED.encode()}
    reading = mdvision.read_text_with_images("![](a.svg) ![](b.svg)\n", assets=assets)
    assert time.monotonic() - began < 5
    assert len(reading.images) == 1
    (issue,) = reading.issues
    assert (issue.code, issue.details["reason"]) == (Code.DECODE_FAILED, "timeout")


@pytest.mark.parametrize("reason", ["timeout", "memory", "crash", "start"])
def test_what_becomes_of_the_child_is_an_issue(
    reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(*_: object, **__: object) -> None:
        raise SandboxError(reason)  # type: ignore[arg-type]

    monkeypatch.setattr(drawing, "run", run)
    with pytest.raises(DecodeError) as raised:
        drawing.shown_part(RED.encode(), ImagePolicy(), Limits(), source="")
    assert raised.value.issue.details["reason"] == reason


def test_deep_nesting_is_drawn() -> None:
    """The renderer needs 33 KB of the stack for each group: more than a process has of itself."""
    data = f"<svg {NAMESPACE} width='400' height='400'>{'<g>' * 254}<rect width='400' height='400' fill='red'/>{'</g>' * 254}</svg>"
    part, issues = drawing.shown_part(data.encode(), ImagePolicy(), Limits(), source="")
    assert issues == ()
    assert Image.open(io.BytesIO(part.data)).convert("RGB").getcolors() == [(160_000, (255, 0, 0))]


def test_text_is_drawn() -> None:
    data = f"<svg {NAMESPACE} width='400' height='100'><text x='9' y='60' font-size='40'>Hello</text></svg>"
    part, issues = drawing.shown_part(data.encode(), ImagePolicy(), Limits(), source="")
    assert issues == ()
    assert len(Image.open(io.BytesIO(part.data)).getcolors() or []) > 10


def test_without_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "resvg_py.py").write_text("raise ImportError\n")
    monkeypatch.syspath_prepend(tmp_path)  # a child looks for modules where we do
    data = RED.replace("/></svg>", "/><text>Main valve</text></svg>").encode()
    text = "# A\n\n![](a.svg)\n\nThe text stays.\n"
    reading = mdvision.read_text_with_images(text, assets={"a.svg": data})
    assert (reading.text, reading.images) == (text, ())
    (issue,) = reading.issues
    assert issue.code is Code.EXTRA_MISSING
    assert '"Main valve"' in issue.message
    assert "pip install 'mdvision[svg]'" in issue.next_action
    assert issue.details == {"reason": "svg", "source": "a.svg", "line": 3}
    (tmp_path / "a.svg").write_bytes(data)
    with pytest.raises(MissingExtraError):
        mdvision.view_image(tmp_path / "a.svg")
