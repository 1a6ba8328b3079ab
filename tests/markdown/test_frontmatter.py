"""Front matter: where it ends, what it gives, what it refuses."""

from __future__ import annotations

import datetime

import pytest
import yaml

from mdvision.errors import Code
from mdvision.markdown.frontmatter import front_matter_end, parse_front_matter


@pytest.mark.parametrize(
    ("text", "block"),
    [
        ("---\na: 1\n---\n# H\n", "---\na: 1\n---\n"),
        ("---\na: 1\n--- \t\n# H\n", "---\na: 1\n--- \t\n"),
        ("---  \na: 1\n---", "---  \na: 1\n---"),
        ("---\n---\nx", "---\n---\n"),
        ("+++\na = 1\n+++\n", "+++\na = 1\n+++\n"),
        ("---\na: 1\n", ""),
        ("---\na: 1\n---x\n", ""),
        ("---\na: 1\n ---\n", ""),
        ("\n---\na: 1\n---\n", ""),
        ("----\na: 1\n----\n", ""),
        ("---\na: 1\n+++\n", ""),
        ("---x\n---\n", ""),
        ("", ""),
    ],
)
def test_where_the_block_ends(text: str, block: str) -> None:
    assert text[: front_matter_end(text)] == block


@pytest.mark.parametrize(
    ("body", "metadata"),
    [
        ("title: A\ntags: [x, y]\n", {"title": "A", "tags": ["x", "y"]}),
        ("", {}),
        ("# only a comment\n", {}),
        ("day: 2026-01-02\n", {"day": datetime.date(2026, 1, 2)}),
        (
            "2: a\nnull: b\ntrue: c\n2026-01-02: d\n",
            {"2": "a", "null": "b", "true": "c", "2026-01-02": "d"},
        ),
        ("a: .nan\nb: -.inf\nc: 1.5\n", {"a": None, "b": None, "c": 1.5}),
        ("a: &x word\nb: *x\n", {"a": "word", "b": "word"}),
        ("a: {b: {3: [4]}}\n", {"a": {"b": {"3": [4]}}}),
    ],
)
def test_yaml(body: str, metadata: dict[str, object]) -> None:
    assert parse_front_matter(f"---\n{body}---\n") == (metadata, ())


def test_toml() -> None:
    found = parse_front_matter('+++\ntitle = "P"\nn = 3\n[t]\nd = 2026-01-02\nx = nan\n+++\n')
    assert found.metadata == {
        "title": "P",
        "n": 3,
        "t": {"d": datetime.date(2026, 1, 2), "x": None},
    }
    assert found.issues == ()


@pytest.mark.parametrize(
    "block",
    [
        "---\n- a list\n---\n",
        "---\nword\n---\n",
        "---\na: [\n---\n",
        "---\na: &x [1]\nb: *x\n---\n",
        "---\na: &x\n  b: *x\n---\n",
        "---\na: &x {b: 1}\nc:\n  <<: *x\n---\n",
        "---\na: !!python/object/apply:os.system [ls]\n---\n",
        "---\na: !!int ''\n---\n",
        "---\na: !!timestamp x\n---\n",
        "---\na: 2026-99-99\n---\n",
        "---\n? [a]\n: b\n---\n",
        "---\na: \x01\n---\n",
        "---\na: \ud800\n---\n",
        pytest.param("---\na: " + "[" * 5_000 + "\n---\n", id="deep yaml"),
        pytest.param("---\na: " + "[" * 200 + "]" * 200 + "\n---\n", id="101 deep"),
        pytest.param("---\na: [" + "1," * 10_001 + "]\n---\n", id="many nodes"),
        pytest.param("---\na: " + "9" * 5_000 + "\n---\n", id="long number"),
        pytest.param("---\na: 0x" + "f" * 4_000 + "\n---\n", id="long hexadecimal number"),
        pytest.param(
            f"---\na: &a {'x' * 1_000}\nb: [{'*a, ' * 200}]\n---\n", id="a scalar over and over"
        ),
        "+++\na = \n+++\n",
        pytest.param("+++\na = " + "[" * 3_000 + "\n+++\n", id="deep toml"),
        pytest.param("+++\na = [" + "1," * 10_001 + "]\n+++\n", id="many toml nodes"),
    ],
)
def test_what_is_refused_leaves_an_issue(block: str) -> None:
    found = parse_front_matter(block)
    if block.startswith("---\na: 9") and found.metadata:  # Python 3.10 reads numbers of any length
        return
    assert found.metadata == {}
    assert [issue.code for issue in found.issues] == [Code.FRONTMATTER_INVALID]


@pytest.mark.parametrize(
    ("block", "line"),
    [
        ("---\na: 1\nb: [1\nc: 2\n---\n", 4),
        ("---\na: b: c\n---\n", 2),
        ("---\r\na: 1\r\n\r\nb: @c\r\n---\r\n", 4),
        ("---\na: 1\nb: !!python/name:os.system x\n---\n", 3),
        ("---\na: 'x\u2028\U0001f680\x85y'\nb: @c\n---\n", 3),
        ("+++\na = 1\n\nb = \n+++\n", 4),
        ("+++\na = 1\na = 2\n+++\n", 3),
        ("---\n- a list\n---\n", 1),  # the whole of it is wrong
    ],
)
def test_the_issue_names_the_line(block: str, line: int) -> None:
    (found,) = parse_front_matter(block).issues
    assert found.details == {"line": line}


def test_a_bomb_of_aliases_is_refused_before_it_is_built() -> None:
    levels = "\n".join(f"l{k + 1}: &l{k + 1} [{', '.join([f'*l{k}'] * 9)}]" for k in range(12))
    found = parse_front_matter(f"---\nl0: &l0 [lol]\n{levels}\n---\n")
    assert found.metadata == {}


def test_plain_yaml_equals_the_library_s_own_reading() -> None:
    body = "a: 1\nb:\n  - c: 2.5\n    d: yes\n  - [x, 'y', \"z\"]\ne: |\n  two\n  lines\n"
    assert parse_front_matter(f"---\n{body}---\n").metadata == yaml.safe_load(body)


def test_a_few_repeated_words_are_fine() -> None:
    found = parse_front_matter("---\na: &a word\nb: [*a, *a]\n---\n")
    assert found == ({"a": "word", "b": ["word", "word"]}, ())


@pytest.mark.parametrize(
    "block",
    [
        "+++\n" + "a." * 50_000 + "b = 1\n+++\n",
        "+++\n[" + "a . " * 50_000 + "b]\n+++\n",
        "+++\n" + "'a'.\"b\"." * 50_000 + "c = 1\n+++\n",
        "---\na: 1" + ":1" * 200_000 + "\n---\n",
        "---\n1" + ":1" * 200_000 + ": a\n---\n",
        "---\na: 0x" + "f" * 400_000 + "\n---\n",
    ],
)
def test_what_would_take_quadratic_time_is_refused(block: str) -> None:
    found = parse_front_matter(block)
    assert found.metadata == {}
    assert [issue.code for issue in found.issues] == [Code.FRONTMATTER_INVALID]


def test_long_texts_that_are_no_numbers_are_kept() -> None:
    words = "two words. " * 5_000
    assert parse_front_matter(f"---\na: {words}\n---\n").metadata == {"a": words.strip()}
    assert parse_front_matter(f"+++\na = '{words}'\nb.c.d = 1\n+++\n").metadata == {
        "a": words,
        "b": {"c": {"d": 1}},
    }
