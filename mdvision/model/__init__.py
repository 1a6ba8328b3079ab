"""The nouns: every value that the library takes or gives, and the names of their types."""

from mdvision.model.access import AccessPolicy, FileEntry, Resource
from mdvision.model.index import (
    HeadingIndexRow,
    ImageReference,
    MarkdownFileIndex,
    MarkdownFolderIndex,
    SectionMatch,
)
from mdvision.model.reading import Chunk, ImagePart, MarkdownReading, TextPart
from mdvision.model.tiles import ImageRegion, ImageTiles
from mdvision.model.types import Box, LineRange, MediaType, Progress, Source

__all__ = [
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
]
