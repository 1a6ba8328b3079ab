"""Rendering by mistletoe: safe, bounded, and from many threads at once."""

from __future__ import annotations

import logging
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from mdvision.markdown.outline import outline
from mdvision.markdown.render import markdown_to_html, markdown_to_text

DOCUMENT = """---
title: x
---
# A *b* `c`

> quote ![alt](a.png)

1. one
2. two
   - deep **x**

| a | b |
|---|---|
| `c` | [d](u) |

```py
print("*x*")
```

<b>bold</b> &amp; \\* <https://x.test>
"""


def test_html() -> None:
    rendered = markdown_to_html(DOCUMENT)
    assert rendered.startswith("<h1>A <em>b</em> <code>c</code></h1>\n<blockquote>")
    assert '<img src="a.png" alt="alt" />' in rendered
    assert "&lt;b&gt;bold&lt;/b&gt; &amp; *" in rendered
    assert "title: x" not in rendered


def test_text() -> None:
    assert markdown_to_text(DOCUMENT) == (
        "A b c\n\nquote alt\n\none\ntwo\ndeep x\n\na\tb\nc\td\n\n"
        'print("*x*")\n\nbold & * https://x.test\n'
    )


@pytest.mark.parametrize(
    "text",
    [
        "[x](javascript:alert(1))",
        "[x](JaVaScRiPt:alert(1))",
        "[x](&#106;avascript:alert(1))",
        "<javascript:alert(1)>",
        "[x](vbscript:x)",
        "![x](data:text/html;base64,AAAA)",
        "[x](file:///etc/passwd)",
        "<script>alert(1)</script>",
        "a <img src=x onerror=alert(1)> b",
        "<svg/onload=alert(1)>",
        "# <script>x</script>",
        "| <script>x</script> |\n|---|\n",
    ],
)
def test_nothing_in_it_runs(text: str) -> None:
    rendered = markdown_to_html(text)
    assert "<script" not in rendered
    assert "<svg" not in rendered
    assert "onerror" not in rendered.replace("&lt;img src=x onerror=alert(1)&gt;", "")
    for scheme in ("javascript:", "vbscript:", "file:", "data:"):
        assert f'href="{scheme}' not in rendered.lower()
        assert f'src="{scheme}' not in rendered.lower()


def test_pictures_in_data_uris_stay() -> None:
    assert 'src="data:image/png;base64,AA"' in markdown_to_html("![x](data:image/png;base64,AA)")


@pytest.mark.parametrize(
    "text",
    [
        "[a](" * 3_000,
        "> " * 300 + "x",
        "- " * 5_000 + "x",
        "*a " * 100_000,
        "# a" + " " * 60_000 + "b",
        ("x ![a](b) " * 40 + "\n") * 800,
        "word " * 50_000,
    ],
    ids=lambda text: text[:6],
)
def test_what_is_too_much_comes_as_it_is(text: str, caplog: pytest.LogCaptureFixture) -> None:
    before = time.process_time()
    with caplog.at_level(logging.WARNING, "mdvision"):
        plain, rendered = markdown_to_text(text), markdown_to_html(text)
    assert time.process_time() - before < 20
    assert plain == text
    assert rendered.startswith("<pre>")
    assert "NESTING_LIMIT" in caplog.text
    assert markdown_to_html("a\n===\n") == "<h1>a</h1>\n"  # the next one is right


def test_called_from_deep_in_a_stack() -> None:
    def deeper(depth: int) -> str:
        return deeper(depth - 1) if depth else markdown_to_text("> - > - > x\n")

    for depth in range(700, 960, 20):
        try:
            assert deeper(depth) in ("x\n", "> - > - > x\n")
        except RecursionError:  # ours, before mistletoe was asked
            break
    assert markdown_to_html("a\n===\n") == "<h1>a</h1>\n"


def test_eight_threads() -> None:
    texts = [f"# {k}\n\n[r]\n\n[r]: /u{k}\n" for k in range(64)]
    alone = [markdown_to_html(text) for text in texts]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(markdown_to_html, texts * 4)) == alone * 4
    assert outline("x\n===\n").rows[0].heading == "# x"


def test_lone_surrogates() -> None:
    assert markdown_to_html("# \udcff\n\n![a](\udcff.png)\n").startswith("<h1>?</h1>")
    assert markdown_to_text("a \ud800\n") == "a ?\n"


def test_many_blocks_come_as_they_are() -> None:
    before = time.process_time()
    assert markdown_to_html("---\n[a]( b )  \n" * 8_000).startswith("<pre>")
    assert time.process_time() - before < 5
