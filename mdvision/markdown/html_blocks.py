"""HTML blocks: how each of the seven kinds begins and ends (CommonMark 0.31.2, section 4.6)."""

from __future__ import annotations

import re
from typing import NamedTuple

_NAMES = (
    "address article aside base basefont blockquote body caption center col colgroup dd details"
    " dialog dir div dl dt fieldset figcaption figure footer form frame frameset h1 h2 h3 h4 h5 h6"
    " head header hr html iframe legend li link main menu menuitem nav noframes ol optgroup option"
    " p param search section summary table tbody td tfoot th thead title tr track ul"
)
_ATTRIBUTE = (
    r"[ \t]+[A-Za-z_:][A-Za-z0-9_.:-]*"
    r"""(?:[ \t]*=[ \t]*(?:[^ \t\n"'=<>`]+|'[^'\n]*'|"[^"\n]*"))?"""
)
_ANY_TAG = rf"<(?:[A-Z][A-Z0-9-]*(?:{_ATTRIBUTE})*[ \t]*/?|/[A-Z][A-Z0-9-]*[ \t]*)>[ \t]*(?=\n)"


class _Kind(NamedTuple):
    start: re.Pattern[str]
    end: re.Pattern[str] | None
    """None: a blank line."""
    may_interrupt: bool
    """Whether it may end a paragraph."""


def _kind(start: str, end: str | None = None, *, may_interrupt: bool = True) -> _Kind:
    flags = re.IGNORECASE | re.ASCII
    return _Kind(re.compile(start, flags), re.compile(end, flags) if end else None, may_interrupt)


_KINDS = (
    _kind(r"<(?:script|pre|style|textarea)(?=[ \t\n>])", r"</(?:script|pre|style|textarea)>"),
    _kind(r"<!--", r"-->"),
    _kind(r"<\?", r"\?>"),
    _kind(r"<![A-Z]", r">"),
    _kind(r"<!\[CDATA\[", r"\]\]>"),
    _kind(rf"</?(?:{'|'.join(_NAMES.split())})(?=[ \t\n]|/?>)"),
    _kind(_ANY_TAG, may_interrupt=False),
)


class HtmlBlock(NamedTuple):
    """An HTML block that begins somewhere."""

    end: re.Pattern[str] | None
    """What ends it, on the line where it stands; None: a blank line, which is no part of it."""


def html_block_at(text: str, at: int, *, in_paragraph: bool) -> HtmlBlock | None:
    """The HTML block that begins at `at`; None when none does, or it may not end a paragraph."""
    for kind in _KINDS:
        if kind.start.match(text, at):
            return HtmlBlock(kind.end) if kind.may_interrupt or not in_paragraph else None
    return None
