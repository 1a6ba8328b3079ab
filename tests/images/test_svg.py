"""SVG drawn: sizes, colours, text, and what is refused."""

from __future__ import annotations

import gzip
import io
from typing import cast

import pytest
import resvg_py
from PIL import Image

from mdvision import Code, ImagePolicy, Limits, MdVisionError
from mdvision.images.svg import DrawnSvg, draw_svg
from mdvision.images.svg_fonts import Fonts, spare_font, system_fonts
from mdvision.images.svg_source import is_svg, parse_svg

SVG = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
RED = (255, 0, 0)
WHITE = (255, 255, 255)
BLACK = (0, 0, 0)


@pytest.fixture(scope="module")
def fonts() -> Fonts:
    return system_fonts()


def svg(attributes: str, inside: str = '<rect width="100%" height="100%" fill="red"/>') -> bytes:
    return f"<svg {SVG} {attributes}>{inside}</svg>".encode()


def draw(data: bytes, fonts: Fonts | None = None, policy: ImagePolicy | None = None) -> DrawnSvg:
    return draw_svg(data, policy or ImagePolicy(), Limits(), fonts or Fonts())


def opened(drawn: DrawnSvg) -> Image.Image:
    return Image.open(io.BytesIO(drawn.png)).convert("RGB")


def colours(drawn: DrawnSvg) -> set[tuple[int, ...]]:
    found = cast("list[tuple[int, tuple[int, ...]]]", opened(drawn).getcolors(1 << 22))
    return {colour for _, colour in found}


def error(data: bytes) -> tuple[Code, object]:
    with pytest.raises(MdVisionError) as raised:
        draw(data)
    return raised.value.issue.code, raised.value.issue.details.get("reason")


@pytest.mark.parametrize(
    ("attributes", "own", "shown"),
    [
        ('width="800" height="600"', (800, 600), (800, 600)),
        ('width="800px" height="600" viewBox="0 0 8 6"', (800, 600), (800, 600)),
        ('viewBox="0 0 800 600"', (800, 600), (800, 600)),
        ('viewBox="0,0,800,600" width="auto"', (800, 600), (800, 600)),
        ('viewBox="0 0 800 600" width="100%"', (800, 600), (800, 600)),
        ('viewBox="0 0 1000 600" width="50%" height="50%"', (500, 300), (500, 300)),
        ('viewBox="0 0 400 200" width="800"', (800, 400), (800, 400)),
        ('viewBox="0 0 400 200" height="800"', (1600, 800), (1568, 784)),
        ('width="6in" height="72pt"', (576, 96), (576, 96)),
        ('width="127mm" height="12.7cm"', (480, 480), (480, 480)),
        ('width="50em" height="50pc"', (800, 800), (800, 800)),
        ('width="3136" height="1568"', (3136, 1568), (1568, 784)),
        ('width="1000" height="20000"', (1000, 20000), (78, 1568)),
        ('width="1e9" height="1"', (1_000_000_000, 1), (1568, 1)),
        ('width="24" height="24"', (24, 24), (400, 400)),
        ('width="30" height="15" viewBox="0 0 2 1"', (30, 15), (400, 200)),
        ('width="0.001" height="0.001"', (1, 1), (400, 400)),
        ('width="1e999" height="600" viewBox="0 0 800 600"', None, None),
        ('width="0" height="600"', None, None),
    ],
)
def test_size(attributes: str, own: tuple[int, int] | None, shown: tuple[int, int]) -> None:
    """By CSS: 96 pixels are an inch, and what is missing follows from the view box."""
    if own is None:
        assert error(svg(attributes)) == (Code.DECODE_FAILED, "size")
        return
    drawn = draw(svg(attributes))
    assert (drawn.source_width_pixels, drawn.source_height_pixels) == own
    assert opened(drawn).size == shown
    assert colours(drawn) == {RED}  # all of it is the drawing


def test_a_drawing_without_any_size_is_shown_whole() -> None:
    drawn = draw(svg("", '<rect width="300" height="600" fill="red"/>'))
    assert (
        opened(drawn).size == (800, 1600) == (drawn.source_width_pixels, drawn.source_height_pixels)
    )
    assert colours(drawn) == {RED}


def test_it_is_drawn_at_the_size_of_the_policy() -> None:
    """No larger and reduced later, which would blur its lines."""
    line = '<rect x="0" width="10" height="400" fill="red"/>'
    drawn = draw(svg('width="1600" height="400"', line), policy=ImagePolicy(max_edge_pixels=160))
    assert opened(drawn).size == (160, 40)
    assert colours(drawn) == {RED, WHITE}


def test_the_shape_is_kept_where_the_view_box_has_another() -> None:
    image = opened(
        draw(
            svg(
                'width="800" height="400" viewBox="0 0 10 10"',
                '<rect width="10" height="10" fill="red"/>',
            )
        )
    )
    assert [image.getpixel(at) for at in ((100, 200), (210, 200), (590, 200), (700, 200))] == [
        WHITE,
        RED,
        RED,
        WHITE,
    ]


def test_it_lies_on_white() -> None:
    assert colours(draw(svg('width="400" height="400"', "<g/>"))) == {WHITE}


@pytest.mark.parametrize(
    "data",
    [
        b"<svg width='400' height='400'><rect width='400' height='400' fill='red'/></svg>",
        b"<s:svg xmlns:s='http://www.w3.org/2000/svg' width='400' height='400'><s:rect width='400' height='400' fill='red'/></s:svg>",
        "<?xml version='1.0' encoding='iso-8859-1'?><!-- \xe9 --><svg width='400' height='400'><rect width='400' height='400' fill='red'/></svg>".encode(
            "latin-1"
        ),
        b'<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd">'
        + svg('width="4" height="4"'),
        gzip.compress(svg('width="4" height="4"')),
        svg(
            'width="4" height="4"',
            '<style>.a{fill:red}</style><rect class="a" width="4" height="4"/>',
        ),
        svg(
            'width="4" height="4"',
            '<g color="red"><rect fill="currentColor" width="4" height="4"/></g>',
        ),
        svg(
            'width="4" height="4" style="--c: red"',
            '<rect style="fill: var(--c)" width="4" height="4"/>',
        ),
        svg(
            'width="4" height="4"',
            '<rect fill="blue" style="fill: var(--c, red)" width="4" height="4"/>',
        ),
        svg(
            'width="4" height="4"',
            '<rect style="fill: light-dark(var(--c, rgb(255, 0, 0)), #000)" width="4" height="4"/>',
        ),
        svg(
            'width="4" height="4"',
            '<style>:root{--c:red} rect{fill:light-dark(var(--c),var(--d,#000))}</style><rect width="4" height="4"/>',
        ),
    ],
)
def test_forms(data: bytes) -> None:
    assert is_svg(data)
    assert colours(draw(data)) == {RED}


@pytest.mark.parametrize(
    ("data", "code", "reason"),
    [
        (b"<svg><rect", Code.DECODE_FAILED, "corrupt"),
        (b"<svg>&nbsp;</svg>", Code.DECODE_FAILED, "corrupt"),
        (b"<?xml version='1.0' encoding='nowhere'?><svg/>", Code.DECODE_FAILED, "corrupt"),
        (gzip.compress(svg("") * 50)[:40], Code.DECODE_FAILED, "corrupt"),
        (b"\x1f\x8b\x08" + bytes(20), Code.DECODE_FAILED, "corrupt"),
        (b"<svg xmlns='http://elsewhere/'/>", Code.SOURCE_UNSUPPORTED, "not_an_image"),
        (b"<SVG/>", Code.SOURCE_UNSUPPORTED, "not_an_image"),
        (b"<!DOCTYPE svg [<!ENTITY a 'b'>]><svg>&a;</svg>", Code.SOURCE_UNSUPPORTED, "doctype"),
        (b"<!DOCTYPE svg [<!ATTLIST g a CDATA 'b'>]><svg/>", Code.SOURCE_UNSUPPORTED, "doctype"),
        (
            "<!DOCTYPE svg [<!ENTITY a 'b'>]><svg/>".encode("utf-16"),
            Code.SOURCE_UNSUPPORTED,
            "doctype",
        ),
        (svg("", "<g>" * 256 + "</g>" * 256), Code.DECODE_FAILED, "nesting"),
        (svg("", "<g/>" * 50_000), Code.DECODE_FAILED, "elements"),
        (svg("", "<!--" + " " * 5_242_880 + "-->"), Code.SOURCE_TOO_LARGE, None),
        (gzip.compress(svg("", " " * 5_242_880)), Code.SOURCE_TOO_LARGE, None),
    ],
)
def test_limits(data: bytes, code: Code, reason: str | None) -> None:
    assert error(data) == (code, reason)


@pytest.mark.parametrize("inside", ["<g>" * 255 + "</g>" * 255, "<g/>" * 49_999, " " * 5_242_600])
def test_what_is_just_within_the_limits(inside: str) -> None:
    assert len(list(parse_svg(svg("", inside)).iter())) in (1, 256, 50_000)


def test_the_loaders_limit_holds_too() -> None:
    with pytest.raises(MdVisionError) as raised:
        draw_svg(svg(""), ImagePolicy(), Limits(max_input_bytes=10), Fonts())
    assert raised.value.issue.details == {"limit": 10}


# text


def text_box(drawn: DrawnSvg) -> tuple[int, int, int, int] | None:
    """Where there is anything but white."""
    return opened(drawn).convert("L").point(lambda value: 255 - value).getbbox()


FAMILIES = [
    "",
    "sans-serif",
    "serif",
    "monospace",
    "cursive",
    "fantasy",
    "Arial",
    "No Such Font",
    "No Such, serif",
]


@pytest.mark.parametrize("family", FAMILIES)
def test_text_is_drawn_in_any_family(family: str, fonts: Fonts) -> None:
    attribute = f'font-family="{family}"' if family else ""
    data = svg(
        'width="400" height="100"', f'<text x="10" y="60" font-size="40" {attribute}>Hello</text>'
    )
    left, top, right, bottom = text_box(draw(data, fonts)) or (0, 0, 0, 0)
    assert left >= 10
    assert right - left > 60
    assert top > 20
    assert bottom < 75


def test_an_unknown_family_is_drawn_without_serifs(fonts: Fonts) -> None:
    def drawn(family: str) -> bytes:
        inside = f'<text x="10" y="60" font-size="40" {family}>Hillingdon</text>'
        return draw(svg('width="400" height="100"', inside), fonts).png

    sans = drawn('font-family="sans-serif"')
    assert (
        drawn('font-family="Nowhere Neue"')
        == drawn("style=\"font-family: 'Nowhere Neue'\"")
        == sans
    )
    assert drawn('font-family="Nowhere Neue, serif"') == drawn('font-family="serif"')
    if fonts.serif != fonts.sans_serif:
        assert drawn('font-family="serif"') != sans


def test_a_system_without_fonts_has_pillows(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    whole = resvg_py.svg_to_bytes
    monkeypatch.setattr(
        "resvg_py.svg_to_bytes", lambda **given: whole(**{**given, "skip_system_fonts": True})
    )
    data = svg('width="400" height="100"', '<text x="10" y="60" font-size="40">Hello</text>')
    assert system_fonts() == Fonts()
    bare = draw(data)
    assert text_box(bare) is None
    assert [issue.details["reason"] for issue in bare.issues] == ["font"]
    font = spare_font()
    assert font
    path = tmp_path_factory.mktemp("font") / "font.ttf"
    path.write_bytes(font.data)
    drawn = draw(data, Fonts(font.family, font.family, font.family, (str(path),)))
    assert text_box(drawn)
    assert drawn.issues == ()


# without the extra


def test_without_the_extra_its_words_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "resvg_py", None)
    inside = "<title>A plan</title><desc>Of  the\ngarden</desc><text>Gate</text><text>Pond</text>"
    with pytest.raises(MdVisionError) as raised:
        draw(svg("", inside))
    issue = raised.value.issue
    assert issue.code is Code.EXTRA_MISSING
    assert 'It says: "A plan; Of the garden; Gate; Pond"' in issue.message
    assert "pip install 'mdvision[svg]'" in issue.next_action
    with pytest.raises(MdVisionError) as raised:
        draw(svg("", "<text>word</text>" * 1000))
    assert len(raised.value.issue.message) < 800
    with pytest.raises(MdVisionError, match="no text"):
        draw(svg(""))
