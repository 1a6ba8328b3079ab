"""The door out: files written whole or not at all, and the cache of indexes."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import secrets
import sqlite3
import time
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from mdvision.errors import Code, failure
from mdvision.markdown.frontmatter import parse_front_matter
from mdvision.markdown.outline import PARSER_VERSION
from mdvision.model import HeadingIndexRow, ImageReference, MarkdownFileIndex

if TYPE_CHECKING:
    from types import TracebackType

    from mdvision.model import Source
    from mdvision.value import Value

_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
_APPLICATION_ID = 0x6D647669  # "mdvi": a database that says so is ours to replace
_ROWS_AT_ONCE = 500
_WAIT_SECONDS = 5.0  # for another process that writes
_INTEGERS = 2**63  # SQLite's are of 64 bits, signed
_SETTLED_SECONDS = 2.0
"""A file changed more recently may change again within one tick of its file system's clock."""
_ROW_FIELDS = tuple(field.name for field in fields(HeadingIndexRow))
_IMAGE_FIELDS = tuple(field.name for field in fields(ImageReference))
_NOT_KEPT = frozenset({"path", "metadata", "rows", "images", "issues"})
"""Fields of a file's index that are made anew, have none, or stand beside the others."""
_FILE_FIELDS = tuple(
    field.name for field in fields(MarkdownFileIndex) if field.name not in _NOT_KEPT
)


def write_atomically(path: Source, data: bytes) -> None:
    """Write a file so that no reader, and no crash, ever sees half of it.

    Raises:
        OSError: it cannot be written; the error names the file that was asked for.
    """
    temporary = Path(path).parent / f".mdvision-{secrets.token_hex(8)}.tmp"
    try:
        descriptor = os.open(temporary, _NEW_FILE, 0o666)  # of which the umask takes its part
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, path)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
            raise
    except OSError as error:
        raise OSError(error.errno, error.strerror, os.fspath(path)) from None


class Stamp(NamedTuple):
    """What tells one state of a file from another without reading it."""

    size: int
    mtime_ns: int
    inode: int

    @classmethod
    def of(cls, path: str) -> Stamp:
        """Take the stamp of a file, links followed."""
        found = os.stat(path)
        return cls(found.st_size, found.st_mtime_ns, found.st_ino)


class IndexCache:
    """Indexes of files that have not changed, in one SQLite file; a context manager.

    An entry counts only for the same path, size, modification time and inode, the same version of
    the parser, and an intact checksum. SQLite's journal keeps the file whole through a kill at any
    moment; one that is damaged all the same is begun anew.

    Raises:
        StoreError: the file is not to be had, or is something else than such a cache.
    """

    def __init__(self, path: Source) -> None:
        self._path = os.fspath(path)
        self._new: list[tuple[bytes, int, int, int, str, bytes]] = []
        try:
            self._database = self._opened()
        except (sqlite3.Error, OSError, ValueError) as error:
            message = f"The cache {self._path} cannot be used ({type(error).__name__})."
            action = "Name a file that does not exist yet, in a folder that can be written to."
            raise failure(Code.STORE_UNAVAILABLE, message, next_action=action) from None

    def _opened(self) -> sqlite3.Connection:
        try:
            return self._connected()
        except sqlite3.DatabaseError as error:
            if not _is_damage(error) or not self._is_ours():
                raise
            os.unlink(self._path)
            return self._connected()

    def _begin_anew(self, error: sqlite3.DatabaseError) -> None:
        """Begin the file anew when damage showed in it; what cannot be written now is not kept."""
        if not _is_damage(error):
            return
        self._database.close()
        with contextlib.suppress(OSError):
            os.unlink(self._path)
        try:
            self._database = self._connected()
        except (sqlite3.Error, OSError):
            self._database = sqlite3.connect(":memory:", isolation_level=None)

    def _is_ours(self) -> bool:
        """Whether the file at least begins as one of our databases (SQLite file format, 1.3)."""
        with open(self._path, "rb") as file:
            header = file.read(72)
        return header[:6] == b"SQLite" and header[68:72] == _APPLICATION_ID.to_bytes(4, "big")

    def _connected(self) -> sqlite3.Connection:
        database = sqlite3.connect(self._path, timeout=_WAIT_SECONDS, isolation_level=None)
        try:
            (tables,) = database.execute("SELECT count(*) FROM sqlite_master").fetchone()
            (owner,) = database.execute("PRAGMA application_id").fetchone()
            (version,) = database.execute("PRAGMA user_version").fetchone()
            _check_owner(tables, owner)
            # Only what differs is written: another process may be writing now.
            if owner != _APPLICATION_ID:
                database.execute(f"PRAGMA application_id = {_APPLICATION_ID}")
            if version != PARSER_VERSION:
                database.execute("DROP TABLE IF EXISTS indexes")
                database.execute(f"PRAGMA user_version = {PARSER_VERSION}")
            database.execute(
                "CREATE TABLE IF NOT EXISTS indexes (path BLOB PRIMARY KEY, size INTEGER,"
                " mtime_ns INTEGER, inode INTEGER, payload TEXT, checksum BLOB)"
            )
        except BaseException:
            database.close()
            raise
        return database

    def get(self, path: str, stamp: Stamp, shown_as: str) -> MarkdownFileIndex | None:
        """Give the index of an unchanged file, its path as `shown_as`; None when not known."""
        if not _is_storable(stamp):
            return None
        try:
            found = self._database.execute(
                "SELECT payload, checksum FROM indexes"
                " WHERE path = ? AND size = ? AND mtime_ns = ? AND inode = ?",
                (os.fsencode(path), *stamp),
            ).fetchone()
        except sqlite3.DatabaseError as error:
            self._begin_anew(error)
            return None
        if found is None or not _is_intact(*found):
            return None
        return _unpacked(found[0], shown_as)

    def put(self, path: str, stamp: Stamp, index: MarkdownFileIndex) -> None:
        """Keep the index of a file that has settled; one with issues is made anew each time."""
        settled = time.time() - stamp.mtime_ns / 1e9 > _SETTLED_SECONDS
        if index.issues or not settled or not _is_storable(stamp):
            return
        payload = _packed(index)
        row = (
            os.fsencode(path),
            stamp.size,
            stamp.mtime_ns,
            stamp.inode,
            payload,
            _checksum(payload),
        )
        self._new.append(row)
        if len(self._new) >= _ROWS_AT_ONCE:
            self._write()

    def _write(self) -> None:
        """Write what is new in one short transaction; on failure the cache stays as it was."""
        rows, self._new = self._new, []
        if not rows:
            return
        try:
            with self._database:
                self._database.execute("BEGIN IMMEDIATE")
                self._database.executemany(
                    "INSERT OR REPLACE INTO indexes VALUES (?,?,?,?,?,?)", rows
                )
        except sqlite3.DatabaseError as error:
            self._begin_anew(error)

    def keep_only(self, folder: str, paths: set[str]) -> None:
        """Forget the files of a folder that are no longer among `paths`."""
        prefix = os.fsencode(os.path.join(folder, ""))
        query = "SELECT path FROM indexes WHERE substr(path, 1, ?) = ?"
        with contextlib.suppress(sqlite3.DatabaseError), self._database:
            known = self._database.execute(query, (len(prefix), prefix)).fetchall()
            gone = [row for row in known if os.fsdecode(row[0]) not in paths]
            if gone:
                self._database.execute("BEGIN IMMEDIATE")
                self._database.executemany("DELETE FROM indexes WHERE path = ?", gone)

    def __enter__(self) -> IndexCache:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._write()
        self._database.close()


def _is_damage(error: sqlite3.DatabaseError) -> bool:
    """Whether an error means damage; what is only locked, full or read-only is a subclass."""
    return type(error) is sqlite3.DatabaseError


def _check_owner(tables: int, owner: int) -> None:
    if tables and owner != _APPLICATION_ID:
        message = "the database belongs to something else"
        raise sqlite3.OperationalError(message)


def _is_storable(stamp: Stamp) -> bool:
    """Whether SQLite has integers for it: a file may be dated to the year 3000."""
    return all(abs(number) < _INTEGERS for number in stamp)


def _is_intact(payload: object, checksum: object) -> bool:
    return isinstance(payload, str) and payload.isascii() and _checksum(payload) == checksum


def _checksum(payload: str) -> bytes:
    """Of the fields' names too: what was kept of other fields is not believed."""
    kept = f"{_FILE_FIELDS} {_ROW_FIELDS} {_IMAGE_FIELDS} {payload}"
    return hashlib.blake2b(kept.encode("ascii"), digest_size=16).digest()


def _packed(index: MarkdownFileIndex) -> str:
    rows = [_values(row, _ROW_FIELDS) for row in index.rows]
    images = [_values(image, _IMAGE_FIELDS) for image in index.images]
    return json.dumps((_values(index, _FILE_FIELDS), rows, images))


def _values(value: Value, names: tuple[str, ...]) -> list[object]:
    return [getattr(value, name) for name in names]


def _unpacked(payload: str, shown_as: str) -> MarkdownFileIndex:
    file, rows, images = json.loads(payload)
    own = _named(file, _FILE_FIELDS)
    frontmatter = own["frontmatter"]
    return MarkdownFileIndex(
        **own,
        path=shown_as,
        metadata=parse_front_matter(frontmatter).metadata if frontmatter else {},
        rows=tuple(HeadingIndexRow(**_named(row, _ROW_FIELDS)) for row in rows),
        images=tuple(ImageReference(**_named(image, _IMAGE_FIELDS)) for image in images),
    )


def _named(values: list[Any], names: tuple[str, ...]) -> dict[str, Any]:
    """Values by their names; JSON has made lists of tuples."""
    return {
        name: tuple(cast("list[object]", value)) if isinstance(value, list) else value
        for name, value in zip(names, values, strict=True)
    }
