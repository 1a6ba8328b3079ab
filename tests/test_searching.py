"""Searching markdown by words, with no index."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import mdvision
from mdvision import Code, MdVisionError
from mdvision.markdown.find import Query


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    root = tmp_path / "docs"
    (root / "sub").mkdir(parents=True)
    (root / "a.md").write_text(
        "---\ntitle: Zebra\n---\nPreamble about proxies.\n\n# Guide\n\nSet the proxy.\n\n"
        "## Proxy behind a firewall\n\n![map](m.png)\n\nOnly here.\n\n### More\n\nproxy proxy proxy\n"
    )
    (root / "sub" / "b.md").write_text("# Images\n\nread_md_with_images; a pilgrimage\n")
    (root / ".hidden.md").write_text("# proxy\n")
    (root / "bad.md").write_bytes(b"%PDF-1.7\n% proxy")
    return root


def titles(found: tuple[mdvision.SectionMatch, ...]) -> list[str]:
    return [match.heading for match in found]


def test_title_then_coverage_then_occurrences_then_order(docs: Path) -> None:
    assert titles(mdvision.search_markdown(docs, "proxy")) == [
        "## Proxy behind a firewall",
        "### More",
        "# Guide",
    ]
    assert titles(mdvision.search_markdown(docs, "set proxy"))[:2] == [
        "## Proxy behind a firewall",
        "# Guide",
    ]


def test_a_match_tells_all_that_it_takes_to_read_it(docs: Path) -> None:
    found = mdvision.search_markdown(docs / "a.md", '"only here"')
    assert found == (
        mdvision.SectionMatch(
            path=str(docs / "a.md"),
            heading="## Proxy behind a firewall",
            section_path=("Guide", "Proxy behind a firewall"),
            slug="proxy-behind-a-firewall",
            line=14,
            snippet="Only here.",
            image_count=1,
        ),
    )
    assert mdvision.read_with_images(found[0].path, section=f"#{found[0].slug}").line_start == 10


def test_what_stands_before_the_first_heading_is_found(docs: Path) -> None:
    found = mdvision.search_markdown(docs, "preamble zebra")
    (match,) = found
    assert (match.heading, match.slug, match.section_path) == ("", "", ())
    assert (match.line, match.path) == (2, f"{docs}/a.md")


def test_words_are_found_at_their_beginning(docs: Path) -> None:
    assert titles(mdvision.search_markdown(docs, "image")) == ["# Images"]
    assert titles(mdvision.search_markdown(docs, "grimage")) == []
    assert titles(mdvision.search_markdown(docs, "WITH_im")) == ["# Images"]


@pytest.mark.parametrize(
    ("text", "query", "is_found"),
    [
        ("Behind a\nfirewall", '"behind a firewall"', True),
        ("behind the firewall", '"behind a firewall"', False),
        ("Straße", "STRASSE", True),
        ("cafe\u0301", "caf\u00e9", True),
        ("\u6f22\u5b57\u691c\u7d22", "\u691c\u7d22", True),
        ("C++ and C#", "c++", True),
        ("a.b", '"unclosed quote', False),
        ("an unclosed quote", '"unclosed quote', True),
        ("```\ncode_word\n```", "code_word", True),
    ],
)
def test_what_counts_as_found(tmp_path: Path, text: str, query: str, is_found: bool) -> None:
    (tmp_path / "a.md").write_text(f"# T\n\n{text}\n", encoding="utf-8")
    assert bool(mdvision.search_markdown(tmp_path, query)) is is_found


def test_a_long_line_is_cut_round_the_word(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# T\n\n" + "x " * 5_000 + "needle " + "y " * 5_000 + "\n")
    (found,) = mdvision.search_markdown(tmp_path, "needle")
    assert "needle" in found.snippet
    assert len(found.snippet) <= 202
    assert found.snippet.startswith("…")
    assert found.snippet.endswith("…")


def test_max_results_keeps_the_best(tmp_path: Path) -> None:
    for k in range(30):
        (tmp_path / f"{k:02}.md").write_text(f"# T{k}\n\n" + "needle " * (1 + k % 7) + "\n")
    found = mdvision.search_markdown(tmp_path, "needle", max_results=5)
    assert titles(found) == ["# T6", "# T13", "# T20", "# T27", "# T5"]
    every = mdvision.search_markdown(tmp_path, "needle", max_results=100)
    assert every[:5] == found


@pytest.mark.parametrize(
    ("query", "options"),
    [("", {}), ('""', {}), (" \t", {}), ("x" * 1_001, {}), ("x", {"max_results": 0})],
)
def test_wrong_arguments(docs: Path, query: str, options: dict[str, int]) -> None:
    with pytest.raises(MdVisionError) as raised:
        mdvision.search_markdown(docs, query, **options)
    assert raised.value.issue.code is Code.INPUT_INVALID


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(mdvision.SourceNotFoundError):
        mdvision.search_markdown(tmp_path / "gone.md", "x")


def test_nothing_outside_the_policy(docs: Path) -> None:
    loader = mdvision.Loader(mdvision.AccessPolicy(paths=(str(docs / "sub"),)))
    with pytest.raises(mdvision.AccessDeniedError):
        mdvision.search_markdown(docs / "a.md", "proxy", loader=loader)
    with pytest.raises(mdvision.AccessDeniedError):
        mdvision.search_markdown(docs, "proxy", loader=loader)


@given(st.text(max_size=60))
def test_any_query_is_taken_or_refused(query: str) -> None:
    try:
        terms = Query(query).terms
    except MdVisionError as error:
        assert error.issue.code is Code.INPUT_INVALID
    else:
        assert terms
        assert all(term == " ".join(term.split()) for term in terms)


@given(st.lists(st.sampled_from(["# a\n", "b\n", "\n", "## b c\n", "```\n"]), max_size=30))
def test_matches_are_the_sections_that_hold_the_word(blocks: list[str]) -> None:
    import tempfile

    text = "".join(blocks)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.md"
        path.write_text(text)
        found = mdvision.search_markdown(path, "b", max_results=100)
        own = [
            reading.section_path for reading in mdvision.iter_sections(path) if "b" in reading.text
        ]
    assert sorted(match.section_path for match in found) == sorted(own)
