"""What the tools of this set share: how a source is named, and what may have been meant."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

from mdvision.errors import SourceNotFoundError
from mdvision_mcp.paths import with_close_paths

if TYPE_CHECKING:
    from collections.abc import Generator

    from mdvision_mcp.tool import Schema
    from mdvision_mcp.work import Call

_MAX_URI_CHARS = 1_000
MAX_NAME_CHARS = 300
"""Characters of a heading or a pattern in an argument."""

URI: Schema = {"type": "string", "minLength": 1, "maxLength": _MAX_URI_CHARS}


def is_all(uri: str) -> bool:
    """Whether a path stands for all allowed folders."""
    return os.path.normpath(uri) == os.curdir


@contextmanager
def close_paths(named: str, call: Call, *, pictures: bool = False) -> Generator[None]:
    """Name what the caller may have meant when there is nothing at the path that he named."""
    try:
        yield
    except SourceNotFoundError as error:
        raise with_close_paths(error, named, call.loader, pictures=pictures) from None
