"""What a line of markdown can begin with: each rule stands once, the first that fits wins.

A rule is matched behind at most three columns of indent (CommonMark 0.31.2, chapters 4 and 5;
tables by the GitHub Flavored Markdown specification, section 4.10). A line ends with LF.
"""

from __future__ import annotations

import re

_THEMATIC_BREAK = (
    r"(?:\*[ \t]*\*[ \t]*\*[* \t]*|-[ \t]*-[ \t]*-[- \t]*|_[ \t]*_[ \t]*_[_ \t]*)(?=\n)"
)
_STARTS = {
    "atx": r"#{1,6}(?=[ \t\n])",
    "quote": r">",
    "fence": r"`{3,}(?=[^`\n]*\n)|~{3,}",
    "html": r"<(?=[A-Za-z/!?])",
    "break": _THEMATIC_BREAK,
    "item": r"(?:[-+*]|[0-9]{1,9}[.)])(?=[ \t\n])",
}
_STARTS_IN_PARAGRAPH = {
    "underline": r"(?:=+|-+)[ \t]*(?=\n)",
    "delimiter": r"(?!-[ \t])(?:\|[ \t]*)?:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*(?=\n)",
    **_STARTS,
    "item": r"(?:[-+*]|0{0,8}1[.)])(?=[ \t]+[^ \t\n])",  # no empty item, and 1 alone
}


def _any_of(rules: dict[str, str]) -> str:
    return "|".join(f"(?P<{name}>{rule})" for name, rule in rules.items())


ATX = re.compile(_STARTS["atx"])

START = re.compile(_any_of(_STARTS))
"""What can begin a block; the group that matched names it."""

START_IN_PARAGRAPH = re.compile(_any_of(_STARTS_IN_PARAGRAPH))
"""The same where a paragraph is open: what can interrupt it, or turn it into something else."""

PARAGRAPH_STOP = re.compile(rf"\n(?=[ \t]*\n| {{0,3}}(?:{_any_of(_STARTS_IN_PARAGRAPH)})|\Z)")
TABLE_STOP = re.compile(rf"\n(?=[ \t]*\n| {{4}}| {{0,3}}(?:\t|{_any_of(_STARTS)})|\Z)")
FENCE_STOP = re.compile(r"\n(?= {0,3}(?:`{3,}|~{3,})[ \t]*\n|\Z)")
CODE_STOP = re.compile(r"\n(?! {4}| {0,3}\t)|\n(?=[ \t]*\n)")
BLANK_STOP = re.compile(r"\n(?=[ \t]*\n|\Z)")
"""A line end behind which a line stands that may end an open block of that kind."""

FENCE_END = re.compile(r"(`{3,}|~{3,})[ \t]*(?=\n)")
BLANK_LINES = re.compile(r"[ \t\n]*\n")
SPACES = re.compile(r" *")
WHITE = re.compile(r"[ \t]*")
"""Only spaces and tabs are white space within a line; `\\s` knows more."""
