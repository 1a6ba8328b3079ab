"""Where a local document's pictures may lie: the paths that a name in it may mean."""

from __future__ import annotations

import os
import posixpath
import re
import threading
import unicodedata
from itertools import compress
from typing import TYPE_CHECKING

from mdvision.sources.opening import real_path
from mdvision.sources.resolve import file_path, local_candidates, scheme_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from mdvision.model import Source

SITE_FOLDERS = ("public", "static", "docs", "src/assets", "assets", "")
"""Folders of a site from which its pages name pictures, the likeliest first; "" is the site's own.

Measured: of 59 such names in 16 repositories 34 lay in public and 22 in docs.
"""

MAX_VAULT_ENTRIES = 50_000
"""Files and folders of a vault that are looked through for one that is named without its path."""

_ALIAS = re.compile(r"@[\w-]+/(.+)", re.DOTALL)
_SKIPPED = frozenset({"node_modules", "__pycache__"})


class LocalNames:
    """The paths that names in one document may mean; safe from several threads.

    Nothing is opened, and nothing is promised: whoever opens a path checks it.

    Args:
        base: path of the document, or of its folder with a final "/"; "" when it has none.
        site_roots: folders that the caller names, in which "/img/x.png" is looked for first.
        roots: the real paths of the folders that may be read; None = all may.
        checkpoint: called for each folder that is looked through; may raise.
    """

    def __init__(
        self,
        base: str,
        site_roots: Sequence[Source],
        roots: Sequence[str] | None,
        checkpoint: Callable[[], None],
    ) -> None:
        self.base = base
        is_folder = base.endswith("/") or os.path.isdir(base)
        self._folder = base if is_folder else os.path.dirname(base)
        self._site_roots = tuple(os.fspath(root) for root in site_roots)
        self._roots = roots
        self._checkpoint = checkpoint
        self._lock = threading.Lock()
        self._climbed: tuple[str, ...] | None = None
        self._levels: list[dict[str, list[str]]] = []
        self._seen = 0

    def paths(self, reference: str, kind: str = "inline") -> Iterator[str]:
        """The paths of what a reference of some kind names, the likeliest first.

        Of an address the name as it stands comes before the decoded one. One that begins with "/"
        is looked for in the site's folders, then as it stands; `@assets/x`, and what a shortcode
        names, as it stands, then in the site's folders. The name in a wiki embed is no address.
        """
        if kind == "wiki":
            yield from self._in_vault(reference)
            return
        if scheme_of(reference) == "file":
            if path := file_path(reference):
                yield path
            return
        for name in local_candidates(reference):
            if name.startswith("/"):
                yield from self._in_site(name)
                yield name
                continue
            yield os.path.join(self._folder, name)
            if alias := _ALIAS.fullmatch(name):
                yield from self._in_site(alias[1])
            if kind == "shortcode":
                yield from self._in_site(name)

    def _in_vault(self, name: str) -> Iterator[str]:
        """The paths of a name in a vault of notes.

        Beside the note, then from the vault's root, then wherever a file is called so: first those
        whose folders fit as well, of these the nearest to the note. Case makes no difference there.
        """
        name = name.replace("\\", "/").lstrip("/")
        yield os.path.join(self._folder, name)
        vault = self._vault_root()
        inside = posixpath.normpath(f"/{name}").lstrip("/")
        yield os.path.join(vault, inside)
        wanted = f"/{_folded(inside)}"
        others: list[str] = []
        for level in self._vault_levels():
            found = sorted(level.get(posixpath.basename(wanted), ()), key=_depth)
            fits = [_folded(f"/{path}".replace(os.sep, "/")).endswith(wanted) for path in found]
            yield from compress(found, fits)
            others += [path for path, is_fit in zip(found, fits, strict=True) if not is_fit]
        yield from others

    def _in_site(self, name: str) -> Iterator[str]:
        inside = posixpath.normpath(f"/{name}").lstrip("/")  # ".." leads no higher than its root
        yield from (os.path.join(root, inside) for root in self._site_roots)
        for folder in self._site_levels():
            yield from (os.path.join(folder, below, inside) for below in SITE_FOLDERS)

    def _site_levels(self) -> Sequence[str]:
        """The document's folder and those above it, up to its repository or an allowed folder.

        In neither there is the document's folder alone.
        """
        climbed = self._climb()
        return climbed if climbed and self._is_top(climbed[-1]) else climbed[:1]

    def _vault_root(self) -> str:
        """The nearest folder with Obsidian's settings, else the highest of the site's levels."""
        for folder in self._climb():
            if os.path.isdir(os.path.join(folder, ".obsidian")):
                return folder
        levels = self._site_levels()
        return levels[-1] if levels else self._folder

    def _climb(self) -> tuple[str, ...]:
        """The folders from the document's upwards, told as the document's own is."""
        if self._climbed is None:
            folder = os.path.abspath(self._folder)
            found = [folder]
            while not self._is_top(folder) and os.path.dirname(folder) != folder:
                folder = os.path.dirname(folder)
                found.append(folder)
            if not os.path.isabs(self._folder):
                found = [os.path.relpath(path) for path in found]
            self._climbed = tuple("" if path == os.curdir else path for path in found)
        return self._climbed

    def _is_top(self, folder: str) -> bool:
        is_allowed = self._roots is not None and real_path(folder) in self._roots
        return is_allowed or os.path.lexists(os.path.join(folder, ".git"))

    def _vault_levels(self) -> Iterator[dict[str, list[str]]]:
        """The files below the note's folder by their folded names, then those of the next above.

        Each folder is looked through once, and as late as possible.
        """
        climbed = self._climb()
        count = climbed.index(self._vault_root()) + 1
        for k in range(count):
            with self._lock:
                if len(self._levels) == k:
                    below = os.path.basename(os.path.abspath(climbed[k - 1])) if k else ""
                    level: dict[str, list[str]] = {}
                    for path in self._files(climbed[k], below):
                        level.setdefault(_folded(os.path.basename(path)), []).append(path)
                    self._levels.append(level)
            yield self._levels[k]

    def _files(self, root: str, left_out: str) -> Iterator[str]:
        """Files below a folder; no hidden ones, none below the folder `left_out` in it.

        No link to a folder is followed.
        """
        top = root or os.curdir
        for above, folders, files in os.walk(top if real_path(top) else ""):
            if self._seen > MAX_VAULT_ENTRIES:
                return
            self._checkpoint()
            self._seen += len(files) + len(folders)
            within = os.path.relpath(above, top)
            is_top = within == os.curdir
            folders[:] = sorted(
                name for name in folders if not (_is_skipped(name) or (is_top and name == left_out))
            )
            folder = root if is_top else os.path.join(root, within)
            yield from (os.path.join(folder, name) for name in files if not _is_skipped(name))


def _is_skipped(name: str) -> bool:
    return name.startswith(".") or name in _SKIPPED


def _folded(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold()


def _depth(path: str) -> tuple[int, str]:
    return path.count(os.sep), path
