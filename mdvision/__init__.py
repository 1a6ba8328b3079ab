"""Markdown that an agent can see: an index of headings, any section with its pictures."""

from __future__ import annotations

import logging
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
    name: module
    for module, names in {
        "errors": (
            "AccessDeniedError",
            "Code",
            "ConversionError",
            "DecodeError",
            "InvalidInputError",
            "Issue",
            "MdVisionError",
            "MissingExtraError",
            "Scalar",
            "SectionNotFoundError",
            "SourceError",
            "SourceNotFoundError",
            "StoreError",
            "UnsupportedFormatError",
            "VisionError",
        ),
        "images.policy": ("ImagePolicy",),
        "indexing": (
            "index_markdown_file",
            "index_markdown_folder",
            "index_markdown_text",
            "index_markdown_url",
            "iter_markdown_folder",
        ),
        "limits": ("Limits",),
        "markdown.chunk": ("chunk_markdown",),
        "markdown.render": (
            "markdown_to_html",
            "markdown_to_text",
        ),
        "model": (
            "AccessPolicy",
            "Box",
            "Chunk",
            "FileEntry",
            "HeadingIndexRow",
            "ImagePart",
            "ImageReference",
            "ImageRegion",
            "ImageTiles",
            "LineRange",
            "MarkdownFileIndex",
            "MarkdownFolderIndex",
            "MarkdownReading",
            "MediaType",
            "Progress",
            "Resource",
            "SectionMatch",
            "Source",
            "TextPart",
        ),
        "reading": (
            "iter_sections",
            "read_text_with_images",
            "read_with_images",
        ),
        "searching": ("search_markdown",),
        "sources.loader": ("Loader",),
        "viewing": ("view_image", "view_tiles"),
    }.items()
    for name in names
}
"""Where each name lives; the module is imported when the name is first used."""

logging.getLogger(__name__).addHandler(logging.NullHandler())


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    found = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
