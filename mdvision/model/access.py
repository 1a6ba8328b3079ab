"""What may be opened, and what was."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import cast

from mdvision.errors import Code, failure
from mdvision.value import Value

ALL = "all"
"""Alone among the names of a policy: every folder, or every public host."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessPolicy(Value):
    """Which files and hosts may be read; everything is checked, the caller's source too.

    A folder allows all that lies in it once links are followed. A host allows its subdomains.
    Private and loopback addresses are refused unless that very host is listed, or
    `private_network` is set.
    """

    paths: tuple[str, ...] = ("all",)
    """Folders, or "all" alone; () = no file: `("docs", "/srv/handbook")`."""
    domains: tuple[str, ...] = ()
    """Hosts by suffix, or "all" alone; () = no host: `("example.com",)`."""
    private_network: bool = False
    """Addresses that are not public may be fetched too: True for a wiki on 10.0.0.7."""

    def __post_init__(self) -> None:
        for name in ("paths", "domains"):
            values: object = getattr(self, name)
            if not _are_names(values):
                message = f"{name} is {values!r}; it must be a tuple of names, or ('all',) alone."
                raise failure(Code.INPUT_INVALID, message, details={"reason": name})


def _are_names(values: object) -> bool:
    """Whether it is a tuple of strings: a string alone would be read letter by letter."""
    if not isinstance(values, tuple):
        return False
    names = cast("tuple[object, ...]", values)
    return all(isinstance(name, str) for name in names) and (ALL not in names or len(names) == 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Resource(Value):
    """What a loader brought."""

    data: bytes = field(repr=False)
    """The bytes, any transfer compression undone: `b"# Guide\\n"`."""
    uri: str
    """Where they came from, a path or the URL after redirects: "docs/guide.md"."""
    media_type: str
    """What the server said it is, without parameters: "text/markdown"; "" for files."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileEntry(Value):
    """One file of a folder."""

    path: str
    """Relative to the folder, with "/" between names: "reports/2024.pdf"."""
    media_type: str
    """By its name: "application/pdf"; "application/octet-stream" when unknown."""
    size_bytes: int
    """Its size: 48211."""
    modified: str
    """When it was last written, ISO 8601 in UTC: "2026-03-01T09:30:00Z"."""
