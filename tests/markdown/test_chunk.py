"""What `chunk_markdown` promises, over random documents."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

import mdvision
from mdvision.errors import InvalidInputError
from mdvision.markdown.chunk import chunk_markdown
from mdvision.markdown.outline import outline
from mdvision.model import Chunk

FRAGMENTS = st.sampled_from(
    [
        "# A\n", "## B\n", "### C\n", "Title\n===\n", "text of a paragraph\n", "more\r\n", "\n", "\n",
        "- item\n", "  - nested item\n", "> quote\n", "| a | b |\n|---|---|\n| c | d |\n| e | f |\n\n",
        "```py\ncode = 1\n\n# comment\n```\n", "~~~\nnever closed\n", "$$\nx = 1\n\ny = 2\n$$\n", "$$ a $$\n",
        "![p](p.png)\n", "a" * 70 + "\n", "word " * 20 + "\n", "<div>\nhtml\n</div>\n", "---\nt: 1\n---\n",
        "\u00e4\U0001f680\u2028\x0c\n", "    code\n", "\0\n", "[r]: /u\n", "\ufeff",
    ]
)  # fmt: skip
DOCUMENTS = st.lists(FRAGMENTS, max_size=14).map("".join)
SIZES = st.integers(1, 60)


MDX = "import a from 'b'\n# c\n\n# A\n"


@pytest.mark.parametrize("path", ["a.mdx", "https://x.test/a.mdx?raw=1"])
def test_mdx_is_told_by_the_path(path: str) -> None:
    chunks = chunk_markdown(MDX, path=path)
    assert [chunk.heading for chunk in chunks] == ["", "# A"]
    assert mdvision.index_markdown_text(MDX, path=path).rows[0].heading == "# A"


@pytest.mark.parametrize("digits", [1, 5000])
def test_impossible_sizes_of_any_length(digits: int) -> None:
    for sizes in ({"max_size": -(10**digits)}, {"max_size": 5, "overlap": 10**digits}):
        with pytest.raises(InvalidInputError, match="max_size must be at least 1"):
            chunk_markdown("a", **sizes)


def tokens(text: str) -> int:
    """A length that is not one a character."""
    return len(re.findall(r"\w+|[^\w\s]", text))


def without_space(text: str) -> str:
    return "".join(text.split())


@given(DOCUMENTS, SIZES)
def test_chunks_are_slices_in_order_that_cover_all_but_white_space(text: str, size: int) -> None:
    chunks = chunk_markdown(text, max_size=size)
    at = 0
    for number, chunk in enumerate(chunks):
        assert chunk.index == number
        assert chunk.text == text[chunk.char_start : chunk.char_end] == chunk.text.rstrip()
        assert not text[at : chunk.char_start].strip("\ufeff").strip()
        at = chunk.char_end
    assert not text[at:].strip("\ufeff").strip()


@given(DOCUMENTS, SIZES, st.sampled_from([len, tokens, lambda text: len(text.encode())]))
def test_no_chunk_is_too_long(text: str, size: int, length: object) -> None:
    assert callable(length)
    for overlap in {0, size // 2}:
        for chunk in chunk_markdown(text, max_size=size, overlap=overlap, length=length):
            assert length(chunk.text) <= size or len(chunk.text) == 1


@given(DOCUMENTS, SIZES)
def test_a_chunk_lies_in_the_lines_and_the_section_that_it_names(text: str, size: int) -> None:
    parsed = outline(text)
    lines = parsed.source.text.split("\n")
    for chunk in chunk_markdown(text, max_size=size):
        own = "\n".join(lines[chunk.chunk_start_line - 1 : chunk.chunk_end_line])
        assert chunk.text.replace("\r\n", "\n").replace("\0", "\ufffd") in own
        assert chunk.section_start_line <= chunk.chunk_start_line
        assert chunk.chunk_end_line <= chunk.section_end_line
        rows = [row for row in parsed.rows if row.line_start <= chunk.chunk_start_line]
        assert chunk.section_path == (rows[-1].section_path if rows else ())
        assert chunk.heading == (rows[-1].heading if rows else "")
        assert len({row.line_start for row in parsed.rows if row.line_start in range(
            chunk.chunk_start_line + 1, chunk.chunk_end_line + 1)}) == 0  # fmt: skip


@given(DOCUMENTS, SIZES)
def test_an_overlap_repeats_whole_lines_of_the_same_section(text: str, size: int) -> None:
    parsed = outline(text)
    at = -1
    for chunk in chunk_markdown(text, max_size=size, overlap=size // 2):
        if chunk.char_start < at:  # it repeats text
            assert at - chunk.char_start <= size // 2
            assert chunk.chunk_start_line >= chunk.section_start_line
            line = parsed.source.text.split("\n")[chunk.chunk_start_line - 1]
            assert line.strip()
        assert chunk.char_end > at
        at = chunk.char_end
    assert not text[max(at, 0) :].strip("\ufeff").strip()


def test_an_overlap_is_there_wherever_lines_allow_it() -> None:
    text = "".join(f"line {k} of text\n" for k in range(40))
    chunks = chunk_markdown(text, max_size=200, overlap=60)
    pairs = list(pairwise(chunks))
    assert len(pairs) >= 3
    assert all(30 < before.char_end - after.char_start <= 60 for before, after in pairs)


def test_an_overlap_tears_no_table_that_fits() -> None:
    table = "| a | b |\n|---|---|\n" + "| cell | cell |\n" * 10
    text = f"Before, in one line of text.\n\n{table}\nAfter.\n"
    size = len(table) - 1
    chunks = chunk_markdown(text, max_size=size, overlap=40)
    assert table.rstrip() in [chunk.text for chunk in chunks]


def test_a_long_title_or_header_is_not_repeated_whole() -> None:
    """Each chunk of a million would carry a megabyte."""
    titled = chunk_markdown("# " + "a" * 40_000 + "\n" + "## b\n\nx\n\n" * 2_000)
    assert sum(len(chunk.context) for chunk in titled) < 2_000_000
    headed = chunk_markdown("|" + "h" * 40_000 + "|\n|-|\n" + "|b|\n" * 5_000, max_size=50)
    assert sum(len(chunk.context) for chunk in headed[900:]) < 100_000


@given(DOCUMENTS)
def test_the_same_document_gives_the_same_ids_and_no_two_are_equal(text: str) -> None:
    ids = [chunk.id for chunk in chunk_markdown(text, path="a.md", max_size=30)]
    assert len(set(ids)) == len(ids)
    assert ids == [chunk.id for chunk in chunk_markdown(text, path="a.md", max_size=30)]
    if ids:
        assert ids[0] != chunk_markdown(text, path="b.md", max_size=30)[0].id


def holding(chunks: tuple[Chunk, ...], text: str) -> list[Chunk]:
    return [chunk for chunk in chunks if text in chunk.text]


@pytest.mark.parametrize(
    "block",
    [
        "| a | b |\n|---|---|\n" + "| cell | cell |\n" * 5,
        "```py\n" + "code()\n\n" * 5 + "```",
        "$$\na = b\n\nc = d\n\ne = f\n$$",
    ],
    ids=["table", "fence", "math"],
)
def test_a_block_that_fits_stays_whole(block: str) -> None:
    block = block.rstrip("\n")
    text = f"# H\n\n{'before ' * 8}\n\n{block}\n\n{'after ' * 8}\n"
    assert len(holding(chunk_markdown(text, max_size=len(block)), block)) == 1


def test_a_long_table_is_cut_at_rows_and_its_header_is_the_context() -> None:
    rows = [f"| row {k} | {'x' * 20} |" for k in range(20)]
    text = "# T\n\n| name | value |\n|---|---|\n" + "\n".join(rows) + "\n"
    first, *others = [c for c in chunk_markdown(text, max_size=120) if "row" in c.text]
    assert first.context == "T"
    assert len(others) > 3
    for chunk in others:
        assert chunk.context == "T\n| name | value |\n|---|---|"
        assert all(line in rows for line in chunk.text.split("\n"))


def test_a_long_line_is_cut_between_words() -> None:
    chunks = chunk_markdown("word " * 100, max_size=23)
    assert {chunk.text for chunk in chunks} == {"word word word word"}


def test_pictures_and_paths_are_told() -> None:
    text = "---\nt: 1\n---\npre\n\n# A\n\n![one](1.png)\n\n## B\n\n![two](2.png)\n"
    chunks = chunk_markdown(text)
    assert [[image.source for image in chunk.images] for chunk in chunks] == [
        [],
        ["1.png"],
        ["2.png"],
    ]
    assert [chunk.context for chunk in chunks] == ["", "A", "A > B"]
    assert [(c.section_start_line, c.section_end_line) for c in chunks] == [
        (1, 5),
        (6, 12),
        (10, 12),
    ]
    assert [chunk.slug for chunk in chunks] == ["", "a", "b"]


@pytest.mark.parametrize(("size", "overlap"), [(0, 0), (-1, 0), (5, 5), (5, -1)])
def test_impossible_sizes(size: int, overlap: int) -> None:
    with pytest.raises(InvalidInputError):
        chunk_markdown("text", max_size=size, overlap=overlap)


def test_a_long_line_is_not_measured_again_and_again() -> None:
    measured = 0

    def words(text: str) -> int:
        nonlocal measured
        measured += len(text)
        return len(text.split())

    text = "word " * 40_000
    assert len(chunk_markdown(text, max_size=500, length=words)) == 80
    assert measured < 60 * len(text)


@pytest.mark.parametrize("text", ["\t\u2028\u00e9", "\x0c a", "\u00a0\n\nb"])
def test_white_space_that_is_no_blank_line_makes_no_chunk(text: str) -> None:
    chunks = chunk_markdown(text, max_size=1)
    assert [chunk.text for chunk in chunks] == list("".join(text.split()))
    assert all(chunk.chunk_end_line >= chunk.chunk_start_line >= 1 for chunk in chunks)
