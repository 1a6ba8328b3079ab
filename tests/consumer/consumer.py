# pyright: strict
"""What a user of the library writes; checked strictly against the installed wheel, and run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import mdvision
from mdvision import (
    AccessPolicy,
    Chunk,
    Code,
    HeadingIndexRow,
    ImagePart,
    ImagePolicy,
    ImageRegion,
    Limits,
    Loader,
    MarkdownFileIndex,
    MarkdownReading,
    MdVisionError,
    TextPart,
)

TEXT = "# Guide\n\n## Setup\n\n![step](step.png)\n"


def outline(text: str) -> dict[str, int]:
    index: MarkdownFileIndex = mdvision.index_markdown_text(text)
    rows: tuple[HeadingIndexRow, ...] = index.rows
    return {row.heading: row.line_start for row in rows}


def shown(reading: MarkdownReading) -> list[str]:
    found: list[str] = []
    for part in reading.parts:
        if isinstance(part, TextPart):
            found.append(part.text)
        else:
            image: ImagePart = part
            found.append(f"{image.media_type} {image.width_pixels}x{image.height_pixels}")
    return found


def chunks(text: str) -> list[tuple[str, tuple[str, ...]]]:
    found: tuple[Chunk, ...] = mdvision.chunk_markdown(text, max_size=200, length=len)
    return [(chunk.id, chunk.section_path) for chunk in found]


if TYPE_CHECKING:  # what a checker must find, neither wider nor Any
    from collections.abc import Iterator

    from typing_extensions import assert_type  # pyright: ignore[reportMissingModuleSource]

    def types(row: HeadingIndexRow, reading: MarkdownReading, error: MdVisionError) -> None:
        assert_type(row.section_path, tuple[str, ...])
        assert_type(reading.parts, tuple[TextPart | ImagePart, ...])
        assert_type(reading.next_line, int | None)
        assert_type(reading.to_openai(), list[dict[str, object]])
        assert_type(error.issue.code, Code)
        assert_type(mdvision.index_markdown_folder("docs")[0], MarkdownFileIndex)
        assert_type(mdvision.iter_markdown_folder("docs"), Iterator[MarkdownFileIndex])
        assert_type(mdvision.iter_sections("a.md", level=2), Iterator[MarkdownReading])
        assert_type(mdvision.read_with_images("a.md", section=row), MarkdownReading)
        assert_type(mdvision.chunk_markdown("a"), tuple[Chunk, ...])
        assert_type(Loader().load("a.png"), mdvision.Resource)
        assert_type(ImagePolicy.preset("openai"), ImagePolicy)
        assert_type(mdvision.view_image("a.png", region=(0, 0, 9, 9)), ImagePart)
        assert_type(mdvision.view_tiles("a.png", max_tiles=4).tiles, tuple[ImageRegion, ...])


def main() -> None:
    loader = Loader(
        AccessPolicy(paths=("docs",), domains=("example.com",)), Limits(timeout_seconds=5)
    )
    with loader:
        try:
            mdvision.read_with_images(
                "elsewhere/a.md", section="# A", line_range=(1, 2), loader=loader
            )
        except MdVisionError as error:
            assert error.issue.code in (Code.FILE_ACCESS_DENIED, Code.SOURCE_NOT_FOUND)
    reading = mdvision.read_text_with_images(
        TEXT, section="Setup", image_policy=ImagePolicy.preset("claude"), assets={"step.png": b""}
    )
    assert shown(reading) == ["## Setup\n\n![step](step.png)\n"]
    assert [issue.code for issue in reading.issues] == [Code.DECODE_FAILED]
    assert outline(TEXT) == {"# Guide": 1, "## Setup": 3}
    assert len(chunks(TEXT)) == 2
    blocks: list[dict[str, object]] = reading.to_anthropic()
    assert blocks[0]["type"] == "text"
    assert "<h1>" in mdvision.markdown_to_html(TEXT)


if __name__ == "__main__":
    main()
