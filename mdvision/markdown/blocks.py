"""Block structure of markdown (CommonMark 0.31.2 with GFM tables): text in, leaf blocks out.

The algorithm is the specification's own (appendix, "A parsing strategy"), a line at a time:

1. each open container (quote, list item) must claim the line, outermost first;
2. an open leaf that takes lines as they are (fence, code, HTML, table) goes on or ends;
3. what is left may start new containers, then at most one leaf;
4. else it is text: it goes on with the open paragraph or starts one.

`Scanner._skip` is the only shortcut: outside all containers the lines that cannot end the open leaf
are taken at once, by one expression made of the same rules. No recursion, no state outside the
scanner, linear time. Columns exist only for tabs: `at` is an index into the text, `col` the column
that it stands for; within a half-used tab `col` runs ahead while `at` waits.
"""

# pyright: reportPrivateUsage=false
# The tables at the end name the scanner's own methods.
from __future__ import annotations

from typing import TYPE_CHECKING

from mdvision.limits import MAX_NESTING
from mdvision.markdown.columns import CODE_COLUMNS, advanced, indented
from mdvision.markdown.html_blocks import html_block_at
from mdvision.markdown.leaf_builder import LeafBuilder
from mdvision.markdown.leaves import (
    BREAK,
    CODE,
    FENCE,
    HEADING,
    HTML,
    PARAGRAPH,
    SETEXT,
    TABLE,
    Leaf,
    OpenLeaf,
)
from mdvision.markdown.rules import (
    ATX,
    BLANK_LINES,
    BLANK_STOP,
    CODE_STOP,
    FENCE_END,
    FENCE_STOP,
    PARAGRAPH_STOP,
    START,
    START_IN_PARAGRAPH,
    TABLE_STOP,
    WHITE,
)
from mdvision.markdown.spans import cell_count, lines_of, match_end

if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Iterator

_QUOTE = -1  # a container is (_QUOTE, 0), or for a list item (its width, its line if that is empty)
_STOPS = {
    PARAGRAPH: PARAGRAPH_STOP,
    TABLE: TABLE_STOP,
    FENCE: FENCE_STOP,
    CODE: CODE_STOP,
    HTML: BLANK_STOP,
}
_ENDED_BY_BLANK = frozenset({PARAGRAPH, TABLE, HTML})


def scan(text: str, start: int = 0) -> Iterator[Leaf]:
    """Give the leaf blocks of `text` (LF only) from offset `start` on, which counts as line 1."""
    return Scanner(text, start).leaves()


class Scanner(LeafBuilder):
    """One pass over a document."""

    def leaves(self) -> Iterator[Leaf]:
        """Give the leaves one after another; only those of a line or two are held."""
        while self.pos < self.size:
            if not self.stack:
                self._skip()
                if self.done:
                    yield from self.done
                    self.done.clear()
                    continue
                if self.pos >= self.size:
                    break
            self.pos = self._read_line()
            self.line += 1
            if self.stack and self.leaf is None and self.text.startswith("\n\n", self.pos - 1):
                self._skip_blank_lines()
            if self.done:
                yield from self.done
                self.done.clear()
        self.close()
        yield from self.done
        self.done.clear()

    # shortcuts

    def _skip(self) -> None:
        """Outside all containers: take the lines that cannot end the open leaf."""
        text, pos, leaf = self.text, self.pos, self.leaf
        if leaf is None:
            if blank := BLANK_LINES.match(text, pos):
                self.line += text.count("\n", pos, blank.end())
                self.pos = blank.end()
            self._skip_plain_start()
            return
        if leaf.html_end:
            found = leaf.html_end.search(text, pos)
            end = text.rfind("\n", pos - 1, found.start()) + 1 if found else len(text)
        else:
            found = _STOPS[leaf.kind].search(text, pos - 1)
            end = found.end() if found else len(text)
        if end <= pos:
            return
        self.line += text.count("\n", pos, end)
        self.pos = end
        leaf.last, leaf.end = self.line - 1, end
        joins = leaf.spans and leaf.spans[-1][1] == pos - 1
        leaf.spans.append((leaf.spans.pop()[0] if joins else pos, end - 1))
        if self.text.startswith("\n", end) and leaf.kind in _ENDED_BY_BLANK and not leaf.html_end:
            self.close()

    def _skip_plain_start(self) -> None:
        """Outside all containers: take what most blocks are by their first character alone."""
        text, pos = self.text, self.pos
        if pos >= self.size:
            return
        if text[pos].isalpha():
            self._skip_paragraph()
        elif text[pos] == "#" and (mark := ATX.match(text, pos)):
            eol = text.index("\n", pos)
            self._start_heading(mark, pos, eol, 0)
            self.line += 1
            self.pos = eol + 1

    def _skip_paragraph(self) -> None:
        """Outside all containers: take a paragraph up to the line that may end it, or that does.

        A line that begins with a letter begins nothing else, and no link definition.
        """
        text, start, line = self.text, self.pos, self.line
        found = PARAGRAPH_STOP.search(text, start)
        end = found.end() if found else len(text)
        self.line += text.count("\n", start, end)
        self.pos = end
        place = line, self.line - 1, start, min(end, self.size), 0
        if end >= self.size or text[end] == "\n":
            self.done.append(Leaf(PARAGRAPH, *place, [(start, end - 1)]))
        else:
            self.leaf = OpenLeaf(PARAGRAPH, line, start, end, 0, [(start, end - 1)])
            self.leaf.last = self.line - 1

    def _skip_blank_lines(self) -> None:
        """In containers: behind a blank line a further one changes nothing."""
        end = match_end(BLANK_LINES, self.text, self.pos + 1)
        if end > self.pos + 1:
            self._read_line()
            self.line += self.text.count("\n", self.pos, end)
            self.pos = end

    # one line

    def _read_line(self) -> int:
        """Read one line by the four steps; gives the start of the next."""
        at, col, depth = self._claim()
        i, c = indented(self.text, at, col)
        eol = self.text.index("\n", i)
        leaf = self.leaf
        if leaf and leaf.kind != PARAGRAPH:
            if depth == len(self.stack) and _TAKES[leaf.kind](self, leaf, at, i, c - col, eol):
                return eol + 1
            self.close()
        self._start(at, i, c, col, eol, depth)
        return eol + 1

    def _claim(self) -> tuple[int, int, int]:
        """Step 1: where the line goes on behind the marks of the containers that claim it."""
        text, at, col, depth = self.text, self.pos, 0, 0
        for width, empty_line in self.stack:
            i, c = indented(text, at, col)
            if width == _QUOTE:
                if text[i] != ">" or c - col >= CODE_COLUMNS:
                    break
                at, col = advanced(text, i + 1, c + 1, 1)
            elif text[i] == "\n":
                if empty_line == self.line - 1:  # an item begins with at most one blank line
                    break
                at, col = i, c
            elif c - col >= width:
                at, col = advanced(text, at, col, width)
            else:
                break
            depth += 1
        return at, col, depth

    def _start(self, at: int, i: int, c: int, col: int, eol: int, depth: int) -> None:
        """Step 3, containers and leaves that start here, and step 4, the text that is left."""
        while i < eol:
            in_paragraph = self.leaf is not None and depth == len(self.stack)
            if c - col >= CODE_COLUMNS:
                if self.leaf:
                    break  # it cannot interrupt a paragraph
                self.open(CODE, depth, eol, [(at, eol)])
                return
            found = (START_IN_PARAGRAPH if in_paragraph else START).match(self.text, i)
            what = found.lastgroup if found else None
            if not found or not what:
                break
            if what in ("quote", "item"):
                if depth == MAX_NESTING:
                    self.nesting_limit_reached = True
                    break
                at, col = self._enter(found, c, c - col, depth)
                depth += 1
                i, c = indented(self.text, at, col)
            elif _LEAVES[what](self, found, at, eol, depth):
                return
            elif not in_paragraph or self.leaf is not None:
                break  # else it was nothing but definitions: look again
        self._take_text(i, eol, depth)

    def _enter(self, mark: re.Match[str], c: int, indent: int, depth: int) -> tuple[int, int]:
        """Open a container; gives the place behind its mark and the space that belongs to it."""
        self.end_unclaimed(depth)
        width = mark.end() - mark.start()
        at, col = mark.end(), c + width
        if mark.lastgroup == "quote":
            self.stack.append((_QUOTE, 0))
            return advanced(self.text, at, col, 1)
        i, after = indented(self.text, at, col)
        is_empty = self.text[i] == "\n"
        gap = after - col if after - col <= CODE_COLUMNS and not is_empty else 1
        self.stack.append((indent + width + gap, self.line if is_empty else 0))
        return advanced(self.text, at, col, gap)

    def _take_text(self, i: int, eol: int, depth: int) -> None:
        leaf = self.leaf
        if i >= eol:
            self.end_unclaimed(depth)
        elif leaf is None:
            self.open(PARAGRAPH, depth, eol, [(i, eol)])
        else:
            leaf.spans.append((i, eol))
            self.extend(leaf, eol)

    # step 2: does the line belong to the open leaf?

    def _take_fence(self, leaf: OpenLeaf, at: int, i: int, indent: int, eol: int) -> bool:
        self.extend(leaf, eol)
        end = FENCE_END.match(self.text, i) if indent < CODE_COLUMNS else None
        if end and end[1].startswith(leaf.fence):
            self.close()
        else:
            leaf.spans.append((at, eol))
        return True

    def _take_code(self, leaf: OpenLeaf, at: int, i: int, indent: int, eol: int) -> bool:
        if indent >= CODE_COLUMNS and i < eol:
            leaf.spans.append((at, eol))
            self.extend(leaf, eol)
        return indent >= CODE_COLUMNS or i == eol

    def _take_html(self, leaf: OpenLeaf, at: int, i: int, indent: int, eol: int) -> bool:
        if leaf.html_end is None and i == eol:
            return False
        leaf.spans.append((at, eol))
        self.extend(leaf, eol)
        if leaf.html_end and leaf.html_end.search(self.text, i, eol):
            self.close()
        return True

    def _take_row(self, leaf: OpenLeaf, at: int, i: int, indent: int, eol: int) -> bool:
        start = START.match(self.text, i)
        if (
            start
            and start.lastgroup == "html"
            and not html_block_at(self.text, i, in_paragraph=False)
        ):
            start = None
        if i == eol or indent >= CODE_COLUMNS or start:
            return False
        leaf.spans.append((i, eol))
        self.extend(leaf, eol)
        return True

    # step 3: is it a new leaf?

    def _start_heading(self, mark: re.Match[str], at: int, eol: int, depth: int) -> bool:
        start = match_end(WHITE, self.text, mark.end())
        content = self.text[start:eol].rstrip(" \t")
        bare = content.rstrip("#")
        if not bare or bare[-1] in " \t":  # closing hashes
            content = bare.rstrip(" \t")
        return self.put_line(HEADING, eol, depth, (start, start + len(content)), len(mark[0]))

    def _start_break(self, mark: re.Match[str], at: int, eol: int, depth: int) -> bool:
        return self.put_line(BREAK, eol, depth, (mark.start(), eol))

    def _start_fence(self, mark: re.Match[str], at: int, eol: int, depth: int) -> bool:
        self.open(FENCE, depth, eol, []).fence = mark[0]
        return True

    def _start_html(self, mark: re.Match[str], at: int, eol: int, depth: int) -> bool:
        block = html_block_at(self.text, mark.start(), in_paragraph=self.leaf is not None)
        if block is None:
            return False
        self.open(HTML, depth, eol, [(at, eol)]).html_end = block.end
        if block.end and block.end.search(self.text, mark.start(), eol):
            self.close()
        return True

    def _start_setext(self, mark: re.Match[str], at: int, eol: int, depth: int) -> bool:
        leaf, self.leaf = self.leaf, None
        if leaf is None or not self._take_definitions(leaf):
            return False
        self.extend(leaf, eol)
        self.put(SETEXT, leaf, 1 if mark[0][0] == "=" else 2)
        return True

    def _start_table(self, mark: re.Match[str], at: int, eol: int, depth: int) -> bool:
        """The paragraph's last line is a table's header when this one delimits as many cells."""
        text, leaf = self.text, self.leaf
        if leaf is None:
            return False
        first, end = leaf.spans[-1]
        start = text.rfind("\n", 0, end) + 1
        header = next(lines_of(text, [(max(first, start), end)]))
        columns = cell_count(text, *header)
        if columns != cell_count(text, mark.start(), eol):
            return False
        leaf.spans[-1:] = [(first, start - 1)] if first < start else []
        leaf.last, leaf.end = leaf.last - 1, start
        if not leaf.spans:
            self.leaf = None
        table = self.open(TABLE, depth, eol, [header, (mark.start(), eol)])
        table.line, table.start, table.columns = self.line - 1, start, columns
        return True


_TAKES: dict[str, Callable[[Scanner, OpenLeaf, int, int, int, int], bool]] = {
    FENCE: Scanner._take_fence,
    CODE: Scanner._take_code,
    HTML: Scanner._take_html,
    TABLE: Scanner._take_row,
}
_LEAVES: dict[str, Callable[[Scanner, re.Match[str], int, int, int], bool]] = {
    "atx": Scanner._start_heading,
    "break": Scanner._start_break,
    "fence": Scanner._start_fence,
    "html": Scanner._start_html,
    "underline": Scanner._start_setext,
    "delimiter": Scanner._start_table,
}
