"""What can be imported from the root, what it looks like, and what that costs.

`API` and the tables by it are the contract, written down by hand: a change here is a change for
users, and stands in CHANGELOG.md.
"""

from __future__ import annotations

import collections.abc
import dataclasses
import inspect
import os
import subprocess
import sys
import typing

import pytest

import mdvision

API = """
class Issue:
    code: Code
    message: str
    next_action: str
    retryable: bool
    user_action_required: bool
    details: Mapping[str, Scalar | tuple[Scalar, ...]] = {}

class HeadingIndexRow:
    heading: str
    level: int
    line_start: int
    line_end: int
    image_count: int
    char_count: int
    section_path: tuple[str, ...]
    slug: str
    page: int | None = None

class ImageReference:
    source: str
    alt: str
    title: str
    line_start: int
    kind: str

class MarkdownFileIndex:
    path: str | None
    frontmatter: str
    metadata: Mapping[str, object]
    line_count: int
    char_count: int
    rows: tuple[HeadingIndexRow, ...]
    images: tuple[ImageReference, ...]
    issues: tuple[Issue, ...] = ()

class MarkdownFolderIndex:
    files: tuple[MarkdownFileIndex, ...]
    documents: tuple[FileEntry, ...] = ()
    issues: tuple[Issue, ...] = ()

class TextPart:
    text: str
    line_start: int

class ImagePart:
    data: bytes
    media_type: MediaType
    width_pixels: int
    height_pixels: int
    source_width_pixels: int
    source_height_pixels: int
    region: Box | None = None
    source: str
    alt: str
    title: str
    markdown: str
    line_start: int
    estimated_tokens: int
    sha256: str
    def save(self, path: Source) -> None: ...
    def _repr_png_(self) -> bytes | None: ...
    def _repr_jpeg_(self) -> bytes | None: ...

class MarkdownReading:
    source: str
    section_path: tuple[str, ...]
    line_start: int
    line_end: int
    line_count: int
    parts: tuple[TextPart | ImagePart, ...]
    issues: tuple[Issue, ...]
    next_line: int | None = None
    @property
    def text(self) -> str: ...
    @property
    def images(self) -> tuple[ImagePart, ...]: ...
    @property
    def estimated_tokens(self) -> int: ...
    def to_anthropic(self) -> list[dict[str, object]]: ...
    def to_openai(self) -> list[dict[str, object]]: ...
    def to_gemini(self) -> list[dict[str, object]]: ...

class Chunk:
    id: str
    index: int
    text: str
    char_start: int
    char_end: int
    heading: str
    section_title: str
    section_path: tuple[str, ...]
    slug: str
    section_start_line: int
    section_end_line: int
    chunk_start_line: int
    chunk_end_line: int
    page: int | None = None
    images: tuple[ImageReference, ...]
    context: str

class ImageRegion:
    index: int
    box: Box
    image: ImagePart

class ImageTiles:
    overview: ImagePart | None
    tiles: tuple[ImageRegion, ...]
    grid: tuple[Box, ...]
    complete: bool
    issues: tuple[Issue, ...]

class SectionMatch:
    path: str
    heading: str
    section_path: tuple[str, ...]
    slug: str
    line: int
    snippet: str
    image_count: int

class AccessPolicy:
    paths: tuple[str, ...] = ("all",)
    domains: tuple[str, ...] = ()
    private_network: bool = False

class Limits:
    max_input_bytes: int = 20_971_520
    max_text_bytes: int | None = None
    max_decoded_pixels: int = 100_000_000
    max_redirects: int = 3
    timeout_seconds: float = 30.0

class Loader:
    def __init__(self, policy: AccessPolicy | None = None, limits: Limits | None = None, *,
                 proxy: str | None = None, ca_bundle: Source | None = None,
                 headers: Mapping[str, Mapping[str, str]] | None = None) -> None: ...
    def load(self, source: Source) -> Resource: ...
    def open(self, source: Source) -> BinaryIO: ...
    def close(self) -> None: ...

class Resource:
    data: bytes
    uri: str
    media_type: str

class FileEntry:
    path: str
    media_type: str
    size_bytes: int
    modified: str

class ImagePolicy:
    max_edge_pixels: int = 1568
    short_edge_pixels: int | None = None
    max_patches: int | None = None
    patch_pixels: int = 28
    max_bytes: int = 3_750_000
    format: Literal["auto", "png", "original"] = "auto"
    @classmethod
    def preset(cls, name: Literal["default", "claude", "claude-high", "openai", "gemini",
                                  "md-vision", "original"]) -> ImagePolicy: ...

def index_markdown_text(text: str, *, path: str | None = None) -> MarkdownFileIndex: ...
def index_markdown_file(path: Source, *, loader: Loader | None = None) -> MarkdownFileIndex: ...
def index_markdown_url(url: str, *, loader: Loader | None = None) -> MarkdownFileIndex: ...
def index_markdown_folder(
    path: Source, *, include: Sequence[str] = (), exclude: Sequence[str] = (),
    gitignore: bool = True, documents: bool = False, workers: int = 1, cache: Source | None = None,
    progress: Progress | None = None, loader: Loader | None = None) -> MarkdownFolderIndex: ...
def iter_markdown_folder(
    path: Source, *, include: Sequence[str] = (), exclude: Sequence[str] = (),
    gitignore: bool = True, documents: bool = False, workers: int = 1, cache: Source | None = None,
    loader: Loader | None = None) -> Iterator[MarkdownFileIndex]: ...
def chunk_markdown(
    text: str, *, path: str | None = None, max_size: int = 2000, overlap: int = 0,
    length: Callable[[str], int] = len) -> tuple[Chunk, ...]: ...
def markdown_to_html(text: str) -> str: ...
def markdown_to_text(text: str) -> str: ...
def read_with_images(
    source: Source, *, section: str | HeadingIndexRow | None = None,
    line_range: LineRange | None = None, max_images: int | None = None,
    max_chars: int | None = None, image_policy: ImagePolicy | None = None,
    skip_badges: bool = False, site_roots: Sequence[Source] = (),
    loader: Loader | None = None) -> MarkdownReading: ...
def read_text_with_images(
    text: str, *, base: Source | None = None, assets: Mapping[str, bytes] | None = None,
    section: str | HeadingIndexRow | None = None,
    line_range: LineRange | None = None, max_images: int | None = None,
    max_chars: int | None = None, image_policy: ImagePolicy | None = None,
    skip_badges: bool = False, site_roots: Sequence[Source] = (),
    loader: Loader | None = None) -> MarkdownReading: ...
def iter_sections(
    source: Source, *, level: int | None = None, max_images: int | None = None,
    max_chars: int | None = None, image_policy: ImagePolicy | None = None,
    skip_badges: bool = False, site_roots: Sequence[Source] = (),
    loader: Loader | None = None) -> Iterator[MarkdownReading]: ...
def search_markdown(
    path: Source, query: str, *, max_results: int = 10, loader: Loader | None = None
) -> tuple[SectionMatch, ...]: ...
def view_image(
    source: Source, *, region: Box | None = None, image_policy: ImagePolicy | None = None,
    loader: Loader | None = None) -> ImagePart: ...
def view_tiles(
    source: Source, *, max_tiles: int = 24, image_policy: ImagePolicy | None = None,
    loader: Loader | None = None) -> ImageTiles: ...
"""

ALIASES = {
    "Box": tuple[int, int, int, int],
    "LineRange": tuple[int, int],
    "MediaType": typing.Literal["image/png", "image/jpeg", "image/webp", "image/gif"],
    "Progress": collections.abc.Callable[[int, int, str], None],
    "Scalar": str | int | float | bool,
    "Source": str | os.PathLike[str],
}

ERRORS = {
    "MdVisionError": "Exception",
    "InvalidInputError": "MdVisionError ValueError",
    "SectionNotFoundError": "InvalidInputError",
    "AccessDeniedError": "MdVisionError",
    "SourceError": "MdVisionError",
    "SourceNotFoundError": "SourceError",
    "DecodeError": "SourceError",
    "UnsupportedFormatError": "SourceError",
    "ConversionError": "MdVisionError",
    "StoreError": "MdVisionError",
    "VisionError": "MdVisionError",
    "MissingExtraError": "MdVisionError ImportError",
}

CODES = """
INPUT_INVALID CONFIG_INVALID EXTRA_MISSING SECTION_NOT_FOUND SECTION_AMBIGUOUS LINE_RANGE_CLAMPED
SOURCE_NOT_FOUND SOURCE_UNSUPPORTED SOURCE_TOO_LARGE FILE_ACCESS_DENIED URL_ACCESS_DENIED
FETCH_FAILED FETCH_TIMEOUT
DECODE_FAILED PIXEL_LIMIT_EXCEEDED ENCODING_GUESSED FRONTMATTER_INVALID NESTING_LIMIT
CONTENT_DROPPED
RESULT_TRUNCATED IMAGE_LIMIT_REACHED IMAGE_REDUCED IMAGE_OMITTED
CONVERSION_FAILED CONVERSION_TIMEOUT CONVERSION_RUNNING CONVERSION_EMPTY NAME_COLLISION
INDEX_STALE STORE_UNAVAILABLE EMBEDDER_UNAVAILABLE
UPSTREAM_ERROR UPSTREAM_TIMEOUT UPSTREAM_AUTH_FAILED UPSTREAM_RATE_LIMITED
UPSTREAM_INVALID_RESPONSE IMAGE_FAILED TILE_BUDGET_EXCEEDED DETAIL_TILE_FAILED DETAIL_BATCH_FAILED
AGGREGATION_FAILED
INTERNAL_ERROR
"""


def written_down() -> dict[str, object]:
    found: dict[str, object] = {}
    exec(f"from __future__ import annotations\n{API}", {"__name__": "api"}, found)  # noqa: S102
    del found["annotations"]
    return found


CONTRACT = written_down()
CLASSES = [name for name, found in CONTRACT.items() if isinstance(found, type)]
FUNCTIONS = [name for name, found in CONTRACT.items() if not isinstance(found, type)]
NAMES = sorted([*CONTRACT, *ALIASES, *ERRORS, "Code"])

# What annotations are read with; in the library some of these are imported for type checkers alone.
TYPES = {
    **vars(typing),
    **vars(collections.abc),
    **{name: getattr(mdvision, name) for name in mdvision.__all__},
}


def hints(found: object) -> dict[str, object]:
    module = sys.modules.get(getattr(found, "__module__", ""))
    return typing.get_type_hints(found, {**TYPES, **(vars(module) if module else {})})


def signature(found: object) -> tuple[list[tuple[object, ...]], dict[str, object]]:
    """Names, kinds and defaults in order; and the types."""
    function = inspect.unwrap(getattr(found, "__func__", found))  # type: ignore[arg-type]
    parameters = inspect.signature(function).parameters.values()
    return [(p.name, p.kind, p.default) for p in parameters], hints(function)


def fields(name: str) -> list[tuple[str, object, object]]:
    """What the class has: the names of its fields in order, their types and defaults."""
    found = getattr(mdvision, name)
    types = hints(found)

    def default(field: dataclasses.Field[object]) -> object:
        factory = field.default_factory
        return field.default if factory is dataclasses.MISSING else factory()

    return [(field.name, types[field.name], default(field)) for field in dataclasses.fields(found)]


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


@pytest.mark.parametrize("name", [name for name in CLASSES if name != "Loader"])
def test_the_fields_of_a_value(name: str) -> None:
    wanted = CONTRACT[name]
    assert fields(name) == [
        (field, kind, vars(wanted).get(field, dataclasses.MISSING))
        for field, kind in hints(wanted).items()
    ]


METHODS = [
    (name, method)
    for name in CLASSES
    for method, found in vars(CONTRACT[name]).items()
    if callable(found) or isinstance(found, (classmethod, property))
]


@pytest.mark.parametrize(("name", "method"), METHODS, ids=lambda word: word)
def test_the_methods_of_a_class(name: str, method: str) -> None:
    wanted = vars(CONTRACT[name])[method]
    found = vars(getattr(mdvision, name))[method]
    assert type(found) is type(wanted)
    if isinstance(wanted, property):
        found, wanted = found.fget, wanted.fget
    assert signature(found) == signature(wanted)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_signature_of_a_function(name: str) -> None:
    assert signature(getattr(mdvision, name)) == signature(CONTRACT[name])


def test_the_contract_is_read_as_it_is_written() -> None:
    assert len(METHODS) == 14
    assert fields("TextPart")[1] == ("line_start", int, dataclasses.MISSING)
    assert ("timeout_seconds", float, 30.0) in fields("Limits")
    parameters, types = signature(CONTRACT["index_markdown_file"])
    assert parameters[1] == ("loader", inspect.Parameter.KEYWORD_ONLY, None)
    assert types["loader"] == mdvision.Loader | None


@pytest.mark.parametrize("name", ALIASES)
def test_the_names_of_types(name: str) -> None:
    assert getattr(mdvision, name) == ALIASES[name]


@pytest.mark.parametrize("name", ERRORS)
def test_the_tree_of_errors(name: str) -> None:
    bases = [base.__name__ for base in getattr(mdvision, name).__bases__]
    assert bases == ERRORS[name].split()


def test_the_codes() -> None:
    assert [code.value for code in mdvision.Code] == CODES.split()


def test_other_names_are_not() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = mdvision.nothing


@pytest.mark.parametrize(
    "statement",
    [
        "import mdvision",
        "import mdvision.markdown.render, mdvision.sources.loader, mdvision.cli",
        "import mdvision; [getattr(mdvision, name) for name in mdvision.__all__]",
    ],
)
def test_the_logger_has_one_handler_that_does_nothing(statement: str) -> None:
    script = f"import logging; {statement}; print(logging.getLogger('mdvision').handlers, logging.root.handlers)"
    found = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert found.stdout == "[<NullHandler (NOTSET)>] []\n"


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
