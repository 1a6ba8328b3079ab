"""Functions in a child process: what they may cost, and what becomes of the child."""

from __future__ import annotations

import ctypes
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from mdvision import Code, DecodeError
from mdvision.images.svg_source import parse_svg
from mdvision.sandbox import SandboxError, run

linux = pytest.mark.skipif(sys.platform != "linux", reason="by /proc, and limits that Linux has")


def aside(work: Callable[[], Any], seconds: float = 20) -> Any:
    return run(work, seconds=seconds, memory_bytes=500_000_000)


def reason(work: Callable[[], Any], seconds: float = 20) -> str:
    with pytest.raises(SandboxError) as raised:
        aside(work, seconds)
    return raised.value.reason


def is_alive(pid: int) -> bool:
    """Whether a process runs; one that has ended and was not awaited does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def wait_until_gone(pid: int, seconds: float) -> None:
    end = time.monotonic() + seconds
    while is_alive(pid):
        assert time.monotonic() < end, "the child is still there"
        time.sleep(0.05)


def test_a_value_comes_back() -> None:
    assert aside(partial(divmod, 7, 2)) == (3, 1)
    assert aside(os.getpid) != os.getpid()
    assert len(aside(partial(bytes, 20_000_000))) == 20_000_000


def test_an_exception_comes_back() -> None:
    with pytest.raises(ZeroDivisionError):
        aside(partial(divmod, 1, 0))
    with pytest.raises(DecodeError) as raised:
        aside(partial(parse_svg, b"<svg"))
    assert raised.value.issue.code is Code.DECODE_FAILED


def test_what_cannot_be_pickled_is_an_error() -> None:
    with pytest.raises(TypeError, match="pickle"):
        aside(threading.Lock)


def test_the_child_is_kept() -> None:
    first = aside(os.getpid)
    with pytest.raises(ZeroDivisionError):
        aside(partial(divmod, 1, 0))
    assert aside(os.getpid) == first


def test_time_runs_out() -> None:
    child = aside(os.getpid)
    began = time.monotonic()
    assert reason(partial(time.sleep, 60), seconds=0.5) == "timeout"
    assert time.monotonic() - began < 5
    assert not is_alive(child)
    assert aside(os.getpid) != child


def test_no_time_at_all() -> None:
    assert reason(os.getpid, seconds=0) == "timeout"


@linux
def test_memory_runs_out() -> None:
    assert reason(partial(bytes, 1_000_000_000)) == "memory"
    assert len(aside(partial(bytes, 100_000_000))) == 100_000_000


@pytest.mark.parametrize(
    "work",
    [os.abort, partial(os._exit, 0), partial(ctypes.string_at, 0)],
    ids=["abort", "exit", "segfault"],
)
def test_the_child_ends(work: Callable[[], Any]) -> None:
    assert reason(work) == "crash"
    assert aside(partial(divmod, 7, 2)) == (3, 1)


def test_a_kept_child_that_has_gone_is_no_fault_of_the_call() -> None:
    child = aside(os.getpid)
    os.kill(child, signal.SIGTERM)
    assert aside(os.getpid) != child


def test_what_is_printed_is_no_answer() -> None:
    assert aside(partial(os.write, 1, b"noise")) == 5
    assert aside(partial(print, "noise", flush=True)) is None
    assert aside(partial(divmod, 7, 2)) == (3, 1)


def test_threads_have_children_of_their_own() -> None:
    found: list[int] = []

    def work() -> None:
        aside(partial(time.sleep, 0.3))
        found.append(aside(os.getpid))

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 6
    assert len(set(found)) > 1


@linux
def test_no_file_and_no_socket_is_inherited(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)  # so the child is a new one
    with (tmp_path / "open.txt").open("w") as file, socket.socket() as connection:
        os.set_inheritable(file.fileno(), True)
        os.set_inheritable(connection.fileno(), True)
        names = aside(partial(os.listdir, "/proc/self/fd"))
    assert len(names) <= 5  # three, one more for the answers, and that of the listing
    assert str(connection.fileno()) not in names[5:]


def test_the_child_looks_for_modules_where_we_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    aside(os.getpid)
    (tmp_path / "brought_later.py").write_text("def answer():\n    return 42\n")
    monkeypatch.syspath_prepend(tmp_path)
    import brought_later  # type: ignore[import-not-found]

    assert aside(brought_later.answer) == 42


@pytest.mark.parametrize("gone", [("executable", ""), ("executable", "/nowhere"), ("frozen", True)])
def test_there_can_be_no_child(
    gone: tuple[str, object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, *gone, raising=False)
    assert reason(os.getpid) == "start"


# in programs of their own


def script(folder: Path, text: str) -> list[str]:
    path = folder / "program.py"
    head = "import os, sys, time\nfrom functools import partial\nfrom mdvision.sandbox import run\n"
    path.write_text(head + text)
    return [sys.executable, "-W", "error", "-X", "dev", str(path)]


def test_a_program_needs_no_main_guard(tmp_path: Path) -> None:
    text = "print(run(partial(divmod, 7, 2), seconds=20, memory_bytes=500_000_000))\n"
    found = subprocess.run(
        script(tmp_path, text), capture_output=True, text=True, timeout=60, check=False
    )
    assert (found.stdout, found.stderr, found.returncode) == ("(3, 1)\n", "", 0)


@linux
def test_the_child_ends_with_the_program(tmp_path: Path) -> None:
    text = "print(run(os.getpid, seconds=20, memory_bytes=500_000_000))\n"
    found = subprocess.run(
        script(tmp_path, text), capture_output=True, text=True, timeout=60, check=True
    )
    wait_until_gone(int(found.stdout), 0)


BUSY = (
    "print(run(os.getpid, seconds=20, memory_bytes=500_000_000), flush=True)\n"
    "run(partial(time.sleep, 60), seconds={}, memory_bytes=500_000_000)\n"
)


@linux
def test_ctrl_c_ends_the_child_too(tmp_path: Path) -> None:
    command = script(tmp_path, BUSY.format(60))
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as program:
        assert program.stdout
        assert program.stderr
        child = int(program.stdout.readline())
        time.sleep(0.5)
        program.send_signal(signal.SIGINT)
        told = program.stderr.read()
        assert program.wait(5) == -signal.SIGINT
    assert told.rstrip().endswith("KeyboardInterrupt")
    assert "ResourceWarning" not in told
    wait_until_gone(child, 2)


@linux
def test_the_child_ends_when_the_program_was_killed(tmp_path: Path) -> None:
    command = script(tmp_path, BUSY.format(2))
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as program:
        assert program.stdout
        child = int(program.stdout.readline())
        time.sleep(0.3)
        program.kill()
        program.wait(5)
        assert is_alive(child)
        wait_until_gone(child, 6)


@linux
def test_a_fork_has_children_of_its_own(tmp_path: Path) -> None:
    text = (
        "ask = partial(run, os.getpid, seconds=20, memory_bytes=500_000_000)\n"
        "first = ask()\n"
        "if not (fork := os.fork()):\n"
        "    sys.exit(int(ask() == first))\n"
        "assert os.waitstatus_to_exitcode(os.waitpid(fork, 0)[1]) == 0\n"
        "assert ask() == first\n"
    )
    found = subprocess.run(
        script(tmp_path, text), capture_output=True, text=True, timeout=60, check=False
    )
    assert (found.stderr, found.returncode) == ("", 0)
