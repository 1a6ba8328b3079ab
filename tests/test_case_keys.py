"""No case asks for what tests/test_cases.py and tests/mcp do not check: every key of every case is known."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

CASES = sorted((Path(__file__).parent / "cases").glob("*/case.yaml"))
Case = dict[str, Any]

REMARKS = {"accept", "note", "order", "rule"}
HEAD = {"id", "kind", "core", "source", "oracle", "expected"}
IMAGES = {"doc_order", "kinds", "alts"}
READING = {
    "image_blocks",
    "behind",
    "colors",
    "contains",
    "text_contains",
    "excludes",
    "warning",
    "warnings",
}
# What is checked, by place.
KEYS: dict[str, set[str]] = {
    "source": {"ref", "wrong"},
    "index": HEAD | {"inputs", "extra_files", "extra_frontmatter", "encoding"},
    "read": HEAD | {"inputs", "document"},
    "image": HEAD | {"inputs"},
    "access": HEAD | {"tree"},
    "svg": HEAD | {"inputs"},
    "svg expected": {"files", "texts", "title", "desc", "not_texts"},
    "mcp": HEAD | {"inputs"},
    "mcp expected": {
        "tool",
        "blocks",
        "texts_contain",
        "colors",
        "no_structured_copy_of_base64",
        "image_mime",
        "do",
        "all_equal_to_single_thread",
        "reference_image",
        "env",
        "every_stdout_line_is_json",
        "text_contains",
        "request_path",
        "calls",
        "last_call",
        "after_error",
    },
    "last_call": {"isError", "message_mentions"},
    "index expected": {
        "rows",
        "frontmatter",
        "encoding",
        "chars_document",
        "utf16_document",
        "line_count",
        "must_not_be_heading",
        "nested_headings",
        "no_carriage_return_in_headings",
        "max_seconds",
        "reads",
        "wiki_images",
        "wiki_not_images",
    }
    | IMAGES,
    "read expected": {"rows", "reads"} | IMAGES,
    "image expected": READING
    | {
        "error",
        "message_mentions",
        "note_any_of",
        "max_memory_mb",
        "text_complete",
        "sizes",
        "out_mime",
        "out_magic",
        "out_mode",
        "pixel",
        "center_rgb",
        "tolerance",
    },
    "access expected": {
        "allow",
        "private_ok_for",
        "cwd",
        "checks",
        "table",
        "blocked",
        "not_blocked",
        "error",
        "index_folder",
        "files_default",
        "files_with_gitignore_off_adds",
        "never_by_default",
    },
    "rows": {"heading", "line_start", "line_end", "n_images", "slug", "chars_source"},
    "nested_headings": {"text", "line"},
    "reads": READING
    | {
        "section",
        "slug",
        "path",
        "line_range",
        "whole",
        "max_images",
        "max_chars",
        "equals_file",
        "equals_lines",
        "table_rows",
        "error",
        "accept_error",
    },
    "checks of paths": READING | {"path", "ok", "error"},
    "checks of addresses": {"url", "ok", "error", "max_seconds", "max_memory_mb"},
    "table": {"allow", "url", "allowed", "startup_error"},
    "warning": {"kind", "line", "ref"},
    "warnings": {"kind", "line", "ref"},
    "pixel": {"xy", "color", "grey", "any_of"},
}
FREE = {
    "tree",
    "frontmatter",
    "extra_frontmatter",
    "env",
    "files",
    "reference_image",
}  # names of the case's own


def unknown(place: str, found: Case) -> Iterator[str]:
    yield from (f"{place}: {key}" for key in found.keys() - KEYS[place] - REMARKS)
    for key, value in found.items():
        if key in FREE:
            continue
        if key == "extra_files":
            for rows in value.values():
                yield from unknown("read expected", {"rows": rows})
            continue
        for item in value if isinstance(value, list) else [value]:
            if isinstance(item, dict):
                yield from unknown(place_of(key, place, item), item)


def place_of(key: str, outer: str, item: Case) -> str:
    if key == "expected":
        return f"{outer} expected"
    if key == "checks":
        return "checks of addresses" if "url" in item else "checks of paths"
    return key


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.parent.name)
def test_a_case_asks_for_nothing_that_is_not_checked(path: Path) -> None:
    case = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert list(unknown(case["kind"], case)) == []
    assert all((path.parent / name).is_file() for name in case.get("inputs", ()))


def test_an_unknown_key_is_found() -> None:
    case = {"kind": "read", "expected": {"reads": [{"section": "# A", "warnings": [{"at": 1}]}]}}
    assert list(unknown("read", case | {"inputs": [], "size": 1})) == ["read: size", "warnings: at"]
