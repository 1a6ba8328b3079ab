"""The pre-pass: what is taken out of an SVG, and what is put in; and what it says in words."""

from __future__ import annotations

import base64
import io
import re
import time
from pathlib import Path
from xml.etree.ElementTree import Element, tostring

import pytest
import resvg_py
from PIL import Image

from mdvision import ImagePolicy, Limits
from mdvision.images.svg import draw_svg
from mdvision.images.svg_clean import clean_svg
from mdvision.images.svg_fonts import Fonts
from mdvision.images.svg_source import is_svg, parse_svg, svg_words

NAMES = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" xmlns:s="http://www.w3.org/2000/svg"'
HTML = 'xmlns="http://www.w3.org/1999/xhtml"'
SECRET = (255, 0, 254)


def svg(inside: str) -> bytes:
    return f'<svg {NAMES} width="100" height="100">{inside}</svg>'.encode()


def cleaned(inside: str) -> tuple[Element, frozenset[str]]:
    root = parse_svg(svg(inside))
    return root, clean_svg(root, 100, 100)


def texts(inside: str) -> list[list[str]]:
    """The lines of each text, once cleaned."""
    root, _ = cleaned(inside)
    found = [element for element in root.iter() if element.tag.endswith("}text")]
    return [[row.text or "" for row in text] or [text.text or ""] for text in found]


# references: `{}` is the path of a picture of one colour

READS = [
    '<image href="{}" width="100" height="100"/>',
    '<image xlink:href="{}" width="100" height="100"/>',
    '<image href=" {} " width="100" height="100"/>',
    '<s:image s:href="{}" width="100" height="100"/>',
    '<image xml:href="{}" width="100" height="100"/>',
    '<image href="file://{}" width="100" height="100"/>',
    '<image href="#a" xlink:href="{}" width="100" height="100"/>',
    '<filter id="f"><feImage href="{}"/></filter><rect filter="url(#f)" width="100" height="100"/>',
    '<filter id="f"><feImage xlink:href="{}"/></filter><rect filter="url(#f)" width="100" height="100"/>',
    '<defs><pattern id="p" width="100" height="100" patternUnits="userSpaceOnUse"><image href="{}" width="100" height="100"/></pattern></defs><rect fill="url(#p)" width="100" height="100"/>',
    '<defs><g id="g"><image href="{}" width="100" height="100"/></g></defs><use href="#g"/>',
    '<switch><foreignObject/><image href="{}" width="100" height="100"/></switch>',
    '<svg width="100" height="100"><image href="{}" width="100" height="100"/></svg>',
    '<style>image{{href:{}}}</style><image width="100" height="100"/>',
    '<image style="href:{}" width="100" height="100"/>',
    '<rect style="fill:url({})" width="100" height="100"/>',
    '<use href="{}#a"/>',
    '<image width="100" height="100"><set attributeName="href" to="{}"/></image>',
]


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    path = tmp_path / "secret.png"
    Image.new("RGB", (10, 10), SECRET).save(path)
    return path


def shows(png: bytes) -> bool:
    image = Image.open(io.BytesIO(png)).convert("RGB")
    return SECRET in {colour for _, colour in image.getcolors(1 << 20) or []}


@pytest.mark.parametrize("inside", READS)
def test_no_file_is_read(inside: str, secret: Path) -> None:
    drawn = draw_svg(svg(inside.format(secret)), ImagePolicy(), Limits(), Fonts())
    assert not shows(drawn.png)


def test_the_renderer_would_read_it(secret: Path) -> None:
    """So the test above can fail."""
    read = [
        shows(resvg_py.svg_to_bytes(svg_string=svg(inside.format(secret)).decode()))
        for inside in READS[:2] + READS[7:13]
    ]
    assert all(read)


@pytest.mark.parametrize(
    "inside",
    READS[:13]
    + READS[15:17]
    + [
        '<use href="a.svg#b"/>',
        "<style>@import 'a.css';</style>",
        "<style>a{fill:url(a.svg)}</style>",
    ],
)
def test_what_is_not_loaded_is_told(inside: str) -> None:
    root, dropped = cleaned(inside.replace("{}", "/a.png"))
    assert dropped == {"external_reference"}
    assert not re.search(rb"a\.(png|svg|css)", tostring(root))


def test_what_is_its_own_is_kept(secret: Path) -> None:
    data = base64.b64encode(secret.read_bytes()).decode()
    picture = f'<image href="data:image/png;base64,{data}" width="100" height="100"/>'
    inside = f'<defs><g id="g">{picture}</g><linearGradient id="l"/></defs><use xlink:href="#g"/><rect fill="url(#l)"/><rect style="fill:url( \'#l\' )"/>'
    drawn = draw_svg(svg(inside), ImagePolicy(), Limits(), Fonts())
    assert shows(drawn.png)
    assert drawn.issues == ()


@pytest.mark.parametrize(
    ("inside", "dropped"),
    [
        ('<a href="https://a.test/"><text>a</text></a>', set()),
        ("<script>1</script>", {"script"}),
        ("<g><script href='a.js'>1</script></g>", {"script"}),
        ('<image href="data:image/svg+xml;base64,PHN2Zy8+"/>', {"nested_svg"}),
        ('<image href="data:text/plain,a"/>', {"nested_svg"}),
        ("<style>@font-face{src:url(data:font/woff2,a)}</style>", set()),
        ('<text font-family="a">a</text>', set()),
        (f"<foreignObject><p {HTML}>a</p></foreignObject>", {"html"}),
        ("<foreignObject/>", set()),
    ],
)
def test_what_is_dropped(inside: str, dropped: set[str]) -> None:
    root, found = cleaned(inside)
    assert found == dropped
    names = {element.tag.rpartition("}")[2] for element in root.iter()}
    assert not names & {"script", "foreignObject"}


def test_many_children_take_no_time_by_their_square() -> None:
    cleaned("<script/><g/>" * 20_000)  # taking them out one by one took seconds


@pytest.mark.parametrize(
    "css",
    [
        "-",
        "--a",
        "var(--a,",
        "var(--a, x",
        "url(",
        "light-dark(",
        "light-dark((a)",
        "font-family",
        "@import ",
    ],
)
def test_css_takes_linear_time(css: str) -> None:
    began = time.monotonic()
    text = css * (1_000_000 // len(css))
    cleaned(f'<style>{text}</style><g style="{text}"/>')
    cleaned(f"<style>{css}{' ' * 1_000_000}</style>")
    assert time.monotonic() - began < 60  # a second or so; quadratic time would be hours


# HTML


def foreign(inside: str, attributes: str = 'width="80" height="40"') -> str:
    return f"<foreignObject {attributes}><div {HTML}>{inside}</div></foreignObject>"


@pytest.mark.parametrize(
    ("inside", "lines"),
    [
        (foreign("Start"), [["Start"]]),
        (foreign("one<br/>two"), [["one", "two"]]),
        (foreign("<p>one</p>\n<p>two\n words</p>"), [["one", "two words"]]),
        (foreign("a <b>bold</b>\n word", 'width="300" height="40"'), [["a bold word"]]),
        (foreign("<style>p{}</style>x"), [["x"]]),
        (foreign("several words that wrap", 'width="80"'), [["several", "words that", "wrap"]]),
        (
            foreign('<span style="white-space: nowrap">several words that stay</span>'),
            [["several words that stay"]],
        ),
        (foreign(" "), []),
        (f"<switch>{foreign('Label')}</switch>", [["Label"]]),
        (f"<switch>{foreign('Label')}<text>Label</text></switch>", [["Label"]]),
        (f"<switch>{foreign('A long label')}<text>A long...</text></switch>", [["A long label"]]),
        (
            f"<switch>{foreign('a<br/>b')}<text>[Not supported by viewer]</text></switch>",
            [["a", "b"]],
        ),
        (f"<switch>{foreign('')}<text>fallback</text></switch>", [["fallback"]]),
        (
            '<switch><g requiredFeatures="http://www.w3.org/TR/SVG11/feature#Extensibility"/><a><text>Text is not SVG</text></a></switch>',
            [],
        ),
        (
            '<switch><g systemLanguage="de"><text>a</text></g><text>b</text></switch>',
            [["a"], ["b"]],
        ),
    ],
)
def test_html_becomes_text(inside: str, lines: list[list[str]]) -> None:
    assert texts(inside) == lines


def test_html_stands_where_it_stood() -> None:
    inside = foreign(
        "<i style='font-size: 20px; color: rgb(1, 2, 3)'>a<br/>b</i>",
        'x="10" y="20" width="50%" height="40" transform="scale(2)"',
    )
    root, _ = cleaned(inside)
    (text,) = (element for element in root.iter() if element.tag.endswith("}text"))
    assert (text.get("font-size"), text.get("fill"), text.get("transform")) == (
        "20",
        "rgb(1, 2, 3)",
        "scale(2)",
    )
    assert [row.get("x") for row in text] == ["35", "35"]
    first, second = (float(row.get("y", "0")) for row in text)
    assert second - first == 24
    assert (first + second) / 2 == 40 + 7  # the middle, and down to the base line


def test_what_stands_in_for_html_knows_where() -> None:
    inside = f'<switch>{foreign("whole")}<text x="5" y="9" fill="red" text-anchor="end">wh...</text></switch>'
    root, dropped = cleaned(inside)
    (text,) = (element for element in root.iter() if element.tag.endswith("}text"))
    assert (text.get("fill"), text.get("text-anchor")) == ("red", "end")
    assert [(row.get("x"), row.get("y"), row.text) for row in text] == [("5", "9", "whole")]
    assert dropped == {"html"}


# words


@pytest.mark.parametrize(
    ("inside", "found"),
    [
        ("<text>a</text><g><text> b\n c </text></g>", ("a", "b c")),
        ("<text><tspan>Main</tspan> <tspan>valve</tspan></text>", ("Main valve",)),
        (
            '<text><tspan x="1" dy="1em">Main</tspan><tspan x="1" dy="1em">valve</tspan></text>',
            ("Main valve",),
        ),
        ("<text>wo<tspan>rd</tspan></text>", ("word",)),
        (
            "<defs><text>no</text></defs><style>no</style><script>no</script><metadata>no</metadata>",
            (),
        ),
        (
            f"<switch>{foreign('Lamp<br/>plugged in')}<text>Lamp...</text></switch>",
            ("Lamp plugged in",),
        ),
        ("<g><title>no</title><text> </text></g>", ()),
    ],
)
def test_words(inside: str, found: tuple[str, ...]) -> None:
    words = svg_words(parse_svg(svg(inside)))
    assert (words.title, words.description, words.texts) == ("", "", found)


@pytest.mark.parametrize(
    ("data", "yes"),
    [
        (b"<svg/>", True),
        (b"<!-- a --><svg/>", True),
        (b"<html><svg/></html>", False),
        (b"\x89PNG\r\n\x1a\n", False),
        (b"\x1f\x8b", False),
        (b"\x1f\x8b\x08garbage", False),
        (b"", False),
    ],
)
def test_is_svg(data: bytes, yes: bool) -> None:
    assert is_svg(data) is yes
