"""Indexing folders: order, workers, what is left out, what is told."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import mdvision
from mdvision import Code


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "docs"
    (root / "b").mkdir(parents=True)
    for name in ("a.md", "b/x.MD", "b/y.markdown", "b.md", "z.mdx", "é.md"):
        (root / name).write_text(f"# {name}\n\n![p](p.png)\n", encoding="utf-8")
    (root / "note.txt").write_text("# no\n")
    (root / "report.pdf").write_bytes(b"%PDF-1.7\n")
    (root / "b" / "deck.pptx").write_bytes(b"PK\x03\x04")
    return root


NAMES = ["a.md", "b.md", "b/x.MD", "b/y.markdown", "z.mdx", "é.md"]


def test_files_come_in_byte_order_with_the_folder_as_given(folder: Path) -> None:
    index = mdvision.index_markdown_folder(folder)
    assert [file.path for file in index] == [f"{folder}/{name}" for name in NAMES]
    assert index.issues == ()
    assert list(mdvision.iter_markdown_folder(folder)) == list(index)
    with_slash = mdvision.index_markdown_folder(f"{folder}/")
    assert [file.path for file in with_slash] == [file.path for file in index]


@pytest.mark.parametrize("workers", [0, 2])
def test_workers_give_what_one_process_gives(folder: Path, workers: int, tmp_path: Path) -> None:
    for number in range(150):
        (folder / f"n{number}.md").write_text(f"# {number}\n\n## x\n")
    (folder / "bad.md").write_bytes(b"%PDF-1.7\n")
    one = mdvision.index_markdown_folder(folder)
    assert mdvision.index_markdown_folder(folder, workers=workers) == one
    assert list(mdvision.iter_markdown_folder(folder, workers=workers)) == list(one)
    cached = mdvision.index_markdown_folder(folder, workers=workers, cache=tmp_path / "cache")
    assert cached == one


def test_documents_are_listed_and_not_converted(folder: Path) -> None:
    index = mdvision.index_markdown_folder(folder)
    assert [entry.path for entry in index.documents] == ["b/deck.pptx", "report.pdf"]
    assert index.documents[1].media_type == "application/pdf"
    assert index.documents[1].size_bytes == 9
    assert len(index) == len(NAMES)
    placed = mdvision.index_markdown_folder(folder, documents=True)
    assert [Path(str(file.path)).name for file in placed if file.issues] == [
        "deck.pptx",
        "report.pdf",
    ]
    assert list(mdvision.iter_markdown_folder(folder, documents=True)) == list(placed)


def test_an_empty_answer_names_what_there_is(tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(b"%PDF-1.7\n")
    (tmp_path / "b.docx").write_bytes(b"PK\x03\x04")
    (tmp_path / "c.docx").write_bytes(b"PK\x03\x04")
    (found,) = mdvision.index_markdown_folder(tmp_path).issues
    assert found.message.startswith("No markdown files found in ")
    assert "2 .docx, 1 .pdf" in found.message
    assert "documents and pdf" in found.next_action


def test_a_file_that_cannot_be_read_has_an_index_with_the_issue(folder: Path) -> None:
    (folder / "bad.md").write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR")
    index = {Path(str(file.path)).name: file for file in mdvision.index_markdown_folder(folder)}
    assert index["bad.md"].rows == ()
    assert [issue.code for issue in index["bad.md"].issues] == [Code.SOURCE_UNSUPPORTED]
    assert len(index) == len(NAMES) + 1


def test_include_and_exclude(folder: Path) -> None:
    (folder / ".hidden").mkdir()
    (folder / ".hidden" / "h.md").write_text("# h\n")

    def names(**options: tuple[str, ...]) -> list[str]:
        found = mdvision.index_markdown_folder(folder, **options)  # type: ignore[arg-type]
        return [str(file.path).removeprefix(f"{folder}/") for file in found]

    assert names(include=("b/",)) == ["b/x.MD", "b/y.markdown"]
    assert names(include=("*.mdx", ".hidden/")) == [".hidden/h.md", "z.mdx"]
    assert names(exclude=("b/", "*.mdx")) == ["a.md", "b.md", "é.md"]
    assert names(include=("b/",), exclude=("*.MD",)) == ["b/y.markdown"]


def test_progress_counts_to_the_end(folder: Path) -> None:
    seen: list[tuple[int, int, str]] = []
    mdvision.index_markdown_folder(folder, progress=lambda *now: seen.append(now))
    assert [(done, total) for done, total, _ in seen] == [(k, 6) for k in range(1, 7)]
    assert seen[0][2] == f"{folder}/a.md"


def test_an_iterator_takes_no_more_than_it_must(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    original = mdvision.Loader.load_markdown

    def counting(self: mdvision.Loader, source: str) -> mdvision.Resource:
        opened.append(source)
        return original(self, source)

    monkeypatch.setattr(mdvision.Loader, "load_markdown", counting)
    next(mdvision.iter_markdown_folder(folder))
    assert len(opened) == 1


def test_front_matter_and_encoding_faults_are_told(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_bytes(b"---\na: [\n---\n# Caf\xe9 cr\xe8me br\xfbl\xe9e\n")
    index = mdvision.index_markdown_file(path)
    assert [issue.code for issue in index.issues] == [
        Code.ENCODING_GUESSED,
        Code.FRONTMATTER_INVALID,
    ]
    assert (index.metadata, index.frontmatter) == ({}, "---\na: [\n---")
    assert len(index.rows) == 1


@pytest.mark.parametrize("marks", ["> ", "- ", "1. ", "> - "])
def test_deep_nesting_is_told_and_leaves_the_next_document_right(marks: str) -> None:
    deep = mdvision.index_markdown_text(f"# A\n\n{marks * 10_000}# x\n\n# B\n")
    assert [row.heading for row in deep.rows] == ["# A", "# B"]
    assert [issue.code for issue in deep.issues] == [Code.NESTING_LIMIT]
    after = mdvision.index_markdown_text("First\n=====\n\nSecond\n------\n")
    assert [(row.heading, row.line_start) for row in after.rows] == [
        ("# First", 1),
        ("## Second", 4),
    ]


def test_metadata_is_typed_and_to_dict_is_json() -> None:
    index = mdvision.index_markdown_text("---\nday: 2026-01-02\nn: .nan\n---\n")
    assert str(index.metadata["day"]) == "2026-01-02"
    assert index.to_dict()["metadata"] == {"day": "2026-01-02", "n": None}


def test_eight_threads_give_what_one_gives() -> None:
    data = os.environ.get("MDVISION_TEST_DATA")
    if not data:
        pytest.skip("MDVISION_TEST_DATA is not set")
    paths = sorted(Path(data, "corpus").rglob("*.md"))
    alone = [mdvision.index_markdown_file(path) for path in paths]
    with ThreadPoolExecutor(8) as pool:
        together = list(
            pool.map(mdvision.index_markdown_file, itertools.chain(paths, paths, paths))
        )
    assert together == alone * 3


def test_a_script_without_a_guard_is_answered_all_the_same(folder: Path, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import sys, mdvision\n"
        "found = mdvision.index_markdown_folder(sys.argv[1], workers=2)\n"
        "print(len(found), found.issues[-1].code)\n"
    )
    command = [sys.executable, str(script), str(folder)]
    found = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert found.stdout == f"{len(NAMES)} INTERNAL_ERROR\n"


def test_a_single_pattern_may_be_a_string(folder: Path) -> None:
    found = mdvision.index_markdown_folder(folder, include="*.mdx")
    assert [Path(str(file.path)).name for file in found] == ["z.mdx"]


def test_workers_below_zero(folder: Path) -> None:
    with pytest.raises(mdvision.InvalidInputError):
        mdvision.index_markdown_folder(folder, workers=-1)
    with pytest.raises(mdvision.InvalidInputError):
        mdvision.iter_markdown_folder(folder, workers=-1)


def test_an_iterator_refuses_before_it_is_asked(folder: Path) -> None:
    with pytest.raises(mdvision.SourceNotFoundError):
        mdvision.iter_markdown_folder(folder / "nowhere")
    with pytest.raises(mdvision.InvalidInputError, match="not well-formed"):
        mdvision.iter_markdown_folder(folder, include=["[z-a]"])


def test_an_iterator_logs_what_is_wrong_with_the_folder(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (folder / "out\n.md").symlink_to(os.devnull)
    (folder / "x.md").write_text("# no database\n" * 50)
    expected = mdvision.index_markdown_folder(folder, cache=folder / "x.md").issues
    assert [found.code for found in expected] == [Code.FILE_ACCESS_DENIED, Code.STORE_UNAVAILABLE]
    assert caplog.records == []
    list(mdvision.iter_markdown_folder(folder, cache=folder / "x.md"))
    assert [(record.name, record.levelname) for record in caplog.records] == [
        ("mdvision", "WARNING")
    ] * 2
    for found, record in zip(expected, caplog.records, strict=True):
        assert record.getMessage().startswith(found.message.replace("\n", " "))
        assert "\n" not in record.getMessage()


@pytest.mark.parametrize("path", ["a.md", "docs/a.md", "", "C:\\a.md", "notes:a.md"])
def test_a_path_is_no_page(folder: Path, path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    (folder / "notes:a.md").write_text("# A\n")
    with pytest.raises(mdvision.InvalidInputError, match="no http or https address"):
        mdvision.index_markdown_url(path)
