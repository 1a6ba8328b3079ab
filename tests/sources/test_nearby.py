"""Files that the caller may have meant."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from mdvision import AccessPolicy, Loader
from mdvision.sources.nearby import close_paths, glance


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    root = tmp_path / "docs"
    for name in (
        "guide.md",
        "api/guide.md",
        "api/setup-guide.md",
        "img/guide.png",
        ".git/guide.md",
    ):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).touch()
    (tmp_path / "guide.md").touch()
    (root / "node_modules").mkdir()
    (root / "node_modules" / "guide.md").touch()
    return root


def close(docs: Path, named: str, *suffixes: str) -> list[str]:
    loader = Loader(AccessPolicy(paths=(str(docs),)))
    found = close_paths(named, [str(docs)], suffixes or (".md",), loader)
    return [os.path.relpath(path, docs) for path in found]


def test_the_same_name_elsewhere_comes_first(docs: Path) -> None:
    assert close(docs, "wrong/guide.md") == ["guide.md", "api/guide.md", "api/setup-guide.md"]


def test_a_misspelt_name(docs: Path) -> None:
    assert close(docs, "GUID.md")[:2] == ["guide.md", "api/guide.md"]
    assert close(docs, "api\\setup-gude.md")[0] == "api/setup-guide.md"


def test_nothing_alike(docs: Path) -> None:
    assert close(docs, "zebra.md") == []
    assert close(docs, "") == []


def test_by_suffix(docs: Path) -> None:
    assert close(docs, "guide.jpg", ".png") == ["img/guide.png"]


def test_five_at_most_and_links_out_are_no_hint(docs: Path, tmp_path: Path) -> None:
    (docs / "x").mkdir()
    (docs / "x" / "other.md").symlink_to(tmp_path / "guide.md")
    for k in range(9):
        (docs / f"other{k}.md").touch()
    found = close(docs, "other.md")
    assert len(found) == 5
    assert "x/other.md" not in found


def test_counts(docs: Path) -> None:
    assert glance(str(docs), 9) == ({".md": 3, ".png": 1}, True)
    assert glance(str(docs / "gone"), 9) == ({}, True)
    assert not glance(str(docs), 0).is_whole


def test_folders_on_request(docs: Path) -> None:
    loader = Loader(AccessPolicy(paths=(str(docs),)))
    found = close_paths("apii", [str(docs)], (".md",), loader, with_folders=True)
    assert found == (str(docs / "api"),)
