"""Which files of a folder are its markdown: suffixes, ignore rules, links that stay inside."""

from __future__ import annotations

import codecs
import os
import re
import stat
from datetime import datetime, timezone
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, NamedTuple, cast

from mdvision.errors import Code, Issue, MdVisionError, failure
from mdvision.model import FileEntry
from mdvision.sources.opening import open_file, real_path
from mdvision.sources.walk import Walk

if TYPE_CHECKING:
    from collections.abc import Sequence

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
_MOST_RULES_BYTES = 262_144  # of one .gitignore
_MOST_RULES = 5_000  # of one .gitignore: each file is held against them
_MOST_STARS, _MOST_FOLDER_STARS = 3, 2  # in the parts of a pattern; ** among them
_SHOWN_CHARS = 80
_POSIX_SETS = {
    "[:alnum:]": "a-zA-Z0-9",
    "[:alpha:]": "a-zA-Z",
    "[:digit:]": "0-9",
    "[:lower:]": "a-z",
    "[:space:]": " \t",
    "[:upper:]": "A-Z",
}
_NESTED_SET = re.compile(r"(?<!\\)(\[[!^]?)\[")
_SET_OPERATION = re.compile(r"\[[^]]*(?:--|&&|\|\||~~)")
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
    """Links that lead out of it, and folders in it that cannot be read."""


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
        InvalidInputError: it is no folder, or a pattern is none.
        SourceNotFoundError: there is none.
        AccessDeniedError: the loader's policy forbids it.
    """
    root = real_path(loader.folder(folder))
    walk = Walk(root, Choice(root, include, exclude, gitignore=gitignore), loader.checkpoint)
    found: dict[str, str] = {}  # of several names of one real file the first
    for name, real in sorted(walk.files(), key=lambda file: os.fsencode(file[0])):
        found.setdefault(real, name)
    names = found.values()
    return FolderListing(
        root=root,
        files=tuple(name for name in names if _suffix(name) in MARKDOWN_SUFFIXES),
        documents=tuple(
            entry
            for name in names
            if _suffix(name) in DOCUMENT_TYPES and (entry := _entry(root, name))
        ),
        issues=tuple(walk.issues),
    )


def _suffix(name: str) -> str:
    return os.path.splitext(name)[1].lower()


def _entry(root: str, name: str) -> FileEntry | None:
    try:
        found = os.stat(os.path.join(root, name))
    except OSError:  # gone meanwhile
        return None
    modified = datetime.fromtimestamp(found.st_mtime, timezone.utc)
    return FileEntry(
        path=name,
        media_type=DOCUMENT_TYPES[_suffix(name)],
        size_bytes=found.st_size,
        modified=modified.isoformat(timespec="seconds").replace("+00:00", "Z"),
    )


class Choice:
    """Which files and folders are taken."""

    def __init__(
        self, root: str, include: Sequence[str], exclude: Sequence[str], *, gitignore: bool
    ) -> None:
        self._root = root
        include, exclude = _asked(include), _asked(exclude)
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
        if _suffix(name) not in _LISTED or _verdict(self._exclude, name, is_folder=False):
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
    parts = [part for part in pattern.split("/") if part.strip("*")]
    if name.startswith("."):
        parts = [part for part in parts if part.startswith(".")]
    return any(fnmatchcase(name, part) for part in parts)


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
    """The rules of a folder's .gitignore; as for git none where that is a link, or too long."""
    path = os.path.join(folder, ".gitignore")
    try:
        if not stat.S_ISREG(os.lstat(path).st_mode):
            return []
        with open_file(path, ".gitignore", None) as file:
            data = file.read(_MOST_RULES_BYTES + 1)
    except (OSError, MdVisionError):
        return []
    if len(data) > _MOST_RULES_BYTES:
        return []
    lines = data.removeprefix(codecs.BOM_UTF8).decode("utf-8", "surrogateescape").split("\n")
    if len(lines) > _MOST_RULES:
        return []
    return _compiled([line for line in map(_without_return, lines) if not _is_costly(line)])


def _without_return(line: str) -> str:
    return line.removesuffix("\r")


def _is_costly(pattern: str) -> bool:
    """Whether a pattern could share a long name out among many stars: for hours, some names."""
    parts = pattern.split("/")
    stars = sum(part.rstrip("*").count("*") for part in parts)  # each multiplies the ways
    return stars > _MOST_STARS or parts[:-1].count("**") > _MOST_FOLDER_STARS


def _asked(patterns: Sequence[str]) -> Sequence[str]:
    """The caller's patterns.

    Raises:
        InvalidInputError: one is not well-formed, or has more stars than can be matched in
            reasonable time.
    """
    patterns = [patterns] if isinstance(patterns, str) else patterns  # one pattern, not letters
    for pattern in patterns:
        if not _is_pattern(_plain_sets(pattern)):
            message = f"The pattern {pattern[:_SHOWN_CHARS]!r} is not well-formed."
            raise failure(Code.INPUT_INVALID, message, details={"reason": "pattern"})
        if _is_costly(pattern):
            raise failure(
                Code.INPUT_INVALID,
                f"The pattern {pattern[:_SHOWN_CHARS]!r} has too many stars.",
                next_action="Make several patterns of it, or a shorter one.",
                details={"reason": "pattern"},
            )
    return patterns


def _compiled(lines: Sequence[str]) -> Rules:
    rules: Rules = []
    for pattern in _spec(lines).patterns if lines else ():
        regex = cast("re.Pattern[str] | None", pattern.regex)  # pyright: ignore[reportUnknownMemberType]
        if regex and pattern.include is not None:
            rules.append((regex, pattern.include))
    return rules


def _spec(lines: Sequence[str]) -> GitIgnoreSpec:
    from pathspec import GitIgnoreSpec  # 20 ms that most folders need not pay

    return GitIgnoreSpec.from_lines(filter(_is_pattern, map(_plain_sets, lines)))


def _plain_sets(pattern: str) -> str:
    """A pattern with its sets as pathspec can take them over into a regular expression."""
    for name, letters in _POSIX_SETS.items():
        pattern = pattern.replace(name, letters)
    return _NESTED_SET.sub(r"\1\\[", pattern)


def _is_pattern(line: str) -> bool:
    """Whether pathspec takes a line; git passes over one that it does not understand."""
    from pathspec import GitIgnoreSpec

    if _SET_OPERATION.search(line):
        return False  # re warns of it
    try:
        GitIgnoreSpec.from_lines([line])
    except (ValueError, re.error):  # [z-a]
        return False
    return True
