"""What can go wrong, and what to do about it: one shape for errors and warnings alike.

A function raises an `MdVisionError` when it can give nothing. When it can give part, the result
carries the `Issue` instead. The classes, by what they are about:

    MdVisionError
    ├── InvalidInputError (ValueError)      INPUT_INVALID, CONFIG_INVALID
    │   └── SectionNotFoundError            SECTION_NOT_FOUND
    ├── AccessDeniedError                   FILE_ACCESS_DENIED, URL_ACCESS_DENIED
    ├── SourceError                         SOURCE_TOO_LARGE, FETCH_FAILED, FETCH_TIMEOUT
    │   ├── SourceNotFoundError             SOURCE_NOT_FOUND
    │   ├── DecodeError                     DECODE_FAILED, PIXEL_LIMIT_EXCEEDED
    │   └── UnsupportedFormatError          SOURCE_UNSUPPORTED
    ├── ConversionError                     CONVERSION_*, NAME_COLLISION
    ├── StoreError                          STORE_UNAVAILABLE, EMBEDDER_UNAVAILABLE
    ├── VisionError                         UPSTREAM_*
    └── MissingExtraError (ImportError)     EXTRA_MISSING
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

from mdvision.value import Value

_MOST_MESSAGE_CHARS = 2_000
_BREAKS = re.compile(r"[\t\r\n]+")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")

Scalar = str | int | float | bool
Detail = Scalar | tuple[Scalar, ...]
Details = Mapping[str, Detail]


class Code(str, Enum):
    """Every kind of problem, by name; the value is the name."""

    # asking
    INPUT_INVALID = "INPUT_INVALID"
    CONFIG_INVALID = "CONFIG_INVALID"
    EXTRA_MISSING = "EXTRA_MISSING"
    SECTION_NOT_FOUND = "SECTION_NOT_FOUND"
    SECTION_AMBIGUOUS = "SECTION_AMBIGUOUS"
    LINE_RANGE_CLAMPED = "LINE_RANGE_CLAMPED"
    # sources
    SOURCE_NOT_FOUND = "SOURCE_NOT_FOUND"
    SOURCE_UNSUPPORTED = "SOURCE_UNSUPPORTED"
    SOURCE_TOO_LARGE = "SOURCE_TOO_LARGE"
    FILE_ACCESS_DENIED = "FILE_ACCESS_DENIED"
    URL_ACCESS_DENIED = "URL_ACCESS_DENIED"
    FETCH_FAILED = "FETCH_FAILED"
    FETCH_TIMEOUT = "FETCH_TIMEOUT"
    # content
    DECODE_FAILED = "DECODE_FAILED"
    PIXEL_LIMIT_EXCEEDED = "PIXEL_LIMIT_EXCEEDED"
    ENCODING_GUESSED = "ENCODING_GUESSED"
    FRONTMATTER_INVALID = "FRONTMATTER_INVALID"
    NESTING_LIMIT = "NESTING_LIMIT"
    CONTENT_DROPPED = "CONTENT_DROPPED"
    # budgets
    RESULT_TRUNCATED = "RESULT_TRUNCATED"
    IMAGE_LIMIT_REACHED = "IMAGE_LIMIT_REACHED"
    IMAGE_REDUCED = "IMAGE_REDUCED"
    IMAGE_OMITTED = "IMAGE_OMITTED"
    # documents
    CONVERSION_FAILED = "CONVERSION_FAILED"
    CONVERSION_TIMEOUT = "CONVERSION_TIMEOUT"
    CONVERSION_RUNNING = "CONVERSION_RUNNING"
    CONVERSION_EMPTY = "CONVERSION_EMPTY"
    NAME_COLLISION = "NAME_COLLISION"
    # library
    INDEX_STALE = "INDEX_STALE"
    STORE_UNAVAILABLE = "STORE_UNAVAILABLE"
    EMBEDDER_UNAVAILABLE = "EMBEDDER_UNAVAILABLE"
    # vision
    UPSTREAM_ERROR = "UPSTREAM_ERROR"
    UPSTREAM_TIMEOUT = "UPSTREAM_TIMEOUT"
    UPSTREAM_AUTH_FAILED = "UPSTREAM_AUTH_FAILED"
    UPSTREAM_RATE_LIMITED = "UPSTREAM_RATE_LIMITED"
    UPSTREAM_INVALID_RESPONSE = "UPSTREAM_INVALID_RESPONSE"
    IMAGE_FAILED = "IMAGE_FAILED"
    TILE_BUDGET_EXCEEDED = "TILE_BUDGET_EXCEEDED"
    DETAIL_TILE_FAILED = "DETAIL_TILE_FAILED"
    DETAIL_BATCH_FAILED = "DETAIL_BATCH_FAILED"
    AGGREGATION_FAILED = "AGGREGATION_FAILED"

    INTERNAL_ERROR = "INTERNAL_ERROR"

    def __str__(self) -> str:
        """Give the name alone, the same on every Python."""
        return self.name


@dataclass(frozen=True, slots=True, kw_only=True)
class Issue(Value):
    """One thing that went wrong, and what to do about it."""

    code: Code
    """What kind of thing: `Code.SOURCE_NOT_FOUND`."""
    message: str
    """What happened, in a sentence: "img/x.png was not found.\""""
    next_action: str
    """What to do next, in a sentence: "Correct the path in the document.\""""
    retryable: bool
    """The same call may succeed later: True for a time-out."""
    user_action_required: bool
    """Only a person can put it right: True for a wrong key."""
    details: Details = field(default_factory=dict[str, Detail], hash=False)
    """Facts by fixed keys, where they apply: `{"source": "img/x.png", "line": 131}`.

    The keys: reason, line, source (as the document wrote it), image_index, headings, lines, paths,
    limit, actual, http_status, frames, stage.
    """


class MdVisionError(Exception):
    """Base of every error that the library raises on purpose; `issue` says what happened."""

    issue: Issue

    def __init__(self, issue: Issue) -> None:
        super().__init__(issue)
        self.issue = issue

    def __str__(self) -> str:
        return f"{self.issue.message} {self.issue.next_action}".strip()

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.issue == getattr(other, "issue", None)

    def __hash__(self) -> int:
        return hash((type(self), self.issue))


class InvalidInputError(MdVisionError, ValueError):
    """The call or the configuration is wrong."""


class SectionNotFoundError(InvalidInputError):
    """The document has no such section."""


class AccessDeniedError(MdVisionError):
    """The access policy forbids this path or address."""


class SourceError(MdVisionError):
    """The source could not be had."""


class SourceNotFoundError(SourceError):
    """There is no such file, folder or page."""


class DecodeError(SourceError):
    """The source is damaged, or too large once decoded."""


class UnsupportedFormatError(SourceError):
    """The source is of a kind that this call does not read."""


class ConversionError(MdVisionError):
    """A document could not be converted to markdown."""


class StoreError(MdVisionError):
    """The index of a library cannot be used."""


class VisionError(MdVisionError):
    """The vision model's endpoint failed."""


class MissingExtraError(MdVisionError, ImportError):
    """An optional dependency is not installed."""


class Kind(NamedTuple):
    """What a code means by default."""

    error: type[MdVisionError]
    retryable: bool
    user_action_required: bool
    next_action: str


# Whether the same call may succeed later, and whether only a person can put it right.
_NEITHER, _USER, _LATER = (False, False), (False, True), (True, False)

KINDS: Mapping[Code, Kind] = {
    code: Kind(error, *cure, next_action)
    for code, error, cure, next_action in (
        (Code.INPUT_INVALID, InvalidInputError, _NEITHER, "Correct the arguments."),
        (Code.CONFIG_INVALID, InvalidInputError, _USER, "Correct the named settings and restart."),
        (Code.EXTRA_MISSING, MissingExtraError, _USER, "Install the named extra."),
        (Code.SECTION_NOT_FOUND, SectionNotFoundError, _NEITHER, "Take a heading from the index."),
        (Code.SECTION_AMBIGUOUS, MdVisionError, _NEITHER, "Name the section by its path or #slug."),
        (
            Code.LINE_RANGE_CLAMPED,
            MdVisionError,
            _NEITHER,
            "No action is needed; the lines up to the end were given.",
        ),
        (Code.SOURCE_NOT_FOUND, SourceNotFoundError, _NEITHER, "Check the path or address."),
        (
            Code.SOURCE_UNSUPPORTED,
            UnsupportedFormatError,
            _USER,
            "Give a format that is supported.",
        ),
        (Code.SOURCE_TOO_LARGE, SourceError, _USER, "Give a smaller source, or raise the limit."),
        (
            Code.FILE_ACCESS_DENIED,
            AccessDeniedError,
            _USER,
            "Check that it exists and lies in an allowed folder (paths, --allow-path).",
        ),
        (
            Code.URL_ACCESS_DENIED,
            AccessDeniedError,
            _USER,
            "Use an allowed address, or allow the host (domains, --allow-domain).",
        ),
        (Code.FETCH_FAILED, SourceError, _LATER, "Try once more, then check the address."),
        (Code.FETCH_TIMEOUT, SourceError, _LATER, "Try once more, then raise the time limit."),
        (Code.DECODE_FAILED, DecodeError, _USER, "Give a file that is not damaged."),
        (Code.PIXEL_LIMIT_EXCEEDED, DecodeError, _USER, "Scale the picture below the pixel limit."),
        (Code.ENCODING_GUESSED, MdVisionError, _NEITHER, "Save the file as UTF-8 to be sure."),
        (Code.FRONTMATTER_INVALID, MdVisionError, _USER, "Correct the front matter."),
        (Code.NESTING_LIMIT, MdVisionError, _USER, "Nest the document less deeply."),
        (Code.CONTENT_DROPPED, MdVisionError, _NEITHER, "See the source for what was left out."),
        (Code.RESULT_TRUNCATED, MdVisionError, _NEITHER, "Go on at the line named."),
        (Code.IMAGE_LIMIT_REACHED, MdVisionError, _NEITHER, "Raise max_images, or read less text."),
        (Code.IMAGE_REDUCED, MdVisionError, _NEITHER, "Look at the picture itself for detail."),
        (Code.IMAGE_OMITTED, MdVisionError, _NEITHER, "Look at the picture itself."),
        (
            Code.CONVERSION_FAILED,
            ConversionError,
            _USER,
            "Check the document, or convert it otherwise.",
        ),
        (
            Code.CONVERSION_TIMEOUT,
            ConversionError,
            _LATER,
            "Raise the time limit, or give fewer pages.",
        ),
        (Code.CONVERSION_RUNNING, ConversionError, _LATER, "Ask again in a moment."),
        (Code.CONVERSION_EMPTY, ConversionError, _USER, "Try again with text recognition (OCR)."),
        (Code.NAME_COLLISION, ConversionError, _USER, "Rename one of the named files."),
        (Code.INDEX_STALE, MdVisionError, _NEITHER, "Ingest the document again."),
        (Code.STORE_UNAVAILABLE, StoreError, _USER, "Check the index folder."),
        (Code.EMBEDDER_UNAVAILABLE, StoreError, _USER, "Check the embedder's settings."),
        (Code.UPSTREAM_ERROR, VisionError, _LATER, "Retry once, then stop."),
        (Code.UPSTREAM_TIMEOUT, VisionError, _LATER, "Retry once, then stop."),
        (
            Code.UPSTREAM_AUTH_FAILED,
            VisionError,
            _USER,
            "Check the key, the base URL and the model.",
        ),
        (Code.UPSTREAM_RATE_LIMITED, VisionError, _LATER, "Wait, then retry once."),
        (
            Code.UPSTREAM_INVALID_RESPONSE,
            VisionError,
            _USER,
            "Check that the address is a Chat Completions endpoint.",
        ),
        (Code.IMAGE_FAILED, MdVisionError, _USER, "Check the named picture."),
        (
            Code.TILE_BUDGET_EXCEEDED,
            MdVisionError,
            _NEITHER,
            "Raise max_tiles, or send fewer pictures.",
        ),
        (Code.DETAIL_TILE_FAILED, MdVisionError, _NEITHER, "Look at that region by itself."),
        (Code.DETAIL_BATCH_FAILED, MdVisionError, _LATER, "Retry once, then stop."),
        (Code.AGGREGATION_FAILED, MdVisionError, _LATER, "Use the observations as they are."),
        (Code.INTERNAL_ERROR, MdVisionError, _USER, "Look at the log, and report it."),
    )
}
"""Each code's error class, what can put it right, and what to do by default."""


def issue(
    code: Code, message: str, *, next_action: str = "", details: Details | None = None
) -> Issue:
    """Make an issue, taking what is not given from `KINDS`.

    >>> issue(Code.SOURCE_NOT_FOUND, "img/x.png was not found.").next_action
    'Check the path or address.'
    """
    kind = KINDS[code]
    return Issue(
        code=code,
        message=_printable(message),
        next_action=next_action or kind.next_action,
        retryable=kind.retryable,
        user_action_required=kind.user_action_required,
        details=dict(details or {}),
    )


def _printable(message: str) -> str:
    """A message in one line of text: what it names may hold anything, and be of any length."""
    if len(message) > _MOST_MESSAGE_CHARS:
        message = f"{message[:_MOST_MESSAGE_CHARS]}…"
    message = message.encode("utf-8", "backslashreplace").decode()
    return _CONTROL.sub("\ufffd", _BREAKS.sub(" ", message))


def failure(
    code: Code, message: str, *, next_action: str = "", details: Details | None = None
) -> MdVisionError:
    """Make the error to raise for `code`, of the class that `KINDS` names.

    >>> type(failure(Code.FETCH_TIMEOUT, "No answer within 30 s.")).__name__
    'SourceError'
    """
    return KINDS[code].error(issue(code, message, next_action=next_action, details=details))
