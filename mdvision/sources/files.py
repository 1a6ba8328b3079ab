"""Which files of a folder are its markdown: suffixes, ignore rules, links that stay inside."""

from __future__ import annotations

import os
import re
from datetime import datetime, timezone
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, NamedTuple, cast

from mdvision.errors import Code, Issue, issue
from mdvision.model import FileEntry
from mdvision.sources.opening import is_inside, real_path

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pathspec import GitIgnoreSpec

    from mdvision.model import Source
    from mdvision.sources.loader import Loader

MARKDOWN_SUFFIXES = (".md", ".markdown", ".mdx")
DOCUMENT_TYPES = {
    ".pdf": "application/pdf",
    ".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    ".pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    ".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    ".xls": "application/vnd.ms-excel",
    ".odt": "application/vnd.oasis.opendocument.text",
    ".odp": "application/vnd.oasis.opendocument.presentation",
    ".ods": "application/vnd.oasis.opendocument.spreadsheet",
    ".epub": "application/epub+zip",
    ".ipynb": "application/x-ipynb+json",
    ".html": "text/html",
    ".htm": "text/html",
    ".rtf": "application/rtf",
}
"""Documents that can be converted to markdown, by suffix."""

_LISTED = frozenset((*MARKDOWN_SUFFIXES, *DOCUMENT_TYPES))
_NODE_MODULES = "node_modules"
_FOLDER_MARK = "ps_d"  # pathspec's group for the slash after a folder that a pattern names

Rules = list[tuple[re.Pattern[str], bool]]
"""Patterns of a .gitignore file in order, each with whether it excludes."""


class FolderListing(NamedTuple):
    """What a folder holds."""

    root: str
    """The folder itself, links followed."""
    files: tuple[str, ...]
    """Its markdown files, relative to it with "/" between names, in byte order."""
    documents: tuple[FileEntry, ...]
    """Its convertible documents, in the same order."""
    issues: tuple[Issue, ...]
    """Links that lead out of it."""


def list_markdown(
    folder: Source,
    loader: Loader,
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
    *,
    gitignore: bool = True,
) -> FolderListing:
    """List a folder's markdown files and documents.

    Hidden files and folders, `node_modules` and what .gitignore files exclude are left out unless
    `include` names them; `include` also restricts to what it names, and `exclude` wins over all.

    Raises:
        InvalidInputError: it is no folder.
        SourceNotFoundError: there is none.
        AccessDeniedError: the loader's policy forbids it.
    """
    root = real_path(loader.folder(folder))
    walk = _Walk(root, loader, _Choice(root, include, exclude, gitignore=gitignore))
    found: dict[str, str] = {}  # of several names of one real file the first
    for name in sorted(walk.names(), key=os.fsencode):
        path = os.path.join(root, name)
        found.setdefault(real_path(path) if name in walk.links else path, name)
    names = found.values()
    return FolderListing(
        root=root,
        files=tuple(name for name in names if _suffix(name) in MARKDOWN_SUFFIXES),
        documents=tuple(_entry(root, name) for name in names if _suffix(name) in DOCUMENT_TYPES),
        issues=tuple(walk.issues),
    )


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a loop of links
        return False


def _suffix(name: str) -> str:
    return os.path.splitext(name)[1].lower()


def _entry(root: str, name: str) -> FileEntry:
    found = os.stat(os.path.join(root, name))
    modified = datetime.fromtimestamp(found.st_mtime, timezone.utc)
    return FileEntry(
        path=name,
        media_type=DOCUMENT_TYPES[_suffix(name)],
        size_bytes=found.st_size,
        modified=modified.isoformat(timespec="seconds").replace("+00:00", "Z"),
    )


class _Walk:
    """One walk through a folder; every real folder is entered once."""

    def __init__(self, root: str, loader: Loader, choice: _Choice) -> None:
        self._root, self._loader, self._choice = root, loader, choice
        self._entered: set[tuple[int, int]] = set()
        self.links: set[str] = set()
        self.issues: list[Issue] = []

    def names(self) -> Iterator[str]:
        """Give the relative paths of the files that are chosen, folder by folder."""
        pending = [""]
        while pending:
            folder = pending.pop()
            path = os.path.join(self._root, folder)
            try:
                state = os.stat(path)
                entries = sorted(os.scandir(path), key=lambda entry: os.fsencode(entry.name))
            except OSError:
                self._tell(folder, "it cannot be read")
                continue
            if (state.st_dev, state.st_ino) in self._entered:
                continue
            self._entered.add((state.st_dev, state.st_ino))
            self._choice.enter(folder)
            folders: list[str] = []
            for entry in entries:
                name = f"{folder}/{entry.name}" if folder else entry.name
                if _is_folder(entry):
                    if self._choice.takes_folder(name) and self._stays(entry, name):
                        folders.append(name)
                elif (
                    _suffix(entry.name) in _LISTED
                    and self._choice.takes_file(name)
                    and self._stays(entry, name)
                ):
                    yield name
            pending.extend(reversed(folders))

    def _stays(self, entry: os.DirEntry[str], name: str) -> bool:
        """Whether a link leads to something that is there, in the folder and allowed."""
        if not entry.is_symlink():
            return True
        self.links.add(name)
        real = real_path(entry.path)
        if is_inside(real, [self._root]) and self._loader.may_read(entry.path):
            return os.path.isfile(real) or os.path.isdir(real)
        self._tell(name, "it is a link that leads out of the folder")
        return False

    def _tell(self, name: str, why: str) -> None:
        message = f"{name or 'The folder'} is left out: {why}."
        details = {"reason": "outside_roots", "source": name}
        self.issues.append(issue(Code.FILE_ACCESS_DENIED, message, details=details))


class _Choice:
    """Which files and folders are taken."""

    def __init__(
        self, root: str, include: Sequence[str], exclude: Sequence[str], *, gitignore: bool
    ) -> None:
        self._root = root
        include = [include] if isinstance(include, str) else include  # one pattern, not letters
        exclude = [exclude] if isinstance(exclude, str) else exclude
        self._include_patterns = [pattern.strip().strip("/") for pattern in include]
        self._include = _spec(include) if include else None
        self._exclude = _compiled(exclude)
        self._ignore: list[tuple[str, Rules]] = []  # (folder, rules), outermost first
        self._heeds_gitignore = gitignore
        if gitignore:
            self._ignore_from_above()

    def enter(self, folder: str) -> None:
        """Take up the ignore rules of a folder; the walk enters folders before what they hold."""
        if not self._heeds_gitignore:
            return
        inside = os.path.join(self._root, folder, "")
        while self._ignore and not inside.startswith(self._ignore[-1][0]):
            self._ignore.pop()
        if rules := _rules(inside):
            self._ignore.append((inside, rules))

    def takes_folder(self, name: str) -> bool:
        """Whether a folder is entered."""
        if _verdict(self._exclude, name, is_folder=True):
            return False
        return not self._is_skipped(name, is_folder=True) or self._is_named(name)

    def takes_file(self, name: str) -> bool:
        """Whether a file is listed."""
        if _verdict(self._exclude, name, is_folder=False):
            return False
        if self._include is not None:
            return self._include.match_file(name)
        return not self._is_skipped(name, is_folder=False)

    def _is_named(self, name: str) -> bool:
        """Whether an include pattern names a folder, or something in it."""
        if self._include is None:
            return False
        parts = name.split("/")
        parents = {"/".join(parts[: k + 1]) for k in range(len(parts))}
        told = {parts[-1], *(part for part in parts if part.startswith("."))}
        return any(
            pattern in parents
            or pattern.startswith(f"{name}/")
            or any(_has_part(pattern, part) for part in told)
            for pattern in self._include_patterns
        )

    def _is_skipped(self, name: str, *, is_folder: bool) -> bool:
        own = name.rsplit("/", 1)[-1]
        if own.startswith(".") or (is_folder and own == _NODE_MODULES):
            return True
        return self._is_ignored(os.path.join(self._root, name), is_folder=is_folder)

    def _is_ignored(self, path: str, *, is_folder: bool) -> bool:
        """What the innermost .gitignore says that says anything (gitignore(5))."""
        for folder, rules in reversed(self._ignore):
            name = path[len(folder) :].replace(os.sep, "/")
            verdict = _verdict(rules, name, is_folder=is_folder)
            if verdict is not None:
                return verdict
        return False

    def _ignore_from_above(self) -> None:
        """Take up the rules from the repository's root down to the folder's parent.

        When they exclude the folder itself they are dropped: the caller named it all the same.
        """
        above: list[str] = []
        folder = self._root
        while not os.path.lexists(os.path.join(folder, ".git")):
            parent = os.path.dirname(folder)
            if parent == folder:
                return  # in no repository: what lies above has no say
            above.append(parent)
            folder = parent
        for parent in reversed(above):
            if rules := _rules(parent):
                self._ignore.append((os.path.join(parent, ""), rules))
        if self._is_ignored(self._root, is_folder=True):
            self._ignore.clear()


def _has_part(pattern: str, name: str) -> bool:
    """Whether a part of a pattern names a folder; stars alone do not, and no star a dot."""
    return any(
        part.strip("*") and part.startswith(".") >= name.startswith(".") and fnmatchcase(name, part)
        for part in pattern.split("/")
    )


def _verdict(rules: Rules, name: str, *, is_folder: bool) -> bool | None:
    """What the last pattern that names this very entry says; None when none does.

    pathspec's own answer is for files from nowhere: it also counts a pattern that names a folder
    above, so that "!*/" would bring back the files of every folder, and "docs/**" would name docs.
    """
    for pattern, excludes in reversed(rules):
        found = pattern.search(name)
        if found and not found.groupdict().get(_FOLDER_MARK):
            return excludes
        if is_folder and any(
            match.groupdict().get(_FOLDER_MARK) and match.end(_FOLDER_MARK) == len(name) + 1
            for match in pattern.finditer(f"{name}/")
        ):
            return excludes
    return None


def _rules(folder: str) -> Rules:
    try:
        with open(os.path.join(folder, ".gitignore"), "rb") as file:
            lines = file.read().decode("utf-8", "surrogateescape").splitlines()
    except OSError:
        return []
    return _compiled(lines)


def _compiled(lines: Sequence[str]) -> Rules:
    rules: Rules = []
    for pattern in _spec(lines).patterns if lines else ():
        regex = cast("re.Pattern[str] | None", pattern.regex)  # pyright: ignore[reportUnknownMemberType]
        if regex and pattern.include is not None:
            rules.append((regex, pattern.include))
    return rules


def _spec(lines: Sequence[str]) -> GitIgnoreSpec:
    from pathspec import GitIgnoreSpec  # 20 ms that most folders need not pay

    return GitIgnoreSpec.from_lines(line for line in lines if _is_pattern(line))


def _is_pattern(line: str) -> bool:
    """Whether pathspec takes a line; git passes over one that it does not understand."""
    from pathspec import GitIgnoreSpec

    try:
        GitIgnoreSpec.from_lines([line])
    except ValueError:
        return False
    return True
