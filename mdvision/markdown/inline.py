"""Inline structure of one leaf: its plain text, its images and raw HTML tags, with exact offsets.

The algorithm is the specification's own (appendix, "An algorithm for parsing nested emphasis and
links"): a stack of open brackets, and a list of emphasis marks that is resolved whenever a link or
image closes and once at the end. One pass, no recursion, linear: a bracket is pushed and popped
once; of backtick runs, ends of raw HTML and openers of emphasis that were sought in vain it is
remembered that there is none.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING, NamedTuple

from mdvision.markdown.emphasis import Mark, pair_marks
from mdvision.markdown.links import (
    ENTITY,
    ESCAPABLE,
    LABEL,
    MAX_LABEL_CHARS,
    Definition,
    Target,
    entity_text,
    inline_target,
    normal_label,
)
from mdvision.markdown.spans import Joined, Span, lines_of, match_end, merged

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

SPECIAL = re.compile(r"[\\`*_~\[\]!<&\n]")
"""What may be more than text; a leaf without any of these is plain already."""

_RUN = re.compile(r"`+|\*+|_+|~+")
_BACKTICKS = re.compile(r"`+")
_LINE_END = re.compile(r"\n")
_LABEL_PART = r"[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?"
_AUTOLINK = re.compile(
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


class InlineImage(NamedTuple):
    """An image by a bracket."""

    start: int
    """Source offset of its `!`."""
    end: int
    source: str
    title: str
    alt: str
    is_reference: bool
    hold_end: int | None
    """Source offset behind the outermost link or emphasis around it, and behind what else goes on
    where that one's last line ends; None when it is in none."""


class RawHtml(NamedTuple):
    """A tag or a comment, without the marks of containers between its lines."""

    text: str
    start: int
    """Source offset."""
    end: int


class Inline(NamedTuple):
    """What one leaf holds."""

    text: str
    """Marks and raw HTML gone, code and alternative texts kept, a line end one space."""
    images: list[InlineImage]
    """The outermost ones, in order."""
    html: list[RawHtml]
    """Raw HTML, in order."""


class _Bracket:
    __slots__ = ("at", "has_bracket", "html", "images", "inside", "is_image", "marks", "node")

    def __init__(self, at: int, inside: int, parser: _Parser) -> None:
        self.at, self.inside = at, inside
        self.is_image = inside - at > 1
        self.node = len(parser.nodes)  # how much of each list stands before it
        self.marks = len(parser.marks)
        self.images = len(parser.images)
        self.html = len(parser.html)
        self.has_bracket = False  # then its text is no label


class _Found(NamedTuple):
    """An image while the leaf is being read: offsets in the joined text, its alt as nodes."""

    start: int
    end: int
    target: Target
    is_reference: bool
    first_node: int
    last_node: int


def read_inline(text: str, spans: Sequence[Span], definitions: Mapping[str, Definition]) -> Inline:
    """Read the content lines `spans` of a paragraph or heading of the source `text`."""
    return _Parser(Joined(text, list(lines_of(text, spans)), "\n"), definitions).run()


def read_cell(text: str, span: Span, definitions: Mapping[str, Definition]) -> Inline:
    r"""Read one table cell: `\|` is a bar there before anything else is looked at."""
    pieces: list[Span] = []
    at, end = span
    while (bar := text.find("\\|", at, end)) >= 0:
        pieces.append((at, bar))
        at = bar + 1
    pieces.append((at, end))
    return _Parser(Joined(text, pieces, ""), definitions).run()


class _Parser:
    """One pass over one leaf; each reader takes an index and gives that behind what it read."""

    def __init__(self, joined: Joined, definitions: Mapping[str, Definition]) -> None:
        self.joined, self.definitions = joined, definitions
        self.text = joined.text.rstrip(" \t\n")
        self.nodes: list[str] = []  # the plain text in pieces; marks stand in it until resolved
        self.marks: list[Mark] = []
        self.brackets: list[_Bracket] = []
        self.dead = 0  # `[` below this height lie around a link, so they are none
        self.images: list[_Found] = []
        self.html: list[Span] = []
        self.holds: list[Span] = []  # links and emphasis
        self.codes: list[Span] = []
        self.ticks: dict[int, list[int]] | None = None
        self.absent: set[str] = set()  # ends of raw HTML that do not come any more

    def run(self) -> Inline:
        text, at = self.text, 0
        while found := SPECIAL.search(text, at):
            start = found.start()
            if start > at:
                piece = text[at:start]
                self.nodes.append(piece.rstrip(" \t") if text[start] == "\n" else piece)
            at = _READERS[text[start]](self, start)
        self.nodes.append(text[at:])
        self.resolve(0)
        source, source_end = self.joined.source, self.joined.source_end
        html = [RawHtml(text[a:b], source(a), source_end(b)) for a, b in self.html]
        return Inline("".join(self.nodes).strip(" \t\n"), self.found_images(), html)

    def found_images(self) -> list[InlineImage]:
        holds = merged(self.holds)
        starts = [start for start, _ in holds]
        ends = self.hold_ends(holds) if holds and self.images else []
        found: list[InlineImage] = []
        for image in self.images:
            k = bisect_right(starts, image.start) - 1
            held = k >= 0 and image.end <= holds[k][1]
            alt = "".join(self.nodes[image.first_node : image.last_node]).strip(" \t\n")
            found.append(
                InlineImage(
                    self.joined.source(image.start),
                    self.joined.source_end(image.end),
                    image.target.destination,
                    image.target.title,
                    alt,
                    image.is_reference,
                    self.joined.source_end(ends[k]) if held else None,
                )
            )
        return found

    def hold_ends(self, holds: Sequence[Span]) -> list[int]:
        """For each link or emphasis where it ends, or where the last one ends that goes on there.

        In `[![a](b)](c) *d` with `e*` on the next line a picture behind the first line would tear
        the emphasis.
        """
        images = [(image.start, image.end) for image in self.images]
        whole = merged([*holds, *images, *self.codes, *self.html])
        starts = [start for start, _ in whole]
        line_ends = [found.start() for found in _LINE_END.finditer(self.text)]
        ends = [end for _, end in whole]
        for k in reversed(range(len(whole))):
            line = bisect_left(line_ends, ends[k])
            if line < len(line_ends):
                other = bisect_right(starts, line_ends[line]) - 1
                ends[k] = ends[other] if line_ends[line] < whole[other][1] else ends[k]
        return [ends[bisect_right(starts, start) - 1] for start, _ in holds]

    # readers

    def read_backslash(self, at: int) -> int:
        c = self.text[at + 1 : at + 2]
        if c == "\n" or (c and c in ESCAPABLE):
            self.nodes.append(" " if c == "\n" else c)
            return at + 2
        self.nodes.append("\\")
        return at + 1

    def read_line_end(self, at: int) -> int:
        self.nodes.append(" ")
        return at + 1

    def read_entity(self, at: int) -> int:
        found = ENTITY.match(self.text, at)
        self.nodes.append(entity_text(found[1]) if found else "&")
        return found.end() if found else at + 1

    def read_code(self, at: int) -> int:
        text = self.text
        start = match_end(_BACKTICKS, text, at)
        if self.ticks is None:  # all runs by their length, last first
            self.ticks = {}
            for run in reversed(list(_BACKTICKS.finditer(text, at))):
                self.ticks.setdefault(run.end() - run.start(), []).append(run.start())
        runs = self.ticks.get(start - at, [])
        while runs and runs[-1] < start:
            runs.pop()
        if not runs:
            self.nodes.append(text[at:start])
            return start
        code = text[start : runs[-1]].replace("\n", " ")
        if code[0] == " " == code[-1] and code.strip(" "):
            code = code[1:-1]
        self.nodes.append(code)
        self.codes.append((at, runs[-1] + start - at))
        return runs[-1] + start - at

    def read_angle(self, at: int) -> int:
        if link := _AUTOLINK.match(self.text, at):
            self.nodes.append(link[1])
            return link.end()
        end = self.raw_html_end(at)
        if end is None:
            self.nodes.append("<")
            return at + 1
        self.nodes.append("")
        self.html.append((at, end))
        return end

    def raw_html_end(self, at: int) -> int | None:
        text = self.text
        if tag := _TAG.match(text, at):
            return tag.end()
        for opening, closing, skip in _MARKUP:
            if not text.startswith(opening, at):
                continue
            is_declaration = opening == "<!"
            if closing in self.absent or (is_declaration and not _is_letter(text[at + 2 : at + 3])):
                return None
            end = text.find(closing, at + skip)
            if end < 0:
                self.absent.add(closing)
                return None
            return end + len(closing)
        return None

    def read_marks(self, at: int) -> int:
        end = match_end(_RUN, self.text, at)
        self.marks.append(Mark(self.text, at, end, len(self.nodes)))
        self.nodes.append(self.text[at:end])
        return end

    def read_bang(self, at: int) -> int:
        if self.text.startswith("[", at + 1):
            return self.open_bracket(at, at + 2)
        self.nodes.append("!")
        return at + 1

    def read_bracket(self, at: int) -> int:
        return self.open_bracket(at, at + 1)

    def open_bracket(self, at: int, inside: int) -> int:
        if self.brackets:
            self.brackets[-1].has_bracket = True
        self.brackets.append(_Bracket(at, inside, self))
        self.nodes.append(self.text[at:inside])
        return inside

    def close_bracket(self, at: int) -> int:
        opener = self.brackets.pop() if self.brackets else None
        if opener:
            is_alive = opener.is_image or len(self.brackets) >= self.dead
            self.dead = min(self.dead, len(self.brackets))
            if is_alive and (found := self.target(opener, at)):
                self.take(opener, *found)
                return found[0].end
        self.nodes.append("]")
        return at + 1

    def target(self, opener: _Bracket, at: int) -> tuple[Target, bool] | None:
        """Where the bracket that closes at `at` leads, and whether by a reference."""
        text = self.text
        if text.startswith("(", at + 1) and (found := inline_target(text, at + 1)):
            return found, False
        if not self.definitions:
            return None
        if label := LABEL.match(text, at + 1):
            name, end = label[1], label.end()
        else:
            short = not opener.has_bracket and at - opener.inside <= MAX_LABEL_CHARS
            name = text[opener.inside : at] if short else ""
            end = at + 3 if text.startswith("[]", at + 1) else at + 1
        definition = self.definitions.get(normal_label(name))
        return (Target(end, definition.destination, definition.title), True) if definition else None

    def take(self, opener: _Bracket, target: Target, is_reference: bool) -> None:  # noqa: FBT001 - of a pair
        """The bracket is a link or an image."""
        self.resolve(opener.marks)
        self.nodes[opener.node] = ""
        if not opener.is_image:
            self.holds.append((opener.at, target.end))
            self.dead = len(self.brackets)
            return
        del self.images[opener.images :]  # what its alternative text names is no picture of its own
        del self.html[opener.html :]
        place = opener.at, target.end, target, is_reference, opener.node, len(self.nodes)
        self.images.append(_Found(*place))

    def resolve(self, bottom: int) -> None:
        """Pair the marks from index `bottom` on, and take the paired ones out of the text."""
        marks = self.marks[bottom:]
        self.holds += pair_marks(marks)
        for mark in marks:
            self.nodes[mark.node] = mark.char * mark.count
        del self.marks[bottom:]


def _is_letter(c: str) -> bool:
    return c.isascii() and c.isalpha()


_READERS: dict[str, Callable[[_Parser, int], int]] = {
    "\\": _Parser.read_backslash,
    "\n": _Parser.read_line_end,
    "&": _Parser.read_entity,
    "`": _Parser.read_code,
    "<": _Parser.read_angle,
    "*": _Parser.read_marks,
    "_": _Parser.read_marks,
    "~": _Parser.read_marks,
    "!": _Parser.read_bang,
    "[": _Parser.read_bracket,
    "]": _Parser.close_bracket,
}
