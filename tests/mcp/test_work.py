"""Calls that take long, are cancelled, ask for progress, or come all at once."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import anyio
import pytest
from mcp import Client

from mdvision.model import AccessPolicy
from mdvision_mcp.server import create_server
from mdvision_mcp.settings import Settings
from mdvision_mcp.work import Call, Desk, Step, Stopped, Unfinished
from tests.mcp.talk import ERAS, Drip, settings_for, texts, with_client


async def no_report(_: Step) -> None:
    pass


def working(call: Call, released: threading.Event, ended: list[str]) -> str:
    """Work with checkpoints until it is released."""
    try:
        for done in range(1, 100_000):
            call.progress(done, 100_000, "turns")
            if released.wait(0.005):
                return "done"
    except Stopped:
        ended.append("stopped")
        raise
    return "never"


def test_an_answer_in_time_goes_on_in_its_worker(tmp_path: Path) -> None:
    released, ended, begun = threading.Event(), list[str](), list[int]()

    def work(call: Call) -> str:
        begun.append(1)
        return working(call, released, ended)

    async def run() -> None:
        desk: Desk[str] = Desk(settings_for(tmp_path, call_seconds=0.2))
        started = time.monotonic()
        first = await desk.answer("key", work, no_report)
        assert time.monotonic() - started < 2
        assert isinstance(first, Unfinished)
        assert first.step.done > 0
        released.set()
        assert await desk.answer("key", work, no_report) == "done"
        assert begun == [1]
        assert await desk.answer("key", work, no_report) == "done"
        assert begun == [1, 1]  # what was answered is not kept

    anyio.run(run)


def test_cancelling_stops_the_work(tmp_path: Path) -> None:
    released, ended = threading.Event(), list[str]()

    async def run() -> None:
        desk: Desk[str] = Desk(settings_for(tmp_path))
        with anyio.move_on_after(0.1):
            await desk.answer("key", lambda call: working(call, released, ended), no_report)
        with anyio.fail_after(5):
            while not ended:
                await anyio.sleep(0.01)

    anyio.run(run)


def test_cancelling_one_of_two_does_not(tmp_path: Path) -> None:
    released, ended = threading.Event(), list[str]()

    async def run() -> None:
        desk: Desk[str] = Desk(settings_for(tmp_path))
        answers: list[object] = []

        async def wait() -> None:
            work = lambda call: working(call, released, ended)  # noqa: E731
            answers.append(await desk.answer("key", work, no_report))

        async with anyio.create_task_group() as group:
            group.start_soon(wait)
            with anyio.move_on_after(0.1):
                await wait()
            released.set()
        assert answers == ["done"]
        assert not ended

    anyio.run(run)


def test_work_that_nobody_comes_back_for_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mdvision_mcp.work._PATIENCE_SECONDS", 0.2)
    released, ended = threading.Event(), list[str]()

    async def run() -> None:
        desk: Desk[str] = Desk(settings_for(tmp_path, call_seconds=0.1))
        work = lambda call: working(call, released, ended)  # noqa: E731
        assert isinstance(await desk.answer("key", work, no_report), Unfinished)
        with anyio.fail_after(5):
            while not ended:
                await anyio.sleep(0.01)

    anyio.run(run)


def test_abandoned_work_makes_way(tmp_path: Path) -> None:
    """Work that nobody waits for ends when calls wait for a thread."""
    released, ended = threading.Event(), list[str]()

    async def run() -> None:
        desk: Desk[str] = Desk(settings_for(tmp_path, call_seconds=0.2))
        work = lambda call: working(call, released, ended)  # noqa: E731
        for key in range(8):
            assert isinstance(await desk.answer(key, work, no_report), Unfinished)
        with anyio.fail_after(5):
            assert await desk.answer("small", lambda _: "at once", no_report) == "at once"
        released.set()

    anyio.run(run)
    assert ended


@pytest.mark.parametrize("era", ERAS)
def test_progress_when_asked_for(tmp_path: Path, era: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mdvision_mcp.work._REPORT_SECONDS", 0.01)
    for k in range(300):
        (tmp_path / f"{k}.md").write_text("# A\n\n" + "word *word*\n" * 300)
    told: list[tuple[float, float | None]] = []

    async def talk(client: Client) -> None:
        async def tell(done: float, total: float | None, _: str | None) -> None:
            told.append((done, total))

        found = await client.call_tool("index_md", {"uri": "."}, progress_callback=tell)
        assert not found.is_error

    with_client(settings_for(tmp_path), talk, era)
    assert told
    assert all(total == 300 for _, total in told)
    assert [done for done, _ in told] == sorted({done for done, _ in told})


@pytest.mark.parametrize("era", ERAS)
def test_a_cancelled_call_stops_its_fetch(tmp_path: Path, slow_site: str, era: str) -> None:
    policy = AccessPolicy(paths=(str(tmp_path),), domains=("127.0.0.1",))

    async def run() -> None:
        async with Client(create_server(Settings(policy=policy)), mode=era) as client:
            with anyio.move_on_after(0.5):
                await client.call_tool("index_md", {"uri": slow_site})
            await anyio.sleep(0.5)
            before = Drip.sent
            await anyio.sleep(0.7)
            assert Drip.sent <= before + 2
            found = await client.call_tool("index_md", {"uri": "nothing.md"})
            assert "SOURCE_NOT_FOUND" in texts(found)

    anyio.run(run)


@pytest.mark.parametrize("era", ERAS)
def test_fifty_calls_at_once(docs: Path, era: str) -> None:
    async def talk(client: Client) -> None:
        single = await client.call_tool("read_md_with_images", {"uri": "guide.md"})
        found: list[object] = []

        async def call(number: int) -> None:
            name, arguments = (
                ("read_md_with_images", {"uri": "guide.md", "max_images": number})
                if number % 2
                else ("search_md", {"uri": ".", "query": f"setup {number}"})
            )
            result = await client.call_tool(name, arguments)
            assert not result.is_error
            if number % 2 and number > 2:  # each call is a piece of work of its own
                found.append(result.content == single.content)

        with anyio.fail_after(60):
            async with anyio.create_task_group() as group:
                for number in range(50):
                    group.start_soon(call, number)
        assert found == [True] * 24

    with_client(settings_for(docs), talk, era)


def test_a_large_folder_answers_in_time_and_the_same_call_finishes(tmp_path: Path) -> None:
    for k in range(400):
        (tmp_path / f"{k:03}.md").write_text("# A\n\n" + "![a](b.png) *word*\n" * 400)
    calls = 0

    async def talk(client: Client) -> None:
        nonlocal calls
        while True:
            calls += 1
            started = time.monotonic()
            found = await client.call_tool("index_md", {"uri": "."})
            assert time.monotonic() - started < 3
            if "Not done yet" not in texts(found):
                break
            assert not found.is_error
            assert "call index_md with the same arguments again" in texts(found)
        assert texts(found).count("<file ") == 400

    with_client(settings_for(tmp_path, call_seconds=0.3), talk)
    assert calls > 1
