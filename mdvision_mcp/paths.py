"""How paths are told to the caller: such that he can pass them back; and what he may have meant."""

from __future__ import annotations

import os
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from mdvision.errors import SourceNotFoundError
from mdvision.sources.files import MARKDOWN_SUFFIXES
from mdvision.sources.nearby import close_paths
from mdvision.sources.opening import is_inside, real_path
from mdvision.sources.resolve import is_url

if TYPE_CHECKING:
    from collections.abc import Generator

    from mdvision.sources.loader import Loader

PICTURE_SUFFIXES = (
    ".png",
    ".jpg",
    ".jpeg",
    ".gif",
    ".webp",
    ".bmp",
    ".tif",
    ".tiff",
    ".svg",
    ".avif",
)


def shown_path(path: str, loader: Loader) -> str:
    """A local path relative to its allowed folder, where that leads back to it; else whole."""
    if not path or is_url(path) or loader.policy is None:
        return path
    real = real_path(path)
    roots = [real_path(folder) for folder in loader.policy.paths]
    for k, root in enumerate(roots):
        if is_inside(real, [root]):
            relative = os.path.relpath(real, root)
            first = _first([os.getcwd(), *roots[:k]], relative, roots)
            return real if first not in ("", real) else relative.replace(os.sep, "/")
    return path


def _first(folders: list[str], relative: str, roots: list[str]) -> str:
    """What a relative path would lead to in one of `folders`, as the loader looks for it."""
    tried = (os.path.join(folder, relative) for folder in folders)
    there = (real_path(path) for path in tried if os.path.lexists(path))
    return next((real for real in there if is_inside(real, roots)), "")


@contextmanager
def close_paths_named(named: str, loader: Loader, *, pictures: bool = False) -> Generator[None]:
    """Name what the caller may have meant when there is nothing at the path that he named."""
    try:
        yield
    except SourceNotFoundError as error:
        raise _with_close_paths(error, named, loader, pictures=pictures) from None


def _with_close_paths(
    error: SourceNotFoundError, named: str, loader: Loader, *, pictures: bool
) -> SourceNotFoundError:
    """The error with up to five paths, all of them readable, that the caller may have meant."""
    if is_url(named) or loader.policy is None or error.issue.details.get("reason") != "missing":
        return error
    suffixes = PICTURE_SUFFIXES if pictures else MARKDOWN_SUFFIXES
    found = close_paths(named, loader.policy.paths, suffixes, loader)
    paths = tuple(shown_path(path, loader) for path in found)
    if not paths:
        return error
    action = f"Did you mean one of these: {', '.join(paths)}?"
    details = {**error.issue.details, "paths": paths}
    return SourceNotFoundError(replace(error.issue, next_action=action, details=details))
