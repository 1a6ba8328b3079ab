"""Markdown that an agent can see: an index of headings, any section with its pictures."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mdvision.errors import (
        AccessDeniedError,
        Code,
        ConversionError,
        DecodeError,
        InvalidInputError,
        Issue,
        MdVisionError,
        MissingExtraError,
        Scalar,
        SectionNotFoundError,
        SourceError,
        SourceNotFoundError,
        StoreError,
        UnsupportedFormatError,
        VisionError,
    )
    from mdvision.images.policy import ImagePolicy
    from mdvision.indexing import (
        index_markdown_file,
        index_markdown_folder,
        index_markdown_text,
        index_markdown_url,
        iter_markdown_folder,
    )
    from mdvision.limits import Limits
    from mdvision.markdown.chunk import chunk_markdown
    from mdvision.markdown.render import markdown_to_html, markdown_to_text
    from mdvision.model import (
        AccessPolicy,
        Box,
        Chunk,
        FileEntry,
        HeadingIndexRow,
        ImagePart,
        ImageReference,
        ImageRegion,
        ImageTiles,
        LineRange,
        MarkdownFileIndex,
        MarkdownFolderIndex,
        MarkdownReading,
        MediaType,
        Progress,
        Resource,
        SectionMatch,
        Source,
        TextPart,
    )
    from mdvision.reading import iter_sections, read_text_with_images, read_with_images
    from mdvision.searching import search_markdown
    from mdvision.sources.loader import Loader
    from mdvision.viewing import view_image, view_tiles

__all__ = [
    "AccessDeniedError",
    "AccessPolicy",
    "Box",
    "Chunk",
    "Code",
    "ConversionError",
    "DecodeError",
    "FileEntry",
    "HeadingIndexRow",
    "ImagePart",
    "ImagePolicy",
    "ImageReference",
    "ImageRegion",
    "ImageTiles",
    "InvalidInputError",
    "Issue",
    "Limits",
    "LineRange",
    "Loader",
    "MarkdownFileIndex",
    "MarkdownFolderIndex",
    "MarkdownReading",
    "MdVisionError",
    "MediaType",
    "MissingExtraError",
    "Progress",
    "Resource",
    "Scalar",
    "SectionMatch",
    "SectionNotFoundError",
    "Source",
    "SourceError",
    "SourceNotFoundError",
    "StoreError",
    "TextPart",
    "UnsupportedFormatError",
    "VisionError",
    "chunk_markdown",
    "index_markdown_file",
    "index_markdown_folder",
    "index_markdown_text",
    "index_markdown_url",
    "iter_markdown_folder",
    "iter_sections",
    "markdown_to_html",
    "markdown_to_text",
    "read_text_with_images",
    "read_with_images",
    "search_markdown",
    "view_image",
    "view_tiles",
]

_HOMES = {
    "chunk_markdown": "markdown.chunk",
    "index_markdown_file": "indexing",
    "index_markdown_folder": "indexing",
    "index_markdown_text": "indexing",
    "index_markdown_url": "indexing",
    "iter_markdown_folder": "indexing",
    "iter_sections": "reading",
    "markdown_to_html": "markdown.render",
    "markdown_to_text": "markdown.render",
    "read_text_with_images": "reading",
    "read_with_images": "reading",
    "search_markdown": "searching",
    "view_image": "viewing",
    "view_tiles": "viewing",
    "ImagePolicy": "images.policy",
    "Limits": "limits",
    "Loader": "sources.loader",
}
"""Where a name lives that is neither a value nor an error; each is imported when first used."""


def __getattr__(name: str) -> object:
    if name not in __all__:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    home = _HOMES.get(name)
    for module in [home] if home else ["model", "errors"]:
        found = getattr(import_module(f"{__name__}.{module}"), name, None)
        if found is not None:
            globals()[name] = found
            return found
    raise AssertionError(name)


def __dir__() -> list[str]:
    return sorted(__all__)
