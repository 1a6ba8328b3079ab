"""The server as clients of the TypeScript SDK see it, and as the Inspector judges it.

They are found by MDVISION_NODE_MODULES, a folder in which `npm install` was run with
tests/mcp/node/package.json, and by MDVISION_NODE, a node program, else the one on PATH.
"""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.mcp.talk import Drip, command

HERE = Path(__file__).parent / "node"
PINNED = json.loads((HERE / "package.json").read_text())["dependencies"]
SDK, INSPECTOR = "@modelcontextprotocol/sdk", "@modelcontextprotocol/inspector"
SECONDS = 60

Answer = dict[str, Any]


class Node(NamedTuple):
    """A node program and the folder with what is installed for it."""

    program: str
    folder: Path
    version: tuple[int, ...]


@pytest.fixture(scope="module")
def node() -> Node:
    folder = os.environ.get("MDVISION_NODE_MODULES", "")
    if not folder:
        pytest.skip("MDVISION_NODE_MODULES names no folder with the TypeScript SDK")
    program = os.environ.get("MDVISION_NODE") or shutil.which("node")
    if not program:
        pytest.skip("there is no node: neither MDVISION_NODE nor on PATH")
    told = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout
    version = tuple(map(int, told.strip().removeprefix("v").split(".")))
    return Node(program, Path(folder).resolve(), version)


def needs(node: Node, package: str, least: tuple[int, ...]) -> None:
    """Skip where a package is not installed, or where the node is too old for it."""
    manifest = node.folder / "node_modules" / package / "package.json"
    if not manifest.exists():
        pytest.skip(f"{package} is not installed in MDVISION_NODE_MODULES")
    assert json.loads(manifest.read_text())["version"] == PINNED[package], "run npm install again"
    if node.version < least:
        pytest.skip(f"{package} needs node {'.'.join(map(str, least))} or later")


class TypeScriptClient:
    """A client in a process of its own, which starts the server as its child."""

    def __init__(self, node: Node, server: Sequence[str]) -> None:
        needs(node, SDK, (18,))
        self.process = subprocess.Popen(
            [node.program, str(HERE / "client.mjs"), *server],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, "MDVISION_NODE_MODULES": str(node.folder)},
        )
        self.hello = self._line()

    def list(self) -> list[Answer]:
        tools: list[Answer] = self.take({"list": True})["result"]["tools"]
        return tools

    def call(self, name: str, **arguments: object) -> Answer:
        found = self.take(step(name, **arguments))
        assert "thrown" not in found, found
        result: Answer = found["result"]
        return result

    def take(self, wanted: dict[str, object]) -> Answer:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(wanted).encode() + b"\n")
        self.process.stdin.flush()
        return self._line()

    def _line(self) -> Answer:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, self.process.communicate(timeout=SECONDS)[1].decode()
        answer: Answer = json.loads(line)
        return answer

    def end(self) -> tuple[int, str]:
        """How the client ends once it has nothing more to do, and what was said on stderr."""
        err = self.process.communicate(timeout=SECONDS)[1]
        return self.process.returncode, err.decode()

    def __enter__(self) -> TypeScriptClient:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.communicate()


@pytest.fixture
def client(node: Node, docs: Path) -> Iterator[TypeScriptClient]:
    with TypeScriptClient(node, command(docs)) as client:
        yield client


def step(name: str, **arguments: object) -> dict[str, object]:
    return {"call": name, "arguments": arguments}


def kinds(result: Answer) -> list[str]:
    return [block["type"] for block in result["content"]]


def texts(result: Answer) -> str:
    return "".join(block["text"] for block in result["content"] if block["type"] == "text")


def test_the_handshake_and_the_tools(client: TypeScriptClient, docs: Path) -> None:
    assert client.hello["server"]["name"] == "mdvision"
    assert client.hello["capabilities"]["tools"] is not None
    assert str(docs) in client.hello["instructions"]
    tools = client.list()
    assert [tool["name"] for tool in tools] == [
        "index_md",
        "read_md_with_images",
        "search_md",
        "view_image",
    ]
    assert all(tool["annotations"]["readOnlyHint"] for tool in tools)
    assert not any("outputSchema" in tool for tool in tools)


def test_each_tool(client: TypeScriptClient) -> None:
    index = client.call("index_md", uri=".")
    found = client.call("search_md", uri=".", query="firewall")
    read = client.call("read_md_with_images", uri="guide.md")
    view = client.call("view_image", path="img/red.png")
    assert "# Guide\t4\t" in texts(index)
    assert "guide.md#setup-1" in texts(found)
    assert kinds(read) == ["text", "image", "text", "image", "text"]
    assert kinds(view) == ["text", "image"]
    assert not any(result.get("isError") for result in (index, found, read, view))
    assert not any("structuredContent" in result for result in (index, found, read, view))
    assert client.end() == (0, "")


def test_pictures_stand_where_the_text_names_them(client: TypeScriptClient, docs: Path) -> None:
    before, red, between, green, after = client.call("read_md_with_images", uri="guide.md")[
        "content"
    ]
    assert before["text"].endswith("[picture 1 of 2: img/red.png, 40x20]\n")
    assert base64.b64decode(red["data"]) == (docs / "img" / "red.png").read_bytes()
    assert red["mimeType"] == "image/png"
    assert between["text"].endswith("[picture 2 of 2: img/green.png, 40x20]\n")
    assert base64.b64decode(green["data"]) == (docs / "img" / "green.png").read_bytes()
    assert after["text"].startswith("\nAfter the table.\n")
    assert "img/gone.png" in after["text"]


def test_an_error_reaches_the_client_as_a_result(client: TypeScriptClient) -> None:
    for result, code in (
        (client.call("index_md", uri="gone.md"), "SOURCE_NOT_FOUND"),
        (client.call("read_md_with_images", uri="guide.md", section="No"), "SECTION_NOT_FOUND"),
        (client.call("view_image", path="../secret.md"), "FILE_ACCESS_DENIED"),
        (client.call("search_md", uri="guide.md", query='""'), "INPUT_INVALID"),
        (client.call("delete_md"), "INPUT_INVALID"),
    ):
        error = result["structuredContent"]["error"]
        assert result["isError"] is True
        assert error["code"] == code
        assert error["nextAction"]
        assert texts(result).startswith(f"{code}: {error['message']}\nNext: ")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({}, "uri must be given"),
        ({"uri": "guide.md", "line": 3}, "there is no parameter line"),
        ({"uri": "guide.md", "max_images": "5"}, "max_images must be of type integer"),
        ({"uri": "guide.md", "line_range": [1]}, "line_range must hold at least 2 items"),
    ],
)
def test_wrong_arguments(
    client: TypeScriptClient, arguments: dict[str, object], words: str
) -> None:
    result = client.call("read_md_with_images", **arguments)
    assert result["isError"] is True
    assert words in result["structuredContent"]["error"]["message"]
    assert words in texts(result)


def test_progress(node: Node, tmp_path: Path) -> None:
    for k in range(600):
        (tmp_path / f"{k}.md").write_text("# A\n\n" + "![a](b.png) *word*\n" * 400)
    with TypeScriptClient(node, command(tmp_path)) as client:
        found = client.take(step("index_md", uri="."))
    assert not found["result"].get("isError")
    told = [step["progress"] for step in found["progress"]]
    assert told
    assert told == sorted(set(told))
    assert {step["total"] for step in found["progress"]} == {600}


def test_an_aborted_call_stops_its_work(node: Node, docs: Path, slow_site: str) -> None:
    server = [flag for flag in command(docs) if flag != "--allow-domain=none"]
    with TypeScriptClient(node, [*server, "--allow-domain=127.0.0.1"]) as client:
        found = client.take({**step("index_md", uri=slow_site), "abort_after_ms": 700})
        assert "not wanted any more" in found["thrown"]["message"]
        time.sleep(0.5)
        before = Drip.sent
        time.sleep(0.7)
        assert before > 0
        assert Drip.sent <= before + 2
        assert not client.call("index_md", uri="guide.md").get("isError")


def test_thirty_calls_at_once(client: TypeScriptClient) -> None:
    single = client.call("read_md_with_images", uri="guide.md")["content"]
    steps = [
        step("read_md_with_images", uri="guide.md", max_images=10 + number // 2)
        if number % 2
        else step("index_md", uri=".", max_level=1 + number % 6)
        for number in range(30)
    ]
    found = client.take({"together": steps})["together"]
    assert [answer["result"]["content"] == single for answer in found] == [False, True] * 15
    assert not any(answer["result"].get("isError") for answer in found)


# The Inspector's command line


@pytest.fixture
def inspect(node: Node, docs: Path, tmp_path: Path) -> Inspector:
    needs(node, INSPECTOR, (22, 19))
    return Inspector(node, command(docs), tmp_path / "home")


class Inspector(NamedTuple):
    """The Inspector with a server to look at and a home without settings."""

    node: Node
    server: Sequence[str]
    home: Path

    def __call__(self, *flags: str) -> tuple[int, str]:
        self.home.mkdir(exist_ok=True)
        program = self.node.folder / "node_modules" / ".bin" / "mcp-inspector"
        found = subprocess.run(
            [self.node.program, str(program), "--cli", *self.server, *flags],
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
            stdin=subprocess.DEVNULL,
            env={
                **os.environ,
                "HOME": str(self.home),
                "MCP_CATALOG_PATH": str(self.home / "catalog.json"),
            },
        )
        return found.returncode, found.stdout + found.stderr


def test_the_inspector_finds_the_tools_portable(inspect: Inspector) -> None:
    code, said = inspect("--method", "tools/list", "--strict")
    assert code == 0, said
    assert '"read_md_with_images"' in said


@pytest.mark.parametrize(
    ("name", "arguments", "code", "words"),
    [
        ("index_md", {"uri": "guide.md", "max_level": 2}, 0, "# Guide"),
        ("read_md_with_images", {"uri": "guide.md", "line_range": [4, 8]}, 0, '"image/png"'),
        ("search_md", {"uri": ".", "query": "firewall"}, 0, "guide.md#setup-1"),
        ("view_image", {"path": "img/red.png"}, 0, '"image/png"'),
        ("view_image", {"path": "img/rad.png"}, 5, "SOURCE_NOT_FOUND"),  # 5: the tool said so
    ],
)
def test_the_inspector_calls(
    inspect: Inspector, name: str, arguments: dict[str, object], code: int, words: str
) -> None:
    call = ("--method", "tools/call", "--tool-name", name)
    found, said = inspect(*call, "--tool-args-json", json.dumps(arguments))
    assert found == code, said
    assert words in said
