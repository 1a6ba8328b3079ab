"""The answers that docs/server.md shows are those that the server gives."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from mcp.types import CallToolResult

from mdvision.model import AccessPolicy
from mdvision_mcp.cli import main
from mdvision_mcp.settings import Settings
from tests.mcp.talk import ask

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "server.md").read_text(encoding="utf-8")
SHOWN = re.findall(r"```python\n(.*?)\n```\n\n(`{3,})text\n(.*?)\n\2\n", PAGE, re.DOTALL)


def as_shown(result: CallToolResult) -> str:
    return "".join(
        block.text if block.type == "text" else f"<{block.mime_type}>\n"  # type: ignore[union-attr]
        for block in result.content
    )


@pytest.mark.parametrize(("call", "_fence", "answer"), SHOWN, ids=[call for call, *_ in SHOWN])
def test_answers(call: str, _fence: str, answer: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT / "tests")
    parsed = ast.parse(call, mode="eval").body
    assert isinstance(parsed, ast.Call)
    assert isinstance(parsed.func, ast.Name)
    arguments = {str(word.arg): ast.literal_eval(word.value) for word in parsed.keywords}
    settings = Settings(policy=AccessPolicy(paths=(str(ROOT / "examples"),)))
    (found,) = ask(settings, (parsed.func.id, arguments))
    assert as_shown(found).rstrip("\n") == answer.rstrip("\n")


def test_every_tool_is_shown() -> None:
    assert {call.partition("(")[0] for call, *_ in SHOWN} == {
        "index_md",
        "search_md",
        "read_md_with_images",
        "view_image",
    }


def test_every_flag_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])
    flags = set(re.findall(r"--[a-z-]+", capsys.readouterr().out))
    assert flags == set(
        re.findall(r"`(--[a-z-]+)", PAGE.partition("## Flags")[2].partition("## Paths")[0])
    )
