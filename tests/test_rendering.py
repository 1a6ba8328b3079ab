"""The text that a model sees, and that nothing of the source is lost in it."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mdvision import Code, ImagePart, MarkdownReading, TextPart, index_markdown_text
from mdvision.errors import issue
from mdvision.rendering import (
    PICTURE_LINE,
    file_index_text,
    issue_line,
    reading_blocks,
    reading_footer,
)


def picture(source: str = "img/a.png", **changed: int) -> ImagePart:
    sizes = {
        "width_pixels": 10,
        "height_pixels": 5,
        "source_width_pixels": 10,
        "source_height_pixels": 5,
    }
    sizes.update(changed)
    return ImagePart(
        data=b"x",
        media_type="image/png",
        source=source,
        alt="",
        title="",
        markdown="",
        line_start=1,
        estimated_tokens=1,
        sha256="",
        **sizes,  # type: ignore[arg-type]
    )


def reading(*parts: TextPart | ImagePart, **changed: object) -> MarkdownReading:
    fields: dict[str, object] = {
        "source": "a.md",
        "section_path": (),
        "line_start": 1,
        "line_end": 9,
        "line_count": 9,
        "parts": parts,
        "issues": (),
    }
    return MarkdownReading(**{**fields, **changed})  # type: ignore[arg-type]


def text(value: str) -> TextPart:
    return TextPart(text=value, line_start=1)


LINES = ["\n[picture 1 of 1, 1x1]\n", "[picture 2 of 3: a, 10x5]\n", "\n[picture 1 of 2"]
PARTS = st.lists(
    st.one_of(
        st.one_of(st.text(alphabet="a\n[]:,x1", min_size=1), st.sampled_from(LINES)).map(text),
        st.sampled_from(
            [picture(), picture(""), picture("n\nl", width_pixels=4), picture("p" * 600)]
        ),
    )
)


@given(PARTS)
def test_without_the_picture_lines_it_is_the_source(parts: list[TextPart | ImagePart]) -> None:
    blocks = list(reading_blocks(reading(*parts), lambda image: image.source))
    last_line = re.compile(PICTURE_LINE.pattern + r"\Z")
    texts = [block for block in blocks if isinstance(block, str)]
    count = len(blocks) - len(texts)
    cut = [last_line.subn("", block) for block in texts[:count]]
    assert all(found == 1 for _, found in cut)
    shown = "".join((*(block for block, _ in cut), *texts[count:]))
    assert shown == "".join(part.text for part in parts if isinstance(part, TextPart))
    assert [block for block in blocks if isinstance(block, ImagePart)] == [
        part for part in parts if isinstance(part, ImagePart)
    ]
    for before, block in pairwise(blocks):
        assert isinstance(before, str) != isinstance(block, str)  # text and pictures alternate


def test_the_line_before_a_picture() -> None:
    shown = picture(source_width_pixels=2400, source_height_pixels=1200)
    (block, _, last, _) = reading_blocks(
        reading(text("before\n"), shown, picture("")), lambda image: image.source
    )
    assert block == "before\n\n[picture 1 of 2: img/a.png, 2400x1200, shown 10x5]\n"
    assert last == "\n[picture 2 of 2, 10x5]\n"


@pytest.mark.parametrize(
    ("changed", "footer"),
    [
        ({}, ""),
        ({"line_start": 3}, "\n---\nlines 3-9 of 9\n"),
        (
            {
                "issues": (
                    issue(Code.SOURCE_NOT_FOUND, "img/x.png was not found.", details={"line": 4}),
                )
            },
            "\n---\nline 4: img/x.png was not found. Check the path or address.\n",
        ),
        ({"line_start": 0, "line_end": 0, "line_count": 0}, ""),
    ],
)
def test_the_footer_says_only_what_there_is_to_say(changed: dict[str, object], footer: str) -> None:
    assert reading_footer(reading(text("x"), **changed)) == footer


def test_the_footer_gives_the_call_that_goes_on_instead_of_the_issue() -> None:
    cut = issue(Code.RESULT_TRUNCATED, "cut", details={"lines": (5, 9)})
    found = reading_footer(
        reading(text("x"), line_end=4, next_line=5, issues=(cut,)), "read a.md 5:9"
    )
    assert found == "\n---\nlines 1-4 of 9\ngo on with: read a.md 5:9\n"


def test_an_issue_stays_on_one_line() -> None:
    found = issue(Code.SOURCE_NOT_FOUND, "a\nb\tc\r\nd", next_action="e\n")
    assert issue_line(found) == "a b c d e"


def test_an_index_looks_as_md_vision_s() -> None:
    index = index_markdown_text(
        "---\nt: 1\n---\n# A & <b>\n\n![p](p.png)\n\n## B\tc\n", path='docs/"a" & <b>.md'
    )
    assert file_index_text(index) == (
        '<file path="docs/&quot;a&quot; &amp; &lt;b&gt;.md" lines=8 chars=44>\n'
        "---\nt: 1\n---\n"
        "```tsv\nheading\tline_start\tn_images\tchar_count\n"
        f"# A &\t4\t1\t{index.rows[0].char_count}\n## B c\t8\t0\t6\n```\n</file>\n"
    )


def test_a_path_stays_on_one_line() -> None:
    shown = file_index_text(index_markdown_text("a\n", path="a\nb\tc\rd.md"))
    assert shown.startswith('<file path="a&#10;b&#9;c&#13;d.md" lines=1 chars=2>\n')


def test_no_heading_breaks_the_table() -> None:
    shown = file_index_text(index_markdown_text("a\tb\nc\n===\n"))
    assert re.search(r"^# a b c\t1\t0\t\d+$", shown, re.MULTILINE)
