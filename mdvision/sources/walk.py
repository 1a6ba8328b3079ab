"""Walking a folder: each real folder once, and never out of it, whatever its links say."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from mdvision.errors import Code, Issue, issue
from mdvision.sources.opening import is_inside, real_path

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from mdvision.sources.files import Choice


_ENTRIES_A_CHECK = 1_000


class Place(NamedTuple):
    """A folder that the walk comes to."""

    name: str
    """Relative to where the walk began, with "/" between names."""
    real: str
    by_link: bool
    """Whether a link was followed on the way."""
    above: Place | None


class Walk:
    """One walk through a folder.

    Every real folder is entered once by its own name and at most once by a link, for the files that
    a pattern takes under one name alone; a link to a folder that it stands in is passed over.
    """

    def __init__(self, root: str, choice: Choice, checkpoint: Callable[[], None]) -> None:
        self._root, self._choice, self._checkpoint = root, choice, checkpoint
        self._entered: set[tuple[str, bool]] = set()
        self.issues: list[Issue] = []

    def files(self) -> Iterator[tuple[str, str]]:
        """Give the relative and the real path of each file that is chosen, folder by folder."""
        pending = [Place("", self._root, by_link=False, above=None)]
        while pending:
            place = pending.pop()
            if (place.real, place.by_link) in self._entered:
                continue
            self._entered.add((place.real, place.by_link))
            self._choice.enter(place.name)
            folders: list[Place] = []
            for k, entry in enumerate(self._entries(place)):
                if k % _ENTRIES_A_CHECK == 0:
                    self._checkpoint()
                name = f"{place.name}/{entry.name}" if place.name else entry.name
                if _is_folder(entry):
                    if self._choice.takes_folder(name) and (real := self._real(entry, name, place)):
                        by_link = place.by_link or entry.is_symlink()
                        folders.append(Place(name, real, by_link, place))
                elif self._choice.takes_file(name) and (real := self._real(entry, name, place)):
                    yield name, real
            pending.extend(sorted(folders, key=_byte_order, reverse=True))

    def _entries(self, place: Place) -> list[os.DirEntry[str]]:
        try:
            with os.scandir(place.real) as entries:
                return list(entries)
        except OSError:
            self._tell(place.name, "it cannot be read", "permission")
            return []

    def _real(self, entry: os.DirEntry[str], name: str, place: Place) -> str:
        """The real path, where that is something in the folder; else "".

        A folder that a policy lets through lets through all that lies in it.
        """
        if not entry.is_symlink():
            return os.path.join(place.real, entry.name)
        real = real_path(entry.path)
        if not is_inside(real, [self._root]):
            self._tell(name, "it is a link that leads out of the folder", "outside_roots")
            return ""
        if os.path.isdir(real):
            step: Place | None = place
            while step:
                if is_inside(step.real, [real]):
                    return ""  # round and round
                step = step.above
            return real
        return real if os.path.isfile(real) else ""

    def _tell(self, name: str, why: str, reason: str) -> None:
        message = f"{name or 'The folder'} is left out: {why}."
        details = {"reason": reason, "source": name}
        self.issues.append(issue(Code.FILE_ACCESS_DENIED, message, details=details))


def _byte_order(place: Place) -> bytes:
    """Where the files of a folder stand among those of its siblings."""
    return os.fsencode(f"{place.name}/")


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a loop of links
        return False
