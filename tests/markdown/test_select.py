"""Which section a name means, in the order of comparisons that the documentation gives."""

from __future__ import annotations

import dataclasses
import json

import pytest

from mdvision.errors import Code, InvalidInputError, SectionNotFoundError
from mdvision.markdown.outline import outline
from mdvision.markdown.select import select

TEXT = """\
# Guide

## Set *up* ##

one

### Linux

## macOS
### Setup

two

Two-line
title
===

## setup

last
"""


def lines_of(section: str, text: str = TEXT) -> tuple[int, int]:
    parsed = outline(text)
    found = select(parsed, section)
    return parsed.source.line_at(found.start), parsed.source.line_at(found.end - 1)


@pytest.mark.parametrize(
    ("section", "lines"),
    [
        ("## Set up", (3, 8)),
        ("  ## Set up  ", (3, 8)),
        ("## Set *up* ##", (3, 8)),
        ("Set up", (3, 8)),
        ("Guide > Set up", (3, 8)),
        ("Set up > Linux", (7, 8)),
        ("Guide > Set up > Linux", (7, 8)),
        ("#set-up", (3, 8)),
        ("### Setup", (10, 13)),
        ("macOS > Setup", (10, 13)),
        ("## setup", (18, 20)),
        ("setup", (18, 20)),
        ("#setup", (10, 13)),
        ("#setup-1", (18, 20)),
        ("SETUP", (10, 13)),
        ("## SET UP", (3, 8)),
        ("guide > set UP", (3, 8)),
        ("# Two-line title", (14, 20)),
        ("Two-line title", (14, 20)),
        ("two-LINE title > SETUP", (18, 20)),
    ],
)
def test_names(section: str, lines: tuple[int, int]) -> None:
    assert lines_of(section) == lines


def test_composition_is_folded_only_at_last() -> None:
    text = "# Cafe\u0301\n\n# Caf\u00e9\n"
    assert lines_of("# Caf\u00e9", text) == (3, 3)
    assert lines_of("# Cafe\u0301", text) == (1, 2)
    assert lines_of("# CAF\u00c9", text) == (1, 2)


@pytest.mark.parametrize(
    ("section", "lines"),
    [
        ("A > B", (5, 5)),  # a title that holds the separator
        ("Top > A > B", (5, 5)),
        ("top > a > b", (5, 5)),
        ("C > D > E", (7, 7)),
    ],
)
def test_a_path_begins_at_a_title(section: str, lines: tuple[int, int]) -> None:
    text = "# Top\n\nx\n\n## A > B\n## C > D\n### E\n"
    assert lines_of(section, text) == lines


@pytest.mark.parametrize("section", ["B", "b", "Top > B", "D > A > B", "E > F", "D > E > F"])
def test_a_part_of_a_title_is_no_title(section: str) -> None:
    with pytest.raises(SectionNotFoundError):
        select(outline("# Top\n\n## A > B\n## CD > E\n### F\n#### CE > F\n"), section)


def test_several_hits_name_the_other_lines() -> None:
    found = select(outline("# A\n\n# A\n\n# A\n"), "# A")
    (ambiguous,) = found.issues
    assert (ambiguous.code, ambiguous.details["lines"]) == (Code.SECTION_AMBIGUOUS, (3, 5))


def test_a_row_selects_itself_among_equals() -> None:
    parsed = outline("# A\n\n# A\n")
    assert select(parsed, parsed.rows[1]).start == 5
    elsewhere = dataclasses.replace(parsed.rows[1], line_start=30)
    assert select(parsed, elsewhere).start == 5


def test_a_row_of_another_text_is_found_by_its_slug_alone() -> None:
    parsed = outline("# A\n\n## B\n\n## #b\n\n# #B-2\n")
    assert [row.slug for row in parsed.rows] == ["a", "b", "b-1", "b-2"]
    stale = dataclasses.replace(parsed.rows[1], line_start=30)
    assert select(parsed, stale).section_path == ("A", "B")
    with pytest.raises(SectionNotFoundError):
        select(parsed, dataclasses.replace(stale, slug="B"))


def test_not_found_names_close_headings_and_lines() -> None:
    with pytest.raises(SectionNotFoundError, match="^Section not found: '## Set upp'") as raised:
        select(outline(TEXT), "## Set upp")
    details = raised.value.issue.details
    assert details["headings"] == ("## Set up", "### Setup")
    assert details["lines"] == (3, 10)


def test_a_line_range_stands_in_for_a_section_that_is_not_there() -> None:
    found = select(outline(TEXT), "# Nowhere", (3, 4))
    assert [issue.code for issue in found.issues] == [Code.SECTION_NOT_FOUND]
    assert outline(TEXT).source.text[found.start : found.end] == "## Set *up* ##\n\n"


@pytest.mark.parametrize("lines", [(0, 3), (-1, 3), (5, 4), (21, 22), (21, 21)])
def test_impossible_ranges_say_how_many_lines_there_are(lines: tuple[int, int]) -> None:
    with pytest.raises(InvalidInputError, match="20 lines") as raised:
        select(outline(TEXT), None, lines)
    assert raised.value.issue.details["limit"] == 20


@pytest.mark.parametrize(
    "lines", [(1,), (1, 2, 3), (1, 10**5000, 3), (10**5000,), (1.0, 2), ("1", "2"), "12"]
)
def test_what_is_no_range(lines: object) -> None:
    with pytest.raises(InvalidInputError, match="two whole numbers"):
        select(outline(TEXT), None, lines)  # type: ignore[arg-type]


def test_a_range_past_the_end_is_clamped() -> None:
    found = select(outline(TEXT), None, (20, 99))
    assert [issue.code for issue in found.issues] == [Code.LINE_RANGE_CLAMPED]
    assert found.end == len(TEXT)


@pytest.mark.parametrize("digits", [18, 5000])
def test_a_range_to_a_number_that_python_does_not_print(digits: int) -> None:
    found = select(outline(TEXT), None, (20, 10**digits))
    assert [issue.code for issue in found.issues] == [Code.LINE_RANGE_CLAMPED]
    assert "20 lines" in repr(found.issues)
    assert json.dumps(found.issues[0].to_dict())
    assert found.end == len(TEXT)


@pytest.mark.parametrize("lines", [(10**5000, 10**5001), (-(10**5000), 2), (2, -(10**5000))])
def test_an_impossible_range_of_such_numbers(lines: tuple[int, int]) -> None:
    with pytest.raises(InvalidInputError, match="20 lines") as raised:
        select(outline(TEXT), None, lines)
    assert json.dumps(raised.value.issue.to_dict())


def test_nothing_asked_for_is_everything() -> None:
    assert select(outline(TEXT)) == (0, len(TEXT), (), ())
