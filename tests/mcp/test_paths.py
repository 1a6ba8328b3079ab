"""A path in an answer leads back to the file when it is passed back."""

from __future__ import annotations

from pathlib import Path

import pytest

from mdvision.model import AccessPolicy
from mdvision_mcp.paths import shown_path
from mdvision_mcp.settings import Settings
from mdvision_mcp.work import Call
from tests.mcp.talk import ask, texts


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for folder in ("one", "two", "cwd", "outside"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "same.md").write_text(f"# {folder}\n")
        (tmp_path / folder / f"{folder}.md").write_text(f"# {folder}\n")
    return tmp_path


@pytest.mark.parametrize("cwd", ["cwd", "outside", "."])
@pytest.mark.parametrize("paths", [("one",), ("two", "one"), ("one", "two", "cwd")])
def test_every_path_leads_back(
    tree: Path, monkeypatch: pytest.MonkeyPatch, cwd: str, paths: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tree / cwd)
    policy = AccessPolicy(paths=tuple(str(tree / name) for name in paths))
    loader = Call(Settings(policy=policy)).loader
    for folder in paths:
        for file in (tree / folder).iterdir():
            shown = shown_path(str(file), loader)
            assert Path(loader.locate(shown)).resolve() == file.resolve()
    assert shown_path(str(tree / paths[0] / f"{paths[0]}.md"), loader) == f"{paths[0]}.md"


def test_a_name_that_two_folders_have_is_whole(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tree / "outside")
    policy = AccessPolicy(paths=(str(tree / "one"), str(tree / "two")))
    found, second = ask(
        Settings(policy=policy),
        ("index_md", {"uri": "."}),
        ("read_md_with_images", {"uri": f"{tree}/two/same.md"}),
    )
    assert [line.split('"')[1] for line in texts(found).split("\n") if "<file" in line] == [
        "one.md",
        "same.md",
        f"{tree}/two/same.md",
        "two.md",
    ]
    assert texts(second) == "# two\n"
