"""What can be imported from the root, and what that costs."""

from __future__ import annotations

import subprocess
import sys

import pytest

import mdvision

NAMES = [
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


def loaded_after(statement: str) -> set[str]:
    script = f"{statement}; import sys; print(*sys.modules)"
    command = [sys.executable, "-W", "error", "-c", script]
    found = subprocess.run(command, capture_output=True, text=True, check=True)
    return {name.split(".")[0] for name in found.stdout.split()}


def test_the_public_names() -> None:
    assert sorted(mdvision.__all__) == sorted(NAMES)
    assert dir(mdvision) == sorted(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_there_and_has_its_docstring(name: str) -> None:
    found = getattr(mdvision, name)
    if getattr(found, "__module__", "").startswith("mdvision"):
        assert found.__doc__


def test_other_names_are_not() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = mdvision.nothing


@pytest.mark.parametrize(
    ("statement", "absent"),
    [
        ("import mdvision", {"PIL", "requests", "mistletoe", "mcp", "yaml", "pathspec", "sqlite3"}),
        (
            "import mdvision; mdvision.index_markdown_text('# a')",
            {"PIL", "requests", "mistletoe", "yaml", "sqlite3", "multiprocessing"},
        ),
        (
            "import mdvision; mdvision.read_text_with_images('# a')",
            {"PIL", "requests", "mistletoe"},
        ),
    ],
)
def test_nothing_is_loaded_that_a_call_does_not_need(statement: str, absent: set[str]) -> None:
    assert loaded_after(statement) & absent == set()
