"""Count the pictures that real documents refer to: by form, resolved, shown, and why not.

    python -m benchmark.count_references FOLDER... [--lines]

Every markdown file is read whole, with no host allowed. A picture is resolved when its bytes were
had, and shown when the reading holds it. Lines outside fences that name a picture by a crude
pattern, and on which nothing was found, are counted too, and with --lines printed: each wants an
explanation.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, NamedTuple

import mdvision
from mdvision import ImageReference, Issue, MdVisionError
from mdvision.markdown.mdx import is_mdx
from mdvision.markdown.outline import outline

if TYPE_CHECKING:
    from collections.abc import Iterator

_CRUDE = re.compile(
    r"!\[[^\]]*\]\(|!\[\[|<(?:img|image)\b|:::image|\{\{[<%] *(?:figure|img)\b"
    r"""|\b(?:src|img|image)=["'{][^"'}]*\.(?:png|jpe?g|gif|svg|webp|avif)""",
    re.IGNORECASE,
)
_FENCE = re.compile(r"[ \t>]*(?:[-*+] +)?(`{3,}|~{3,})")
_CODE_SPAN = re.compile(r"(?<!`)(`+)(?!`)[^\n]*?(?<!`)\1(?!`)")
_DARK = re.compile(r"hidden dark:block|#only-dark|#gh-dark-mode-only")
_TAG_LINES = 8
_NOT_HAD = frozenset(
    {"SOURCE_NOT_FOUND", "URL_ACCESS_DENIED", "FILE_ACCESS_DENIED", "INPUT_INVALID", "FETCH_FAILED"}
)


class Line(NamedTuple):
    """A line that names a picture by its looks."""

    path: str
    number: int
    text: str


class Counts:
    """What came of the references of some folders."""

    def __init__(self) -> None:
        self.files = 0
        self.found: Counter[str] = Counter()
        self.resolved: Counter[str] = Counter()
        self.shown: Counter[str] = Counter()
        self.why_not: dict[str, Counter[str]] = defaultdict(Counter)
        self.unshown: Counter[str] = Counter()
        self.twins = 0
        self.unexplained: list[Line] = []

    def take(self, path: str, references: tuple[ImageReference, ...]) -> None:
        """Read a file and count what came of its references."""
        self.files += 1
        reading = mdvision.read_with_images(path)
        failed: dict[tuple[object, object], list[Issue]] = defaultdict(list)
        for issue in reading.issues:
            reason = str(issue.details.get("reason", ""))
            if issue.code.name == "CONTENT_DROPPED":
                self.unshown[reason] += 1
            elif "line" in issue.details and issue.code.name != "IMAGE_REDUCED":
                failed[issue.details["line"], issue.details.get("source", "")].append(issue)
        for reference in references:
            self.found[reference.kind] += 1
            issues = failed.get((reference.line_start, reference.source[:512]))
            if not issues:
                self.resolved[reference.kind] += 1
                self.shown[reference.kind] += 1
                continue
            issue = issues.pop(0)
            self.resolved[reference.kind] += issue.code.name not in _NOT_HAD
            self.why_not[reference.kind][f"{issue.code} {issue.details.get('reason', '')}"] += 1
        told = {issue.details["line"] for issue in reading.issues if "line" in issue.details}
        told |= set(lines_of_pictures(path, reading.text))
        for line in looks(path, reading.text):
            if line.number not in told:
                is_twin = _DARK.search(line.text)
                self.twins += bool(is_twin)
                self.unexplained += [] if is_twin else [line]


def lines_of_pictures(path: str, text: str) -> Iterator[int]:
    """The lines on which the syntax of a picture stands."""
    parsed = outline(text, mdx=is_mdx(path))
    for picture in parsed.pictures:
        yield from range(picture.line_start, parsed.source.line_at(picture.end - 1) + 1)


def looks(path: str, text: str) -> list[Line]:
    """The lines outside fences and code spans that name a picture by their looks."""
    found: list[Line] = []
    fence = ""
    lines = re.split(r"\r\n|\r|\n", text)
    for number, line in enumerate(lines, start=1):
        mark = _FENCE.match(line)
        if mark and (not fence or (mark[1].startswith(fence) and not line.strip("`~> \t"))):
            fence = "" if fence else mark[1]
        elif not fence and _CRUDE.search(_CODE_SPAN.sub("", line)):
            tag = " ".join(lines[number - 1 : number + _TAG_LINES]).partition("/>")[0]
            before = " ".join(lines[max(0, number - _TAG_LINES) : number]).rpartition("<img")[2]
            around = f"{before} {tag}" if "src=" in line and "<img" not in line else tag
            found.append(Line(path, number, around.strip() if "<img" in tag or before else line))
    return found


def main(folders: list[str], *, with_lines: bool) -> int:
    """Run, and print a table."""
    counts = Counts()
    for folder in folders:
        for index in mdvision.index_markdown_folder(folder, gitignore=False):
            try:
                counts.take(str(index.path), index.images)
            except MdVisionError as error:
                print(index.path, error)
    print(
        f"{counts.files:,} files\n{'form':<12}{'found':>8}{'resolved':>10}{'shown':>8}  why not shown"
    )
    for form, number in counts.found.most_common():
        reasons = ", ".join(f"{why.strip()} {n:,}" for why, n in counts.why_not[form].most_common())
        row = f"{form:<12}{number:>8,}{counts.resolved[form]:>10,}{counts.shown[form]:>8,}"
        print(f"{row}  {reasons}")
    print("named, no pictures:", dict(counts.unshown))
    print(f"{counts.twins:,} lines of the dark twin of a picture")
    print(f"{len(counts.unexplained):,} lines look like a picture and hold none")
    if with_lines:
        for line in counts.unexplained:
            print(f"{os.fspath(line.path)}:{line.number}: {line.text[:160]}")
    return 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Count the pictures that documents refer to.")
    parser.add_argument("folders", nargs="+", metavar="FOLDER")
    parser.add_argument("--lines", action="store_true", help="print the lines that want explaining")
    options = parser.parse_args()
    sys.exit(main(options.folders, with_lines=options.lines))
