"""Names in a local document: a site's folders, aliases, a vault of notes."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from mdvision import AccessPolicy, Code, Loader, MdVisionError
from mdvision.sources import local


def tree(root: Path, *names: str) -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if name.endswith(".git"):
            path.mkdir(exist_ok=True)
        else:
            path.write_bytes(name.encode())


def brought(
    root: Path,
    note: str,
    name: str,
    *roots: str,
    loader: Loader | None = None,
    kind: str = "inline",
) -> str | Code:
    """The file that a name in a note leads to, relative to the root, or the code of the error."""
    loader = loader or Loader()
    names = loader.names(str(root / note), [root / folder for folder in roots])
    try:
        return loader.load_named(names, name, kind=kind).data.decode()
    except MdVisionError as error:
        return error.issue.code


NOT_FOUND, DENIED = Code.SOURCE_NOT_FOUND, Code.FILE_ACCESS_DENIED


@pytest.mark.parametrize("folder", ["public", "static", "docs", "src/assets", "assets"])
def test_a_site_s_folders_are_found(tmp_path: Path, folder: str) -> None:
    tree(tmp_path, "r/.git", f"r/{folder}/img/x.png", "r/docs/a/b.md")
    assert brought(tmp_path, "r/docs/a/b.md", "/img/x.png") == f"r/{folder}/img/x.png"


def test_the_nearest_folder_comes_first_and_the_caller_s_before_it(tmp_path: Path) -> None:
    tree(tmp_path, "r/.git", "r/public/x.png", "r/site/static/x.png", "r/site/docs/a.md")
    tree(tmp_path, "r/site/x.png", "r/mine/x.png", "r/site/public/y.png", "r/public/y.png")
    assert brought(tmp_path, "r/site/docs/a.md", "/x.png") == "r/site/static/x.png"
    assert brought(tmp_path, "r/site/docs/a.md", "/y.png") == "r/site/public/y.png"
    assert brought(tmp_path, "r/site/docs/a.md", "/x.png", "r/mine") == "r/mine/x.png"
    assert brought(tmp_path, "r/site/docs/a.md", "/y.png", "r/mine") == "r/site/public/y.png"
    (tmp_path / "r/site/static/x.png").unlink()
    assert brought(tmp_path, "r/site/docs/a.md", "/x.png") == "r/site/x.png"


def test_no_site_begins_above_the_repository_or_an_allowed_folder(tmp_path: Path) -> None:
    tree(tmp_path, "public/x.png", "r/.git", "r/public/y.png", "r/s/public/z.png", "r/s/d/a.md")
    assert brought(tmp_path, "r/s/d/a.md", "/x.png") is NOT_FOUND
    assert brought(tmp_path, "r/s/d/a.md", "/y.png") == "r/public/y.png"
    loader = Loader(AccessPolicy(paths=(str(tmp_path / "r/s"),)))
    assert brought(tmp_path, "r/s/d/a.md", "/y.png", loader=loader) is DENIED
    assert brought(tmp_path, "r/s/d/a.md", "/z.png", loader=loader) == "r/s/public/z.png"


def test_outside_repositories_only_the_document_s_folder_is_a_site(tmp_path: Path) -> None:
    tree(tmp_path, "public/x.png", "d/static/y.png", "d/a.md")
    assert brought(tmp_path, "d/a.md", "/x.png") is NOT_FOUND
    assert brought(tmp_path, "d/a.md", "/y.png") == "d/static/y.png"


def test_dots_do_not_lead_out_of_a_site(tmp_path: Path) -> None:
    tree(tmp_path, "x.png", "r/.git", "r/public/y.png", "r/a.md")
    assert brought(tmp_path, "r/a.md", "/../../x.png") is NOT_FOUND
    assert brought(tmp_path, "r/a.md", "/../../y.png") == "r/public/y.png"


def test_an_alias_is_a_site_s_folder_and_a_name_first(tmp_path: Path) -> None:
    tree(tmp_path, "r/.git", "r/src/assets/x.png", "r/static/img/y.png", "r/docs/a.md")
    assert brought(tmp_path, "r/docs/a.md", "@assets/x.png") == "r/src/assets/x.png"
    assert brought(tmp_path, "r/docs/a.md", "@site/static/img/y.png") == "r/static/img/y.png"
    tree(tmp_path, "r/docs/@assets/x.png")
    assert brought(tmp_path, "r/docs/a.md", "@assets/x.png") == "r/docs/@assets/x.png"


def test_the_name_as_it_stands_comes_first(tmp_path: Path) -> None:
    tree(tmp_path, "r/.git", "r/public/a%20b.png", "r/static/a b.png", "r/static/c d.png", "r/a.md")
    assert brought(tmp_path, "r/a.md", "/a%20b.png?raw=true#x") == "r/public/a%20b.png"
    assert brought(tmp_path, "r/a.md", "/c%20d.png?raw=true#x") == "r/static/c d.png"


# a vault


def by_name(root: Path, note: str, name: str, loader: Loader | None = None) -> str | Code:
    return brought(root, note, name, loader=loader, kind="wiki")


def test_a_vault_s_order(tmp_path: Path) -> None:
    names = ["v/n/x.png", "v/x.png", "v/far/deep/x.png", "v/far/x.png"]
    tree(tmp_path, "v/.obsidian/app.json", "v/n/a.md", *names)
    for name in names[:2] + names[:1:-1]:
        assert by_name(tmp_path, "v/n/a.md", "x.png") == name
        (tmp_path / name).unlink()
    assert by_name(tmp_path, "v/n/a.md", "x.png") is NOT_FOUND


def test_of_several_files_of_a_name_the_nearest(tmp_path: Path) -> None:
    tree(
        tmp_path,
        "v/.obsidian/app.json",
        "v/de/n/a.md",
        "v/de/att/x.png",
        "v/ar/att/x.png",
        "v/z/x.png",
    )
    assert by_name(tmp_path, "v/de/n/a.md", "x.png") == "v/de/att/x.png"
    assert by_name(tmp_path, "v/ar/n/a.md", "x.png") == "v/ar/att/x.png"
    assert by_name(tmp_path, "v/q/a.md", "x.png") == "v/z/x.png"
    assert by_name(tmp_path, "v/q/a.md", "att/x.png") == "v/ar/att/x.png"
    assert by_name(tmp_path, "v/q/a.md", "no/such/x.png") == "v/z/x.png"


def test_case_and_composition_make_no_difference_in_a_vault(tmp_path: Path) -> None:
    tree(tmp_path, "v/.obsidian/app.json", "v/att/Plan B\u00fc.PNG", "v/n/a.md")
    assert by_name(tmp_path, "v/n/a.md", "plan bu\u0308.png") == "v/att/Plan B\u00fc.PNG"


def test_a_name_in_a_vault_is_no_address(tmp_path: Path) -> None:
    tree(tmp_path, "v/.obsidian/app.json", "v/a%20b.png", "v/a b.png", "v/data:x.png", "v/n.md")
    assert by_name(tmp_path, "v/n.md", "a%20b.png") == "v/a%20b.png"
    assert by_name(tmp_path, "v/n.md", "data:x.png") == "v/data:x.png"
    assert by_name(tmp_path, "v/n.md", "a%20c.png") is NOT_FOUND


@pytest.mark.parametrize(
    ("names", "found"),
    [
        (["r/.git", "r/v/.obsidian/x.json", "r/x.png", "r/v/n/a.md"], NOT_FOUND),
        (["r/.git", "r/w/x.png", "r/v/n/a.md"], "r/w/x.png"),
        (["r/w/x.png", "r/v/n/a.md"], NOT_FOUND),
        (["r/v/n/w/x.png", "r/v/n/a.md"], "r/v/n/w/x.png"),
        (["r/v/.obsidian/x.json", "r/v/.trash/x.png", "r/v/n/a.md"], NOT_FOUND),
    ],
    ids=["settings", "repository", "above nothing", "own folder", "hidden"],
)
def test_where_a_vault_ends(tmp_path: Path, names: list[str], found: str | Code) -> None:
    tree(tmp_path, *names)
    assert by_name(tmp_path, "r/v/n/a.md", "x.png") == found


def test_an_allowed_folder_is_a_vault_s_end(tmp_path: Path) -> None:
    tree(tmp_path, "v/.obsidian/app.json", "v/x.png", "v/ok/n/a.md", "v/ok/w/y.png")
    loader = Loader(AccessPolicy(paths=(str(tmp_path / "v/ok"),)))
    assert by_name(tmp_path, "v/ok/n/a.md", "x.png", loader) is NOT_FOUND
    assert by_name(tmp_path, "v/ok/n/a.md", "y.png", loader) == "v/ok/w/y.png"
    (tmp_path / "v/ok/z.png").symlink_to(tmp_path / "v/x.png")
    assert by_name(tmp_path, "v/ok/n/a.md", "z.png", loader) is DENIED


def test_a_vault_is_looked_through_once_and_not_without_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree(tmp_path, "v/.obsidian/app.json", "v/a.md", "v/b/x.png", "v/c/y.png", "v/d/e/z.png")
    walked: list[str] = []
    monkeypatch.setattr(Loader, "checkpoint", lambda _: walked.append(""))
    loader = Loader()
    names = loader.names(str(tmp_path / "v/a.md"))
    paths = [list(names.paths(name, "wiki")) for name in ("x.png", "y.png")]
    assert [len(found) for found in paths] == [3, 3]
    assert len(walked) == 5  # each folder once
    monkeypatch.setattr(local, "MAX_VAULT_ENTRIES", 5)
    assert len(list(loader.names(str(tmp_path / "v/a.md")).paths("z.png", "wiki"))) == 2


def test_paths_are_told_as_the_document_was_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree(tmp_path, "r/.git", "r/public/x.png", "r/docs/a.md", "r/far/y.png")
    monkeypatch.chdir(tmp_path / "r")
    loader = Loader()
    names = loader.names(os.path.join("docs", "a.md"))
    assert loader.load_named(names, "/x.png").uri == os.path.join("public", "x.png")
    assert loader.load_named(names, "y.png", kind="wiki").uri == os.path.join("far", "y.png")
