"""Opening a local file without a race: it is opened first, and then what was opened is judged."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from typing import TYPE_CHECKING, BinaryIO

from mdvision.errors import Code, MdVisionError, failure

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mdvision.errors import Details

_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_NONBLOCK", 0)  # a named pipe without a writer would block
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)
_ABSENT = frozenset(
    {errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENAMETOOLONG, errno.EINVAL, errno.EILSEQ}
)

EMPTY = '""'
"""How messages name the path that is the empty string."""


def real_path(path: str) -> str:
    """The path with every link followed as far as there is something; "" when it cannot be one."""
    try:
        return os.path.realpath(path)
    except (OSError, ValueError):  # a NUL, a lone surrogate, a loop
        return ""


def is_inside(real: str, roots: Sequence[str]) -> bool:
    """Whether a real path is one of the real `roots` or lies in one."""
    return any(real == root or real.startswith(os.path.join(root, "")) for root in roots)


def open_file(path: str, shown: str, roots: Sequence[str] | None) -> BinaryIO:
    """Open a regular file that lies inside `roots` (None = anywhere) once links are followed.

    Raises:
        AccessDeniedError: it lies outside, whether it exists or not, or may not be read.
        SourceNotFoundError: there is no such file.
        InvalidInputError: it is a folder.
        UnsupportedFormatError: it is a pipe, a device or a socket.
    """
    real = real_path(path)
    if roots is not None and not (real and is_inside(real, roots)):
        raise denied(shown)
    if roots is None and _is_special(path):  # a pipe, say, that has no real path
        raise _not_regular(shown)
    if not real or path.endswith(("/", os.sep)):  # a name that only a folder can have
        raise missing(shown) if not os.path.isdir(real) else _folder(shown)
    try:
        descriptor = os.open(real, _FLAGS)
    except (OSError, ValueError) as error:
        raise unopened(error, shown) from None
    try:
        _judge(descriptor, real, shown, roots)
        return os.fdopen(descriptor, "rb")
    except BaseException:
        with contextlib.suppress(OSError):
            os.close(descriptor)
        raise


def _judge(descriptor: int, real: str, shown: str, roots: Sequence[str] | None) -> None:
    found = os.fstat(descriptor)
    if stat.S_ISDIR(found.st_mode):
        raise _folder(shown)
    if not stat.S_ISREG(found.st_mode):
        raise _not_regular(shown)
    if roots is not None and not _still_inside(descriptor, found, real, roots):
        raise denied(shown)


def _still_inside(descriptor: int, found: os.stat_result, real: str, roots: Sequence[str]) -> bool:
    """Whether what was opened lies inside even if folders were swapped for links meanwhile."""
    try:
        return is_inside(os.readlink(f"/proc/self/fd/{descriptor}"), roots)
    except OSError:  # no /proc here
        pass
    try:
        now = os.lstat(real)
    except OSError:
        return False
    return os.path.samestat(found, now) and is_inside(real_path(real), roots)


def denied(shown: str) -> MdVisionError:
    """The error for a path outside the allowed folders; it does not tell whether it exists."""
    message = f"Path is not allowed: {shown or EMPTY}."
    return failure(Code.FILE_ACCESS_DENIED, message, details={"reason": "outside_roots"})


def _is_special(path: str) -> bool:
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def _not_regular(shown: str) -> MdVisionError:
    message = f"{shown} is not a regular file."
    action = "Give a file; what comes from a pipe can be saved to one first."
    details = {"reason": "special_file"}
    return failure(Code.SOURCE_UNSUPPORTED, message, next_action=action, details=details)


def missing(shown: str) -> MdVisionError:
    """The error for a path at which there is nothing."""
    message = f"{shown or EMPTY} was not found."
    return failure(Code.SOURCE_NOT_FOUND, message, details={"reason": "missing"})


def _folder(shown: str) -> MdVisionError:
    message = f"{shown or EMPTY} is a folder, not a file."
    return failure(Code.INPUT_INVALID, message, details={"reason": "folder"})


def unopened(error: OSError | ValueError, shown: str) -> MdVisionError:
    """The error for a file that could not be opened or read."""
    code = error.errno if isinstance(error, OSError) else None
    if code in (errno.EACCES, errno.EPERM):
        message = f"{shown} may not be read."
        action = "Give the file's reading permission to this user."
        details = {"reason": "permission"}
        return failure(Code.FILE_ACCESS_DENIED, message, next_action=action, details=details)
    if code == errno.ENXIO:  # a socket
        return _not_regular(shown)
    if code is None or code in _ABSENT:
        return missing(shown)
    message = f"{shown} could not be read: {os.strerror(code)}."
    return failure(Code.FETCH_FAILED, message, details={"reason": "read"})


def too_large(shown: str, limit: int, size: int) -> MdVisionError:
    """The error for what is more than a limit allows."""
    message = f"{shown} is larger than {limit:,} bytes."
    return failure(Code.SOURCE_TOO_LARGE, message, details={"limit": limit, "actual": size})


def beyond_memory(shown: str, size: int) -> MdVisionError:
    """The error for a file that there is too little memory for."""
    message = f"{shown} has {size:,} bytes, and there is not memory enough for them."
    details: Details = {"reason": "memory", "actual": size}
    action = "Give a smaller source, or run where there is more memory."
    return failure(Code.SOURCE_TOO_LARGE, message, next_action=action, details=details)
