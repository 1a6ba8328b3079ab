"""Folders that trap a walk: links, pipes, rules that never end; and which name of a file counts."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from mdvision import AccessPolicy, Code, Loader, MdVisionError
from mdvision.sources.files import list_markdown


def plant(folder: Path, *names: str) -> Path:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("# x\n")
    return folder


def listed(folder: Path, *include: str, exclude: tuple[str, ...] = ()) -> list[str]:
    before = time.monotonic()
    found = list_markdown(folder, Loader(), include, exclude)
    assert time.monotonic() - before < 1
    assert found.issues == ()
    return list(found.files)


def test_of_several_names_of_a_file_the_first(tmp_path: Path) -> None:
    plant(tmp_path, "docs/x.md", "docs/sub/y.md")
    (tmp_path / "alias").symlink_to("docs")
    (tmp_path / "z.md").symlink_to("docs/x.md")
    (tmp_path / "docs" / "0.md").symlink_to("sub/y.md")
    assert listed(tmp_path) == ["alias/0.md", "alias/x.md"]


def test_the_first_in_byte_order_not_in_that_of_folders(tmp_path: Path) -> None:
    plant(tmp_path, "a/x.md")
    (tmp_path / "a-b").symlink_to("a")  # "-" comes before "/"
    assert listed(tmp_path) == ["a-b/x.md"]


def test_patterns_for_one_name_leave_the_other(tmp_path: Path) -> None:
    plant(tmp_path, "docs/x.md", "docs/sub/y.md")
    (tmp_path / "alias").symlink_to("docs")
    (tmp_path / "zlias").symlink_to("docs")
    assert listed(tmp_path, "docs/**") == ["docs/sub/y.md", "docs/x.md"]
    assert listed(tmp_path, "alias/*.md") == ["alias/x.md"]
    for pattern in ("alias", "alias/**", "alias/**/*.md"):
        assert listed(tmp_path, exclude=(pattern, "zlias")) == ["docs/sub/y.md", "docs/x.md"]


def test_links_in_rings_end(tmp_path: Path) -> None:
    plant(tmp_path, "a/x.md", "b/y.md", "c/d/z.md")
    for link, target in {
        "here": ".",
        "a/up": "..",
        "a/to-b": "../b",
        "b/to-a": "../a",
        "c/d/top": "../..",
        "c/self": "self",
    }.items():
        (tmp_path / link).symlink_to(target)
    found = listed(tmp_path)
    assert sorted(os.path.basename(name) for name in found) == ["x.md", "y.md", "z.md"]
    assert all("up" not in name and "here" not in name and "top" not in name for name in found)


def test_a_thicket_of_links_is_walked_in_time(tmp_path: Path) -> None:
    """Every folder links to all others: as paths there are more than could ever be listed."""
    for k in range(15):
        plant(tmp_path, f"f{k}/x.md")
        for other in range(15):
            (tmp_path / f"f{k}" / f"l{other}").symlink_to(f"../f{other}")
    assert len(listed(tmp_path)) == 15


@pytest.mark.parametrize("link", ["out.md", "out", "out.pdf"])
@pytest.mark.parametrize("target", ["/etc", "/etc/passwd", "../outside", "../outside/s.md"])
def test_links_out_are_told_and_not_followed(link: str, target: str, tmp_path: Path) -> None:
    plant(tmp_path, "outside/s.md", "in/a.md")
    (tmp_path / "in" / link).symlink_to(target)
    found = list_markdown(tmp_path / "in", Loader())
    assert (found.files, found.documents) == (("a.md",), ())
    is_listed = link != "out" or (tmp_path / "in" / link).is_dir()
    assert [issue.details["source"] for issue in found.issues] == [link] * is_listed
    assert all(issue.code is Code.FILE_ACCESS_DENIED for issue in found.issues)
    assert str(tmp_path) not in str(found.issues)


def test_a_link_inside_the_folder_may_leave_the_policy(tmp_path: Path) -> None:
    """Two folders are allowed in one that is not; the caller may list each."""
    plant(tmp_path, "a/x.md", "b/y.md", "c/z.md")
    (tmp_path / "a" / "b").symlink_to("../b")
    loader = Loader(AccessPolicy(paths=(str(tmp_path / "a"), str(tmp_path / "b"))))
    found = list_markdown(tmp_path / "a", loader)
    assert found.files == ("x.md",)
    (issue,) = found.issues
    assert issue.details["reason"] == "outside_roots"
    assert issue.message == "b is left out: it is a link that leads out of the folder."
    for folder in (tmp_path, tmp_path / "c", tmp_path / "a" / ".." / "c"):
        with pytest.raises(MdVisionError) as raised:
            list_markdown(folder, loader)
        assert raised.value.issue.code is Code.FILE_ACCESS_DENIED


def test_a_folder_that_cannot_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(tmp_path, "a.md", "shut/b.md")
    original = os.scandir

    def scandir(path: str) -> object:
        if path.endswith("shut"):
            raise PermissionError(13, "Permission denied", path)
        return original(path)

    monkeypatch.setattr("mdvision.sources.files.os.scandir", scandir)
    found = list_markdown(tmp_path, Loader())
    assert found.files == ("a.md",)
    assert [(i.code, i.details) for i in found.issues] == [
        (Code.FILE_ACCESS_DENIED, {"reason": "permission", "source": "shut"})
    ]


def test_files_that_are_none(tmp_path: Path) -> None:
    plant(tmp_path, "a.md", "folder.md/b.md")
    (tmp_path / "gone.md").symlink_to("nowhere.md")
    (tmp_path / "gone.pdf").symlink_to("nowhere.pdf")
    (tmp_path / "ring.md").symlink_to("ring.md")
    assert listed(tmp_path) == ["a.md", "folder.md/b.md"]
    assert list_markdown(tmp_path, Loader()).documents == ()


@pytest.mark.parametrize("kind", ["pipe", "zero", "out", "folder", "huge", "gone"])
def test_ignore_files_that_are_traps(kind: str, tmp_path: Path) -> None:
    plant(tmp_path, "a.md", "outside")
    rules = tmp_path / ".gitignore"
    if kind == "pipe":
        os.mkfifo(rules)
    elif kind == "folder":
        rules.mkdir()
    elif kind == "huge":
        rules.write_bytes(b"a.md\n" + b"x\n" * 10_000_000)
    else:
        (tmp_path / "outside").write_text("a.md\n")
        rules.symlink_to({"zero": "/dev/zero", "out": "outside", "gone": "gone"}[kind])
    assert listed(tmp_path) == ["a.md"]


STARRY = ["*a" * 20 + "b", "**/a/" * 20 + "b", "*a*a*a*a*b/**", "a/**/a/**/a/**/b"]


@pytest.mark.parametrize("pattern", [*STARRY, "*a*a*ab", "**/a/**/ab", "[", "[a-", "\\", "!", "/"])
def test_patterns_that_would_take_for_ever(pattern: str, tmp_path: Path) -> None:
    plant(tmp_path, "a" * 240 + ".md")
    plant(tmp_path, "a/" * 60 + "x.md")
    (tmp_path / ".gitignore").write_text(f"{pattern}\n")
    assert len(listed(tmp_path)) == 2


@pytest.mark.parametrize("pattern", STARRY)
def test_a_caller_is_told_of_such_patterns(pattern: str, tmp_path: Path) -> None:
    for include, exclude in (((pattern,), ()), ((), (pattern,))):
        with pytest.raises(MdVisionError) as raised:
            list_markdown(tmp_path, Loader(), include, exclude)
        assert raised.value.issue.code is Code.INPUT_INVALID


@pytest.mark.parametrize("pattern", ["../*", "**/../../*", "/etc/*", "/", "~", "\\\\srv\\*", "\0"])
def test_patterns_that_lead_out_take_nothing(pattern: str, tmp_path: Path) -> None:
    plant(tmp_path, "in/a.md", "s.md")
    assert listed(tmp_path / "in", pattern) == []


@pytest.mark.parametrize("pattern", ["*a*b*c*", "*.md*", "**/b/**/*.md", "*[ab]*[bc]*", "**"])
def test_patterns_that_are_not_too_many_stars(pattern: str, tmp_path: Path) -> None:
    plant(tmp_path, "a/b/abc.md")
    assert listed(tmp_path, pattern) == ["a/b/abc.md"]


@pytest.mark.skipif(shutil.which("git") is None, reason="git is the oracle")
@pytest.mark.parametrize(
    "rules",
    [
        b"\xef\xbb\xbfa.md\nb.md",
        b"a.md\r\nb.md\r\n",
        b"a.md\r",
        b"\r\na.md\r\n\r\n",
        b"# \x85a.md\n# \xe2\x80\xa8b.md\n#\x0cc.md\n",
        b"a.md\x0bb.md\n",
        "ä.md\n".encode(),
        b"\xff.md\n",
        b"[\na.md\n",
        b"!\n!!a.md\n\\\n",
        b"a.md   \nb.md\\ \n",
        b"\\a.md\n[[:alpha:]].md\n",
        b"[^a-b\xc3\xa4].md\n",
        b"[[]a.md\n[]a].md\n",
        b"[[:digit:]c].md\n",
        b"*\n!*.md\n",
    ],
)
def test_ignore_files_are_read_as_git_reads_them(rules: bytes, tmp_path: Path) -> None:
    plant(tmp_path, "a.md", "b.md", "c.md", "ä.md", "b.md ", os.fsdecode(b"\xff.md"))
    (tmp_path / ".gitignore").write_bytes(rules)
    subprocess.run(["git", "init", "-q", "--template=", str(tmp_path)], check=True)
    command = ["git", "ls-files", "-z", "--others", "--exclude-per-directory=.gitignore", "*.md"]
    found = subprocess.run(command, cwd=tmp_path, capture_output=True, check=True)
    expected = sorted(filter(None, found.stdout.split(b"\0")))
    assert [os.fsencode(name) for name in listed(tmp_path)] == expected


def test_the_address_of_a_folder_keeps_its_secrets() -> None:
    with pytest.raises(MdVisionError) as raised:
        list_markdown("https://me:hush@x.test/docs?token=hush", Loader())
    assert "x.test/docs" in str(raised.value)
    assert "hush" not in f"{raised.value} {raised.value!r} {raised.value.issue.to_dict()}"


@pytest.mark.parametrize("pattern", ["a*a*a*/a*a*a*/b", "a*a*a*a*/a*a*a*a*/b", "*a*a/*a*a/*a/x"])
def test_stars_of_all_parts_count(pattern: str, tmp_path: Path) -> None:
    """Each star multiplies the ways in which a name that does not fit is tried."""
    folder = tmp_path / ("a" * 200) / ("a" * 200)
    folder.mkdir(parents=True)
    (folder / "a.md").touch()
    (tmp_path / ".gitignore").write_text(f"{pattern}\n")
    (tmp_path / ".git").mkdir()
    assert list_markdown(tmp_path, Loader()).files == (f"{'a' * 200}/{'a' * 200}/a.md",)
    with pytest.raises(MdVisionError, match="too many stars"):
        list_markdown(tmp_path, Loader(), exclude=(pattern,))
