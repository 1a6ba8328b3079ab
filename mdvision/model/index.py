"""What the index of a markdown file or folder holds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import overload

from mdvision.errors import Issue
from mdvision.model.access import FileEntry
from mdvision.value import Value


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadingIndexRow(Value):
    """One heading at the root of a document, and the section it opens."""

    heading: str
    """Hashes, a space, plain text: "## Setup". It is what `section=` takes."""
    level: int
    """1 to 6: 2 for "## Setup"."""
    line_start: int
    """The heading's first line, 1-based: 12."""
    line_end: int
    """The last line before the next heading of the same or a higher level: 34."""
    image_count: int
    """Pictures in those lines, subsections included: 3."""
    char_count: int
    """Code points of those lines joined by LF: 5 for "# A" and "b"."""
    section_path: tuple[str, ...]
    """Plain titles from the outermost heading down, 500 characters of each: ("Guide", "Setup")."""
    slug: str
    """GitHub's anchor, unique in the document: "setup", "setup-1"."""
    page: int | None = None
    """Page or slide of a converted document, 1-based: 7; None for markdown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageReference(Value):
    """A picture that the text refers to; nothing was opened to make one."""

    source: str
    """The address as the document wrote it, escapes decoded: "img/setup.png"; "" of a drawing."""
    alt: str
    """The alternative text: "step one"; "" when there is none."""
    title: str
    """The title: "Setup, step one"; "" when there is none."""
    line_start: int
    """The line on which the reference begins: 14."""
    kind: str
    """How it is written: "inline" `![](x)`, "reference" `![][x]`, "html" `<img>`, "wiki" `![[x]]`,
    "jsx" `<Image>`, "shortcode" `{{< figure >}}`, "directive" `:::image:::`, "svg" `<svg>`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkdownFileIndex(Value):
    """The outline of one markdown file."""

    path: str | None
    """As the caller gave it; in a folder, that + "/" + the relative path: "docs/guide.md"."""
    frontmatter: str
    """The block as written, fences included: "---\\ntitle: A\\n---"; "" when there is none."""
    metadata: Mapping[str, object] = field(hash=False)
    """The front matter parsed: `{"title": "A"}`; {} when there is none or it is faulty."""
    line_count: int
    """Lines in the file; a final line end opens no further one: 2 for "a\\nb\\n"."""
    char_count: int
    """Code points in the file, each line end counted as one: 4 for "a\\r\\nb\\r\\n"."""
    rows: tuple[HeadingIndexRow, ...]
    """The headings, in order: `index.rows[0].heading` is "# Guide"."""
    images: tuple[ImageReference, ...]
    """The pictures, in order: `index.images[0].source` is "img/setup.png"."""
    issues: tuple[Issue, ...] = ()
    """What went wrong: a guessed encoding, faulty front matter, an unreadable file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkdownFolderIndex(Value, Sequence[MarkdownFileIndex]):
    """The outlines of a folder's markdown files, sorted by relative path in byte order."""

    files: tuple[MarkdownFileIndex, ...]
    """The files; `index[0]` and `for file in index` do without this name."""
    documents: tuple[FileEntry, ...] = ()
    """Convertible documents found beside the markdown, not converted: "report.pdf"."""
    issues: tuple[Issue, ...] = ()
    """What went wrong with the folder as a whole, as no markdown in it; files have their own."""

    def __len__(self) -> int:
        return len(self.files)

    def __iter__(self) -> Iterator[MarkdownFileIndex]:
        return iter(self.files)

    @overload
    def __getitem__(self, index: int) -> MarkdownFileIndex: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[MarkdownFileIndex, ...]: ...
    def __getitem__(self, index: int | slice) -> MarkdownFileIndex | tuple[MarkdownFileIndex, ...]:
        return self.files[index]


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionMatch(Value):
    """A section that a search found."""

    path: str
    """The file, as in its index: "docs/guide.md"."""
    heading: str
    """What `section=` takes: "## Setup"; "" for what stands before the first heading."""
    section_path: tuple[str, ...]
    """Plain titles from the outermost heading down."""
    slug: str
    """The heading's anchor, unique in the file: "setup-1"."""
    line: int
    """The line that the snippet is from, 1-based."""
    snippet: str
    """The line with most of the terms, as it stands, cut round them: "Set `proxy` first."."""
    image_count: int
    """Pictures in the section, subsections included."""
