"""Leaf blocks: offsets and lines; and that the one shortcut changes nothing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark.fuzz_structure import BLOCKS, INLINES
from mdvision.markdown.blocks import Scanner, scan
from mdvision.markdown.leaves import DEFINITION, PARAGRAPH, SETEXT, TABLE, Leaf
from mdvision.markdown.spans import lines_of

DOCUMENTS = st.lists(st.sampled_from(BLOCKS + INLINES), max_size=14).map("".join)


@given(DOCUMENTS, st.booleans())
def test_lines_and_offsets_agree(text: str, ends: bool) -> None:
    text = text if ends else text.rstrip("\n")
    starts = [0, *(k + 1 for k, c in enumerate(text) if c == "\n")]
    last = 0
    for leaf in scan(text):
        assert leaf.start == starts[leaf.line_start - 1]
        after = starts[leaf.line_end] if leaf.line_end < len(starts) else len(text)
        assert leaf.end == after
        assert last <= leaf.start < leaf.end or leaf.start == leaf.end == len(text)
        last = leaf.end
        for start, end in leaf.spans:
            assert leaf.start <= start <= end <= max(leaf.end, start)


def without_spans(leaf: Leaf) -> Leaf:
    """Outside containers one span may hold several lines, or each its own."""
    return leaf._replace(spans=[])


def content(text: str, leaf: Leaf) -> list[str]:
    """What a leaf holds, line by line; white space before the lines of a text is none of it."""
    is_text = leaf.kind in (PARAGRAPH, SETEXT, TABLE, DEFINITION)
    spans = lines_of(text, leaf.spans) if is_text else leaf.spans
    return "\n".join(text[start:end] for start, end in spans).split("\n")


class LineByLine(Scanner):
    """Takes no shortcut outside of containers."""

    def _skip(self) -> None:
        pass


@given(DOCUMENTS)
def test_skipping_ahead_changes_nothing(text: str) -> None:
    skipped = list(Scanner(text).leaves())
    read = list(LineByLine(text).leaves())
    assert [without_spans(leaf) for leaf in skipped] == [without_spans(leaf) for leaf in read]
    for one, other in zip(skipped, read, strict=True):
        assert content(text, one) == content(text, other)


def test_scanning_may_begin_anywhere() -> None:
    text = "---\nx\n---\n# A\n\ntext\n"
    assert [(leaf.kind, leaf.line_start) for leaf in Scanner(text, 10, 4).leaves()] == [
        ("heading", 4),
        ("paragraph", 6),
    ]


def kinds(text: str) -> list[tuple[str, int, int, int]]:
    return [(leaf.kind, leaf.depth, leaf.line_start, leaf.line_end) for leaf in scan(text)]


@pytest.mark.parametrize(
    ("text", "leaves"),
    [
        ("[a]:\n/b\n", [("definition", 0, 1, 2)]),
        ("[a]: b 'c\nd'\n===\n", [("definition", 0, 1, 2), ("paragraph", 0, 3, 3)]),
        ("[a]:\n/b\n[c]: d\ne\n", [("definition", 0, 1, 2), ("definition", 0, 3, 3), ("paragraph", 0, 4, 4)]),
        # As cmark-gfm: a lazy line can be a table's header, a tag alone on its line ends a table.
        ("- a\nb|c\n  -|-\n", [("paragraph", 1, 1, 1), ("table", 1, 2, 3)]),
        ("> a\nb|c\n-|-\n", [("paragraph", 1, 1, 3)]),
        ("|a|\n|-|\n<b>\n# c\n\n# d\n", [("table", 0, 1, 2), ("html", 0, 3, 4), ("heading", 0, 6, 6)]),
        ("a\nb|c\n-|-\n", [("paragraph", 0, 1, 1), ("table", 0, 2, 3)]),
        ("- a\n\n\n  b\n-\n\n  c\n", [("paragraph", 1, 1, 1), ("paragraph", 1, 4, 4), ("paragraph", 0, 7, 7)]),
        (">\t\ta\n-\t\tb\n", [("code", 1, 1, 1), ("code", 1, 2, 2)]),
        ("a\u2028# b\x0b\x0c\x85# c\n===\n", [("setext", 0, 1, 2)]),
        ("\u00a0# a\n#\u00a0b\n\x0c\n", [("paragraph", 0, 1, 3)]),
    ],
)  # fmt: skip
def test_leaves(text: str, leaves: list[tuple[str, int, int, int]]) -> None:
    assert kinds(text) == leaves
