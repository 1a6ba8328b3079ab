"""Pictures in forms that CommonMark does not know; plain CommonMark is as it was."""

from __future__ import annotations

import random
import re
import sys
from pathlib import Path

import pytest

from mdvision.markdown.outline import outline
from mdvision.markdown.references import collect
from mdvision.markdown.split import lay_out
from mdvision.markdown.tags import MIN_SVG_PIXELS

sys.path.insert(0, str(Path(__file__).parents[2]))

import oracle

from benchmark import fuzz_structure


def found(text: str, *, mdx: bool = False) -> list[tuple[str, str, str]]:
    return [(p.kind, p.source, p.alt) for p in outline(text, mdx=mdx).pictures]


def unshown(text: str, *, mdx: bool = False) -> list[tuple[str, str, int]]:
    return [(one.reason, one.source, one.line_start) for one in outline(text, mdx=mdx).unshown]


@pytest.mark.parametrize(
    ("text", "source", "alt"),
    [
        ("![[a.png]]", "a.png", ""),
        ("![[ a b.PNG |  x y ]]", "a b.PNG", "x y"),
        ("![[a.png#only-dark|120x80]]", "a.png", ""),
        ("![[a.png|alt|120]]", "a.png", "alt"),
        ("![[a.png|120|alt]]", "a.png", "alt"),
        ("![[a.png\\|120]]", "a.png", ""),
        ("![[dir/a_b_c.webp|*x*]]", "dir/a_b_c.webp", "*x*"),
        ("**![[a.png]]** [![[b.png]]](u)", "a.png", ""),
        ("![[a.png]](not a target)", "a.png", ""),
        ("![[a.png]][undefined]", "a.png", ""),
    ],
)
def test_wiki(text: str, source: str, alt: str) -> None:
    assert found(f"{text}\n")[0] == ("wiki", source, alt)


@pytest.mark.parametrize(
    "text",
    [
        "![[a.png]](u)\n",
        "![[a.png]][r]\n\n[r]: u\n",
        "![[a.png]]\n\n[a.png]: u\n",
        "![[a](b.png)]\n",
        "![[a]b.png]]\n",
    ],
)
def test_what_commonmark_knows_is_read_by_commonmark(text: str) -> None:
    assert [kind for kind, _, _ in found(text) if kind == "wiki"] == []
    assert len(found(text)) == oracle.markdown_it(text).image_count


def test_a_wiki_embed_is_plain_text_in_a_heading() -> None:
    (row,) = outline("# A ![[a_b_.png|x]] *b*\n").rows
    assert (row.heading, row.image_count) == ("# A ![[a_b_.png|x]] b", 1)


def test_notes_are_named() -> None:
    text = "a ![[note]]\n\n> ![[b#c|d]] `![[no]]` ![[x.mp4]]\n"
    assert unshown(text) == [("embed", "note", 1), ("embed", "b", 3), ("embed", "x.mp4", 3)]
    assert found(text) == []
    assert unshown("![[note]]\n\n[note]: u\n") == []


@pytest.mark.parametrize(
    ("text", "picture"),
    [
        ("<Image src='a.png' alt='x' />", ("jsx", "a.png", "x")),
        ("<Image src={x} />", ("jsx", "./x.png", "")),
        ("<Image src={x.src}/>", ("jsx", "./x.png", "")),
        ("<img src={x} alt={`y`} />", ("jsx", "./x.png", "")),
        ('<img src="a.png" onClick={() => a > b} />', ("html", "a.png", "")),
        ("<Image src={'/a.png'} style={{ width: 1 }} alt='{x}' />", ("jsx", "/a.png", "{x}")),
        ("<Foo.Bar image='a.png'/>", ("jsx", "a.png", "")),
        ("<Card img='a.png'>b</Card>", ("jsx", "a.png", "")),
        ("<Screenshot src='/no/suffix' />", ("jsx", "/no/suffix", "")),
        ("t *e <Image src={require('./a.png')} />* t", ("jsx", "./a.png", "")),
    ],
)
def test_elements(text: str, picture: tuple[str, str, str]) -> None:
    assert found(f"import x from './x.png'\n\n{text}\n", mdx=True) == [picture]


@pytest.mark.parametrize(
    "text",
    [
        "<Card icon='a.png'/>", "<Video src='a.mp4'/>", "<Avatar src={user}/>", "<Box src='/no/suffix'/>", "<Image/>",
        "<image src='a.png'>", "Vec<String> <T src='a.png", "{/* <Image src='a.png'/> */}", "`<Image src='a.png'/>`",
    ],
)  # fmt: skip
def test_no_picture_elements(text: str) -> None:
    assert found(f"{text}\n", mdx=True) == []
    assert found(f"{text}\n") == [] or text.startswith("{/*")


def test_imports_count_in_mdx_alone_and_outside_code() -> None:
    text = "```\nimport y from './y.png'\n```\n\n<Image src={y}/> <Image src={x}/>\n"
    assert unshown(text, mdx=True) == [("expression", "{y}", 5), ("expression", "{x}", 5)]
    text = 'import x from "./x.png"\n\n<Image src={x} />\n'
    assert found(text) == []
    assert unshown(text) == [("expression", "{x}", 3)]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (f"<svg width='{MIN_SVG_PIXELS}'></svg>", True),
        (f"<svg width='{MIN_SVG_PIXELS - 1}px' height='1'></svg>", False),
        ("<svg width='100%' viewBox='0 0 24 24'></svg>", False),
        ("<svg viewBox='0,0,24,240'></svg>", True),
        ("<svg></svg>", True),
        ("<svg class='icon' width={24} height={24}></svg>", False),
        ("<svg/>", False),
        ("<svg>", False),
        ("</svg>", False),
    ],
)
def test_drawings_and_icons(text: str, shown: bool) -> None:
    assert bool(found(f"a {text} b\n")) is shown


def test_a_drawing_is_one_picture_over_blank_lines() -> None:
    text = "# a\n\n<svg>\n<g>\n\n<svg></svg> ![x](y.png)\n\n</g>\n</svg> z\n\n![b](c.png)\n"
    drawing, other = collect(text).pictures
    assert text[drawing.start : drawing.end] == text[text.index("<svg>") : text.index(" z")]
    assert (drawing.settle, drawing.line_start) == (drawing.end, 3)
    assert (other.source, other.line_start) == ("c.png", 11)


@pytest.mark.parametrize(
    ("text", "before"),
    [
        ("[<img src=a>](b) y\nz\n", "[<img src=a>](b) y\n"),
        ("*x <img src=a>\ny* z\nw\n", "*x <img src=a>\ny* z\n"),
        ("[![[a.png]]](b) y\nz\n", "[![[a.png]]](b) y\n"),
        ("![a](b){.x} y\n", "![a](b){.x}"),
        ("[![a](b){.x}](c) y\nz\n", "[![a](b){.x}](c) y\n"),
        ('{{< img\n  src="a.png"\n>}} y\n', '{{< img\n  src="a.png"\n>}}'),
        ("x <svg></svg> y\n", "x <svg></svg>"),
        ("# ![[a.png]]\nx\n", "# ![[a.png]]\n"),
    ],
)
def test_where_a_picture_settles(text: str, before: str) -> None:
    assert text[: outline(text).pictures[0].settle] == before


FURTHER = (
    "![[a.png]]", "![[a.png|x|30]]", "![[note]]", "![[", "]]", "|", '{{< img src="a.png" >}}', '{{< img\nsrc="a.png"\n>}}', "{{<", ">}}",
    ':::image source="a.png":::', ":::image ", ":::", "<Image src='a.png' />", "<Image src={x} />", "<Card>", "</Card>", "{", "}", "<svg>",
    "</svg>", "<svg width=3>", "{ .x }", "{.x}", "![a](b){.y}", "![a](b#only-dark)", "![a](b#only-light)", "<img srcset='a.png 2x'>",
    "<img src='{{ a }}'>", "![a]({{ b }})", "<picture>", "</picture>", "import x from './x.png'\n\n", "{/* ", " */}",
)  # fmt: skip


def documents(seed: int, count: int) -> list[str]:
    chance = random.Random(seed)  # noqa: S311 - reproducible, no secret
    fragments = (*FURTHER, *fuzz_structure.INLINES, *fuzz_structure.BLOCKS[::3])
    return [
        "".join(chance.choice(fragments) for _ in range(chance.randint(2, 12)))
        for _ in range(count)
    ]


@pytest.mark.parametrize("mdx", [False, True])
def test_offsets_lines_and_places_of_random_documents(mdx: bool) -> None:
    kinds: set[str] = set()
    begins = {
        "wiki": r"!\[\[",
        "shortcode": r"\{\{[<%]",
        "directive": ":::image",
        "jsx": "<[A-Zi]",
        "svg": "<svg",
    }
    for text in documents(11 + mdx, 4_000):
        parsed = outline(text, mdx=mdx)
        end = len(text)
        for picture in parsed.pictures:
            kinds.add(picture.kind)
            assert picture.start < picture.end <= picture.settle <= end, text
            assert re.match(
                begins.get(picture.kind, r"!\[|<img"), text[picture.start :], re.IGNORECASE
            ), text
            assert picture.line_start == parsed.source.line_at(picture.start), text
        starts = [picture.start for picture in parsed.pictures]
        assert starts == sorted(set(starts)), text
        pieces = lay_out(0, end, parsed.pictures)
        assert "".join(text[piece.start : piece.end] for piece in pieces) == text
        assert sum(piece.picture is not None for piece in pieces) == len(parsed.pictures)
        for row in parsed.rows:
            assert row.line_start <= row.line_end
    assert kinds >= {"inline", "html", "wiki", "directive", "jsx", "svg", "shortcode"}


def test_the_further_forms_leave_headings_as_they_are() -> None:
    """But for shortcodes, whose last line would be a quote."""
    for text in documents(13, 3_000):
        if "{{<" in text or text.startswith(("---", "+++")):
            continue
        own = [(row.level, row.line_start) for row in outline(text).rows]
        theirs = [(row.level, row.line) for row in oracle.markdown_it(text).rows]
        if own != theirs:
            levels = [level for level, _ in oracle.cmark_gfm(text)[0]]
            assert [level for level, _ in own] == levels, text
