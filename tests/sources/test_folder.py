"""Which files of a folder are listed, against git itself; and the links that lead nowhere."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
from pathlib import Path

import pytest

import mdvision
from mdvision import Loader
from mdvision.sources.files import list_markdown

FOLDERS = ["a", "b", "docs", "build", "x y", "ä", "foo"]
PATTERNS = [
    *("build/", "/a", "a", "*.md", "!a.md", "!keep.md", "docs/*", "docs/**", "**/b", "**/b/"),
    *("b/**/a.md", "a/b", "/docs/a.md", "!docs/", "!/docs/a.md", "*", "!*/", "!*.md", "foo*"),
    *("[ab].md", "\\!a.md", "# c", "a.md  ", "a.md\\ ", "x\\ y/", "?.md", "/*", "!/docs", "docs"),
    *("!docs/a.md", "**", "a/**", "[!a].md", "", "\\#a", "**foo", "b/*.md", "/*/a.md", "ä/"),
]


def grow(choose: random.Random, folder: Path, depth: int = 0) -> None:
    """A random tree of folders, files and ignore rules."""
    for name in choose.sample(FOLDERS, choose.randint(1, 3)):
        if depth < 3 and choose.random() < 0.6:
            (folder / name).mkdir()
            grow(choose, folder / name, depth + 1)
    for name in ("a.md", "b.md", "keep.md"):
        if choose.random() < 0.6:
            (folder / name).write_text("x")
    if depth == 0 or choose.random() < 0.3:
        rules = "\n".join(choose.choices(PATTERNS, k=choose.randint(1, 4)))
        (folder / ".gitignore").write_text(f"{rules}\n", encoding="utf-8")


def listed_by_git(folder: Path) -> set[str]:
    command = ["git", "ls-files", "-z", "--others", "--exclude-per-directory=.gitignore"]
    found = subprocess.run(command, cwd=folder, capture_output=True, check=True)
    return {name for name in found.stdout.decode().split("\0") if name.endswith(".md")}


@pytest.mark.skipif(shutil.which("git") is None, reason="git is the oracle")
@pytest.mark.parametrize("seed", range(2_000, 2_060))
def test_ignore_rules_mean_what_git_says(seed: int, tmp_path: Path) -> None:
    grow(random.Random(seed), tmp_path)  # noqa: S311 - repeatable
    subprocess.run(["git", "init", "-q", "--template=", str(tmp_path)], check=True)
    assert set(list_markdown(tmp_path, Loader()).files) == listed_by_git(tmp_path)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("a.md", "docs/a.md", "docs/b.md", "docs/sub/c.md", ".hid/d.md", ".hid/.in/e.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("# x\n")
    (tmp_path / ".git").mkdir()
    return tmp_path


@pytest.mark.parametrize(
    ("rules", "left"),
    [
        ("docs/**\n!docs/a.md\n", ["a.md", "docs/a.md"]),
        ("*\n!*/\n!b.md\n", ["docs/b.md"]),
        ("docs\n!docs/a.md\n", ["a.md"]),  # gitignore(5): not below an excluded folder
    ],
)
def test_what_a_negation_brings_back(rules: str, left: list[str], folder: Path) -> None:
    (folder / ".gitignore").write_text(rules)
    assert list(list_markdown(folder, Loader()).files) == left


def test_a_folder_rule_below_does_not_bring_back_files(folder: Path) -> None:
    (folder / ".gitignore").write_text("b.md\nc.md\n")
    (folder / "docs" / ".gitignore").write_text("!*/\n")
    assert list(list_markdown(folder, Loader()).files) == ["a.md", "docs/a.md"]


@pytest.mark.parametrize(
    ("include", "taken"),
    [
        (".hid/", [".hid/.in/e.md", ".hid/d.md"]),
        ("**/.hid/**", [".hid/.in/e.md", ".hid/d.md"]),
        (".h*/", [".hid/.in/e.md", ".hid/d.md"]),
        (".hid/*.md", [".hid/d.md"]),
        ("**/d.md", []),
        ("docs/**", ["docs/a.md", "docs/b.md", "docs/sub/c.md"]),
    ],
)
def test_hidden_folders_are_entered_when_named(
    include: str, taken: list[str], folder: Path
) -> None:
    assert list(list_markdown(folder, Loader(), [include]).files) == taken


def test_links_that_lead_nowhere_and_odd_names(folder: Path) -> None:
    (folder / "loop.md").symlink_to("loop.md")
    (folder / "ring1").symlink_to("ring2")
    (folder / "ring2").symlink_to("ring1")
    (folder / "gone.md").symlink_to("nowhere.md")
    (folder / "docs" / "up").symlink_to("..")
    odd = os.fsdecode(b"\xff.md")
    (folder / odd).write_text("# odd\n")
    found = list_markdown(folder, Loader()).files
    assert list(found) == ["a.md", "docs/a.md", "docs/b.md", "docs/sub/c.md", odd]
    assert Loader().load_markdown(folder / odd).data == b"# odd\n"


def test_a_line_that_no_expression_can_be_made_of_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".gitignore").write_text("[z-a]\nb.md\n")
    for name in ("a.md", "b.md"):
        (tmp_path / name).write_text("# x\n")
    found = mdvision.index_markdown_folder(tmp_path)
    assert [Path(str(file.path)).name for file in found] == ["a.md"]
    for options in ({"include": ["[z-a]"]}, {"exclude": ["[z-a]"]}, {"include": ["!"]}):
        with pytest.raises(mdvision.InvalidInputError, match="well-formed"):
            mdvision.index_markdown_folder(tmp_path, **options)  # type: ignore[arg-type]
