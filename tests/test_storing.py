"""The cache of indexes: what it may be believed for, and what it survives."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sqlite3
import time
from pathlib import Path

import pytest

import mdvision
from mdvision import Code, indexing, storing
from mdvision.storing import IndexCache, Stamp, write_atomically

TEXT = "---\nday: 2026-01-02\n---\n# A *b*\n\n![p](p.png 'title')\n\n## C\n"


def aged(path: Path, text: str, seconds: int = 60) -> Path:
    path.write_text(text, encoding="utf-8")
    then = time.time() - seconds
    os.utime(path, (then, then))
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "docs"
    root.mkdir()
    for name in "abc":
        aged(root / f"{name}.md", TEXT.replace("# A", f"# {name}"))
    return root


def indexed(folder: Path, cache: Path) -> tuple[mdvision.MarkdownFolderIndex, int]:
    """The folder's index, and how many files were parsed for it."""
    parsed: list[str] = []

    def counting(path: str, **options: object) -> mdvision.MarkdownFileIndex:
        parsed.append(path)
        return original(path, **options)  # type: ignore[arg-type]

    original = indexing.index_markdown_file
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("mdvision.indexing.index_markdown_file", counting)
        return mdvision.index_markdown_folder(folder, cache=cache), len(parsed)


def test_an_unchanged_folder_is_not_parsed_again(folder: Path, tmp_path: Path) -> None:
    cold, parsed = indexed(folder, tmp_path / "cache")
    assert parsed == 3
    warm, parsed = indexed(folder, tmp_path / "cache")
    assert parsed == 0
    assert warm == cold == mdvision.index_markdown_folder(folder)


@pytest.mark.parametrize("change", ["text", "time", "inode", "size"])
def test_a_changed_file_is(folder: Path, tmp_path: Path, change: str) -> None:
    indexed(folder, tmp_path / "cache")
    path = folder / "b.md"
    before = path.stat()
    if change == "text":  # the same size, another time
        aged(path, TEXT.replace("# A", "# X"), seconds=30)
    elif change == "time":
        os.utime(path, (1, 1))
    elif change == "inode":
        aged(tmp_path / "new", TEXT.replace("# A", "# X"))
        os.utime(tmp_path / "new", ns=(before.st_atime_ns, before.st_mtime_ns))
        (tmp_path / "new").replace(path)
    else:
        path.write_text("# longer\n" + TEXT, encoding="utf-8")
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    found, parsed = indexed(folder, tmp_path / "cache")
    assert parsed == 1
    assert found == mdvision.index_markdown_folder(folder)


def test_a_file_written_this_moment_is_not_believed_later(folder: Path, tmp_path: Path) -> None:
    (folder / "a.md").write_text("# one\n", encoding="utf-8")
    indexed(folder, tmp_path / "cache")
    assert indexed(folder, tmp_path / "cache")[1] == 1


def test_another_parser_believes_nothing(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    indexed(folder, tmp_path / "cache")
    monkeypatch.setattr(storing, "PARSER_VERSION", storing.PARSER_VERSION + 1)
    assert indexed(folder, tmp_path / "cache")[1] == 3


def test_files_that_are_gone_leave_the_cache(folder: Path, tmp_path: Path) -> None:
    indexed(folder, tmp_path / "cache")
    (folder / "a.md").unlink()
    indexed(folder, tmp_path / "cache")
    database = sqlite3.connect(tmp_path / "cache")
    names = [os.fsdecode(path) for (path,) in database.execute("SELECT path FROM indexes")]
    database.close()
    assert sorted(Path(name).name for name in names) == ["b.md", "c.md"]


@pytest.mark.parametrize("where", [0, 18, 30, 100, 2_000, 5_000, 8_000, -200])
def test_a_damaged_cache_changes_no_answer(folder: Path, tmp_path: Path, where: int) -> None:
    cache = tmp_path / "cache"
    right, _ = indexed(folder, cache)
    data = bytearray(cache.read_bytes())
    where %= len(data)
    for k in range(where, min(where + 64, len(data))):
        data[k] ^= 0xA5
    cache.write_bytes(data)
    found, _ = indexed(folder, cache)
    assert list(found) == list(right)


@pytest.mark.parametrize("page", [2, 3])
def test_damage_beyond_the_first_page_heals(tmp_path: Path, page: int) -> None:
    folder = tmp_path / "docs"
    folder.mkdir()
    for k in range(200):
        (folder / f"{k}.md").write_text(f"# {k}\n\n" + "## more\n" * 20, encoding="utf-8")
        os.utime(folder / f"{k}.md", (0, 0))
    cache = tmp_path / "cache"
    right, _ = indexed(folder, cache)
    with cache.open("r+b") as file:
        file.seek((page - 1) * 4_096)
        file.write(b"\xff" * 4_096)
    assert indexed(folder, cache)[0] == right
    indexed(folder, cache)
    assert indexed(folder, cache) == (right, 0)


def test_a_truncated_cache_is_begun_anew(folder: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    right, _ = indexed(folder, cache)
    cache.write_bytes(cache.read_bytes()[:5_000])
    found, parsed = indexed(folder, cache)
    assert (found, parsed) == (right, 3)
    assert indexed(folder, cache) == (right, 0)


def test_a_forged_entry_without_its_checksum_is_not_believed(folder: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    right, _ = indexed(folder, cache)
    with sqlite3.connect(cache) as database:
        database.execute("UPDATE indexes SET payload = replace(payload, '# b', '# forged')")
    database.close()
    found, parsed = indexed(folder, cache)
    assert found == right
    assert parsed == 1


def test_somebody_else_s_file_is_left_alone(folder: Path, tmp_path: Path) -> None:
    precious = tmp_path / "precious.md"
    precious.write_text("# mine\n" * 50, encoding="utf-8")
    found = mdvision.index_markdown_folder(folder, cache=precious)
    assert [issue.code for issue in found.issues] == [Code.STORE_UNAVAILABLE]
    assert len(found) == 3
    assert precious.read_text(encoding="utf-8") == "# mine\n" * 50


def test_somebody_else_s_database_is_left_alone(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE indexes (theirs TEXT)")
    database.close()
    before = path.read_bytes()
    found = mdvision.index_markdown_folder(folder, cache=path)
    assert [issue.code for issue in found.issues] == [Code.STORE_UNAVAILABLE]
    assert path.read_bytes() == before


def _index_for_ever(folder: str, cache: str) -> None:
    while True:
        for path in Path(folder).iterdir():
            os.utime(path, (1, time.time() - 1_000))
        mdvision.index_markdown_folder(folder, cache=cache)


def test_it_survives_a_kill_at_any_time(folder: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    context = multiprocessing.get_context("spawn")
    for delay in (0.0, 0.013, 0.05, 0.11):
        process = context.Process(target=_index_for_ever, args=(str(folder), str(cache)))
        process.start()
        deadline = time.monotonic() + 30
        while not cache.exists() and time.monotonic() < deadline:
            time.sleep(0.01)
        time.sleep(delay)
        assert process.pid
        os.kill(process.pid, signal.SIGKILL)
        process.join()
        found, _ = indexed(folder, cache)
        assert list(found) == list(mdvision.index_markdown_folder(folder))
        assert found.issues == ()


def test_entries_are_by_path(tmp_path: Path) -> None:
    path = aged(tmp_path / "a.md", TEXT)
    index = mdvision.index_markdown_file(path)
    stamp = Stamp.of(str(path))
    with IndexCache(tmp_path / "cache") as cache:
        cache.put(str(path), stamp, index)
    with IndexCache(tmp_path / "cache") as cache:
        assert cache.get(str(path), stamp, str(path)) == index
        assert cache.get(f"{path}x", stamp, str(path)) is None


def test_a_write_is_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "file"
    write_atomically(target, b"one")
    assert target.read_bytes() == b"one"

    def fails(*_: object) -> None:
        raise OSError

    monkeypatch.setattr("os.replace", fails)
    with pytest.raises(OSError):  # noqa: PT011 - the one raised above
        write_atomically(target, b"two")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
    assert target.read_bytes() == b"one"


def test_a_file_is_made_without_touching_the_process_umask(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The umask is the whole process's: a file of another thread would take what it is set to."""
    before = os.umask(0o027)
    try:
        with monkeypatch.context() as patch:
            patch.setattr("os.umask", lambda _: pytest.fail("the umask is changed"))
            write_atomically(tmp_path / "file", b"one")
    finally:
        os.umask(before)
    assert (tmp_path / "file").stat().st_mode & 0o777 == 0o640


def test_a_name_may_be_as_long_as_the_system_takes(tmp_path: Path) -> None:
    name = "x" * 251 + ".png"
    write_atomically(tmp_path / name, b"one")
    assert [path.name for path in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("name", ["nowhere/a.png", "x" * 300, "folder", ""])
def test_what_cannot_be_written_is_named_as_it_was_given(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError, match="Errno") as raised:
        write_atomically(name, b"one")
    assert (raised.value.filename, raised.value.filename2) == (name, None)
    assert str(tmp_path) not in f"{raised.value}"
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]


def test_files_leave_the_cache_together_or_not_at_all(folder: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    indexed(folder, cache)
    with sqlite3.connect(cache) as database:
        database.execute(
            "CREATE TRIGGER stop BEFORE DELETE ON indexes WHEN CAST(old.path AS TEXT) LIKE '%c.md'"
            " BEGIN SELECT RAISE(ABORT, 'no'); END"
        )
    database.close()
    for path in folder.iterdir():
        path.rename(path.with_suffix(".txt"))
    indexed(folder, cache)
    for path in folder.iterdir():
        path.rename(path.with_suffix(".md"))
    assert indexed(folder, cache)[1] == 0  # none was forgotten


def test_a_cache_is_read_while_another_process_writes(folder: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    right, _ = indexed(folder, cache)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(storing, "_WAIT_SECONDS", 0.05)
        other = sqlite3.connect(cache, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        assert indexed(folder, cache) == (right, 0)
        other.close()


def test_every_field_of_an_index_comes_back(tmp_path: Path) -> None:
    """Whatever a field holds, and those that a later version adds."""
    row = mdvision.HeadingIndexRow(
        heading="# A", level=1, line_start=4, line_end=9, image_count=2, char_count=77,
        section_path=("A",), slug="a", page=3,
    )  # fmt: skip
    image = mdvision.ImageReference(source="a", alt="b", title="c", line_start=5, kind="html")
    index = mdvision.MarkdownFileIndex(
        path="x", frontmatter="---\na: 1\n---", metadata={"a": 1}, line_count=9, char_count=99,
        rows=(row,), images=(image, image),
    )  # fmt: skip
    path = aged(tmp_path / "a.md", TEXT)
    stamp = Stamp.of(str(path))
    with IndexCache(tmp_path / "cache") as cache:
        cache.put(str(path), stamp, index)
    with IndexCache(tmp_path / "cache") as cache:
        assert cache.get(str(path), stamp, "x") == index


def test_what_was_kept_of_other_fields_is_not_believed(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    right, _ = indexed(folder, tmp_path / "cache")
    monkeypatch.setattr(storing, "_FILE_FIELDS", ("char_count", "line_count", "frontmatter"))
    assert indexed(folder, tmp_path / "cache") == (right, 3)


def test_a_cache_that_is_in_use_is_not_replaced(folder: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    right, _ = indexed(folder, cache)
    inode = cache.stat().st_ino
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(storing, "_WAIT_SECONDS", 0.05)
        patch.setattr(
            storing, "PARSER_VERSION", storing.PARSER_VERSION + 1
        )  # it must write at once
        other = sqlite3.connect(cache, isolation_level=None)
        other.execute("BEGIN EXCLUSIVE")
        found = mdvision.index_markdown_folder(folder, cache=cache)
        other.close()
    assert [issue.code for issue in found.issues] == [Code.STORE_UNAVAILABLE]
    assert list(found) == list(right)
    assert cache.stat().st_ino == inode


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n"])
def test_front_matter_comes_back_whatever_ends_its_lines(tmp_path: Path, end: str) -> None:
    root = tmp_path / "docs"
    root.mkdir()
    path = root / "a.md"
    path.write_bytes(end.join(("---", "title: x", "---", "# H", "")).encode())
    os.utime(path, (1, time.time() - 60))
    first, _ = indexed(root, tmp_path / "cache")
    assert indexed(root, tmp_path / "cache") == (first, 0)
    assert first[0].metadata == {"title": "x"}


def test_files_of_another_time(folder: Path, tmp_path: Path) -> None:
    os.utime(folder / "a.md", (1, 32_503_680_000))  # the year 3000: more nanoseconds than 64 bits
    right = mdvision.index_markdown_folder(folder)
    for _ in range(2):
        assert mdvision.index_markdown_folder(folder, cache=tmp_path / "cache") == right


@pytest.mark.parametrize("payload", [b"\x00\xff", None, "\u00e4", 7, "[]", "{"])
def test_a_row_of_another_kind_is_not_believed(
    folder: Path, tmp_path: Path, payload: object
) -> None:
    right, _ = indexed(folder, tmp_path / "cache")
    with sqlite3.connect(tmp_path / "cache") as database:
        database.execute("UPDATE indexes SET payload = ?", (payload,))
    database.close()
    assert indexed(folder, tmp_path / "cache") == (right, 3)


@pytest.mark.parametrize("name", ["x\0y", "\ud800", ""])
def test_a_name_that_is_none(folder: Path, name: str) -> None:
    found = mdvision.index_markdown_folder(folder, cache=name or ".")
    assert [issue.code for issue in found.issues] == [Code.STORE_UNAVAILABLE]
    assert len(found) == 3


def test_a_cache_knows_no_more_than_the_loader(folder: Path, tmp_path: Path) -> None:
    indexed(folder, tmp_path / "cache")
    loader = mdvision.Loader(limits=mdvision.Limits(max_text_bytes=10))
    found = mdvision.index_markdown_folder(folder, cache=tmp_path / "cache", loader=loader)
    assert {issue.code for file in found for issue in file.issues} == {Code.SOURCE_TOO_LARGE}


def test_a_part_of_a_folder_leaves_the_rest_in_the_cache(folder: Path, tmp_path: Path) -> None:
    indexed(folder, tmp_path / "cache")
    mdvision.index_markdown_folder(folder, include=["a.md"], cache=tmp_path / "cache")
    assert indexed(folder, tmp_path / "cache")[1] == 0
