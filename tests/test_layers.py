"""The nouns open nothing: import-linter forbids them the modules, this the rest."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "mdvision"
# What may open files or pages; all else, a package that comes later too, is a noun.
OPENING = {
    "__init__",
    "__main__",
    "cli",
    "drawing",
    "indexing",
    "reading",
    "sandbox",
    "searching",
    "sources",
    "storing",
    "viewing",
}
# Calls that open a file or bring in what import-linter does not see.
FORBIDDEN = {"open", "exec", "eval", "__import__", "import_module"}
ALLOWED = {
    "model/reading.py": {"open"},  # ImagePart.save, which the user calls
    "images/codec.py": {"import_module"},  # Pillow's plugins, by the name of a format
}


def nouns() -> list[Path]:
    return sorted(
        path
        for path in PACKAGE.rglob("*.py")
        if path.relative_to(PACKAGE).with_suffix("").parts[0] not in OPENING
    )


def called(source: str) -> set[str]:
    """Names that are called, bare or as an attribute of a module."""
    calls = [node.func for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    bare = {func.id for func in calls if isinstance(func, ast.Name)}
    dotted = {func.attr for func in calls if isinstance(func, ast.Attribute)}
    return bare | (dotted & {"import_module"})


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("open('a')", {"open"}),
        ("def f():\n    return __import__('os')", {"__import__"}),
        ("importlib.import_module('os')", {"import_module"}),
        ("Image.open(stream)", set[str]()),
    ],
)
def test_a_call_is_seen(source: str, names: set[str]) -> None:
    assert called(source) & FORBIDDEN == names


@pytest.mark.parametrize("path", nouns(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_noun_opens_nothing(path: Path) -> None:
    found = called(path.read_text("utf-8")) & FORBIDDEN
    assert found == ALLOWED.get(path.relative_to(PACKAGE).as_posix(), set())


def test_every_noun_is_under_the_contract() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    contracts = settings["tool"]["importlinter"]["contracts"]
    (pure,) = (found for found in contracts if found["name"] == "The pure packages open nothing")
    tops = {path.relative_to(PACKAGE).with_suffix("").parts[0] for path in nouns()}
    assert {f"mdvision.{top}" for top in tops} == set(pure["source_modules"])
