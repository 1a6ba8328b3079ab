"""Every public value and error can be pickled to another process, copied, compared and written out."""

from __future__ import annotations

import copy
import dataclasses
import datetime
import json
import math
import multiprocessing
import pickle
from collections.abc import Callable, Iterator

import pytest

import mdvision
from mdvision import errors
from mdvision.errors import KINDS, Code, failure
from mdvision.value import Value

ISSUE = errors.issue(
    Code.SOURCE_NOT_FOUND, "img/x.png was not found.", details={"line": 3, "lines": (1, 2)}
)
ROW = mdvision.HeadingIndexRow(
    heading="# A",
    level=1,
    line_start=1,
    line_end=3,
    image_count=1,
    char_count=9,
    section_path=("A",),
    slug="a",
)
REFERENCE = mdvision.ImageReference(source="x.png", alt="x", title="", line_start=2, kind="inline")
FILE = mdvision.MarkdownFileIndex(
    path="a.md",
    frontmatter="---\nd: 2026-01-02\n---",
    metadata={"d": datetime.date(2026, 1, 2), "tags": ["a"]},
    line_count=3,
    char_count=9,
    rows=(ROW,),
    images=(REFERENCE,),
    issues=(ISSUE,),
)
ENTRY = mdvision.FileEntry(
    path="a.pdf", media_type="application/pdf", size_bytes=9, modified="2026-01-02T03:04:05Z"
)
TEXT = mdvision.TextPart(text="# A\n", line_start=1)
IMAGE = mdvision.ImagePart(
    data=b"\x89PNG",
    media_type="image/png",
    width_pixels=2,
    height_pixels=1,
    source_width_pixels=4,
    source_height_pixels=2,
    region=(0, 0, 4, 2),
    source="x.png",
    alt="x",
    title="",
    markdown="",
    line_start=2,
    estimated_tokens=1,
    sha256="00",
)
VALUES: list[Value] = [
    ISSUE,
    ROW,
    REFERENCE,
    FILE,
    ENTRY,
    mdvision.MarkdownFolderIndex(files=(FILE,), documents=(ENTRY,), issues=(ISSUE,)),
    TEXT,
    IMAGE,
    mdvision.MarkdownReading(
        source="a.md",
        section_path=("A",),
        line_start=1,
        line_end=3,
        line_count=3,
        parts=(TEXT, IMAGE),
        issues=(ISSUE,),
    ),
    mdvision.Chunk(
        id="00",
        index=0,
        text="# A",
        char_start=0,
        char_end=3,
        heading="# A",
        section_title="A",
        section_path=("A",),
        slug="a",
        section_start_line=1,
        section_end_line=3,
        chunk_start_line=1,
        chunk_end_line=1,
        images=(REFERENCE,),
        context="A",
    ),
    mdvision.SectionMatch(
        path="a.md",
        heading="# A",
        section_path=("A",),
        slug="a",
        line=2,
        snippet="text",
        image_count=1,
    ),
    mdvision.ImageRegion(index=3, box=(0, 0, 4, 2), image=IMAGE),
    mdvision.ImageTiles(
        overview=IMAGE,
        tiles=(mdvision.ImageRegion(index=0, box=(0, 0, 4, 2), image=IMAGE),),
        grid=((0, 0, 4, 2),),
        complete=True,
        issues=(ISSUE,),
    ),
    mdvision.AccessPolicy(paths=("docs",), domains=("example.com",)),
    mdvision.Limits(timeout_seconds=1.5),
    mdvision.Resource(data=b"x", uri="a.md", media_type=""),
    mdvision.ImagePolicy(max_patches=9),
]
ERRORS = [failure(code, f"message of {code}", details={"line": 1}) for code in Code]
SAMPLES: list[object] = [*VALUES, *ERRORS]


def name_of(sample: object) -> str:
    issue = getattr(sample, "issue", None)
    return f"{type(sample).__name__} {issue.code}" if issue else type(sample).__name__


def public_values() -> Iterator[str]:
    for name in mdvision.__all__:
        found = getattr(mdvision, name)
        if isinstance(found, type) and issubclass(found, Value):
            yield name


def _sent_back(samples: list[object]) -> list[object]:
    return samples


@pytest.fixture(scope="module")
def from_another_process() -> list[object]:
    """All samples, once through a process that was spawned."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(_sent_back, (SAMPLES,))


def test_no_public_value_is_missing_here() -> None:
    assert {type(value).__name__ for value in VALUES} == set(public_values())


@pytest.mark.parametrize("number", range(len(SAMPLES)), ids=lambda k: name_of(SAMPLES[k]))
def test_a_sample_survives(number: int, from_another_process: list[object]) -> None:
    sample = SAMPLES[number]
    for twin in (
        copy.deepcopy(sample),
        copy.copy(sample),
        pickle.loads(pickle.dumps(sample)),  # noqa: S301 - our own
        from_another_process[number],
    ):
        assert twin == sample
        assert type(twin) is type(sample)
        assert hash(twin) == hash(sample)
        assert str(twin) == str(sample)
    assert sample != object()
    assert sample not in SAMPLES[:number] + SAMPLES[number + 1 :]


@pytest.mark.parametrize("value", VALUES, ids=name_of)
def test_a_value_is_frozen_slotted_and_keyword_only(value: Value) -> None:
    assert dataclasses.is_dataclass(value)
    field = dataclasses.fields(value)[0]
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(value, field.name, None)
    assert not hasattr(value, "__dict__")
    with pytest.raises(TypeError):
        type(value)(getattr(value, field.name))


@pytest.mark.parametrize("value", VALUES, ids=name_of)
def test_a_value_becomes_plain_data(value: Value) -> None:
    plain = value.to_dict()
    assert json.loads(json.dumps(plain)) == plain
    bytes_fields = {f.name for f in dataclasses.fields(value) if f.type == "bytes"}  # type: ignore[arg-type]
    names = {f.name for f in dataclasses.fields(value)}  # type: ignore[arg-type]
    assert names - bytes_fields <= set(plain)
    assert bytes_fields.isdisjoint(plain)
    assert bytes_fields <= set(value.to_dict(include_data=True))


def test_plain_data_is_as_documented() -> None:
    plain = FILE.to_dict()
    assert plain["metadata"] == {"d": "2026-01-02", "tags": ["a"]}
    assert plain["rows"] == [ROW.to_dict()]
    assert ISSUE.to_dict()["code"] == "SOURCE_NOT_FOUND"
    assert IMAGE.to_dict(include_data=True)["data"] == "iVBORw=="
    reading = VALUES[8].to_dict()
    assert (reading["text"], reading["estimated_tokens"]) == ("# A\n", 2)
    odd = dataclasses.replace(FILE, metadata={"x": math.nan, "y": {1, 2}, "z": (datetime.time(1),)})
    assert odd.to_dict()["metadata"] == {"x": None, "y": [1, 2], "z": ["01:00:00"]}


@pytest.mark.parametrize("data", [b"hi", bytearray(b"hi")])
@pytest.mark.parametrize("around", [list, tuple, lambda items: {"b": items}])
def test_bytes_are_left_out_wherever_they_stand(
    data: bytes, around: Callable[[list[object]], object]
) -> None:
    held = dataclasses.replace(FILE, metadata={"a": around([1, data, [data], {"c": data}])})

    def inner(value: object) -> object:
        return value["b"] if isinstance(value, dict) else value

    assert inner(held.to_dict()["metadata"]["a"]) == [1, [], {}]  # type: ignore[index]
    whole = held.to_dict(include_data=True)
    assert inner(whole["metadata"]["a"]) == [1, "aGk=", ["aGk="], {"c": "aGk="}]  # type: ignore[index]


def test_bytes_in_a_set_are_left_out() -> None:
    held = dataclasses.replace(FILE, metadata={"a": {b"hi"}, "b": frozenset({b"hi"})})
    assert held.to_dict()["metadata"] == {"a": [], "b": []}


def test_bytes_are_in_no_repr() -> None:
    for value in VALUES:
        assert "\\x89PNG" not in repr(value)
        assert "b'x'" not in repr(value)


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ("", "data:"),
        ("img/\u00fcber \u6f22.png", "img/\u00fcber \u6f22.png"),
        ("a\nb\r\u2028c.png", "a\\nb\\r\\u2028c.png"),
        ("a\x1b[2Jb\udcff.png", "a\\x1b[2Jb\\udcff.png"),
    ],
)
def test_a_picture_is_one_line(source: str, shown: str) -> None:
    part = dataclasses.replace(IMAGE, source=source, region=None)
    assert repr(part) == f"<ImagePart {shown} 2x1 image/png>"
    assert repr(dataclasses.replace(part, region=(1, 2, 3, 4))) == (
        f"<ImagePart {shown} 2x1 of (1, 2, 3, 4) image/png>"
    )


def test_a_picture_in_a_notebook() -> None:
    shown = {
        media_type: (part._repr_png_(), part._repr_jpeg_())
        for media_type in ("image/png", "image/jpeg", "image/webp", "image/gif")
        for part in [dataclasses.replace(IMAGE, media_type=media_type)]
    }
    assert shown == {
        "image/png": (IMAGE.data, None),
        "image/jpeg": (None, IMAGE.data),
        "image/webp": (None, None),
        "image/gif": (None, None),
    }


def test_every_code_has_its_kind() -> None:
    assert set(KINDS) == set(Code)
    for code, kind in KINDS.items():
        assert code.value == code.name == str(code)
        assert kind.next_action


def test_what_to_do_is_a_sentence() -> None:
    for kind in KINDS.values():
        assert kind.next_action[0].isupper()
        assert kind.next_action.endswith(".")
        assert ":" not in kind.next_action
    clamped = errors.issue(Code.LINE_RANGE_CLAMPED, "x")
    assert clamped.next_action == "No action is needed; the lines up to the end were given."


@pytest.mark.parametrize(
    ("code", "name", "bases", "retryable", "user"),
    [
        ("INPUT_INVALID", "InvalidInputError", (ValueError,), False, False),
        ("CONFIG_INVALID", "InvalidInputError", (ValueError,), False, True),
        ("SECTION_NOT_FOUND", "SectionNotFoundError", (mdvision.InvalidInputError,), False, False),
        ("FILE_ACCESS_DENIED", "AccessDeniedError", (), False, True),
        ("URL_ACCESS_DENIED", "AccessDeniedError", (), False, True),
        ("SOURCE_TOO_LARGE", "SourceError", (), False, True),
        ("FETCH_FAILED", "SourceError", (), True, False),
        ("FETCH_TIMEOUT", "SourceError", (), True, False),
        ("SOURCE_NOT_FOUND", "SourceNotFoundError", (mdvision.SourceError,), False, False),
        ("DECODE_FAILED", "DecodeError", (mdvision.SourceError,), False, True),
        ("PIXEL_LIMIT_EXCEEDED", "DecodeError", (mdvision.SourceError,), False, True),
        ("SOURCE_UNSUPPORTED", "UnsupportedFormatError", (mdvision.SourceError,), False, True),
        ("CONVERSION_FAILED", "ConversionError", (), False, True),
        ("NAME_COLLISION", "ConversionError", (), False, True),
        ("STORE_UNAVAILABLE", "StoreError", (), False, True),
        ("EMBEDDER_UNAVAILABLE", "StoreError", (), False, True),
        ("UPSTREAM_ERROR", "VisionError", (), True, False),
        ("UPSTREAM_TIMEOUT", "VisionError", (), True, False),
        ("UPSTREAM_AUTH_FAILED", "VisionError", (), False, True),
        ("UPSTREAM_RATE_LIMITED", "VisionError", (), True, False),
        ("UPSTREAM_INVALID_RESPONSE", "VisionError", (), False, True),
        ("EXTRA_MISSING", "MissingExtraError", (ImportError,), False, True),
        ("INTERNAL_ERROR", "MdVisionError", (), False, True),
    ],
)
def test_the_table_of_codes(
    code: str, name: str, bases: tuple[type, ...], retryable: bool, user: bool
) -> None:
    error = failure(Code(code), "what happened")
    assert type(error).__name__ == name
    assert isinstance(error, (mdvision.MdVisionError,))
    assert all(isinstance(error, base) for base in bases)
    assert (error.issue.retryable, error.issue.user_action_required) == (retryable, user)
    assert str(error).startswith("what happened ")


def test_a_folder_index_is_a_sequence() -> None:
    folder = mdvision.MarkdownFolderIndex(files=(FILE, FILE))
    assert (len(folder), list(folder), folder[0], folder[-1:]) == (2, [FILE, FILE], FILE, (FILE,))


def test_a_message_is_one_short_line_whatever_it_names() -> None:
    found = errors.issue(Code.SOURCE_NOT_FOUND, "a\nb\x1b[31m\u2028" + "x" * 100_000)
    assert found.message.startswith("a b\ufffd[31m\ufffdxxx")
    assert len(found.message) < 2_100
    assert str(failure(Code.FETCH_FAILED, "odd \udcff name")).startswith("odd \\udcff name")
