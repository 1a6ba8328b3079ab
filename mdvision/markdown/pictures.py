"""What the document refers to as a picture, and what looks like one and is not shown."""

from __future__ import annotations

import re
from typing import NamedTuple

_SUFFIXES = (
    r"png|apng|jpe?g|jfif|gif|webp|avif|svgz?|bmp|tiff?|ico|heic|heif|jxl|jp2|j2k|qoi|p[bgp]m|tga"
)
_PICTURE_NAME = re.compile(rf"[^?#]*\.(?:{_SUFFIXES})(?:[?#].*)?", re.IGNORECASE | re.DOTALL)
_TEMPLATE = re.compile(r"\{\{|\{%")
_DARK = re.compile(r"#(?:only-dark|gh-dark-mode-only)\Z", re.IGNORECASE)
_LIGHT = re.compile(r"#(?:only-light|gh-light-mode-only)\Z", re.IGNORECASE)

DARK, LIGHT = "dark", "light"


class Picture(NamedTuple):
    """A picture that the text refers to."""

    start: int
    """Offset of its first character: `!`, `<`, `{` or `:`."""
    end: int
    """Offset behind its syntax, and behind the attributes in braces that follow at once."""
    source: str
    """"" for an inline `<svg>`, which is the picture itself."""
    title: str
    alt: str
    kind: str
    """As in `ImageReference`."""
    line_start: int
    settle: int
    """Offset at which its picture may stand: `end`, or behind the outermost construct around it."""
    theme: str = ""
    """`DARK` or `LIGHT` when it is meant for that colour scheme alone."""


class Unshown(NamedTuple):
    """What a reader of the document may take for a picture, but nothing tries to show."""

    start: int
    source: str
    """As written: the note's name, the expression."""
    line_start: int
    reason: str
    """"embed", "template" or "expression"."""


def is_picture_name(name: str) -> bool:
    """Whether a name ends as pictures do, its query and fragment apart.

    >>> is_picture_name("a/B.PNG?raw=true#x"), is_picture_name("note.md"), is_picture_name("png")
    (True, False, False)
    """
    return bool(_PICTURE_NAME.fullmatch(name))


def is_template(source: str) -> bool:
    """Whether an address is filled in by a program before it is one.

    >>> is_template("{{ site.logo }}"), is_template("a{1}.png")
    (True, False)
    """
    return bool(_TEMPLATE.search(source))


def theme_of(source: str) -> str:
    """For which colour scheme an address says that it is meant; "" for both.

    By its fragment: Material for MkDocs' `#only-dark`, and GitHub's `#gh-dark-mode-only`.
    """
    if "#" not in source:
        return ""
    return DARK if _DARK.search(source) else LIGHT if _LIGHT.search(source) else ""
