"""Random documents against markdown-it-py; cmark-gfm settles where the two differ.

    python -m benchmark.fuzz_structure --seed 1 --documents 20000

A document is made of 1 to 10 fragments, half of them behind a paragraph. Where our rows differ from
markdown-it-py's, cmark-gfm's headings and bracket images decide; what it does not decide for us is
printed, shortest first, and the exit code is 1 when there is any, or when fewer than 99.7 % are
equal.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tests" / "markdown"))

import oracle  # noqa: E402 - the test suite's own

from mdvision.markdown.outline import outline  # noqa: E402
from mdvision.markdown.references import collect  # noqa: E402

WANTED_SHARE = 0.997
BLOCKS = (
    "# h\n", "## *h* `x`\n", "   # h3\n", "  ## two\n", "    # code\n", "text\n", "more text\n", "\n", "\n", "\n",
    "===\n", "---\n", "--\n", "   ---\n", "- item\n", "* b\n", "1. one\n", "2. two\n", "10) ten\n", "  cont\n",
    "   cont3\n", "      deep\n", "- - x\n", "> q\n", "> # qh\n", "> ```\n", ">\n", "```\n", "```py\n", "~~~\n",
    "````\n", "  ```\n", "   ```\n", "    ```\n", "``` a`b\n", "<div>\n", "</div>\n", "<!-- c\n", "-->\n",
    "<!-- x -->\n", "<b>\n", '<span a="b">\n', "<script>\n", "</script>\n", "<?php\n", "?>\n", "<https://x.y>\n",
    "|a|b|\n", "|-|-|\n", "|c|d|\n", "[r]: /u\n", '[r]: /u "t\n', "[r]\n", "![a](b.png)\n", "text ![a](b.png) x\n",
    "`![a](b)`\n", "![r]\n", "![x][r]\n", '<img src="a.png">\n', "x <img src=a> y\n", "- ![a](b)\n", "> ![a](b)\n",
    "\t- tab\n", "\ttab\n", "-\n", "***\n", "* * *\n", "#\n", "#hash\n", "####### seven\n", "# h ##\n", "# h #x\n",
    "\\# esc\n", "+++\n", "a | b\n", "--- | ---\n", "<div>text\n", "- # lh\n", "1. ```\n", "   x\n", "  # c\n",
)  # fmt: skip
INLINES = (
    "![a](b)", "![a](<b c>)", "![a", "](b)", "![", "[", "]", "](", "[x](y)", "![x](y 't')", "![x][r]", "[r]", "![r][]",
    "*", "**", "_", "__", "*a*", "**b ", "~~", "~~s~~", "`", "``", "`c`", "<", ">", "<b>", "</b>", "<!-- ", " -->", "<img src=q>",
    "<a href='![x](y)'>", "&amp;", "&#33;", "\\", "\\!", "\\[", "!", " ", "  \n", "\\\n", "\n", "\n", "\n\n", "x", "w ", "(", ")", '"t"',
    "<https://a.b>", "# ", "## ", "===\n", "- ", "> ", "|", "|-|\n", "\u00a0", "\u00e9", "\u2028", "\x0c", "\t", "[r]: /u\n", "![a]\n",
    "\n- - -\n", "\n* x\n", "\n\t", "\n    ", "\n  ", "{", "a_b_c", "<p>\n", "</p>\n", "<picture>", "</picture>\n", "https://x.y ",
)  # fmt: skip


class Difference(NamedTuple):
    """A document on which we and markdown-it-py differ."""

    document: str
    kind: str
    is_settled: bool


def documents(seed: int, count: int) -> list[str]:
    """Random documents, half of them of block fragments, half of inline ones."""
    chance = random.Random(seed)  # noqa: S311 - reproducible, no secret
    found = []
    for number in range(count):
        fragments = BLOCKS if number % 2 else INLINES
        text = "".join(chance.choice(fragments) for _ in range(chance.randint(1, 10)))
        found.append(f"para\n\n{text}" if chance.random() < 1 / 2 else text)
    return found


def ours(text: str) -> oracle.Outline:
    """Our rows; a document that would begin with front matter gets an empty line before it."""
    shift = text.startswith(("---", "+++"))
    parsed = outline("\n" * shift + text)
    rows = [
        oracle.Row(row.level, row.section_path[-1], row.line_start - shift, row.image_count)
        for row in parsed.rows
    ]
    return oracle.Outline(rows, len(parsed.pictures))


def difference(text: str) -> Difference | None:
    """How we differ from markdown-it-py on a document, and whether cmark-gfm sides with us."""
    theirs, own = oracle.markdown_it(text), ours(text)
    if theirs == own:
        return None
    headings, images = oracle.cmark_gfm(text)
    own_headings = [(row.level, oracle.squeezed(row.text)) for row in own.rows]
    brackets = sum(picture.kind != "html" for picture in collect(text).pictures)
    same_headings = own_headings == [(level, oracle.squeezed(title)) for level, title in headings]
    return Difference(text, kind_of(theirs, own), same_headings and brackets == images)


def kind_of(theirs: oracle.Outline, own: oracle.Outline) -> str:
    """In what we differ."""
    if [row.line for row in theirs.rows] != [row.line for row in own.rows]:
        return "rows"
    if [row.text for row in theirs.rows] != [row.text for row in own.rows]:
        return "text"
    return "levels" if [r.level for r in theirs.rows] != [r.level for r in own.rows] else "images"


def main() -> int:
    """Run; gives the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0] if __doc__ else None)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--documents", type=int, default=20_000)
    parser.add_argument("--show", type=int, default=10, help="unsettled documents that are printed")
    options = parser.parse_args()
    found = [d for d in map(difference, documents(options.seed, options.documents)) if d]
    share = 1 - len(found) / options.documents
    kinds = Counter((d.kind, "settled" if d.is_settled else "open") for d in found)
    print(f"seed {options.seed}: {share:.3%} of {options.documents:,} equal;", dict(kinds))
    unsettled = sorted((d for d in found if not d.is_settled), key=lambda d: len(d.document))
    for example in unsettled[: options.show]:
        text = example.document
        print(
            repr(text),
            example.kind,
            oracle.markdown_it(text),
            ours(text),
            oracle.cmark_gfm(text),
            sep="\n   ",
        )
    return int(bool(unsettled) or share < WANTED_SHARE)


if __name__ == "__main__":
    sys.exit(main())
