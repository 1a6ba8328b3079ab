"""The calls that md-vision and mdvision both answer, and the small hard documents among them."""

from __future__ import annotations

import io
import os
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import PurePath

from PIL import Image

import mdvision
from mdvision import HeadingIndexRow, ImageReference, MarkdownFileIndex
from mdvision.rendering import file_index_text

Documents = Mapping[str, MarkdownFileIndex]
Section = tuple[str, MarkdownFileIndex, HeadingIndexRow]

FENCE_LINES = 6
TABLE_CHARS = 400
FITTING_CHARS = 40_000
RASTERS = (".png", ".jpg", ".jpeg", ".gif", ".webp")

# Who is right. `CommonMark` is what markdown-it-py renders.

WHOLE_FOLDER = (
    "md-vision gives all in one block, more than clients take; mdvision keeps within 50,000"
    " characters: each file with its counts, and which call gives the headings"
)
FOLDER = "md-vision does not count reference pictures, `![a][x]`; mdvision is right"
CHARS_ONLY = "both right; md-vision counts characters of text rendered anew, mdvision the source's"
ANEW = "the same document; md-vision rewrites its marks and takes pictures' markup and alt text out"
GLUED = (
    "md-vision glues a picture that it leaves out to the block behind it, `![a](b)> NOTE`, which"
    " is no quote then; mdvision is right"
)
SVG = "both show the drawing"
PADDED = "the same table; md-vision pads its cells"
BOTH = "both right"
TWICE = "both give the first; mdvision says where the other is"
UNDEFINED = (
    "md-vision escapes links whose definitions lie outside the lines, `\\[IPC tutorial]\\[]`;"
    " mdvision gives the source"
)
FENCE = (
    "md-vision takes the code for prose: no indentation, `<https://github.com>`, a fence of its own"
    " at the end; mdvision is right"
)
PAST_END = "md-vision refuses; mdvision gives the lines that there are and says so"
TWO_LINES = (
    "md-vision finds it only by a name with a line break, which its index does not show; mdvision"
    " finds it as listed"
)
ENDINGS = "the same document; md-vision changes the bullet and the line ends"
MARKS = (
    "md-vision escapes what needs none, and makes a third column of an excess cell, which GFM"
    " drops; mdvision is right"
)
TORN = (
    "md-vision tears the table, and its rows become headers; mdvision shows the pictures behind it"
)
COMMENT = "md-vision shows the picture in the comment and writes `&#x20;`; mdvision is right"
REFERENCE = "both pictures are pictures by CommonMark; md-vision shows neither"
BROKEN = (
    "one bad picture costs md-vision the text; mdvision gives it, the other picture, the reason"
)
UTF16 = "md-vision sees no heading; mdvision is right"


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A call of a tool that both servers offer."""

    what: str
    """What it is about, in a few words."""
    tool: str
    arguments: Mapping[str, object]
    """A `uri` that begins with `corpus` or `hard` is a path in one of the two folders."""
    note: str
    """Who is right where the answers differ."""


def index(what: str, uri: str, note: str) -> Call:
    """A call of `index_md`."""
    return Call(what=what, tool="index_md", arguments={"uri": uri}, note=note)


def read(what: str, uri: str, note: str, **arguments: object) -> Call:
    """A call of `read_md_with_images`."""
    given = {"uri": uri, **arguments}
    return Call(what=what, tool="read_md_with_images", arguments=given, note=note)


# From the corpus, by rules that choose the same documents each time.


def corpus_calls(corpus: str) -> list[Call]:
    """The calls on real documents."""
    found = mdvision.index_markdown_folder(corpus)
    documents = {os.path.relpath(file.path or "", corpus): file for file in found}
    sections = [(path, file, row) for path, file in documents.items() for row in file.rows]
    source = Sources(corpus)

    def smallest(wanted: Callable[[Section], bool]) -> Section:
        return min(filter(wanted, sections), key=lambda section: section[2].char_count)

    many_rows = max(documents, key=lambda path: len(documents[path].rows))
    many_pictures = max(documents, key=lambda path: len(source.pictures(path, documents)))
    front = next(path for path, file in documents.items() if file.frontmatter and file.rows)
    pictured = smallest(lambda s: source.shows(s, "inline"))
    html = smallest(lambda s: source.shows(s, "html"))
    svg = smallest(lambda s: source.shows(s, "html", (".svg",)))
    table = smallest(lambda s: s[2].char_count > TABLE_CHARS and source.has_table(s))
    code = next(s for s in sections if "`" in source.line(s[0], s[2].line_start))
    twice = next(s for s in sections if is_repeated(s))
    fenced, fence = next((p, lines) for p in documents if (lines := source.fence(p)))
    last = documents[front].line_count
    return [
        index("a folder with all that is in it", "corpus", WHOLE_FOLDER),
        index("a folder of which all fits", f"corpus/{fitting_folder(documents)}", FOLDER),
        index("the file with the most headings", f"corpus/{many_rows}", CHARS_ONLY),
        index("front matter", f"corpus/{front}", CHARS_ONLY),
        read("a whole file with pictures", f"corpus/{many_pictures}", ANEW),
        read("the same without pictures", f"corpus/{many_pictures}", GLUED, max_images=0),
        read("the same with one picture", f"corpus/{many_pictures}", GLUED, max_images=1),
        section("a section with a picture", pictured, ANEW),
        section("a section with `<img>`", html, ANEW),
        section("a section with an SVG picture", svg, SVG),
        section("a section with a table", table, PADDED),
        section("a heading with code", code, BOTH),
        section("a heading that is there twice", twice, TWICE),
        read("the first lines", f"corpus/{front}", UNDEFINED, line_range=[1, 20]),
        read("lines from inside a fence", f"corpus/{fenced}", FENCE, line_range=fence),
        read("lines past the end", f"corpus/{front}", PAST_END, line_range=[last - 5, last + 90]),
        read("a heading that is not there", f"corpus/{front}", BOTH, section="## Nowhere"),
        read(
            "the same, lines given too",
            f"corpus/{front}",
            BOTH,
            section="## Nowhere",
            line_range=[1, 12],
        ),
    ]


def section(what: str, chosen: Section, note: str) -> Call:
    """A call that reads a section by its heading."""
    return read(what, f"corpus/{chosen[0]}", note, section=chosen[2].heading)


def is_repeated(chosen: Section) -> bool:
    """Whether a section's heading stands more than once in its file."""
    return sum(row.heading == chosen[2].heading for row in chosen[1].rows) > 1


def fitting_folder(documents: Documents) -> str:
    """The folder with the most headings among those whose index fits into one answer of ours."""
    sizes: Counter[str] = Counter()
    headings: Counter[str] = Counter()
    for path, file in documents.items():
        for folder in map(str, PurePath(path).parents):
            sizes[folder] += len(file_index_text(file)) + 1
            headings[folder] += len(file.rows)
    return max((f for f in sizes if sizes[f] < FITTING_CHARS), key=lambda f: headings[f])


class Sources:
    """The text of the documents, to choose among them."""

    def __init__(self, corpus: str) -> None:
        self._corpus = corpus

    def lines(self, path: str) -> list[str]:
        """The lines of a document."""
        with open(os.path.join(self._corpus, path), encoding="utf-8") as file:
            return file.read().split("\n")

    def line(self, path: str, number: int) -> str:
        """A line of a document, counted from 1."""
        return self.lines(path)[number - 1]

    def pictures(self, path: str, documents: Documents) -> list[ImageReference]:
        """The pictures of a document that are there, drawings apart."""
        return [image for image in documents[path].images if self._is_there(path, image, RASTERS)]

    def shows(self, chosen: Section, kind: str, suffixes: tuple[str, ...] = RASTERS) -> bool:
        """Whether a section has one picture, of a kind and there."""
        path, file, row = chosen
        images = [i for i in file.images if row.line_start <= i.line_start <= row.line_end]
        is_one = len(images) == 1 and images[0].kind == kind
        return is_one and self._is_there(path, images[0], suffixes)

    def _is_there(self, path: str, image: ImageReference, suffixes: tuple[str, ...]) -> bool:
        named = os.path.join(self._corpus, os.path.dirname(path), image.source)
        return image.source.endswith(suffixes) and os.path.isfile(named)

    def has_table(self, chosen: Section) -> bool:
        """Whether a section without pictures has a table that begins with a bar."""
        path, _, row = chosen
        lines = self.lines(path)[row.line_start - 1 : row.line_end]
        return not row.image_count and any(line.startswith("|") for line in lines)

    def fence(self, path: str) -> list[int]:
        """Lines from the second of the first long fence to the third behind it; empty = none."""
        opened = 0
        for number, line in enumerate(self.lines(path), 1):
            if line.startswith("```"):
                if opened and number - opened > FENCE_LINES:
                    return [opened + 1, number + 3]
                opened = 0 if opened else number
        return []


# Small documents that are hard.


def picture(width: int, height: int) -> bytes:
    """A picture of one colour."""
    data = io.BytesIO()
    Image.new("RGB", (width, height), "red").save(data, "PNG")
    return data.getvalue()


HARD: Mapping[str, str | bytes] = {
    "setext.md": "Title\n=====\n\nSmall\n-----\n\ntext\n\nOver two\nlines\n-----\n\nend\n",
    "fences.md": "# A\n\n```md\n## Not a heading\n```\n\n    ## Nor this\n\n## Real\n\ntext\n",
    "endings.md": b"# A\r\n\r\nline one\r\nline two\r\n\r\n## B\r\n\r\n* item\r\n",
    "marks.md": (
        "# Marks\n\nsnake_case and 2 * 3 * 4, a [link] that is none, <b>bold</b>\n\n"
        "* one\n* two\n\n1) first\n2) second\n\n***\n\n| a | b |\n|:--|---|\n| `x|y` | z |\n\n"
        "Hard break\\\nhere. AT&T &copy; 5 < 6\n"
    ),
    "table.md": (
        "# Table\n\n| step | shown |\n|---|---|\n| 1 | ![one](red.png) |\n| 2 | ![two](red.png) |\n"
        "| 3 | no picture |\n\nAfter.\n"
    ),
    "html.md": (
        "# HTML\n\n<!-- <img src='red.png'> -->\n\nText <img src='red.png' width=20> goes on.\n\n"
        "<p align=center>\n  <img alt='two' src='red.png'>\n</p>\n"
    ),
    "reference.md": "# Reference\n\n![logo][l] and ![l]\n\n[l]: red.png 'The logo'\n",
    "broken.md": "# Broken\n\nBefore.\n\n![bad](broken.png)\n\n![good](red.png)\n\nAfter.\n",
    "gone.md": "# Gone\n\nBefore.\n\n![gone](nowhere.png)\n\n![good](red.png)\n\nAfter.\n",
    "remote.md": "# Remote\n\n![far](https://example.invalid/a.png)\n\n![good](red.png)\n",
    "data.md": (
        "# Data\n\n![dot](data:image/gif;base64,"
        "R0lGODlhAQABAIAAAP///wAAACH5BAAAAAAALAAAAAABAAEAAAICRAEAOw==) behind it\n"
    ),
    "wide.md": "# UTF-16\n\n## Second\n".encode("utf-16"),
    "red.png": picture(40, 20),
    "broken.png": picture(40, 20)[:40],
}


def hard_calls() -> list[Call]:
    """The calls on the small documents."""
    return [
        read("a heading over two lines", "hard/setext.md", TWO_LINES, section="## Over two lines"),
        read("a heading inside a fence", "hard/fences.md", BOTH, section="## Not a heading"),
        read("CRLF", "hard/endings.md", ENDINGS),
        read("escapes, bullets, a table", "hard/marks.md", MARKS),
        read("pictures in a table", "hard/table.md", TORN),
        read("`<img>` in a comment and in text", "hard/html.md", COMMENT),
        read("reference pictures", "hard/reference.md", REFERENCE),
        read("a picture that does not decode", "hard/broken.md", BROKEN),
        read("a picture that is not there", "hard/gone.md", BROKEN),
        read("a picture on a refused host", "hard/remote.md", BROKEN),
        index("UTF-16", "hard/wide.md", UTF16),
        read("a URL that is refused", "https://example.invalid/a.md", BOTH),
    ]
