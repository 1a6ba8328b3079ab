"""The same 30 calls to md-vision and to mdvision, and a table of what each gives.

    python -m benchmark.compare_md_vision --md-vision DIR CORPUS

DIR is md-vision, built: DIR/dist/server.js is run with the node that is on PATH. Both serve CORPUS
and a folder of small hard documents over stdio and are asked by the same client.

In the table `tit` is a text, an image and a text block. What a server adds is taken off before
texts are compared: the lines before pictures, and the footer. `verbatim` = the text is a piece of the
source as it stands; `same HTML` = markdown-it-py renders the texts alike, pictures apart. Of an index
`as markdown-it-py` counts the headings that stand there with the same text, line and number of
pictures.
"""

from __future__ import annotations

import argparse
import html
import os
import re
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import anyio
from mcp import Client, StdioServerParameters

from benchmark.compare_calls import HARD, Call, corpus_calls, hard_calls

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tests" / "markdown"))

import oracle  # noqa: E402 - the test suite's own

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mcp.types import CallToolResult

SECONDS = 300  # that a call may take

_FILE = re.compile(r'^<file path="(.*)" lines=\d+ chars=\d+>$')
_FRONT = re.compile(r"\A---[ \t]*\n(?:.*\n)*?---[ \t]*(?:\n|\Z)")
_CAPTION = re.compile(r"(?:file|https?)://\S*\n\n\Z")
_PICTURE_LINE = re.compile(r"\n\[picture \d+ of \d+(?:: .*)?, \d+x\d+(?:, shown \d+x\d+)?\]\n\Z")
_IMG = re.compile(r"<img\b[^>]*>", re.IGNORECASE)
_EMPTY = re.compile(r"<p>\s*</p>")


class Places(NamedTuple):
    """The folders that are served."""

    corpus: str
    hard: str

    def path(self, uri: str) -> str:
        """A path in one of the folders, for a `uri` of a call."""
        head, _, rest = uri.partition("/")
        return os.path.join(getattr(self, head), rest) if head in self._fields else uri

    def short(self, text: str) -> str:
        """A text with the folders named as in the calls."""
        for name, folder in zip(self._fields, self, strict=True):
            text = text.replace(folder, name)
        return text


# Asking


def main(md_vision: str, corpus: str) -> int:
    """Ask both, print the table; gives 1 when a server could not be asked."""
    with tempfile.TemporaryDirectory() as folder:
        places = Places(os.path.realpath(corpus), os.path.realpath(folder))
        for name, content in HARD.items():
            data = content.encode() if isinstance(content, str) else content
            Path(folder, name).write_bytes(data)
        calls = [*corpus_calls(places.corpus), *hard_calls()]
        servers = [
            ["node", os.path.join(os.path.realpath(md_vision), "dist", "server.js")],
            [sys.executable, "-m", "mdvision_mcp"],
        ]
        answers = [answers_of(server, calls, places) for server in servers]
        print(
            "| call | md-vision gives | mdvision gives | same text? | note |\n|---|---|---|---|---|"
        )
        for call, theirs, ours in zip(calls, *answers, strict=True):
            same = compared(call, theirs, ours, places)
            cells = (shown_call(call), shape(theirs, places), shape(ours, places), same, call.note)
            print(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |")
    return 0


def answers_of(server: list[str], calls: Sequence[Call], places: Places) -> list[CallToolResult]:
    """What a server answers to the calls."""
    program, *arguments = server
    for folder in places:
        arguments += ["--allow-path", folder]
    parameters = StdioServerParameters(
        command=program,
        args=[*arguments, "--allow-domain", "none"],
        cwd=ROOT,
    )
    found: list[CallToolResult] = []

    async def ask() -> None:
        async with Client(parameters, mode="legacy") as client:
            for call in calls:
                given = {**call.arguments, "uri": places.path(str(call.arguments["uri"]))}
                answer = await client.call_tool(call.tool, given, read_timeout_seconds=SECONDS)
                found.append(answer)

    began = time.monotonic()
    anyio.run(ask)
    print(f"{time.monotonic() - began:.1f} s for {program}", file=sys.stderr)
    return found


# What an answer is


def shown_call(call: Call) -> str:
    """A call as the table names it."""
    given = ", ".join(f"{name}={value!r}" for name, value in call.arguments.items())
    return f"{call.what}: `{call.tool}({given})`"


def shape(answer: CallToolResult, places: Places) -> str:
    """An answer in short: error or not, its blocks, its characters."""
    blocks = "".join(block.type[0] for block in answer.content)
    characters = sum(len(places.short(b.text)) for b in answer.content if b.type == "text")
    kinds = re.sub(r"((?:ti)+)\1{3,}", lambda m: f"(ti)x{len(m[0]) // 2} ", blocks)
    return f"{'error ' if answer.is_error else ''}{kinds} {characters:,}"


def text_of(answer: CallToolResult) -> str:
    """The text of an answer without the lines before its pictures and without its footer."""
    pieces = [block.text if block.type == "text" else "" for block in answer.content]
    for k, block in enumerate(answer.content[1:]):
        if block.type == "image":
            pieces[k] = _PICTURE_LINE.sub("", _CAPTION.sub("\n\n", pieces[k]))
    return "".join(pieces)


def without_footer(text: str) -> str:
    """Our text without its footer."""
    body, rule, _ = text.rpartition("\n---\n")
    return body if rule else text


# Comparing


def compared(call: Call, theirs: CallToolResult, ours: CallToolResult, places: Places) -> str:
    """How two answers compare."""
    if theirs.is_error or ours.is_error:
        return "both refuse" if theirs.is_error and ours.is_error else "one refuses"
    if call.tool == "index_md":
        return compared_indexes(text_of(theirs), text_of(ours), places)
    with open(places.path(str(call.arguments["uri"])), encoding="utf-8", newline="") as file:
        source = file.read()
    texts = {"md-vision": text_of(theirs), "mdvision": text_of(ours)}
    if texts["mdvision"] not in source:
        texts["mdvision"] = without_footer(texts["mdvision"])
    verbatim = [name for name, text in texts.items() if text and text.rstrip("\n") in source]
    if texts["md-vision"] == texts["mdvision"]:
        return "yes, verbatim" if verbatim else "yes"
    alike = "same HTML" if len({rendered(text) for text in texts.values()}) == 1 else "no"
    return f"{alike}; verbatim: {' and '.join(verbatim) or 'neither'}"


def rendered(text: str) -> str:
    """The HTML of a text without its pictures, spaces squeezed."""
    found = oracle.parser().render(_FRONT.sub("", text.replace("\r\n", "\n")))
    return re.sub(r"\s+", " ", _EMPTY.sub("", _IMG.sub("", found))).replace("> <", "><").strip()


class Row(NamedTuple):
    """A row of an index."""

    path: str
    heading: str
    line: int
    pictures: int
    characters: int


def rows(text: str) -> Iterator[Row]:
    """The rows of an index."""
    path = ""
    for line in text.split("\n"):
        if named := _FILE.match(line):
            path = html.unescape(named[1])
        cells = line.split("\t")
        if path and len(cells) == len(Row._fields) - 1 and cells[1].isdigit():
            yield Row(path, cells[0], *map(int, cells[1:]))


def compared_indexes(theirs: str, ours: str, places: Places) -> str:
    """How two indexes compare, and how many rows each has right."""
    found = {"md-vision": list(rows(theirs)), "mdvision": list(rows(ours))}
    paths = sorted({row.path for listed in found.values() for row in listed})
    wanted = {row for path in paths for row in independent(places.path(path))}
    counts = {
        name: len(wanted & {(row.path, row.heading, row.line, row.pictures) for row in listed})
        for name, listed in found.items()
    }
    told = ", ".join(f"{name} {count} of {len(wanted)}" for name, count in counts.items())
    if theirs.strip() == ours.strip():
        return f"yes; as markdown-it-py: {told}"
    first, second = ([row[:4] for row in listed] for listed in found.values())
    alike = "same rows but for char_count" if first == second else "no"
    return f"{alike}; as markdown-it-py: {told}"


def independent(path: str) -> Iterator[tuple[str, str, int, int]]:
    """The headings of a document as markdown-it-py sees them."""
    data = Path(path).read_bytes()
    text = data.decode("utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig")
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    front = _FRONT.match(text)
    if front:
        text = "\n" * front[0].count("\n") + text[front.end() :]
    for row in oracle.markdown_it(text).rows:
        yield path, f"{'#' * row.level} {row.text}".strip(), row.line, row.image_count


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Ask md-vision and mdvision the same.")
    parser.add_argument("--md-vision", required=True, help="folder of md-vision, built")
    parser.add_argument("corpus")
    asked = parser.parse_args()
    sys.exit(main(asked.md_vision, asked.corpus))
