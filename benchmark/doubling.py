"""Cost must grow linearly: CPU time at 2n against n, for inputs made to be hard.

    python -m benchmark.doubling [NAME ...]

For each family the time is the minimum of five, from the first size that takes 20 ms, up to 1 MB;
a ratio of 2.6 or more fails, and then the exit code is 1.
"""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

from mdvision import index_markdown_text

if TYPE_CHECKING:
    from collections.abc import Callable

LIMIT = 2.6
FIRST_SECONDS = 0.02
LAST_CHARS = 1_048_576
RUNS = 5


def repeated(fragment: str) -> Callable[[int], str]:
    """A family of one fragment, over and over, in about n characters."""
    return lambda n: fragment * (n // len(fragment) + 1)


FRAGMENTS = (
    "[", "[a](", "[a](<b", "![[]()", "*a ", "_a ", "a*", "a**b", "c* ", "*a_ ", "x**y_ ", "`a``b", "~~a ", "~a ",
    "- item\n", "- item\n\n", "- a\n* b\n", "> word word\n", "    code\n\n", "\n", "-\n\n", "- ```\n  a\n", "* ",
    "&", "&amp", "\\", "<https:a", "[a]:\n", "|a|b|\n", "a|b\n", "- a\n\n   # b\n", "- a\n  b\n---\n", "w\n=\n",
    "w\n-\n|x\n=\n", "- a\n   ```\n", "x\n<b>\n# h\n", "![a](b ", "![a](b(", "- ![a](b)\n", "![a](b) x\n", "---\n",
    "# a\n", "<!--\n", "<!-- x -->\n", "![", "![a][", "]", "[a][b]", "<a>![x](y)", "<picture>![x](y)\n\n",
    '<img "', "<img src='", "<img a=b ", "<figure>\n\n![a](b)\n\n", "</a>![x](y) ", "![x](y)\n\n</figure>\n\n",
    "| \\|![a](b) |\n", "[a\\", "***", "**a* ", "_*a", "1. a\n", "10) ", "> > a\n", ">\n> - ", "\t", "\t- a\n", "<div>\n",
    "<script>\n", "<![CDATA[", "<?a ", "<!A ", "&#1234567;", "\u00a0*a*", "![a](<b> 'c", "[x]: <", "[x]: y '", "# [a]\n",
    "``` x\n", "~~~\n```\n", "![a](b)\n===\n", "a\n\n\n\n", "{/* ", "<img src=a>\n", "- <img\n", "> <img src='\n",
)  # fmt: skip
FURTHER = (
    "![[", "![[a.png|", "![[a.png]] ", "![[a#", "![[a]]", "{{< img ", '{{< img src="', "{{< img `", "{{<", "{{< img\n", "{{% img a.png\n>}}\n",
    '{{< figure src="a.png" >}} ', ":::image ", ':::image source="', ':::image source="a.png"::: ', "<Image src={", "<Image {a ", "<A {{{", "<A b={c} ",
    "<Image src={a} /> ", "<Image src='a.png' /> ", "<svg>", "</svg>", "<svg width=9>\n", "<svg></svg>![a](b)", "![a](b){.x ", "![a](b){ a=b ",
    "![a](b){.x}", "![a](x#only-dark)", "![a](x#only-dark) ![a](x#only-light)\n", "![x]({{ ", "![x]({{ a }}) ", "<img srcset=',,,,'>", "<img srcset='",
    "import a from './a.png'\n\n", "{/*", "<Frame>\n\n    ![a](b)\n\n", "```\n<Image src={", "$(", "<title>",
)  # fmt: skip
"""Of the forms that CommonMark does not know; these are read as MDX as well."""

ALL_FRAGMENTS = (*FRAGMENTS, *FURTHER)
FAMILIES = {fragment: repeated(fragment) for fragment in ALL_FRAGMENTS}
FAMILIES |= {
    "runs of backticks": lambda n: "".join("e" + "`" * k for k in range(1, int((2 * n) ** 0.5))),
    "open comments": lambda n: "x " + "<!--a " * (n // 6),
    "open instructions": lambda n: "x " + "<?a " * (n // 4),
    "open tags": lambda n: "x " + "<a " * (n // 3),
    "open attributes": lambda n: "<a " + 'b="' * (n // 3),
    "attributes": lambda n: "x <a " + "b=c " * (n // 4),
    "definitions": lambda n: "".join(f"[a{k}]: /u{k}\n" for k in range(n // 12)),
    "definitions apart": lambda n: "".join(f"[a{k}]: /u{k}\n\n" for k in range(n // 12)),
    "references": lambda n: "![a] " * (n // 5) + "\n\n[a]: /u\n",
    "heading references": lambda n: "# ![a]\n" * (n // 7) + "\n[a]: /u\n",
    "title over lines": lambda n: '[a]: /u "' + "x\n" * (n // 2),
    "one paragraph": repeated("word word word\n"),
    "setext paragraph": lambda n: "word word\n" * (n // 10) + "===\n",
    "long table": lambda n: "|a|b|\n|-|-|\n" + "|![c](c)|d|\n" * (n // 12),
    "wide table": lambda n: "\n".join("|".join(c * (n // 6)) for c in "a-b"),
    "nested quotes": lambda n: "> " * (n // 2) + "a",
    "nested items": lambda n: "- " * (n // 2) + "a",
    "nested items, text": lambda n: "- " * 100 + "a\n" + "b\n" * (n // 2),
    "nested items, indented": lambda n: "- " * 100 + "a\n" + (" " * 200 + "b\n") * (n // 202),
    "nested items, blank": lambda n: "- " * 100 + "a\n" + "\n" * n,
    "quote ladder": lambda n: "\n".join("> " * k + "a" for k in range(int(n**0.5))),
    "item ladder": lambda n: "\n".join("  " * k + "- a" for k in range(int(n**0.5))),
    "spaces": lambda n: "a" + " " * n + "\nb",
    "spaces in a heading": lambda n: "# a" + " " * n + "b",
    "hashes": lambda n: "# " + "#" * n + " b",
    "hashes apart": lambda n: "# a " + "# " * (n // 2) + "b",
    "almost a break": lambda n: "-" * n + "a",
    "almost a break, apart": lambda n: "* " * (n // 2) + "a",
    "almost a delimiter": lambda n: "a\n" + "|-" * (n // 2) + "a",
    "mail": lambda n: "<" + "a." * (n // 2) + "@b",
    "emphasis around": lambda n: "*" * (n // 2) + "a" + "*" * (n // 2),
    "brackets around": lambda n: "![" * (n // 4) + "a" + "](b)" * (n // 4),
    "links around": lambda n: "[" * (n // 5) + "a" + "](b)" * (n // 5),
    "open front matter": lambda n: "---\n" + "a: b\n" * (n // 5),
    "front matter": lambda n: "---\n" + "".join(f"a{k}: b\n" for k in range(n // 8)) + "---\n",
    "levels": lambda n: "".join("#" * (1 + k % 6) + " a\n" for k in range(n // 5)),
    "same slugs": lambda n: "# a\n# a-1\n" * (n // 10),
    "CRLF": lambda n: "# a\r\n\r\n![b](c)\r\n" * (n // 16),
    "tags in cells": lambda n: "|a|\n|-|\n" + "|<a>![x](y)</a>|\n" * (n // 16),
    "long img": lambda n: "![x](y)\n\n<img src='" + "a" * n + "'>\n",
}


def with_picture(family: Callable[[int], str]) -> Callable[[int], str]:
    """The family with a picture before and behind each text: only such blocks are read inline."""
    return lambda n: f"![p](q) {family(n).removesuffix(chr(10))} ![p](q)\n"


def pictured(fragment: str) -> Callable[[int], str]:
    r"""A family of the fragment with a picture in each line, in a paragraph: each is read inline.

    >>> pictured("[a](")(20), pictured("- item\n")(20)
    ('x [a](![p](q)[a](![p](q)', 'x - item ![p](q)\n- item ![p](q)\n')
    """
    body = fragment.rstrip("\n")
    whole = repeated(f"{body}{' ' * (body != fragment)}![p](q){fragment[len(body) :]}")
    return lambda n: f"x {whole(n)}"


FAMILIES |= {f"{name} and pictures": with_picture(family) for name, family in FAMILIES.items()}
FAMILIES |= {f"{name} pictured": pictured(name) for name in ALL_FRAGMENTS}
FAMILIES |= {
    "long srcset": lambda n: f"![x](y) <img srcset='{',' * n}'>",
    "srcset of many": lambda n: f"![x](y) <img srcset='{'a.png 2x, ' * (n // 10)}'>",
    "nested drawings": lambda n: "<svg>" * (n // 11) + "</svg>" * (n // 11),
    "long expression": lambda n: f"<Image src={{{'a' * n}",
    "strings in an expression": lambda n: f"<Image src={{{chr(39) * n}}} />",
    "long wiki": lambda n: "![[" + "a" * n,
    "long attributes": lambda n: "![a](b){" + ".a " * (n // 3),
}
MDX = " in MDX"
FAMILIES |= {
    f"{name}{MDX}": family for name, family in FAMILIES.items() if name.startswith(FURTHER)
}


def seconds(text: str, path: str) -> float:
    """CPU time to index a text."""
    before = time.process_time()
    index_markdown_text(text, path=path)
    return time.process_time() - before


def ratios(family: Callable[[int], str], path: str) -> list[tuple[int, float, float]]:
    """(characters, seconds, ratio to the size before) for each doubling."""
    n, found = 4_096, []
    last: float | None = None
    while n <= LAST_CHARS:
        text = family(n)
        took = seconds(text, path)
        if took >= FIRST_SECONDS or last is not None:
            took = min([took, *(seconds(text, path) for _ in range(RUNS - 1))])
            if last is not None:
                found.append((len(text), took, took / last))
            last = took
        n *= 2
    return found


def main(names: list[str]) -> int:
    """Run the families named, or all; gives the exit code."""
    failed = 0
    for name, family in FAMILIES.items():
        if names and name not in names:
            continue
        path = "a.mdx" if name.endswith(MDX) else "a.md"
        found = ratios(family, path)
        worst = max((ratio for _, _, ratio in found), default=0.0)
        if worst >= LIMIT:  # once more: another process may have had the machine
            found = ratios(family, path)
            worst = max((ratio for _, _, ratio in found), default=0.0)
        size, took = found[-1][:2] if found else (LAST_CHARS, 0.0)
        verdict = "FAIL" if worst >= LIMIT else "ok"
        failed += worst >= LIMIT
        print(f"{verdict:4} {worst:5.2f}  {took:7.3f} s at {size:9,}  {name!r}", flush=True)
    print(f"{failed} of {len(names or FAMILIES)} families grow faster than linearly")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
