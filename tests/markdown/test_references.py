"""The pictures of a document: which there are, what they say, where theirs may stand."""

from __future__ import annotations

import random
from html.parser import HTMLParser

import pytest

from mdvision.limits import MAX_NESTING
from mdvision.markdown.references import Collected, collect


def settled(text: str) -> list[tuple[str, str]]:
    """(source, the text before the place where the picture may stand)."""
    return [(picture.source, text[: picture.settle]) for picture in collect(text).pictures]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("x ![a](b 't') y\n", [("b", "a", "t", "inline", 1)]),
        ("![a][r] ![r]\n\n[R]: u\n", [("u", "a", "", "reference", 1), ("u", "r", "", "reference", 1)]),
        ("[r]: u\n", []),
        ("[r]:\nu\n\n![r]\n", [("u", "r", "", "reference", 4)]),
        ("> a\n> ![b\n> c](d)\n", [("d", "b c", "", "inline", 2)]),
        ("`![a](b)` \\![a](b)\n\n    ![a](b)\n\n```\n![a](b)\n```\n", []),
        ("<!-- ![a](b) <img src=a> --> x <!-- <img src=b> -->\n", []),
        ("a <!-- <img src=b> --> `<img src=c>`\n", []),
        ("|a|b|\n|-|-|\n|![x\\|y](z)|`![a](b)`|![c](d)|\n", [("z", "x|y", "", "inline", 3)]),
        ("# ![a](b)\n![c](d)\n===\n", [("b", "a", "", "inline", 1), ("d", "c", "", "inline", 2)]),
        ("x <IMG SRC = 'a b'\nALT=\"c > d\" title=e/> y\n", [("a b", "c > d", "e", "html", 1)]),
        ("<p>\n<img\n  src=a.png/>\n", [("a.png", "", "", "html", 2)]),
        ("> <p>\n> <img\n> src=a\n> alt='b\n> c'>\n", [("a", "b\nc", "", "html", 2)]),
        ("<p><img src='data:x' data-src=b><img data-src=c><img src=d data-src=e>\n",
         [("b", "", "", "html", 1), ("c", "", "", "html", 1), ("d", "", "", "html", 1)]),
        ("<img alt=x> <img src=''> <img src> <image src=a> <img-x src=a>\n", []),
        ("<p><img src=a src=b>\n", [("a", "", "", "html", 1)]),
        ("<picture>\n<source srcset=a>\n<img src=b>\n</picture>\n", [("b", "", "", "html", 3)]),
        ("<picture><source srcset=a></picture>\n", []),
        ("<p title='<img src=a>'>\n", []),
        ("<a title='<img src=a>'>x</a>\n", []),
        ("![a <img src=x> ![b](c)](d)\n", [("d", "a  b", "", "inline", 1)]),
        ("[![a](b)](c) <a href=c><img src=d></a>\n", [("b", "a", "", "inline", 1), ("d", "", "", "html", 1)]),
        ("<!-->\n<img src=a>\n", [("a", "", "", "html", 2)]),
    ],
)  # fmt: skip
def test_pictures(text: str, found: list[tuple[str, str, str, str, int]]) -> None:
    pictures = collect(text).pictures
    assert [(p.source, p.alt, p.title, p.kind, p.line_start) for p in pictures] == found
    for picture in pictures:
        assert text[picture.start] in "!<"
        assert text[picture.end - 1] in ")]>"


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("a?b=1&amp;c=2", "a?b=1&c=2"),
        ("a?b=1&copy=2&region=3", "a?b=1&copy=2&region=3"),  # no reference without its semicolon
        ("a?b=1&copy;", "a?b=1©"),
        ("a&notit;", "a&notit;"),
        ("a&#x41;&#66;", "aAB"),
        ("&lt;&quot;", '<"'),
        (" a\n", "a"),
        ("\u00a0a", "\u00a0a"),
        ("https://h/d/", "https://h/d/"),
    ],
)
def test_attributes_are_decoded_by_html_s_rule(written: str, meant: str) -> None:
    (picture,) = collect(f'<p><img alt="" src="{written}">\n').pictures
    assert picture.source == meant


class Images(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, str, str]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in reversed(attrs)}  # the first one counts
        if tag == "img" and values.get("src", "").strip(" \n"):
            alt, title = values.get("alt", ""), values.get("title", "")
            self.found.append((values["src"].strip(" \n"), alt, title))


def test_tags_are_the_standard_library_s() -> None:
    chance = random.Random(3)  # noqa: S311 - reproducible, no secret
    names = ["src", "SRC", "alt", "title", "width", "data-x", "hidden"]
    values = ["a.png", "'b c'", '"d > e"', "'<img src=f>'", '""', '"g&amp;h"', "i/j", "'\n k'"]
    checked = 0
    for _ in range(2_000):
        tags = []
        for _ in range(chance.randint(1, 3)):
            pairs = [
                name if name == "hidden" else f"{name}{chance.choice(['=', ' = '])}{value}"
                for name, value in (
                    (chance.choice(names), chance.choice(values))
                    for _ in range(chance.randint(0, 4))
                )
            ]
            tag = chance.choice(["img", "IMG", "b", "a"])
            tags.append(f"<{' '.join([tag, *pairs])}{chance.choice(['', ' /'])}>")
        text = "<div>\n" + chance.choice(["", "\n", "<!-- <img src=z> -->"]).join(tags) + "\n"
        if "\n\n" in text:
            continue
        images = Images()
        images.feed(text)
        assert [(p.source, p.alt, p.title) for p in collect(text).pictures] == images.found, text
        checked += len(images.found)
    assert checked > 500


@pytest.mark.parametrize(
    ("text", "before"),
    [
        ("x ![a](b) y\n", "x ![a](b)"),
        ("[![a](b)](c) y\nz\n", "[![a](b)](c) y\n"),
        ("*x ![a](b)\ny* z\nw\n", "*x ![a](b)\ny* z\n"),
        ("# ![a](b)\nx\n", "# ![a](b)\n"),
        ("x\n![a](b)\n---\ny\n", "x\n![a](b)\n---\n"),
        ("|![a](b)|\n|-|\n|x|\n\ny\n", "|![a](b)|\n|-|\n|x|\n"),
        ("> |a|\n> |-|\n> |![a](b)|\ny\n", "> |a|\n> |-|\n> |![a](b)|\n"),
        ("<a name=x> ![a](b) y\n\n<a>z</a>\n", "<a name=x> ![a](b)"),
        ("<a>![a](b)</a> y\nz\n", "<a>![a](b)</a> y\n"),
        ("<figure>\n\n![a](b)\n\n</figure>\n\nx\n", "<figure>\n\n![a](b)\n\n</figure>\n"),
        ("<table>\n<tr><td>\n\n[![a](b)](c)\n\n</td></tr>\n</table> x\n\ny",
         "<table>\n<tr><td>\n\n[![a](b)](c)\n\n</td></tr>\n</table> x\n"),
        ("<a>\n<picture>\n<img src=b>\n</picture>\n</a>\nx\n", "<a>\n<picture>\n<img src=b>\n</picture>\n</a>\n"),
        ("- <figure>\n\n  ![a](b)\n\n  </figure>\n", "- <figure>\n\n  ![a](b)\n\n  </figure>\n"),
        ("<table>\n<!-- </table> -->\n<img src=b>\n</table>\nx\n", "<table>\n<!-- </table> -->\n<img src=b>\n</table>\n"),
        ("<table>\n\n`</table>` ![a](b)\n", "<table>\n\n`</table>` ![a](b)"),
        ("<figure>\n\n    </figure>\n\n![a](b)\n", "<figure>\n\n    </figure>\n\n![a](b)"),
        ("</figure>\n![a](b)\n\n![a](b)\n\n<figure>\n", "</figure>\n![a](b)\n\n![a](b)"),
    ],
)  # fmt: skip
def test_where_a_picture_settles(text: str, before: str) -> None:
    assert settled(text)[0] == ("b", before)


def test_a_final_line_end_may_be_missing() -> None:
    assert settled("[![a](b)](c)") == [("b", "[![a](b)](c)")]
    assert settled("<a>\n\n![a](b)\n\n</a>") == [("b", "<a>\n\n![a](b)\n\n</a>")]


def test_headings() -> None:
    text = "# *a* [b][r]\n\n> # no\n\nc\n![d](e)\n===\n\n[r]: u\n"
    assert [heading[:4] for heading in collect(text).headings] == [
        ("a b", 1, 1, 1),
        ("c d", 1, 5, 7),
    ]


def test_a_scan_may_begin_behind_front_matter() -> None:
    text = "![no](no)\n![a](b)\n"
    (picture,) = collect(text, 10, 2).pictures
    assert (picture.start, picture.line_start, picture.source) == (10, 2, "b")


@pytest.mark.parametrize("mark", ["> ", "- ", "* ", "1. "])
def test_ten_thousand_containers_are_a_flag(mark: str) -> None:
    for count, reached in ((MAX_NESTING, False), (MAX_NESTING + 1, True), (10_000, True)):
        found = collect(f"{mark * count}![a](b)\n\n# h\n")
        assert found.nesting_limit_reached is reached
        assert [picture.source for picture in found.pictures] == ["b"]
        assert [heading.text for heading in found.headings] == ["h"]
    assert collect("> ![a](b)\n") == Collected([], collect("> ![a](b)\n").pictures, False)


@pytest.mark.parametrize(
    "tag",
    ["<img " + "a " * 50_000, "<img " + "a='" * 50_000, "<img \"'" * 20_000, "<a>" * 20_000],
    ids=["attributes", "values", "quotes", "open"],
)
def test_a_tag_without_an_end_costs_no_more_than_its_length(tag: str) -> None:
    assert collect(f"<div>\n{tag}<b>\n\n![a](b)\n").pictures[0].source == "b"
