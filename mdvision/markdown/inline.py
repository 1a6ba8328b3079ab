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

from mdvision.markdown.angles import AUTOLINK, raw_html_end
from mdvision.markdown.emphasis import Mark, pair_marks
from mdvision.markdown.further import MARK, marked_at, tail_end, template_target, wiki_at
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
from mdvision.markdown.pictures import is_picture_name
from mdvision.markdown.spans import Joined, Span, lines_of, match_end, merged

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from mdvision.markdown.further import Found

SPECIAL = re.compile(r"[\\`*_~\[\]!<&\n]")
"""What may be more than text; a leaf without any of these is plain already."""

_SPECIAL_OR_MARK = re.compile(f"{SPECIAL.pattern}|{MARK.pattern}")
_RUN = re.compile(r"`+|\*+|_+|~+")
_BACKTICKS = re.compile(r"`+")
_LINE_END = re.compile(r"\n")


class InlineImage(NamedTuple):
    """An image by a bracket, a shortcode or a directive."""

    start: int
    """Source offset of its first character."""
    end: int
    source: str
    title: str
    alt: str
    kind: str
    """"inline", "reference", "wiki", "shortcode" or "directive"."""
    hold_end: int | None
    """Source offset behind the outermost link or emphasis around it, and behind what else goes on
    where that one's last line ends; None when it is in none."""


class RawHtml(NamedTuple):
    """A tag or a comment, without the marks of containers between its lines."""

    text: str
    start: int
    """Source offset."""
    end: int
    hold_end: int | None = None
    """As of an image."""


class Unread(NamedTuple):
    """What is no image, though it looks like one."""

    start: int
    """Source offset of its `!`."""
    source: str
    is_embed: bool
    """Whether a note is embedded; else a program fills the address in."""


class Inline(NamedTuple):
    """What one leaf holds."""

    text: str
    """Marks and raw HTML gone, code and alternative texts kept, a line end one space."""
    images: list[InlineImage]
    """The outermost ones, in order."""
    html: list[RawHtml]
    """Raw HTML, in order."""
    unread: list[Unread]


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
    source: str
    title: str
    kind: str
    alt: str | None
    """None: the nodes from `first_node` to `last_node`."""
    first_node: int
    last_node: int


def read_inline(
    text: str, spans: Sequence[Span], definitions: Mapping[str, Definition], *, mdx: bool = False
) -> Inline:
    """Read the content lines `spans` of a paragraph or heading of the source `text`."""
    return _Parser(Joined(text, list(lines_of(text, spans)), "\n"), definitions, mdx=mdx).run()


def read_cell(
    text: str, span: Span, definitions: Mapping[str, Definition], *, mdx: bool = False
) -> Inline:
    r"""Read one table cell: `\|` is a bar there before anything else is looked at."""
    pieces: list[Span] = []
    at, end = span
    while (bar := text.find("\\|", at, end)) >= 0:
        pieces.append((at, bar))
        at = bar + 1
    pieces.append((at, end))
    return _Parser(Joined(text, pieces, ""), definitions, mdx=mdx).run()


class _Parser:
    """One pass over one leaf; each reader takes an index and gives that behind what it read."""

    def __init__(self, joined: Joined, definitions: Mapping[str, Definition], *, mdx: bool) -> None:
        self.joined, self.definitions, self.mdx = joined, definitions, mdx
        self.text = joined.text.rstrip(" \t\n")
        self.nodes: list[str] = []  # the plain text in pieces; marks stand in it until resolved
        self.marks: list[Mark] = []
        self.brackets: list[_Bracket] = []
        self.dead = 0  # `[` below this height lie around a link, so they are none
        self.images: list[_Found] = []
        self.html: list[Span] = []
        self.unread: list[Unread] = []
        self.holds: list[Span] = []  # links and emphasis
        self.codes: list[Span] = []
        self.ticks: dict[int, list[int]] | None = None
        self.absent: set[str] = set()  # ends of raw HTML that do not come any more

    def run(self) -> Inline:
        text, at = self.text, 0
        special = _SPECIAL_OR_MARK if MARK.search(text) else SPECIAL
        while found := special.search(text, at):
            start = found.start()
            if start > at:
                piece = text[at:start]
                self.nodes.append(piece.rstrip(" \t") if text[start] == "\n" else piece)
            at = _READERS[text[start]](self, start)
        self.nodes.append(text[at:])
        self.resolve(0)
        images, html = self.found()
        return Inline("".join(self.nodes).strip(" \t\n"), images, html, self.unread)

    def found(self) -> tuple[list[InlineImage], list[RawHtml]]:
        """The images and the raw HTML, each with the end of what it must not tear."""
        source, source_end = self.joined.source, self.joined.source_end
        holds = merged(self.holds)
        starts = [start for start, _ in holds]
        ends = self.hold_ends(holds) if holds and (self.images or self.html) else []

        def hold_end(start: int, end: int) -> int | None:
            k = bisect_right(starts, start) - 1
            return source_end(ends[k]) if k >= 0 and end <= holds[k][1] else None

        images: list[InlineImage] = []
        for start, end, address, title, kind, alt, first, last in self.images:
            if alt is None:
                alt = "".join(self.nodes[first:last]).strip(" \t\n")  # noqa: PLW2901 - the same one
            place = source(start), source_end(end)
            images.append(InlineImage(*place, address, title, alt, kind, hold_end(start, end)))
        html = [
            RawHtml(self.text[a:b], source(a), source_end(b), hold_end(a, b)) for a, b in self.html
        ]
        return images, html

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
        if link := AUTOLINK.match(self.text, at):
            self.nodes.append(link[1])
            return link.end()
        end = raw_html_end(self.text, at, self.absent, mdx=self.mdx)
        if end is None:
            self.nodes.append("<")
            return at + 1
        self.nodes.append("")
        self.html.append((at, end))
        return end

    def read_marks(self, at: int) -> int:
        end = match_end(_RUN, self.text, at)
        self.marks.append(Mark(self.text, at, end, len(self.nodes)))
        self.nodes.append(self.text[at:end])
        return end

    def read_bang(self, at: int) -> int:
        if not self.text.startswith("[", at + 1):
            self.nodes.append("!")
            return at + 1
        if self.text.startswith("[", at + 2) and (end := self.wiki_end(at)):
            return end
        return self.open_bracket(at, at + 2)

    def wiki_end(self, at: int) -> int | None:
        """Take the wiki embed at `at`, unless CommonMark sees a link or an image in it."""
        text, found = self.text, wiki_at(self.text, at)
        if not found or normal_label(text[at + 3 : found.end - 2]) in self.definitions:
            return None
        label = LABEL.match(text, found.end)
        if label and normal_label(label[1]) in self.definitions:
            return None
        if text.startswith("(", found.end) and inline_target(text, found.end):
            return None
        if is_picture_name(found.source):
            return self.take_further(at, found)
        self.unread.append(Unread(self.joined.source(at), found.source, is_embed=True))
        return None  # text

    def read_mark(self, at: int) -> int:
        found = marked_at(self.text, at)
        if found:
            return self.take_further(at, found)
        self.nodes.append(self.text[at])
        return at + 1

    def take_further(self, at: int, found: Found) -> int:
        """Take a picture in a form that CommonMark does not know; it stays plain text as well."""
        end, source, title, alt, kind = found
        self.images.append(_Found(at, end, source, title, kind, alt, 0, 0))
        self.nodes.append(self.text[at:end])
        return end

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
            if opener.is_image and (source := template_target(self.text, at + 1)):
                start = self.joined.source(opener.at)
                self.unread.append(Unread(start, source, is_embed=False))
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
        end, source, title = target
        kind = "reference" if is_reference else "inline"
        nodes = opener.node, len(self.nodes)
        end = tail_end(self.text, end)
        self.images.append(_Found(opener.at, end, source, title, kind, None, *nodes))

    def resolve(self, bottom: int) -> None:
        """Pair the marks from index `bottom` on, and take the paired ones out of the text."""
        marks = self.marks[bottom:]
        self.holds += pair_marks(marks)
        for mark in marks:
            self.nodes[mark.node] = mark.char * mark.count
        del self.marks[bottom:]


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
    "{": _Parser.read_mark,
    ":": _Parser.read_mark,
}
