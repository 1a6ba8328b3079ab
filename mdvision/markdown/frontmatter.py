"""Front matter: YAML between `---` lines or TOML between `+++` lines at the head of a document.

The block begins on line 1 and ends at a line with nothing but white space behind the marks; one
that is never closed is none. What it holds is parsed with everything unsafe or unbounded refused.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Iterable, Mapping
from datetime import date, time
from typing import TYPE_CHECKING, NamedTuple, cast

from mdvision.errors import Code, Issue, issue
from mdvision.limits import MAX_INTEGER_BITS, MAX_METADATA_NODES, MAX_NESTING, MAX_REPEATED_CHARS

if TYPE_CHECKING:
    import yaml

_OPENING = re.compile(r"(---|\+\+\+)[ \t]*\n")
_CLOSINGS = {
    "---": re.compile(r"^---[ \t]*(?:\n|\Z)", re.MULTILINE),
    "+++": re.compile(r"^\+\+\+[ \t]*(?:\n|\Z)", re.MULTILINE),
}
_TOML_LINE = re.compile(r"\(at line (\d+), column \d+\)\Z")


_KEY_PART = r"""(?:[A-Za-z0-9_-]+|"[^"\n]*"|'[^'\n]*')"""
_LONG_KEY = re.compile(rf"(?<![A-Za-z0-9_-])(?:{_KEY_PART}[ \t]*\.[ \t]*){{{MAX_NESTING}}}")
_NUMBER = re.compile(r"[-+]?[0-9][0-9A-Fa-fxob_:.]*")
_MOST_NUMBER_CHARS = MAX_INTEGER_BITS // 2  # in base 60 a digit of 6 bits takes two or three


class FrontMatter(NamedTuple):
    """Front matter, parsed."""

    metadata: dict[str, object]
    issues: tuple[Issue, ...]


class _RefusedError(Exception):
    """The block is well-formed, but not taken; the message says why."""


def front_matter_end(text: str) -> int:
    r"""Where the front matter of `text` (LF only) ends, its last line end included; 0 = none.

    >>> front_matter_end("---\ntitle: x\n---\n# H\n")
    17
    >>> front_matter_end("---\nnever closed\n")
    0
    """
    opening = _OPENING.match(text)
    closing = _CLOSINGS[opening[1]].search(text, opening.end()) if opening else None
    return closing.end() if closing else 0


def parse_front_matter(block: str) -> FrontMatter:
    r"""Parse a block, its fences included; what cannot be taken leaves the metadata empty.

    >>> parse_front_matter("---\ntitle: A\ntags: [x, y]\n---").metadata
    {'title': 'A', 'tags': ['x', 'y']}
    """
    line = 1
    block = block.replace("\r\n", "\n").replace("\r", "\n")
    body = block[block.index("\n") + 1 : block.rstrip("\n").rindex("\n") + 1]
    try:
        found = _toml(body) if block.startswith("+") else _yaml(body)
        return FrontMatter(_mapping(found), ())
    except _RefusedError as error:
        reason = str(error)
    except RecursionError:
        reason = "it is nested too deeply"
    except Exception as error:  # noqa: BLE001 - PyYAML's constructors raise whatever int() or a None do
        reason = getattr(error, "problem", None) or "it is not well-formed"
        line = _line(error, body)
    message = f"The front matter could not be read: {reason}."
    return FrontMatter({}, (issue(Code.FRONTMATTER_INVALID, message, details={"line": line}),))


def _line(error: Exception, body: str) -> int:
    """The document's line that a parser complains about: the block's body begins on line 2."""
    mark = getattr(error, "problem_mark", None)  # PyYAML's, whose lines end at U+2028 too
    if isinstance(index := getattr(mark, "index", None), int):
        return body.count("\n", 0, index) + 2
    named = _TOML_LINE.search(str(error))  # tomllib says it in words
    return int(named[1]) + 1 if named else 1


def _toml(body: str) -> object:
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    if _LONG_KEY.search(body):  # a table is made for each part, and each is looked through again
        message = f"a key has more than {MAX_NESTING} parts"
        raise _RefusedError(message)
    return tomllib.loads(body)


def _yaml(body: str) -> object:
    import yaml  # 30 ms that a document without front matter need not pay

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    _check_yaml(yaml.parse(body, Loader=loader))
    return cast("object", yaml.load(body, Loader=loader))  # noqa: S506 - both loaders are safe


def _check_yaml(events: Iterable[yaml.Event]) -> None:  # noqa: C901 - one pass over flat events
    """Refuse what loading would recurse into or multiply; events come one by one, flat."""
    import yaml

    collections: set[str] = set()  # the anchors that name one
    lengths: dict[str, int] = {}  # of the scalars that other anchors name
    nodes = depth = repeated = 0
    for event in events:
        if isinstance(event, yaml.ScalarEvent):
            _check_number(event.value)
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if isinstance(event, yaml.NodeEvent):
            nodes += 1
            anchor = event.anchor
            if isinstance(event, yaml.AliasEvent):
                if anchor in collections:
                    message = "it repeats a collection by alias"
                    raise _RefusedError(message)
                repeated += lengths.get(anchor or "", 0)
            elif isinstance(event, yaml.CollectionStartEvent) and anchor:
                collections.add(anchor)
            elif anchor:
                collections.discard(anchor)
                lengths[anchor] = len(event.value) if isinstance(event, yaml.ScalarEvent) else 0
        _check_size(nodes, depth)
        if repeated > MAX_REPEATED_CHARS:
            message = f"its aliases repeat more than {MAX_REPEATED_CHARS:,} characters"
            raise _RefusedError(message)


def _check_number(text: str) -> None:
    """Refuse a number that takes long to read: base 60 in quadratic time."""
    if len(text) > _MOST_NUMBER_CHARS and _NUMBER.fullmatch(text):
        message = "it holds a number that is too long"
        raise _RefusedError(message)


def _check_size(nodes: int, depth: int) -> None:
    if nodes > MAX_METADATA_NODES:
        message = f"it holds more than {MAX_METADATA_NODES:,} values"
        raise _RefusedError(message)
    if depth > MAX_NESTING:
        message = f"it is nested more than {MAX_NESTING} deep"
        raise _RefusedError(message)


def _mapping(found: object) -> dict[str, object]:
    if found is None:  # an empty block, or nothing but comments
        return {}
    if not isinstance(found, Mapping):
        message = "it is no mapping of names to values"
        raise _RefusedError(message)
    named = _Counter().with_string_keys(cast("object", found), 1)
    return cast("dict[str, object]", named)


class _Counter:
    """Counts values while it turns keys into strings (TOML comes here unchecked)."""

    def __init__(self) -> None:
        self.nodes = 0

    def with_string_keys(self, value: object, depth: int) -> object:
        self.nodes += 1
        _check_size(self.nodes, depth)
        if isinstance(value, Mapping):
            items = cast("Mapping[object, object]", value).items()
            return {_key(key): self.with_string_keys(item, depth + 1) for key, item in items}
        if isinstance(value, (list, tuple, set)):
            values = cast("Iterable[object]", value)
            return [self.with_string_keys(item, depth + 1) for item in values]
        if isinstance(value, int) and value.bit_length() > MAX_INTEGER_BITS:
            message = "it holds a number that is too long to be written out"
            raise _RefusedError(message)
        if isinstance(value, float) and not math.isfinite(value):
            return None  # JSON has no such number, and NaN does not even equal itself
        return value


def _key(key: object) -> str:
    if key is None or isinstance(key, bool):
        return {None: "null", True: "true", False: "false"}[key]
    return key.isoformat() if isinstance(key, (date, time)) else str(key)
