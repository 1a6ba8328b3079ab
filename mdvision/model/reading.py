"""What a read gives: text and pictures in document order; and chunks for an index."""

from __future__ import annotations

import base64
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar

from mdvision.errors import Issue
from mdvision.model.index import ImageReference
from mdvision.model.types import Box, MediaType, Source
from mdvision.value import Value

CHARS_PER_TOKEN = 4
"""English text comes to about four characters a token with the common tokenizers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextPart(Value):
    """A stretch of the source, verbatim."""

    text: str
    """Exactly as it stands, line ends included: "## Setup\\n\\n"."""
    line_start: int
    """The line on which it begins, 1-based: 12."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImagePart(Value):
    """A picture, ready for a vision model."""

    data: bytes = field(repr=False)
    """The encoded picture: a PNG begins with `b"\\x89PNG"`."""
    media_type: MediaType
    """Its format: "image/png"."""
    width_pixels: int
    """Its width as given here: 1568."""
    height_pixels: int
    """Its height as given here: 784."""
    source_width_pixels: int
    """The source's width, after orientation, before reduction: 2400."""
    source_height_pixels: int
    """The source's height, after orientation, before reduction: 1200."""
    region: Box | None = None
    """The part of the source that is shown: `(0, 0, 640, 480)`; None = all of it."""
    source: str
    """The path or URL it came from: "docs/img/setup.png"; "" for a `data:` URI."""
    alt: str
    """The alternative text in the document: "step one"; "" when there is none."""
    title: str
    """The title in the document: "Setup, step one"; "" when there is none."""
    markdown: str
    """The syntax, when it left the text, as `![](data:...)` and very long ones do; else ""."""
    line_start: int
    """The line on which its reference begins: 14; 0 for a picture that no text names."""
    estimated_tokens: int
    """What it costs the models that its policy is for; by default Claude, a token for each patch of
    28 x 28 pixels, 1568 at most: 1560 for 1920 x 1080."""
    sha256: str
    """SHA-256 of `data`, hexadecimal: "9f86d081884c7d65..."."""

    def save(self, path: Source) -> None:
        """Write `data` to `path`, replacing what is there."""
        with open(path, "wb") as file:
            file.write(self.data)

    def __repr__(self) -> str:
        size = f"{self.width_pixels}x{self.height_pixels}"
        part = f" of {self.region}" if self.region is not None else ""
        return f"<ImagePart {_in_one_line(self.source or 'data:')} {size}{part} {self.media_type}>"

    def _repr_png_(self) -> bytes | None:
        """The picture for a notebook, when it is PNG."""
        return self.data if self.media_type == "image/png" else None

    def _repr_jpeg_(self) -> bytes | None:
        """The picture for a notebook, when it is JPEG."""
        return self.data if self.media_type == "image/jpeg" else None


def _in_one_line(text: str) -> str:
    """The text with what would break the line, or a terminal, as its escape."""
    return "".join(char if char.isprintable() else repr(char)[1:-1] for char in text)


def _base64(image: ImagePart) -> str:
    return base64.b64encode(image.data).decode("ascii")


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkdownReading(Value):
    """A document or a part of one: its text verbatim, its pictures where they stand."""

    source: str
    """The path or URL: "docs/guide.md"; "" for text from memory without a base."""
    section_path: tuple[str, ...]
    """Titles down to the section: ("Guide", "Setup"); () for a document or a line range."""
    line_start: int
    """The first line given, 1-based: 12."""
    line_end: int
    """The last line given: 34."""
    line_count: int
    """Lines in the whole document: 117."""
    parts: tuple[TextPart | ImagePart, ...]
    """Text and pictures in document order: `(TextPart(...), <ImagePart ...>)`."""
    issues: tuple[Issue, ...]
    """What went wrong, as each picture that could not be shown: "line 14: x.png was not found."""
    next_line: int | None = None
    """The line to go on at when `max_chars` cut the text: 35; None at the end."""

    _derived: ClassVar[tuple[str, ...]] = ("text", "images", "estimated_tokens")

    @property
    def text(self) -> str:
        """The exact source slice."""
        return "".join(
            part.text if isinstance(part, TextPart) else part.markdown for part in self.parts
        )

    @property
    def images(self) -> tuple[ImagePart, ...]:
        """The pictures alone, in order."""
        return tuple(part for part in self.parts if isinstance(part, ImagePart))

    @property
    def estimated_tokens(self) -> int:
        """Tokens of all parts together, for a budget: no tokenizer is asked.

        Pictures count as each part says. Text counts a token for every four code points, which is
        what English comes to (https://ai.google.dev/gemini-api/docs/tokens says so of Gemini); code
        and other scripts take more. Syntax that left the text with its picture does not count.
        """
        chars = sum(len(part.text) for part in self.parts if isinstance(part, TextPart))
        pictures = sum(image.estimated_tokens for image in self.images)
        return pictures + -(-chars // CHARS_PER_TOKEN)

    def to_anthropic(self) -> list[dict[str, object]]:
        """Content blocks of Anthropic's Messages API.

        See https://docs.anthropic.com/en/docs/build-with-claude/vision. Text of nothing but white
        space is left out: the API refuses such blocks.
        """

        def picture(image: ImagePart) -> dict[str, object]:
            source = {"type": "base64", "media_type": image.media_type, "data": _base64(image)}
            return {"type": "image", "source": source}

        return self._blocks(lambda text: {"type": "text", "text": text}, picture)

    def to_openai(self) -> list[dict[str, object]]:
        """Content parts of OpenAI's Chat Completions API.

        See https://platform.openai.com/docs/guides/images-vision.
        """

        def picture(image: ImagePart) -> dict[str, object]:
            url = f"data:{image.media_type};base64,{_base64(image)}"
            return {"type": "image_url", "image_url": {"url": url}}

        return self._blocks(lambda text: {"type": "text", "text": text}, picture)

    def to_gemini(self) -> list[dict[str, object]]:
        """Parts of Gemini's generateContent API.

        See https://ai.google.dev/gemini-api/docs/image-understanding.
        """

        def picture(image: ImagePart) -> dict[str, object]:
            return {"inline_data": {"mime_type": image.media_type, "data": _base64(image)}}

        return self._blocks(lambda text: {"text": text}, picture)

    def _blocks(
        self,
        of_text: Callable[[str], dict[str, object]],
        of_image: Callable[[ImagePart], dict[str, object]],
    ) -> list[dict[str, object]]:
        return [
            of_text(part.text) if isinstance(part, TextPart) else of_image(part)
            for part in self.parts
            if not isinstance(part, TextPart) or part.text.strip()
        ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk(Value):
    """A piece of a document to embed or to index, with all that it takes to cite it."""

    id: str
    """SHA-256 of path, section path, index and text, hexadecimal: "2c26b46b68ffc68f..."."""
    index: int
    """Its place among the document's chunks, from 0: 3."""
    text: str
    """Exactly `source[char_start:char_end]`: "## Setup\\n\\nRun it."."""
    char_start: int
    """Offset of its first code point in the source: 210."""
    char_end: int
    """Offset behind its last code point: 227."""
    heading: str
    """The heading of its section: "## Setup"; "" before the first heading."""
    section_title: str
    """The plain title of its section: "Setup"."""
    section_path: tuple[str, ...]
    """Titles from the outermost heading down: ("Guide", "Setup")."""
    slug: str
    """The anchor of its section: "setup"."""
    section_start_line: int
    """First line of its section, 1-based: 12."""
    section_end_line: int
    """Last line of its section: 34."""
    chunk_start_line: int
    """Its own first line: 12."""
    chunk_end_line: int
    """Its own last line: 14."""
    page: int | None = None
    """Page or slide of a converted document: 7; None for markdown."""
    images: tuple[ImageReference, ...]
    """The pictures that its text refers to: `chunk.images[0].source` is "img/setup.png"."""
    context: str
    """What the text needs to stand alone, its path and a cut table's header: "Guide > Setup"."""
