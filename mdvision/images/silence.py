"""Pillow's warnings held back while it works: damaged metadata is not the caller's concern.

`warnings.catch_warnings` is not for threads: on leaving it puts back a list of filters that another
thread may have changed since. So one filter is put in, and that one alone is taken out again by the
last thread that needs it. The count of those, and the turns of large pictures, are the only state
of a module in this package.
"""

from __future__ import annotations

import re
import threading
import warnings
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from collections.abc import Generator

_FILTER = ("ignore", None, Warning, re.compile(r"PIL\."), 0)


class _Silence:
    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.users = 0

    def begin(self) -> None:
        with self.lock:
            self.users += 1
            filters = cast("list[object]", warnings.filters)
            if _FILTER not in filters[:1]:
                filters.insert(0, _FILTER)

    def end(self) -> None:
        with self.lock:
            self.users -= 1
            if self.users:
                return
            filters = cast("list[object]", warnings.filters)
            with suppress(ValueError):  # another thread may have emptied the list meanwhile
                while _FILTER in filters:
                    filters.remove(_FILTER)


_SILENCE = _Silence()


@contextmanager
def pillow_silenced() -> Generator[None, None, None]:
    """No warning of Pillow's is shown, or raised, in here."""
    _SILENCE.begin()
    try:
        yield
    finally:
        _SILENCE.end()
