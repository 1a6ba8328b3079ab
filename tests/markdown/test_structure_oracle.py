"""Structure against markdown-it-py; where cmark-gfm sides with us the input is listed."""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path

import pytest

from mdvision.markdown.frontmatter import front_matter_end
from mdvision.markdown.outline import outline
from mdvision.markdown.references import collect

sys.path.insert(0, str(Path(__file__).parents[2]))

import oracle

from benchmark import fuzz_structure

# markdown-it-py ends a paragraph at a definition, cmark-gfm lets it go on lazily.
CMARK_SIDES_WITH_US = {"- [foo]: /url\nbar\n===\n[foo]\n", "> [foo]: /url\nbar\n===\n[foo]\n"}

CASES = [
    "# h\n",
    "a | b\n--- | ---\n![x](y) | z\n\n## ~~s~~ t\n",
    "> - # no\n\n![a][b]\n===\n\n[b]: c\n",
    "<p>\n<img src=a>\n\n<!-- <img src=b> -->\n# h\n",
]


def data_folder() -> Path:
    data = os.environ.get("MDVISION_TEST_DATA")
    if not data:
        pytest.skip("MDVISION_TEST_DATA is not set")
    return Path(data)


def check(text: str) -> None:
    own, theirs = fuzz_structure.ours(text), oracle.markdown_it(text)
    if text in CMARK_SIDES_WITH_US:
        headings, images = oracle.cmark_gfm(text)
        assert ([(row.level, row.text) for row in own.rows], own.image_count) == (headings, images)
        assert own != theirs  # else the list is out of date
    else:
        assert own == theirs, text


@pytest.mark.parametrize("text", CASES)
def test_a_few_documents(text: str) -> None:
    check(text)


@pytest.mark.parametrize(
    "form", ["alone", "paragraph", "heading", "item", "item 1", "quote", "quote 1"]
)
def test_the_specification_s_examples(form: str) -> None:
    examples = json.loads((data_folder() / "data" / "commonmark-examples.json").read_text("utf-8"))
    assert len(examples) == 655
    for example in examples:
        text = example["markdown"]
        lines = text.split("\n")[:-1]
        check(
            {
                "alone": text,
                "paragraph": f"para\n\n{text}",
                "heading": f"# x\n{text}",
                "item": "- " + "\n  ".join(lines) + "\n",
                "item 1": f"- {text}",
                "quote": "".join(f"> {line}\n" for line in lines),
                "quote 1": f"> {text}",
            }[form]
        )


def corpus() -> list[Path]:
    return sorted((data_folder() / "corpus").rglob("*.md"))


def test_the_corpus() -> None:
    engine = oracle.parser()
    paths = corpus()
    assert len(paths) == 660
    for path in paths:
        text = path.read_text(encoding="utf-8")
        end = front_matter_end(text)
        parsed = outline(text)
        shift = text.count("\n", 0, end)
        theirs = oracle.markdown_it(text[end:], engine)
        rows = [
            oracle.Row(row.level, row.section_path[-1], row.line_start - shift, row.image_count)
            for row in parsed.rows
        ]
        assert oracle.Outline(rows, len(parsed.pictures)) == theirs, path
        crlf = outline(text.replace("\n", "\r\n"))
        assert crlf.rows == parsed.rows


def test_random_documents() -> None:
    found = [d for d in map(fuzz_structure.difference, fuzz_structure.documents(5, 3_000)) if d]
    assert [d.document for d in found if not d.is_settled] == []
    assert len(found) <= 3_000 * (1 - fuzz_structure.WANTED_SHARE) + 6


def test_image_offsets_are_exact() -> None:
    """A picture cut out at its offsets is one fewer for markdown-it-py, and the word is in its place."""
    texts = [
        d
        for d in fuzz_structure.documents(6, 2_500)
        if "![" in d and "`" not in d and "[r" not in d
    ]
    checked = 0
    for text in texts:
        before = oracle.markdown_it(text)
        for picture in collect(text).pictures:
            syntax = text[picture.start : picture.end]
            if "\n" in syntax:
                continue  # in a container the word would change the lines after it
            assert re.match(r"!\[|<img\b", syntax, re.IGNORECASE), text
            changed = f"{text[: picture.start]}Word{text[picture.end :]}"
            assert oracle.markdown_it(changed).image_count == before.image_count - 1, text
            checked += 1
    assert checked > 150


def test_image_values_are_markdown_it_s() -> None:
    engine = oracle.parser()
    engine.normalizeLink = lambda url: url  # type: ignore[method-assign]
    engine.validateLink = lambda url: True  # type: ignore[method-assign]  # noqa: ARG005
    checked = 0
    for text in fuzz_structure.documents(7, 3_000):
        images = [
            child
            for token in engine.parse(text)
            for child in token.children or ()
            if child.type == "image"
        ]
        found = [picture for picture in collect(text).pictures if picture.kind != "html"]
        if len(images) != len(found):
            continue
        for image, picture in zip(images, found, strict=True):
            assert image.attrs["src"] == picture.source, text
            assert image.attrs.get("title", "") == picture.title, text
            assert oracle.flat(image.children).split() == picture.alt.split(), text
            checked += 1
    assert checked > 300
