"""Names of files that resemble one that was not found; and what a folder holds, at a glance."""

from __future__ import annotations

import difflib
import os
import time
from collections import Counter
from typing import TYPE_CHECKING

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
    named: str, folders: Sequence[str], suffixes: Sequence[str], loader: Loader
) -> tuple[str, ...]:
    """Real paths in `folders` whose names resemble that of `named`, the closest first.

    At most five, of files with one of `suffixes` that the loader may read. A large folder is only
    looked through in part.
    """
    wanted = os.path.basename(named.replace("\\", "/").rstrip("/")).casefold()
    by_name: dict[str, list[str]] = {}
    for folder in folders:
        for path in _files(folder):
            if path.lower().endswith(tuple(suffixes)):
                by_name.setdefault(os.path.basename(path).casefold(), []).append(path)
    same = by_name.pop(wanted, [])
    stem = os.path.splitext(wanted)[0]
    alike = [name for name in by_name if stem and stem in name][:_CLOSEST]
    compared = list(by_name)[:_MOST_COMPARED]
    names = dict.fromkeys(difflib.get_close_matches(wanted, compared, _CLOSEST, 0.6) + alike)
    found = same + [path for name in names for path in by_name[name]]
    return tuple(path for path in found if loader.may_read(path))[:_CLOSEST]


def count_suffixes(folder: str) -> Counter[str]:
    """How many files of each suffix a folder holds, as far as a glance shows."""
    return Counter(os.path.splitext(path)[1].lower() for path in _files(folder))


def _files(folder: str) -> Iterator[str]:
    """Files below a folder, hidden ones left out, no link to a folder followed."""
    end = time.monotonic() + _MOST_SECONDS
    seen = 0
    for above, folders, files in os.walk(real_path(folder)):
        folders[:] = sorted(
            name for name in folders if not name.startswith(".") and name not in _SKIPPED
        )
        for name in sorted(files):
            if not name.startswith("."):
                yield os.path.join(above, name)
        seen += len(files) + len(folders)
        if seen > _MOST_ENTRIES or time.monotonic() > end:
            return
