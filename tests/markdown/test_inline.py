"""Inline structure: plain text, values, and what holds an image."""

from __future__ import annotations

import random

import oracle
import pytest

from mdvision.markdown.inline import Inline, read_cell, read_inline
from mdvision.markdown.links import Definition, normal_label
from mdvision.markdown.references import collect

DEFINED = {"r": Definition("r", "/u", "t"), "strasse": Definition("strasse", "/s", "")}


def read(text: str) -> Inline:
    return read_inline(text, [(0, len(text))], DEFINED)


@pytest.mark.parametrize(
    ("source", "plain"),
    [
        ("*a* **b** ***c*** _d_ __e__ f_g_h", "a b c d e f_g_h"),
        ("*a **b* c**", "a b c"),
        ("~~a~~ ~b~ ~~c~ ~~~d~~~", "a b ~~c~ ~~~d~~~"),
        ("**~~a~~**b", "ab"),  # as cmark-gfm: flanks are seen past tildes
        ("`a `\nb", "a  b"),  # code keeps its space, the line end is one
        ("a  \nb\\\nc \t\nd", "a b c d"),
        ("`` ` `` `a\nb` ` ` ``x`", "` a b   ``x`"),
        (
            "\\*a\\* \\a &amp; &copy; &#65; &#x0; &nothing; &amp",
            "*a* \\a & © A \ufffd &nothing; &amp",
        ),
        ("<b>x</b> <!-- y --> <?z?> <!A> <![CDATA[b]]> < a", "x     < a"),
        ("<https://a.b/c> <m@n.o>", "https://a.b/c m@n.o"),
        ("[a](b) [c][r] [r] [r][] [STRASSE] [no]", "a c r r STRASSE [no]"),
        ("[a [b](c) d](e)", "[a b d](e)"),
        ("![a *b* `c` [d](e)](f)", "a b c d"),
        ("a\u00a0*\u00a0b* c*d*e", "a\u00a0*\u00a0b* cde"),
        ("a\u2028b\x0cc", "a\u2028b\x0cc"),  # no line ends
        ("[a](b\\)c) [d](<e f>) [g](h i)", "a d [g](h i)"),
    ],
)
def test_plain_text(source: str, plain: str) -> None:
    assert read(source).text == plain


@pytest.mark.parametrize(
    ("source", "address", "title", "alt", "is_reference"),
    [
        ("![a](b)", "b", "", "a", False),
        ("![](<b c> 'd \"e\"')", "b c", 'd "e"', "", False),
        ("![a\nb](c\n  (d\n e))", "c", "d\ne", "a b", False),
        ("![a][R]", "/u", "t", "a", True),
        ("![ r ][]", "/u", "t", "r", True),
        ("![Straße]", "/s", "", "Straße", True),
        ("![a](b&amp;c\\_d%20e(f))", "b&c_d%20e(f)", "", "a", False),
        ("![a ![b](c) d](e)", "e", "", "a b d", False),
        ("![a](\\n 't')", "\\n", "t", "a", False),
        ("![*a*  &lt;](b)", "b", "", "a  <", False),
    ],
)
def test_image_values(source: str, address: str, title: str, alt: str, is_reference: bool) -> None:
    (image,) = read(source).images
    found = image.source, image.title, image.alt, image.kind == "reference"
    assert found == (address, title, alt, is_reference)
    assert (image.start, image.end, image.hold_end) == (0, len(source), None)


@pytest.mark.parametrize(
    ("source", "held"),
    [
        ("[![a](b)](c) d", "[![a](b)](c)"),
        ("*![a](b)* c", "*![a](b)*"),
        ("~~x ![a](b)~~", "~~x ![a](b)~~"),
        ("**[![a](b)](c) *d* e** f", "**[![a](b)](c) *d* e**"),
        ("*a* ![a](b) *c*", None),
        ("*a ![a](b)", None),
        ("[![a](b)] c", None),
        ("[![a](b)][r] c", "[![a](b)][r]"),
        ("[![a](b)](c) *d\ne* f\ng", "[![a](b)](c) *d\ne*"),
        ("[![a](b)](c) `d\ne` <f\ng> h\ni", "[![a](b)](c) `d\ne` <f\ng>"),
        ("[![a](b)](c) d\n*e*", "[![a](b)](c)"),
    ],
)
def test_what_holds_an_image(source: str, held: str | None) -> None:
    hold_end = read(source).images[0].hold_end
    assert (source[:hold_end] if hold_end else None) == held


def test_an_image_is_held_where_markdown_it_nests_it() -> None:
    engine, checked = oracle.parser(), 0
    chance = random.Random(1)  # noqa: S311 - reproducible, no secret
    pieces = ["![a](b)", "*", "**", "_", "[", "](u)", " ", "x", "\n", "`", "\\", "<i>"]
    for _ in range(4_000):
        text = f"p {''.join(chance.choices(pieces, k=chance.randint(3, 14)))} q\n\nend\n"
        tokens = [child for token in engine.parse(text) for child in token.children or ()]
        images = [token for token in tokens if token.type == "image"]
        pictures = collect(text).pictures
        assert len(pictures) == len(images), text
        for image, picture in zip(images, pictures, strict=True):
            assert (picture.settle > picture.end) == (image.level > 0), text
            checked += image.level > 0
    assert checked > 300


def test_a_bar_in_a_cell_is_escaped_first() -> None:
    text = "| `a\\|b` ![c\\|d](e) |"
    inline = read_cell(text, (1, len(text) - 1), {})
    assert inline.text == "a|b c|d"
    (image,) = inline.images
    assert text[image.start : image.end] == "![c\\|d](e)"
    assert image.alt == "c|d"


def test_labels_are_compared_as_the_specification_says() -> None:
    assert normal_label("  A \t\n b ") == normal_label("a B")
    assert normal_label("ẞ") == normal_label("SS")
    assert normal_label("a\u00a0b") != normal_label("a b")


@pytest.mark.parametrize(
    ("source", "plain"),
    [
        ("[" * 10_000 + "a", "[" * 10_000 + "a"),
        ("![" * 10_000 + "a" + "](b)" * 10_000, "a"),
        ("*" * 10_000 + "a" + "*" * 10_000, "a"),
        ("*a " * 10_000, ("*a " * 10_000)[:-1]),
        ("_(" * 10_000 + "a" + ")_" * 10_000, "(" * 10_000 + "a" + ")" * 10_000),
        ("[a](" * 10_000, "[a](" * 10_000),
        ("<" * 10_000, "<" * 10_000),
    ],
    ids=["[", "![", "*", "*a", "_(", "[a](", "<"],
)
def test_ten_thousand_levels(source: str, plain: str) -> None:
    assert read(source).text == plain
    assert read("*a* ![b](c)").text == "a b"
