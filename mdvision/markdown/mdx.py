"""MDX: what is JavaScript in it becomes white space, so that the rest reads as markdown.

`import` and `export` statements at the root, up to the next blank line, and `{/* comments */}`
(https://mdxjs.com/docs/what-is-mdx/); neither counts inside code.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_TOKEN = re.compile(
    r"^[ \t]*(?P<fence>`{3,}(?!`)(?=[^`\n]*(?:\n|\Z))|~{3,}(?!~))[^\n]*"
    r"|(?<!`)`+(?!`)[^`\n]+`+"
    r"|(?P<statement>(?:\A|(?<=\n\n))(?:import|export)\b[^\n]*(?:\n[ \t]*[^\s][^\n]*)*)"
    r"|(?P<comment>\{/\*)",
    re.MULTILINE,
)
_FENCE_END = {
    mark: re.compile(rf"^[ \t]*({mark}{{3,}})[ \t]*$", re.MULTILINE) for mark in ("`", "~")
}
_IMPORT = re.compile(
    r"^import[ \t]+(?:\*[ \t]+as[ \t]+)?([A-Za-z_$][\w$]*)[ \t]+from[ \t]*"
    r"""(?:"([^"\n]+)"|'([^'\n]+)')""",
    re.MULTILINE,
)
_VISIBLE = re.compile(r"[^\n]")
_ADDRESS = re.compile(r"https?://[^?#]*", re.IGNORECASE)


def is_mdx(path: str) -> bool:
    """Whether a path or URL names an MDX file; a URL's query and fragment are no part of the name.

    >>> is_mdx("docs/Intro.MDX"), is_mdx("https://x.test/a.mdx?x=1#b"), is_mdx("https://x.test/a?b.mdx")
    (True, True, False)
    """
    address = _ADDRESS.match(path)
    return (address[0] if address else path).lower().endswith(".mdx")


class Masked(NamedTuple):
    """An MDX text as it is scanned."""

    text: str
    """Its JavaScript blanked; offsets are kept."""
    imports: dict[str, str]
    """The files that are imported, by their names in the document."""


def mask_mdx(text: str) -> Masked:
    r"""Take the JavaScript out of `text` (LF only, front matter cut).

    >>> mask_mdx("import x from './x.png'\n\n# A {/* # b */}\n")
    Masked(text='                       \n\n# A            \n', imports={'x': './x.png'})
    """
    pieces: list[str] = []
    imports: dict[str, str] = {}
    at = 0
    while found := _TOKEN.search(text, at):
        end = _fence_end(text, found) if found["fence"] else found.end()
        if found["comment"]:
            close = text.find("*/}", end)
            if close < 0:
                break  # never closed: text, and so is every later one
            end = close + 3
        token = text[found.start() : end]
        pieces.append(text[at : found.start()])
        is_code = not (found["comment"] or found["statement"])
        pieces.append(token if is_code else _VISIBLE.sub(" ", token))
        if found["statement"]:
            named = _IMPORT.findall(token)
            imports |= {name: double or single for name, double, single in named}
        at = end
    return Masked("".join((*pieces, text[at:])), imports)


def _fence_end(text: str, opening: re.Match[str]) -> int:
    """Where the fenced code ends: behind its closing fence, or at the end of the text."""
    mark = opening["fence"]
    for closing in _FENCE_END[mark[0]].finditer(text, opening.end()):
        if len(closing[1]) >= len(mark):
            return closing.end()
    return len(text)
