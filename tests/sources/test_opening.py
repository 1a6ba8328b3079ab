"""Opening: what was opened is judged, on systems without /proc too; every failure has a name."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from mdvision import AccessPolicy, Code, Limits, Loader, MdVisionError
from mdvision.sources import opening


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "in" / "sub").mkdir(parents=True)
    (tmp_path / "out").mkdir()
    (tmp_path / "in" / "sub" / "a.md").write_text("# A\n")
    (tmp_path / "out" / "a.md").write_text("# SECRET\n")
    return tmp_path


def fails(call: Callable[[], object]) -> MdVisionError:
    before = set(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else set()
    with pytest.raises(MdVisionError) as raised:
        call()
    if before:  # nothing is left open
        assert set(os.listdir("/proc/self/fd")) <= before
    assert "SECRET" not in f"{raised.value!r}"
    return raised.value


@pytest.mark.parametrize("has_proc", [True, False])
@pytest.mark.parametrize("swapped", ["file", "folder"])
def test_swaps_between_check_and_open(
    swapped: str, *, has_proc: bool, tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    original_open, original_readlink = os.open, os.readlink
    victim = tree / "in" / "sub" / ("a.md" if swapped == "file" else "")

    def swap_and_open(path: str, *arguments: int) -> int:
        victim.rename(tree / "aside")
        victim.symlink_to(tree / "out" / "a.md" if swapped == "file" else tree / "out")
        return original_open(path, *arguments)

    def readlink(path: str) -> str:
        if path.startswith("/proc/self/fd/") and not has_proc:
            raise FileNotFoundError(path)
        return original_readlink(path)

    monkeypatch.setattr(opening.os, "open", swap_and_open)
    monkeypatch.setattr(opening.os, "readlink", readlink)
    loader = Loader(AccessPolicy(paths=(str(tree / "in"),)))
    issue = fails(lambda: loader.load(tree / "in" / "sub" / "a.md")).issue
    assert issue.code in {Code.FILE_ACCESS_DENIED, Code.SOURCE_NOT_FOUND}


def test_a_harmless_file_comes_without_proc(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    original = os.readlink

    def readlink(path: str) -> str:
        if path.startswith("/proc"):
            raise FileNotFoundError(path)
        return original(path)

    monkeypatch.setattr(opening.os, "readlink", readlink)
    loader = Loader(AccessPolicy(paths=(str(tree / "in"),)))
    assert loader.load(tree / "in" / "sub" / "a.md").data == b"# A\n"


@pytest.mark.parametrize(
    ("number", "code", "reason"),
    [
        (errno.EACCES, Code.FILE_ACCESS_DENIED, "permission"),
        (errno.EPERM, Code.FILE_ACCESS_DENIED, "permission"),
        (errno.ENOENT, Code.SOURCE_NOT_FOUND, "missing"),
        (errno.ENAMETOOLONG, Code.SOURCE_NOT_FOUND, "missing"),
        (errno.ELOOP, Code.SOURCE_NOT_FOUND, "missing"),
        (errno.ENXIO, Code.SOURCE_UNSUPPORTED, "special_file"),
        (errno.EMFILE, Code.FETCH_FAILED, "read"),
        (errno.EIO, Code.FETCH_FAILED, "read"),
    ],
)
def test_what_the_system_says(
    number: int, code: Code, reason: str, tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tree / "in" / "sub" / "a.md"

    def refuse(name: str, *_: int) -> int:
        raise OSError(number, os.strerror(number), name)

    monkeypatch.setattr(opening.os, "open", refuse)
    monkeypatch.chdir(tree)
    error = fails(lambda: Loader().load("in/sub/a.md"))
    assert (error.issue.code, error.issue.details["reason"]) == (code, reason)
    assert str(path) not in f"{error!r}{error.__cause__!r}"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read(tree: Path) -> None:
    (tree / "in" / "sub" / "a.md").chmod(0)
    issue = fails(lambda: Loader().load(tree / "in" / "sub" / "a.md")).issue
    assert (issue.code, issue.details["reason"]) == (Code.FILE_ACCESS_DENIED, "permission")


@pytest.mark.parametrize(
    "path", ["/proc/self/mem", "/dev/zero", "/dev/full", "/dev/tty", "/proc/self/fd", "/proc/kmsg"]
)
def test_special_files_of_the_system(path: str) -> None:
    if not os.path.lexists(path):
        pytest.skip("not on this system")
    fails(lambda: Loader(limits=Limits(max_text_bytes=1_000)).load_markdown(path))


def test_a_file_too_large_for_memory(tmp_path: Path) -> None:
    """Without a limit the system's own is what stops it."""
    (tmp_path / "a.md").touch()
    try:
        os.truncate(tmp_path / "a.md", 1 << 43)
    except OSError:
        pytest.skip("no such file can be made here")
    issue = fails(lambda: Loader().load_markdown(tmp_path / "a.md")).issue
    assert (issue.code, issue.details) == (
        Code.SOURCE_TOO_LARGE,
        {"reason": "memory", "actual": 1 << 43},
    )
    assert "memory" in issue.message
    assert "limit" not in issue.message + issue.next_action


@pytest.mark.parametrize("limit", [10**13, 10**30])
def test_a_high_limit_takes_no_memory(limit: int, tree: Path) -> None:
    path = tree / "in" / "sub" / "a.md"
    loader = Loader(limits=Limits(max_text_bytes=limit, max_input_bytes=limit))
    assert loader.load_markdown(path).data == loader.load(path).data == b"# A\n"


def test_a_file_that_claims_no_size_comes_whole() -> None:
    """Its end is where nothing more comes, not where its size says."""
    if not os.path.exists("/proc/self/status"):
        pytest.skip("not on this system")
    limited = Loader(limits=Limits(max_text_bytes=10**6))
    assert b"VmPeak" in limited.load_markdown("/proc/self/status").data
    issue = fails(
        lambda: Loader(limits=Limits(max_text_bytes=9)).load_markdown("/proc/self/status")
    )
    assert issue.issue.details == {"limit": 9, "actual": 10}


def test_a_folder_is_no_file(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only who asks for markdown is told that markdown was expected."""
    monkeypatch.chdir(tree)
    folder = Code.INPUT_INVALID, {"reason": "folder"}
    for name in ("in", "in/", ""):
        shown = name or '""'
        for call, start in (
            (Loader().load, ""),
            (Loader().load_markdown, "Expected a markdown file: "),
        ):
            issue = fails(lambda: call(name)).issue  # noqa: B023 - called at once
            assert issue.message == f"{start}{shown} is a folder, not a file."
            assert (issue.code, issue.details) == folder
    issue = fails(lambda: Loader().load_reference(f"{tree}/a.md", "in")).issue
    assert issue.message == "in is a folder, not a file."
    assert '""' in fails(lambda: Loader().folder("")).issue.message


def test_sizes_are_taken_to_the_byte(tree: Path) -> None:
    path = tree / "in" / "sub" / "a.md"
    assert Loader(limits=Limits(max_input_bytes=4)).load(path).data == b"# A\n"
    issue = fails(lambda: Loader(limits=Limits(max_input_bytes=3)).load(path)).issue
    assert (issue.details["limit"], issue.details["actual"]) == (3, 4)
    assert Loader(limits=Limits(max_input_bytes=3)).load_markdown(path).data == b"# A\n"


def test_an_open_file_can_be_seeked(tree: Path) -> None:
    loader = Loader(AccessPolicy(paths=(str(tree / "in"),)))
    with loader.open(tree / "in" / "sub" / "a.md") as file:
        assert file.seek(2) == 2
        assert file.read() == b"A\n"
    assert fails(lambda: loader.open(tree / "out" / "a.md")).issue.code is Code.FILE_ACCESS_DENIED


def test_a_root_that_is_a_link_goes_by_both_names(tree: Path) -> None:
    (tree / "door").symlink_to("in")
    for root in ("door", "in"):
        loader = Loader(AccessPolicy(paths=(str(tree / root),)))
        for name in ("door", "in"):
            assert loader.load(tree / name / "sub" / "a.md").data == b"# A\n"
    loader = Loader(AccessPolicy(paths=(str(tree / "door"),)))
    (tree / "door").unlink()
    (tree / "door").symlink_to("out")  # the policy keeps what the link was
    assert fails(lambda: loader.load(tree / "door" / "a.md")).issue.code is Code.FILE_ACCESS_DENIED
