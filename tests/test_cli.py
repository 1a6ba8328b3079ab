"""The command as its users call it: what it prints where, and with which exit code."""

from __future__ import annotations

import json
import os
import pty
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from PIL import Image

import mdvision
from mdvision.cli import main

TEXT = "---\nt: 1\n---\n# Guide\n\n![one](one.png)\n\n## Setup\n\ntext\n\n### Deep\n\n![gone](gone.png)\n"


@pytest.fixture
def docs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "docs"
    (root / "sub").mkdir(parents=True)
    (root / "guide.md").write_text(TEXT)
    (root / "sub" / "more.md").write_text("# More\n")
    Image.new("RGB", (2000, 1000), "red").save(root / "one.png")
    monkeypatch.chdir(tmp_path)
    return root


def run(*arguments: str | Path, **options: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "mdvision", *map(str, arguments)]
    return subprocess.run(  # type: ignore[call-overload,no-any-return]
        command, capture_output=True, encoding="utf-8", timeout=60, check=False, **options
    )


def test_index_of_a_file(docs: Path) -> None:
    found = run("index", "docs/guide.md")
    index = mdvision.index_markdown_file(docs / "guide.md")
    assert found.returncode == 0
    assert found.stderr == ""
    assert found.stdout.startswith(
        f'<file path="docs/guide.md" lines=14 chars={index.char_count}>\n---\nt: 1\n'
    )
    assert "## Setup\t8\t1\t" in found.stdout


def test_index_of_a_folder(docs: Path) -> None:
    found = run("index", "docs")
    assert re.findall(r'path="(.*?)"', found.stdout) == ["docs/guide.md", "docs/sub/more.md"]
    assert "</file>\n\n<file" in found.stdout


def test_index_formats(docs: Path) -> None:
    expected = mdvision.index_markdown_folder("docs")
    assert json.loads(run("index", "docs", "--format", "json").stdout) == expected.to_dict()
    lines = run("index", "docs", "--format", "jsonl").stdout.splitlines()
    assert [json.loads(line) for line in lines] == [index.to_dict() for index in expected]
    single = json.loads(run("index", "docs/guide.md", "--format", "json").stdout)
    assert single == expected[0].to_dict()


def test_index_choices(docs: Path) -> None:
    found = run("index", "docs", "--max-level", "1", "--pattern", "sub/")
    assert re.findall(r'path="(.*?)"', found.stdout) == ["docs/sub/more.md"]
    assert "## Setup" not in run("index", "docs/guide.md", "--max-level", "1").stdout
    assert run("index", "docs/guide.md", "--pattern", "x").returncode == 2


def test_read_prints_the_text_and_names_the_pictures(docs: Path) -> None:
    found = run("read", "docs/guide.md", "--section", "# Guide", "--out", "out dir")
    assert found.returncode == 0
    assert found.stdout == (
        "# Guide\n\n![one](one.png)"
        "\n[picture 1 of 1: out dir/image-001.png, 2000x1000, shown 1568x784]\n"
        "\n\n## Setup\n\ntext\n\n### Deep\n\n![gone](gone.png)\n"
        "\n---\nlines 4-14 of 14\n"
        "line 14: gone.png was not found. Check the path or address.\n"
    )
    assert "gone.png" in found.stderr
    with Image.open("out dir/image-001.png") as written:
        assert written.size == (1568, 784)


def test_following_the_footer_reaches_every_line_once(docs: Path) -> None:
    command = ["read", "docs/guide.md", "--section", "## Setup", "--max-chars", "12"]
    command += ["--allow-path", "docs", "--allow-domain", "none", "--max-images", "3"]
    text = ""
    while command:
        found = run(*command)
        assert found.returncode == 0
        page, _, footer = found.stdout.partition("\n---\nlines ")
        text += page
        call = re.search(r"^go on with: mdvision (.*)$", footer, re.MULTILINE)
        command = shlex.split(call[1]) if call else []
        assert not command or command[-6:] == [
            "--max-images", "3", "--allow-path", "docs", "--allow-domain", "none",
        ]  # fmt: skip
    assert text == TEXT[TEXT.index("## Setup") :]


def test_read_options(docs: Path) -> None:
    assert run("read", "docs/guide.md", "--lines", "8:9").stdout.startswith(
        "## Setup\n\n\n---\nlines 8-9"
    )
    assert run("read", "docs/guide.md#setup").stdout.startswith("## Setup\n")
    assert "[picture" not in run("read", "docs/guide.md", "--max-images", "0").stdout


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["read", "docs/nowhere.md"], 1),
        (["index", "docs/nowhere.md"], 1),
        (["read", "docs/guide.md", "--section", "# No such"], 1),
        (["read", "docs/one.png"], 1),
        (["read", "docs"], 2),
        (["index", "empty"], 1),
        (["read", "docs/guide.md", "--lines", "9:8"], 2),
        (["read", "docs/guide.md", "--lines", "x"], 2),
        (["read", "docs/guide.md", "--max-chars", "0"], 2),
        (["read", "docs/guide.md", "--max-images", "-1"], 2),
        (["index", "docs", "--format", "xml"], 2),
        (["index", "docs", "--max-level", "7"], 2),
        (["index", "docs", "--cache"], 2),
        (["index"], 2),
        (["frobnicate"], 2),
        ([], 2),
        (["--help"], 0),
        (["--version"], 0),
        (["read", "--help"], 0),
    ],
)
def test_exit_codes(docs: Path, arguments: list[str], code: int) -> None:
    (docs.parent / "empty").mkdir()
    found = run(*arguments)
    assert found.returncode == code
    assert "Traceback" not in found.stderr
    assert bool(found.stderr) == (code != 0)
    if code == 1:
        assert found.stdout == ""


def test_access_flags(docs: Path) -> None:
    """A relative path is looked for in the allowed folders too, so only that is not found."""
    assert "was not found" in run("read", "secret.md", "--allow-path", "docs").stderr
    (docs.parent / "secret.md").write_text("# secret\n")
    assert run("read", "secret.md").returncode == 0
    denied = run("read", docs.parent / "secret.md", "--allow-path", "docs")
    assert denied.returncode == 1
    assert "Path is not allowed" in denied.stderr
    assert run("read", "guide.md", "--allow-path", "docs").returncode == 0
    blocked = run(
        "read", "http://127.0.0.1:9/x.md", "--allow-path", "docs", "--allow-domain", "all"
    )
    assert blocked.returncode == 1
    assert run("read", "x.md", "--allow-path", "nowhere").returncode == 2


def test_interrupted(docs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("mdvision.reading.read_with_images", interrupt)
    assert main(["read", str(docs / "guide.md")]) == 130


def test_a_reader_that_goes_away_is_no_error(docs: Path) -> None:
    (docs / "long.md").write_text("# Long\n" + "text\n" * 200_000)
    command = f"{shlex.quote(sys.executable)} -m mdvision read docs/long.md | head -1; echo ${{PIPESTATUS[0]}}"
    found = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert (found.stdout, found.stderr) == ("# Long\n0\n", "")


@pytest.mark.skipif(sys.platform != "linux", reason="file names are bytes there alone")
def test_a_name_that_is_not_utf8(docs: Path) -> None:
    with open(os.fsencode(docs) + b"/caf\xe9.md", "w", encoding="utf-8") as file:
        file.write("# Name\n")
    found = run("index", "docs", "--format", "jsonl")
    assert found.returncode == 0
    paths = [json.loads(line)["path"] for line in found.stdout.splitlines()]
    assert paths == ["docs/caf\udce9.md", "docs/guide.md", "docs/sub/more.md"]


def test_text_is_written_as_it_is_stored(docs: Path) -> None:
    (docs / "crlf.md").write_bytes("# Ä\r\n\r\n漢\r".encode())
    command = [sys.executable, "-m", "mdvision", "read", "docs/crlf.md"]
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "LC_ALL": "C"}
    found = subprocess.run(command, capture_output=True, check=True, env=environment)
    assert found.stdout == "# Ä\r\n\r\n漢\r".encode()


def test_a_terminal_sees_progress_and_nothing_of_it_is_left(
    docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mdvision.cli._MOMENT_SECONDS", 0.0)
    primary, secondary = pty.openpty()
    with open(secondary, "w", encoding="utf-8") as terminal:
        monkeypatch.setattr("sys.stderr", terminal)
        assert main(["index", str(docs)]) == 0
        terminal.flush()
        shown = b""
        while not shown.endswith(b"\x1b[K"):
            shown += os.read(primary, 4096)
    os.close(primary)
    assert shown == b"\rindexed 1 of 2 files\rindexed 2 of 2 files\r\x1b[K"
    assert run("index", "docs").stderr == ""  # no terminal, no progress


def test_ctrl_c_ends_with_130(docs: Path) -> None:
    for number in range(3_000):
        (docs / f"{number}.md").write_text("# H\n\ntext\n" * 400)
    process = subprocess.Popen(
        [sys.executable, "-m", "mdvision", "index", "docs"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    time.sleep(1.0)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=30)
    assert process.returncode == 130
    assert b"Traceback" not in errors


@pytest.fixture
def web(docs: Path) -> Iterator[str]:
    """The documents on a port of loopback that is free."""
    command = [sys.executable, "-u", "-m", "http.server", "0", "--bind", "127.0.0.1"]
    with subprocess.Popen(
        command, cwd=docs, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as server:
        assert server.stdout
        port = re.search(r"port (\d+)", server.stdout.readline())
        assert port
        yield f"http://127.0.0.1:{port[1]}"
        server.terminate()


def test_pages(web: str) -> None:
    found = run("index", f"{web}/guide.md")
    assert found.stdout.startswith(f'<file path="{web}/guide.md" lines=14')
    read = run("read", f"{web}/guide.md#setup", "--allow-domain", "127.0.0.1")
    assert read.stdout.startswith("## Setup\n")
    assert f"[picture 1 of 1: {web}/one.png, " in run("read", f"{web}/guide.md").stdout
    refused = run("read", f"{web}/guide.md", "--allow-path", "docs")
    assert refused.returncode == 1
    assert "URLs are disabled" in refused.stderr
    assert run("index", f"{web}/nowhere.md").returncode == 1
    assert "URL returned HTML" in run("index", f"{web}/").stderr


def test_what_cannot_be_written_is_told(docs: Path) -> None:
    found = run("read", "docs/guide.md", "--out", "docs/guide.md")
    assert (found.returncode, "Traceback" in found.stderr) == (1, False)
    assert "docs/guide.md" in found.stderr


def test_a_picture_is_written_through_no_link(docs: Path) -> None:
    (docs.parent / "out").mkdir()
    (docs.parent / "mine.txt").write_text("mine")
    (docs.parent / "out" / "image-001.png").symlink_to(docs.parent / "mine.txt")
    assert run("read", "docs/guide.md", "--out", "out").returncode == 0
    assert (docs.parent / "mine.txt").read_text() == "mine"
    assert not (docs.parent / "out" / "image-001.png").is_symlink()


def test_what_is_told_never_holds_the_query(docs: Path, web: str) -> None:
    (docs / "pdf.md").write_bytes(b"%PDF-1.7\n")
    (docs / "latin.md").write_bytes("# Größe\n".encode("cp1252"))
    for arguments, shown in (
        (["read", f"{web}/pdf.md?token=hush"], f"{web}/pdf.md is no text"),
        (["index", f"{web}/pdf.md?token=hush"], f"{web}/pdf.md is no text"),
        (["index", f"{web}/latin.md?token=hush"], f"mdvision: {web}/latin.md: Read as"),
        (["index", f"{web}/a.md?token=hush", "--pattern", "x"], f"{web}/a.md is none"),
    ):
        found = run(*arguments)
        assert shown in found.stderr
        assert "hush" not in found.stderr


def test_two_pictures_that_are_the_same_are_two_files(docs: Path) -> None:
    (docs / "twice.md").write_text("![a](one.png)![a](one.png)\n")
    found = run("read", "docs/twice.md", "--out", "out")
    assert re.findall(r"out/image-00\d", found.stdout) == ["out/image-001", "out/image-002"]


def test_closed_streams_are_no_traceback(docs: Path) -> None:
    def shell(script: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["sh", "-c", script.replace("mdvision", f"{shlex.quote(sys.executable)} -m mdvision")],
            capture_output=True,
            encoding="utf-8",
            check=False,
        )

    out = shell("mdvision read docs/guide.md >&-")
    assert (out.returncode, out.stdout) == (1, "")
    assert "stdout is closed" in out.stderr
    assert "Traceback" not in out.stderr
    err = shell("mdvision read docs/guide.md --section Deep --max-images 0 2>&-")
    assert err.returncode == 0
    assert "mdvision:" not in err.stdout


def test_an_allowed_host_does_not_close_the_files(docs: Path) -> None:
    found = run("read", "docs/guide.md", "--section", "Setup", "--allow-domain", "x.test")
    assert found.returncode == 0
    refused = run("read", docs / "guide.md", "--allow-path", "docs/sub", "--allow-domain", "x.test")
    assert refused.returncode == 1
    assert "--allow-path" in refused.stderr


def test_a_pipe_is_told_as_one(docs: Path) -> None:
    found = subprocess.run(
        [sys.executable, "-m", "mdvision", "index", "/dev/stdin"],
        input="# A\n",
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert "/dev/stdin is not a regular file" in found.stderr


def test_a_path_is_told_as_it_was_allowed(docs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = run("read", "guide.md", "--allow-path", "docs", "--max-chars", "20")
    assert "go on with: mdvision read docs/guide.md" in found.stdout
    shown = run("read", "guide.md", "--allow-path", "docs", "--max-images", "1")
    assert "[picture 1 of 1: docs/one.png, 2000x1000" in shown.stdout


def test_patterns_that_leave_nothing_are_named(docs: Path) -> None:
    found = run("index", "docs", "--pattern", "*.txt")
    assert found.returncode == 1
    assert "patterns" in found.stderr
