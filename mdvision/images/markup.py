"""Where the first element of a page or an SVG begins, and whether that is HTML's."""

from __future__ import annotations

import re

_BOM = b"\xef\xbb\xbf"
_NOT_SPACE = re.compile(rb"\S|\Z")
_PASSED_OVER = ((b"<!--", b"-->"), (b"<?xml", b">"))
_HTML = re.compile(rb"<(?:!doctype\s+html|html)\b", re.IGNORECASE)


def first_element(data: bytes, start: int = 0) -> int:
    """Where what follows a byte-order mark, white space, comments and XML's declaration begins.

    By steps: a pattern for all of it would try every way to part many comments.

    >>> first_element(b"<?xml version='1.0'?> <!-- a --> <svg/>")
    33
    """
    at = len(_BOM) if not start and data.startswith(_BOM) else start
    while True:
        found = _NOT_SPACE.search(data, at)
        at = found.start() if found else len(data)
        close = next((close for open_, close in _PASSED_OVER if data.startswith(open_, at)), b"")
        end = data.find(close, at) if close else -1
        if end < 0:
            return at
        at = end + len(close)


def begins_as_html(data: bytes) -> bool:
    """Whether the first element, or the document type before it, is that of an HTML page.

    >>> begins_as_html(b"<!-- note --> <!DOCTYPE html>"), begins_as_html(b"<!-- note --> # Title")
    (True, False)
    """
    return bool(_HTML.match(data, first_element(data)))
