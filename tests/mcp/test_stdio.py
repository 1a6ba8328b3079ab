"""The program itself: flags, stdin and stdout, its end; and every tool over the real transport."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import anyio
import pytest
import yaml
from mcp import Client, ClientSession
from mcp.client.stdio import stdio_client

from tests.mcp.talk import ERAS, command, stdio, texts

CASES = Path(__file__).parents[1] / "cases"


def run(*arguments: str, **options: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "mdvision_mcp", *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        stdin=subprocess.DEVNULL,
        **options,
    )  # type: ignore[call-overload,no-any-return]


@pytest.mark.parametrize("era", ERAS)
def test_every_tool_over_stdio(docs: Path, era: str) -> None:
    (docs / os.fsdecode(b"n\xff.md")).write_text(
        "# Odd name\n\n![](n\udcff.png)\n", errors="replace"
    )

    async def talk() -> None:
        async with Client(stdio(docs), mode=era) as client:
            index = await client.call_tool("index_md", {"uri": "."})
            read = await client.call_tool("read_md_with_images", {"uri": "guide.md"})
            found = await client.call_tool("search_md", {"uri": ".", "query": "odd name proxy"})
            view = await client.call_tool("view_image", {"path": "img/red.png"})
            wrong = await client.call_tool("view_image", {"path": "img/gone.png"})
            again = await client.call_tool("index_md", {"uri": "guide.md"})
        assert "Odd name" in texts(index)
        assert [block.type for block in read.content] == ["text", "image", "text", "image", "text"]
        assert "Odd name" in texts(found)
        assert [block.type for block in view.content] == ["text", "image"]
        assert wrong.is_error
        assert not again.is_error

    anyio.run(talk)


def test_the_handshake_of_a_session(docs: Path) -> None:
    async def talk() -> None:
        async with (
            stdio_client(stdio(docs)) as (read, write),
            ClientSession(read, write) as session,
        ):
            told = await session.initialize()
            assert told.server_info.name == "mdvision"
            assert told.instructions is not None
            assert (await session.list_tools()).tools

    anyio.run(talk)


def messages(*bodies: dict[str, object]) -> str:
    return "".join(json.dumps({"jsonrpc": "2.0", **body}) + "\n" for body in bodies)


HELLO = messages(
    {
        "id": 0,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        },
    },
    {"method": "notifications/initialized"},
)


def call(number: int, name: str, **arguments: object) -> str:
    return messages(
        {"id": number, "method": "tools/call", "params": {"name": name, "arguments": arguments}}
    )


class Served:
    """The program with its pipes in hand."""

    def __init__(self, root: Path, **environment: str) -> None:
        self.process = subprocess.Popen(
            command(root),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, **environment},
        )

    def ask(self, text: str, answers: int) -> list[dict[str, object]]:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(text.encode())
        self.process.stdin.flush()
        return [json.loads(self.process.stdout.readline()) for _ in range(answers)]

    def __enter__(self) -> Served:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.communicate()


def test_stdout_holds_the_protocol_alone() -> None:
    case = yaml.safe_load((CASES / "mcp-stdout-clean" / "case.yaml").read_text())
    root = CASES / "mcp-stdout-clean"
    calls = (
        call(1, "read_md_with_images", uri="doc.md")
        + call(2, "index_md", uri="doc.md")
        + call(3, "read_md_with_images", uri="nothing.md")
    )
    with Served(root) as served:
        answers = served.ask(HELLO + calls, 4)  # each line is JSON, or this raises
        last = next(a for a in answers if a["id"] == 3)["result"]
        assert isinstance(last, dict)
        assert last["isError"] is case["expected"]["last_call"]["isError"]
        assert case["expected"]["last_call"]["message_mentions"][0] in json.dumps(last)
        (after,) = served.ask(call(4, "index_md", uri="doc.md"), 1)
        assert "isError" not in after["result"] or not after["result"]["isError"]  # type: ignore[operator,index]


@pytest.mark.parametrize("encoding", ["cp1252", "ascii"])
def test_any_encoding_of_the_machine(encoding: str) -> None:
    root = CASES / "mcp-encoding"
    case = yaml.safe_load((root / "case.yaml").read_text(encoding="utf-8"))
    with Served(root, PYTHONUTF8="0", PYTHONIOENCODING=encoding) as served:
        name = case["inputs"][0]
        _, found = served.ask(HELLO + call(1, "read_md_with_images", uri=name), 2)
        assert case["expected"]["text_contains"][0] in json.dumps(found, ensure_ascii=False)


def test_it_ends_when_stdin_does(docs: Path) -> None:
    with Served(docs) as served:
        served.ask(HELLO, 1)
        out, err = served.process.communicate(timeout=10)
    assert served.process.returncode == 0
    assert (out, err) == (b"", b"")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_ends_on_a_signal(docs: Path, number: signal.Signals) -> None:
    with Served(docs) as served:
        served.ask(HELLO, 1)
        served.process.send_signal(number)
        assert served.process.wait(timeout=5) == 0
        assert served.process.stderr is not None
        assert served.process.stderr.read() == b""


def test_lines_that_are_no_message_do_not_end_it(docs: Path) -> None:
    junk = (
        "nonsense\n"
        + "[" * 5_000
        + "\n"
        + call(9, "index_md", uri="\\udcff.md").replace("\\\\udcff", "\\udcff")
    )
    with Served(docs) as served:
        served.ask(HELLO, 1)
        assert served.process.stdin is not None
        served.process.stdin.write(junk.encode())
        served.process.stdin.write(call(2, "index_md", uri="guide.md").encode())
        served.process.stdin.flush()
        assert served.process.stdout is not None
        answers = (json.loads(line) for line in served.process.stdout)
        assert any(
            answer.get("id") == 2 for answer in answers
        )  # errors about the junk may come first


def test_a_call_before_the_handshake_is_refused(docs: Path) -> None:
    with Served(docs) as served:
        (found,) = served.ask(call(1, "index_md", uri="guide.md"), 1)
        assert "error" in found
        served.ask(HELLO, 1)


# flags


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        ((), "At least one --allow-path is required"),
        (("--allow-path", "."), "At least one --allow-domain is required"),
        (("--allow-path", "gone", "--allow-domain", "none"), "gone is not a folder"),
        (("--allow-path=.", "--allow-domain=all", "--allow-domain=none"), "mutually exclusive"),
        (
            ("--allow-path=.", "--allow-domain=all", "--allow-domain=x.test"),
            "must be the only entry",
        ),
        (
            ("--allow-path=.", "--allow-domain=none", "--allow-domain=x.test"),
            "must be the only entry",
        ),
        (("--allow-path=.", "--allow-domain=a.txt", "--allow-domain=b.txt"), "glob expansion"),
        (("--allow-path=.", "--allow-domain=none", "stray"), "unrecognized arguments: stray"),
        (("--allow-path=.", "--allow-domain=none", "--nope"), "unrecognized arguments: --nope"),
        (("--allow-p=.", "--allow-domain=none"), "unrecognized arguments"),
        (("--allow-path=.", "--allow-domain=none", "--toolset=nope"), "invalid choice"),
        (("--allow-path=.", "--allow-domain=none", "--call-seconds=0"), "whole number from 1"),
        (
            ("--allow-path=.", "--allow-domain=none", "--max-result-bytes=1"),
            "whole number from 40000",
        ),
        (("--allow-path",), "expected one argument"),
    ],
)
def test_wrong_flags_end_the_start(tmp_path: Path, flags: tuple[str, ...], words: str) -> None:
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).touch()
    found = run(*flags, cwd=tmp_path, env={**os.environ, "PYTHONPATH": os.getcwd()})
    assert found.returncode == 2
    assert words in found.stderr
    assert found.stdout == ""
    assert "Traceback" not in found.stderr


@pytest.mark.parametrize("flags", [("--help",), ("--version",), ("--nope",), ()])
def test_flags_are_judged_without_the_protocol(flags: tuple[str, ...]) -> None:
    program = (
        "import sys; from mdvision_mcp.cli import main\n"
        f"try: main({list(flags)!r})\nexcept SystemExit: pass\n"
        "heavy = {'mcp', 'pydantic', 'PIL', 'requests', 'mistletoe', 'yaml'} & set(sys.modules)\n"
        "sys.exit(f'loaded {heavy}' if heavy else 0)"
    )
    found = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert found.returncode == 0, found.stderr


def test_without_the_extra_it_says_how_to_install_it(docs: Path) -> None:
    program = (
        "import sys, importlib.util as util\n"
        "real = util.find_spec\n"
        "gone = ('mcp', 'mcp_types')\n"
        "util.find_spec = lambda name, package=None: None if name in gone else real(name, package)\n"
        "from mdvision_mcp.cli import main\n"
        f"sys.exit(main({command(docs)[3:]!r}))"
    )
    found = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert found.returncode == 1
    assert "pip install 'mdvision[mcp]'" in found.stderr
    assert "Traceback" not in found.stderr


def test_version(docs: Path) -> None:
    from importlib.metadata import version

    assert run("--version").stdout == f"mdvision-mcp {version('mdvision')}\n"


def test_closed_pipes_are_no_traceback(docs: Path) -> None:
    program = " ".join(command(docs))
    for closed in ("<&-", ">&-", ">/dev/full"):
        found = subprocess.run(
            ["sh", "-c", f"printf '%s' '{HELLO}' | {program} {closed}"],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert "Traceback" not in found.stderr
        assert found.stdout == "" or closed == "<&-"


@pytest.mark.parametrize("host", ["x.com,y.com", "a" * 300, "a b"])
def test_a_host_that_can_never_match_is_refused(host: str) -> None:
    found = run("--allow-path=.", f"--allow-domain={host}")
    assert found.returncode == 2
    assert "is not a host" in found.stderr
