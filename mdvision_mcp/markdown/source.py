"""What the tools of this set share: how a source is named, and what may have been meant."""

from __future__ import annotations

import os
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from mdvision.errors import (
    AccessDeniedError,
    InvalidInputError,
    MdVisionError,
    SourceNotFoundError,
)
from mdvision.rendering import quoted
from mdvision.sources.opening import is_inside, real_path
from mdvision.sources.resolve import is_url
from mdvision_mcp.paths import with_close_paths

if TYPE_CHECKING:
    from collections.abc import Generator

    from mdvision.sources.loader import Loader
    from mdvision_mcp.settings import Settings
    from mdvision_mcp.tool import Schema
    from mdvision_mcp.work import Call

_MAX_URI_CHARS = 2_000
MAX_NAME_CHARS = 300
"""Characters of a heading or a pattern in an argument."""

URI: Schema = {"type": "string", "minLength": 1, "maxLength": _MAX_URI_CHARS}


def is_all(uri: str) -> bool:
    """Whether a path stands for all allowed folders."""
    return os.path.normpath(uri) == os.curdir


def all_folders(settings: Settings) -> list[str]:
    """The allowed folders, those that lie in another one left out."""
    roots = list(dict.fromkeys(map(real_path, settings.policy.paths)))
    return [root for root in roots if not is_inside(root, [r for r in roots if r != root])]


def document_of(uri: str, loader: Loader) -> str:
    """The document that a source names, without a "#slug" behind it; a file named so wins."""
    name, mark, _ = uri.rpartition("#")
    if not mark or (not is_url(uri) and _is_there(uri, loader)):
        return uri
    return name


def _is_there(path: str, loader: Loader) -> bool:
    try:
        return os.path.lexists(loader.locate(path))
    except MdVisionError:
        return False


@contextmanager
def hints(named: str, call: Call, *, pictures: bool = False) -> Generator[None]:
    """Tell in an error what the caller may have meant, by the source that he named."""
    try:
        yield
    except SourceNotFoundError as error:
        found = with_close_paths(error, named, call.loader, pictures=pictures)
        raise found if found.issue.details.get("paths") else _look_around(error) from None
    except AccessDeniedError as error:
        outside = error.issue.details.get("reason") == "outside_roots"
        raise _look_around(error) if outside else error from None
    except InvalidInputError as error:
        if error.issue.details.get("reason") != "folder":
            raise
        action = f"For its headings call index_md(uri={quoted(named)})."
        raise InvalidInputError(replace(error.issue, next_action=action)) from None


def _look_around(error: MdVisionError) -> MdVisionError:
    if error.issue.details.get("reason") not in ("missing", "outside_roots"):
        return error
    action = 'Call index_md(uri=".") for what may be read, and pass a path from there.'
    return type(error)(replace(error.issue, next_action=action))
