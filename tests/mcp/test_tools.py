"""What each tool answers, in both eras of the protocol."""

from __future__ import annotations

import itertools
import json
import re
from pathlib import Path

import pytest
from mcp import Client
from mcp.types import CallToolResult

from mdvision.rendering import PICTURE_LINE
from mdvision_mcp.markdown import TOOLS
from tests.mcp.talk import ERAS, ask, picture, settings_for, texts, with_client

pytestmark = pytest.mark.parametrize("era", ERAS)


def error_of(result: CallToolResult) -> dict[str, object]:
    assert result.is_error
    assert result.structured_content is not None
    error = result.structured_content["error"]
    assert set(error) >= {"code", "message", "retryable", "userActionRequired", "nextAction"}
    text = texts(result)
    assert str(error["code"]) in text
    assert str(error["message"]) in text
    assert str(error["nextAction"]) in text
    return dict(error)


def error_code(result: CallToolResult) -> object:
    assert result.is_error
    assert result.structured_content is not None
    return result.structured_content["error"]["code"]


def test_listing(docs: Path, era: str) -> None:
    async def talk(client: Client) -> None:
        tools = (await client.list_tools()).tools
        assert [tool.name for tool in tools] == [
            "index_md",
            "read_md_with_images",
            "search_md",
            "view_image",
        ]
        for tool in tools:
            assert tool.output_schema is None
            assert tool.annotations is not None
            assert tool.annotations.read_only_hint
            assert tool.annotations.destructive_hint is False
            assert tool.annotations.idempotent_hint
            assert tool.annotations.open_world_hint is False  # no host is allowed
            assert tool.description is not None
            assert len(tool.description) < 1_000
            assert "Example" in tool.description

    with_client(settings_for(docs), talk, era)


def test_instructions(docs: Path, era: str) -> None:
    async def talk(client: Client) -> None:
        told = client.instructions
        assert told is not None
        assert len(told) < 1_500
        assert f"{docs}: 2 markdown files, 2 pictures" in told
        for name in ("index_md", "search_md", "read_md_with_images", "view_image"):
            assert name in told
        assert "Intro" not in told

    with_client(settings_for(docs), talk, era)


def test_index_of_a_file(docs: Path, era: str) -> None:
    (found,) = ask(settings_for(docs), ("index_md", {"uri": "guide.md"}), era=era)
    assert texts(found) == (
        '<file path="guide.md" lines=25 chars=244>\n---\ntitle: Guide\n---\n```tsv\n'
        "heading\tline_start\tn_images\tchar_count\n"
        "# Guide\t4\t3\t222\n## Setup\t10\t1\t80\n## Setup\t18\t1\t77\n### Deep\t23\t1\t31\n"
        "```\n</file>\n"
    )
    assert not found.is_error
    assert found.structured_content is None


def test_index_of_a_folder_and_of_all(docs: Path, era: str) -> None:
    all_, folder, whole = ask(
        settings_for(docs),
        ("index_md", {"uri": "."}),
        ("index_md", {"uri": "api"}),
        ("index_md", {"uri": str(docs)}),
        era=era,
    )
    assert re.findall('path="(.*?)"', texts(all_)) == ["api/calls.md", "guide.md"]
    assert re.findall('path="(.*?)"', texts(folder)) == ["api/calls.md"]
    assert re.findall('path="(.*?)"', texts(whole)) == [f"{docs}/api/calls.md", f"{docs}/guide.md"]


def test_index_takes_level_pattern_and_slug(docs: Path, era: str) -> None:
    level, pattern, slug, wrong, file = ask(
        settings_for(docs),
        ("index_md", {"uri": "guide.md", "max_level": 1}),
        ("index_md", {"uri": ".", "pattern": "api/*"}),
        ("index_md", {"uri": "guide.md#setup-1"}),
        ("index_md", {"uri": "guide.md#nope"}),
        ("index_md", {"uri": "guide.md", "pattern": "*"}),
        era=era,
    )
    assert re.findall("^#+ .*?(?=\t)", texts(level), re.MULTILINE) == ["# Guide"]
    assert re.findall('path="(.*?)"', texts(pattern)) == ["api/calls.md"]
    assert re.findall("^#+ .*?(?=\t)", texts(slug), re.MULTILINE) == ["## Setup", "### Deep"]
    assert error_of(wrong)["code"] == "SECTION_NOT_FOUND"
    assert error_of(file)["code"] == "INPUT_INVALID"


def test_nothing_in_a_folder_is_an_error(docs: Path, era: str) -> None:
    (found,) = ask(settings_for(docs), ("index_md", {"uri": "img"}), era=era)
    assert "No markdown files found in img" in str(error_of(found)["message"])


def test_read_a_section(docs: Path, era: str) -> None:
    call = ("read_md_with_images", {"uri": "guide.md", "section": "## Setup"})
    (found,) = ask(settings_for(docs), call, era=era)
    assert [block.type for block in found.content] == ["text", "image", "text"]
    text, image, rest = found.content
    assert text.type == "text"
    assert image.type == "image"
    assert rest.type == "text"
    assert text.text == (
        "## Setup\n\n| a | b |\n|---|---|\n| ![green](img/green.png) | c |\n"
        "\n[picture 1 of 1: img/green.png, 40x20]\n"
    )
    assert image.mime_type == "image/png"
    assert rest.text == (
        "\nAfter the table.\n\n\n---\nlines 10-17 of 25\n'## Setup' names 2 sections: line 10 was"
        " taken, not 18 (#setup-1). Name the section by its path or #slug.\n"
    )
    assert found.structured_content is None
    assert found.meta is not None
    assert found.meta["mdvision/result"]["line_end"] == 17


def test_whole_text_is_the_source(docs: Path, era: str) -> None:
    (found,) = ask(settings_for(docs), ("read_md_with_images", {"uri": "guide.md"}), era=era)
    body = texts(found).rpartition("\n---\n")[0]
    assert PICTURE_LINE.sub("", body) == (docs / "guide.md").read_text()
    footer = texts(found).rpartition("\n---\n")[2]
    assert footer == "line 25: img/gone.png was not found. Check the path or address.\n"


def test_section_falls_back_to_lines(docs: Path, era: str) -> None:
    arguments = {"uri": "guide.md", "section": "## Nope", "line_range": [1, 2]}
    fallen, failed = ask(
        settings_for(docs),
        ("read_md_with_images", arguments),
        ("read_md_with_images", {"uri": "guide.md", "section": "## Setpu"}),
        era=era,
    )
    assert texts(fallen) == (
        "---\ntitle: Guide\n\n---\nlines 1-2 of 25\n"
        "Section not found: '## Nope'. Take a heading from the index.\n"
    )
    error = error_of(failed)
    assert error["code"] == "SECTION_NOT_FOUND"
    assert "'## Setup' (line 10)" in str(error["message"])
    assert 'index_md(uri="guide.md")' in str(error["nextAction"])


def test_max_images(docs: Path, era: str) -> None:
    none, one = ask(
        settings_for(docs),
        ("read_md_with_images", {"uri": "guide.md", "max_images": 0}),
        ("read_md_with_images", {"uri": "guide.md", "max_images": 1}),
        era=era,
    )
    assert [block.type for block in none.content] == ["text"]
    assert "0 of 3 pictures are shown" in texts(none)
    assert [block.type for block in one.content] == ["text", "image", "text"]


def test_several_sections_with_one_miss(docs: Path, era: str) -> None:
    named = ["## Setup", "Nope", "api/calls.md#proxy", "Guide > Setup > Deep"]
    found, missed = ask(
        settings_for(docs),
        ("read_md_with_images", {"uri": "guide.md", "sections": named}),
        ("read_md_with_images", {"uri": "guide.md", "sections": ["No", "api/gone.md#x"]}),
        era=era,
    )
    text = texts(found)
    assert not found.is_error
    assert [text.index(f"[section {k} of 4: {name}]") for k, name in enumerate(named, 1)] == sorted(
        text.index(f"[section {k} of 4: {name}]") for k, name in enumerate(named, 1)
    )
    assert "SECTION_NOT_FOUND" in text
    assert "## Proxy\n\ntext\n" in text
    assert "### Deep" in text
    assert sum(block.type == "image" for block in found.content) == 1
    kinds = [block.type for block in found.content]
    assert all(pair != ("text", "text") for pair in itertools.pairwise(kinds))
    assert error_code(missed) == "SECTION_NOT_FOUND"
    assert "SOURCE_NOT_FOUND" in texts(missed)


def test_search(docs: Path, era: str) -> None:
    words, phrase, none, empty, file = ask(
        settings_for(docs),
        ("search_md", {"uri": ".", "query": "PROXY"}),
        ("search_md", {"uri": ".", "query": '"behind a firewall"'}),
        ("search_md", {"uri": ".", "query": "zebra"}),
        ("search_md", {"uri": ".", "query": '""'}),
        ("search_md", {"uri": "guide.md", "query": "proxy", "max_results": 1}),
        era=era,
    )
    rows = [line.split("\t") for line in texts(words).split("\n") if ".md" in line]
    assert rows == [
        ["api/calls.md#proxy", "## Proxy", "5", "0", "text"],
        ["guide.md#guide", "# Guide", "6", "3", "Intro with `proxy` words."],
    ]
    assert "guide.md#setup-1\t## Setup\t20\t1\t" in texts(phrase)
    assert "No section" in texts(none)
    assert not none.is_error
    assert error_of(empty)["code"] == "INPUT_INVALID"
    assert texts(file).count("guide.md#") == 1


def test_search_takes_a_question_and_tells_how_many(docs: Path, era: str) -> None:
    question, one = ask(
        settings_for(docs),
        ("search_md", {"uri": ".", "query": "How do I use a proxy?"}),
        ("search_md", {"uri": ".", "query": "setup proxy", "max_results": 1}),
        era=era,
    )
    first = next(line for line in texts(question).split("\n") if ".md" in line)
    assert first.startswith("api/calls.md#proxy\t")
    assert texts(one).startswith("1 section, the best of 4.")


def test_what_to_do_next_is_a_call(docs: Path, era: str) -> None:
    folder, outside, typo, lines = ask(
        settings_for(docs),
        ("read_md_with_images", {"uri": "api"}),
        ("index_md", {"uri": ".."}),
        ("index_md", {"uri": "apii"}),
        ("read_md_with_images", {"uri": "guide.md", "line_range": [900, 901]}),
        era=era,
    )
    assert 'index_md(uri="api")' in texts(folder)
    assert 'index_md(uri=".")' in texts(outside)
    assert 'Did you mean one of these: "api"' in texts(typo)
    assert "Give lines from 1 to 25" in texts(lines)


def test_view_image(docs: Path, era: str) -> None:
    (docs / "big.png").write_bytes(picture("blue", (2000, 1000)))
    big, text, gone = ask(
        settings_for(docs),
        ("view_image", {"path": "big.png"}),
        ("view_image", {"path": "guide.md"}),
        ("view_image", {"path": "img/rad.png"}),
        era=era,
    )
    assert [block.type for block in big.content] == ["text", "image", "text"]
    assert texts(big) == (
        "[picture 1 of 1: big.png, 2000x1000, shown 1568x784]\n\n---\n"
        "shown at 78% of its size; it has tiles 0 to 2, in rows of 3\n"
        'look nearer with: view_image(path="big.png", tiles=[0]) or'
        " region=[left, top, width, height]\n"
    )
    assert error_of(text)["code"] == "SOURCE_UNSUPPORTED"
    error = error_of(gone)
    assert error["code"] == "SOURCE_NOT_FOUND"
    assert error["details"] == {"reason": "missing", "paths": ["img/red.png", "img/green.png"]}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({}, "uri must be given"),
        ({"uri": ""}, "uri must not be empty"),
        ({"uri": "guide.md", "line": 3}, "there is no parameter line"),
        ({"uri": "guide.md", "max_images": 51}, "max_images must be at most 50"),
        ({"uri": "guide.md", "max_images": -1}, "max_images must be at least 0"),
        ({"uri": "guide.md", "max_images": "5"}, "max_images must be of type integer"),
        ({"uri": "guide.md", "max_images": True}, "max_images must be of type integer"),
        ({"uri": "guide.md", "line_range": [1]}, "line_range must hold at least 2 items"),
        ({"uri": "guide.md", "line_range": [0, 3]}, "line_range.0 must be at least 1"),
        ({"uri": "guide.md", "line_range": "1-2"}, "line_range must be of type array"),
        ({"uri": "guide.md", "line_range": [5, 2]}, "the document has 25 lines"),
        ({"uri": "guide.md", "sections": ["a"] * 11}, "sections must hold at most 10 items"),
        ({"uri": ["guide.md"]}, "uri must be of type string"),
    ],
)
def test_wrong_arguments(docs: Path, era: str, arguments: dict[str, object], words: str) -> None:
    (found,) = ask(settings_for(docs), ("read_md_with_images", arguments), era=era)
    error = error_of(found)
    assert error["code"] == "INPUT_INVALID"
    assert words in str(error["message"])


def test_null_is_not_given_and_one_point_nought_is_one(docs: Path, era: str) -> None:
    arguments = {"uri": "guide.md", "section": None, "line_range": [1.0, 2.0], "max_images": None}
    (found,) = ask(settings_for(docs), ("read_md_with_images", arguments), era=era)
    assert texts(found).startswith("---\ntitle: Guide\n")


def test_unknown_tool(docs: Path, era: str) -> None:
    (found,) = ask(settings_for(docs), ("delete_md", {}), era=era)
    assert "index_md" in str(error_of(found)["nextAction"])


def test_an_unexpected_failure_says_nothing_of_itself(
    docs: Path, era: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise KeyError("hunter2")

    monkeypatch.setattr("mdvision_mcp.markdown.view.look", broken)
    (found,) = ask(settings_for(docs), ("view_image", {"path": "img/red.png"}), era=era)
    assert error_of(found)["code"] == "INTERNAL_ERROR"
    assert "hunter2" not in found.model_dump_json()
    assert "hunter2" in caplog.text


def test_png_always_when_asked(docs: Path, era: str) -> None:
    from PIL import Image

    Image.new("RGB", (30, 30), "red").save(docs / "img" / "photo.jpg")
    auto, png = (
        ask(
            settings_for(docs, image_format=form),
            ("view_image", {"path": "img/photo.jpg"}),
            era=era,
        )[0]
        for form in ("auto", "png")
    )
    assert [b.mime_type for b in (*auto.content, *png.content) if b.type == "image"] == [
        "image/jpeg",
        "image/png",
    ]


FORBIDDEN_WORDS = {"anyOf", "oneOf", "allOf", "not", "$ref", "$schema", "const", "prefixItems"}


def test_schemas_are_as_plain_as_the_pickiest_client_needs(era: str) -> None:
    def check(schema: object, where: str) -> None:
        if isinstance(schema, list):
            for item in schema:
                check(item, where)
        if isinstance(schema, dict):
            assert not FORBIDDEN_WORDS & set(schema), where
            assert schema.get("type", "string") in ("string", "integer", "array", "object"), where
            if schema.get("type") == "array":
                assert isinstance(schema["items"], dict), where
            if schema.get("type") == "integer":
                assert "minimum" in schema, where
            for name, value in schema.items():
                check(value, f"{where}.{name}")

    for tool in TOOLS:
        schema = json.loads(json.dumps(tool.input_schema))
        check(schema, tool.name)
        assert schema["additionalProperties"] is False
        assert all("description" in p for p in schema["properties"].values())
        assert re.fullmatch("[a-z_]{1,20}", tool.name)
