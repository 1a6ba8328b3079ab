"""MDX: what is JavaScript in it becomes white space, so that the rest reads as markdown.

`import` and `export` statements at the root, up to the next blank line, and `{/* comments */}`
(https://mdxjs.com/docs/what-is-mdx/); neither counts inside code.
"""

from __future__ import annotations

import re

_TOKEN = re.compile(
    r"^[ \t]*(?P<fence>`{3,}(?!`)(?=[^`\n]*\n)|~{3,}(?!~))[^\n]*\n"
    r"(?:.*\n)*?(?:[ \t]*(?P=fence)[`~]*[ \t]*$|\Z)"
    r"|(?<!`)`+(?!`)[^`\n]+`+"
    r"|(?P<statement>(?:\A|(?<=\n\n))(?:import|export)\b[^\n]*(?:\n[ \t]*[^\s][^\n]*)*)"
    r"|(?P<comment>\{/\*)",
    re.MULTILINE,
)
_VISIBLE = re.compile(r"[^\n]")


def mask_mdx(text: str) -> str:
    r"""Give `text` (LF only, front matter cut) with its JavaScript blanked; offsets are kept.

    >>> mask_mdx("import X from './x'\n\n# A {/* # b */}\n")
    '                   \n\n# A            \n'
    """
    pieces: list[str] = []
    at = 0
    while found := _TOKEN.search(text, at):
        end = found.end()
        if found["comment"]:
            close = text.find("*/}", end)
            if close < 0:
                break  # never closed: text, and so is every later one
            end = close + 3
        token = text[found.start() : end]
        pieces.append(text[at : found.start()])
        is_code = not (found["comment"] or found["statement"])
        pieces.append(token if is_code else _VISIBLE.sub(" ", token))
        at = end
    return "".join((*pieces, text[at:]))
