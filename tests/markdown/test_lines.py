"""Offsets in the parsed text against the stored one."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from mdvision.markdown.lines import SourceText

TEXTS = st.text(alphabet="ab\r\n\0\u2028\x0c\ufeff", max_size=40)


@given(TEXTS, st.data())
def test_a_stored_slice_is_the_slice_of_the_parsed_text(text: str, data: st.DataObject) -> None:
    source = SourceText(text)
    start = data.draw(st.integers(0, len(source.text)))
    end = data.draw(st.integers(start, len(source.text)))
    stored = source.stored(start, end)
    assert stored.replace("\r\n", "\n").replace("\r", "\n") == source.text[start:end]
    whole = source.stored(0, start) + stored + source.stored(end, len(source.text))
    assert whole == text.removeprefix("\ufeff").replace("\0", "\ufffd")


@given(TEXTS)
def test_only_three_line_ends_count(text: str) -> None:
    source = SourceText(text)
    lines = re.split("\r\n|\n|\r", text.removeprefix("\ufeff"))
    if lines[-1] == "":
        lines.pop()
    assert source.line_count == len(lines) == len(source.line_starts)
    for number, line in enumerate(lines, start=1):
        start, end = source.line_starts[number - 1], source.line_end(number)
        assert source.text[start:end].rstrip("\n") == line.replace("\0", "\ufffd")
        assert source.line_at(start) == number
