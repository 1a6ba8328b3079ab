"""Rows: paths, slugs, line ranges, counts. Structure itself has its own oracles."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mdvision.markdown.mdx import is_mdx, mask_mdx
from mdvision.markdown.outline import outline, slugs

# What github-slugger 2.0.0 gives for these headings in one document.
SLUGS = (
    ("C++ & co.", "c--co"),
    ("Setup", "setup"),
    ("Setup", "setup-1"),
    ("Setup 1", "setup-1-1"),
    ("setup-1", "setup-1-2"),
    ("Über C++ & co.", "über-c--co"),
    ("First run!", "first-run"),
    ("漢字とかな", "漢字とかな"),
    ("👩\u200d🚀 naïve é", "-naïve-é"),
    ("a\u00a0b", "ab"),
    ("x_y-z", "x_y-z"),
    ("Ⓐ ⓩ", "ⓐ-ⓩ"),
    ("①②", ""),
    ("½ ²", "-"),
    ("İstanbul", "i\u0307stanbul"),
    ("ΑΣ", "ας"),
    ("e\u0301", "e\u0301"),
    ("ʻokina ʼ", "ʻokina-ʼ"),
    ("١٢٣", "١٢٣"),
    ("𝒳 𝟙", "𝒳-𝟙"),
    ("Ⅷ", "ⅷ"),
    ("‿ ⁀", "‿-⁀"),
    ("", "-1"),
    ("", "-2"),
    ("🅰", "🅰"),
    ("日本語、テスト。", "日本語テスト"),
    ("constructor", "constructor"),
    ("__proto__", "__proto__"),
    ("a  b", "a--b"),
    (" tab\there", "-tabhere"),
    ("foo—bar", "foobar"),
    ("a\u200cb", "ab-1"),
    ("Ǆ", "ǆ"),
    ("ß", "ß"),
)


def test_slugs_are_githubs() -> None:
    assert slugs(title for title, _ in SLUGS) == [slug for _, slug in SLUGS]


@given(st.lists(st.sampled_from(["a", "a 1", "a-1", "A", "", "-1", "b"])))
def test_slugs_are_unique(titles: list[str]) -> None:
    found = slugs(titles)
    assert len(set(found)) == len(titles)


def test_rows_of_nested_sections() -> None:
    rows = outline("pre\n\n# A\n\n### C\nx\n## B\n# D\n").rows
    assert [(row.section_path, row.line_start, row.line_end) for row in rows] == [
        (("A",), 3, 7),
        (("A", "C"), 5, 6),
        (("A", "B"), 7, 7),
        (("D",), 8, 8),
    ]


@given(st.text(alphabet="#ab \n\r=-"))
def test_counts_are_those_of_the_lines(text: str) -> None:
    parsed = outline(text)
    lines = parsed.source.text.split("\n")
    for row in parsed.rows:
        section = lines[row.line_start - 1 : row.line_end]
        assert row.char_count == len("\n".join(section))
        assert row.heading == f"{'#' * row.level} {row.section_path[-1]}".rstrip()
    assert [row.line_start for row in parsed.rows] == sorted(
        {row.line_start for row in parsed.rows}
    )


@pytest.mark.parametrize(
    ("path", "wanted"),
    [
        ("a.mdx", True),
        ("docs/A.MDX", True),
        ("https://x.test/a.mdx", True),
        ("https://x.test/a.mdx?x=1", True),
        ("HTTP://x.test/a.mdx#top", True),
        ("https://x.test/a.mdx?b.md#c.md", True),
        ("", False),
        ("a.md", False),
        ("mdx", False),
        ("https://x.test/a?b.mdx", False),
        ("https://x.test/a#b.mdx", False),
        ("a.mdx?x=1", False),  # in a path these are letters like any other
        ("a#b.mdx", True),
    ],
)
def test_mdx_is_told_by_the_path(path: str, wanted: bool) -> None:
    assert is_mdx(path) == wanted


def test_mdx_statements_and_comments_are_no_headings_and_no_pictures() -> None:
    parsed = outline(
        "---\nt: 1\n---\nimport X from './x'\nexport const a = `\n# no\n![no](no.png)\n`\n\n"
        "# Yes {/* # no ![no](n.png) */}\n\n```\nimport\n\n# code\n```\n\n![y](y.png)\n",
        mdx=True,
    )
    assert [(row.heading, row.line_start) for row in parsed.rows] == [("# Yes", 10)]
    assert [picture.source for picture in parsed.pictures] == ["y.png"]


def test_a_fence_that_is_never_closed_protects_to_the_end() -> None:
    text = "```\n\nimport x\n\n{/* c */}"
    assert mask_mdx(text).text == text
    assert mask_mdx(f"{text}\n").text == f"{text}\n"
    closed = "````\n```\n\nimport x\n````\n\nimport y\n"
    assert mask_mdx(closed).text == closed.replace("import y", " " * 8)


def test_many_open_fences_are_quick() -> None:
    before = time.process_time()
    mask_mdx("~~~a\n" * 60_000 + "x")
    assert time.process_time() - before < 2
