"""Names of files that resemble one that was not found; and what a folder holds, at a glance."""

from __future__ import annotations

import difflib
import os
import time
from collections import Counter
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from mdvision.sources.opening import real_path

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mdvision.sources.loader import Loader

_CLOSEST = 5
_MOST_ENTRIES = 20_000
_MOST_COMPARED = 2_000  # difflib is slow
_MOST_SECONDS = 0.5
_SKIPPED = frozenset({"node_modules", "__pycache__"})


def close_paths(
    named: str,
    folders: Sequence[str],
    suffixes: Sequence[str],
    loader: Loader,
    *,
    with_folders: bool = False,
) -> tuple[str, ...]:
    """Real paths in `folders` whose names resemble that of `named`, the closest first.

    At most five, of files with one of `suffixes`, and of folders on request, that the loader may
    read. A large folder is only looked through in part.
    """
    wanted = os.path.basename(named.replace("\\", "/").rstrip("/")).casefold()
    by_name: dict[str, list[str]] = {}
    for folder in folders:
        end = time.monotonic() + _MOST_SECONDS
        for path in islice(_files(folder, with_folders=with_folders), _MOST_ENTRIES):
            if time.monotonic() > end:
                break
            if path.lower().endswith(tuple(suffixes)) or os.path.isdir(path):
                by_name.setdefault(os.path.basename(path).casefold(), []).append(path)
    same = by_name.pop(wanted, [])
    stem = os.path.splitext(wanted)[0]
    alike = [name for name in by_name if stem and stem in name][:_CLOSEST]
    compared = list(by_name)[:_MOST_COMPARED]
    names = dict.fromkeys(difflib.get_close_matches(wanted, compared, _CLOSEST, 0.6) + alike)
    found = same + [path for name in names for path in by_name[name]]
    return tuple(path for path in found if loader.may_read(path))[:_CLOSEST]


class Glance(NamedTuple):
    """What a short look at a folder shows."""

    suffixes: Counter[str]
    """Files of each suffix."""
    is_whole: bool
    """Whether all was seen."""


def glance(folder: str, seconds: float) -> Glance:
    """Count the files of a folder by suffix, for some seconds at most."""
    suffixes: Counter[str] = Counter()
    end = time.monotonic() + seconds
    for path in _files(folder):
        if sum(suffixes.values()) >= _MOST_ENTRIES or time.monotonic() > end:
            return Glance(suffixes, is_whole=False)
        suffixes[os.path.splitext(path)[1].lower()] += 1
    return Glance(suffixes, is_whole=True)


def _files(folder: str, *, with_folders: bool = False) -> Iterator[str]:
    """Files below a folder, hidden ones left out, no link to a folder followed."""
    for above, folders, files in os.walk(real_path(folder)):
        folders[:] = sorted(
            name for name in folders if not name.startswith(".") and name not in _SKIPPED
        )
        for name in sorted(files) + (folders if with_folders else []):
            if not name.startswith("."):
                yield os.path.join(above, name)
