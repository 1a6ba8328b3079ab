"""What `<` begins within a paragraph: an address, raw HTML, in MDX an element with expressions.

See CommonMark 0.31.2, sections 6.5 and 6.6.
"""

from __future__ import annotations

import re

_LABEL_PART = r"[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?"
AUTOLINK = re.compile(
    r"<([A-Za-z][A-Za-z0-9+.-]{1,31}:[^<>\x00-\x20]*"
    rf"|[a-zA-Z0-9.!#$%&'*+/=?^_`{{|}}~-]+@{_LABEL_PART}(?:\.{_LABEL_PART})*)>"
)
_ATTRIBUTES = (
    r"(?:[ \t\n]+[A-Za-z_:][A-Za-z0-9_.:-]*"
    r"""(?:[ \t\n]*=[ \t\n]*(?:[^ \t\n"'=<>`]+|'[^']*'|"[^"]*"))?)*"""
)
_TAG = re.compile(
    rf"<(?:[A-Za-z][A-Za-z0-9-]*{_ATTRIBUTES}[ \t\n]*/?|/[A-Za-z][A-Za-z0-9-]*[ \t\n]*)>"
)
_MARKUP = (("<!--", "-->", 2), ("<?", "?>", 2), ("<![CDATA[", "]]>", 9), ("<!", ">", 3))
"""Raw HTML that is no tag: its start, its end, and where behind the start that is sought."""

BRACES = r"\{[^{}<]*(?:\{[^{}<]*(?:\{[^{}<]*\}[^{}<]*)*\}[^{}<]*)*\}"
"""An expression of MDX, with braces in it three deep; no `<`, so that a search ends at the next."""

JSX_TAG = re.compile(
    r"<(?P<close>/?)(?P<name>[A-Za-z][\w.:-]*)(?=[ \t\n/>])"
    rf"""(?P<rest>[^<>"'{{}}]*(?:(?:"[^"]*"|'[^']*'|{BRACES})[^<>"'{{}}]*)*)>"""
)
"""A tag of MDX: a value may be an expression, in which `>` and quotes are no end."""


def raw_html_end(text: str, at: int, absent: set[str], *, mdx: bool) -> int | None:
    """Where the raw HTML ends that begins at `at`; None when there is none.

    Args:
        text: of one leaf.
        at: of a `<`.
        absent: ends that were sought in vain, kept for the next call.
        mdx: whether values may be expressions.
    """
    if tag := _TAG.match(text, at) or (mdx and JSX_TAG.match(text, at)):
        return tag.end()
    for opening, closing, skip in _MARKUP:
        if not text.startswith(opening, at):
            continue
        is_declaration = opening == "<!"
        if closing in absent or (is_declaration and not _is_letter(text[at + 2 : at + 3])):
            return None
        end = text.find(closing, at + skip)
        if end < 0:
            absent.add(closing)
            return None
        return end + len(closing)
    return None


def _is_letter(c: str) -> bool:
    return c.isascii() and c.isalpha()
