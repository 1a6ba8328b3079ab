"""Work for calls: in threads, with a time to answer, and an end when nobody waits."""

from __future__ import annotations

import asyncio
import time
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from mdvision.sources.loader import Loader

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Hashable

    from mdvision_mcp.settings import Settings

_AT_ONCE = 8
"""Pieces of work that run side by side; each may hold pictures of hundreds of megabytes."""
_PATIENCE_SECONDS = 60.0
"""How long work goes on, and its result is kept, when nobody asks for it any more."""
_REPORT_SECONDS = 0.5

T = TypeVar("T")


class Stopped(Exception):  # noqa: N818 - no error: nobody wants the answer any more
    """Raised inside work that nobody waits for."""


class Step(NamedTuple):
    """How far a piece of work is."""

    done: int = 0
    total: int = 0
    what: str = ""


class Call:
    """What a piece of work knows of those who wait for it."""

    def __init__(self, settings: Settings, is_crowded: Callable[[], bool] = lambda: False) -> None:
        self.settings = settings
        self.loader = _CallLoader(self)
        self.step = Step()
        self.waiting = 0
        self.wanted_until = time.monotonic() + _PATIENCE_SECONDS
        self.is_stopped = False
        self.is_crowded = is_crowded

    @property
    def is_wanted(self) -> bool:
        """Whether anybody waits, or may come back and holds up nobody else meanwhile."""
        may_wait = time.monotonic() < self.wanted_until and not self.is_crowded()
        return (self.waiting > 0 or may_wait) and not self.is_stopped

    def check(self) -> None:
        """Stop here when nobody wants the answer any more."""
        if not self.is_wanted:
            raise Stopped

    def progress(self, done: int, total: int, what: str) -> None:
        """Say how far the work is."""
        self.step = Step(done, total, what)
        self.check()


class _CallLoader(Loader):
    """A loader that stops when its call does."""

    def __init__(self, call: Call) -> None:
        super().__init__(call.settings.policy, call.settings.limits)
        self._call = call

    def checkpoint(self) -> None:
        """Stop when nobody wants the answer any more."""
        self._call.check()


class Unfinished(NamedTuple):
    """The answer to a call whose work goes on."""

    step: Step


class _Job(Generic[T]):
    """A piece of work and those who wait for it."""

    def __init__(self, call: Call, outcome: Future[T | BaseException]) -> None:
        self.call = call
        self.outcome = outcome


def _outcome(work: Callable[[Call], T], call: Call) -> T | BaseException:
    """What work gives or raises: raised later, where the answer is awaited."""
    try:
        call.check()
        return work(call)
    except BaseException as error:  # noqa: BLE001
        return error


class Desk(Generic[T]):
    """Takes calls and sees to their work; the same call made again finds the work begun before."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._pool = ThreadPoolExecutor(_AT_ONCE, "mdvision-call")
        self._jobs: dict[Hashable, _Job[T]] = {}

    async def answer(
        self,
        key: Hashable,
        work: Callable[[Call], T],
        report: Callable[[Step], Awaitable[None]],
    ) -> T | Unfinished:
        """Give what `work` gives, or say how far it is when the time for a call is over.

        When the waiting is cancelled and nobody else waits for the same, the work ends at its next
        checkpoint.
        """
        job = self._joined(key, work)
        job.call.waiting += 1
        is_left = True  # until there is something to answer
        try:
            finished = await self._finished(job, report)
            is_left = False
        finally:
            job.call.wanted_until = time.monotonic() + _PATIENCE_SECONDS  # before nobody waits
            job.call.waiting -= 1
            if is_left and not job.call.waiting:
                job.call.is_stopped = True
        if not finished:
            return Unfinished(job.call.step)
        if self._jobs.get(key) is job:
            del self._jobs[key]
        result = job.outcome.result()
        if isinstance(result, BaseException):
            raise result
        return result

    def _is_crowded(self) -> bool:
        """Whether calls wait for a thread."""
        unfinished = [job for job in list(self._jobs.values()) if not job.outcome.done()]
        return len(unfinished) > _AT_ONCE

    def _joined(self, key: Hashable, work: Callable[[Call], T]) -> _Job[T]:
        for known, job in list(self._jobs.items()):
            if not job.call.is_wanted:
                job.call.is_stopped = True
                del self._jobs[known]
        if key not in self._jobs:
            call = Call(self._settings, self._is_crowded)
            self._jobs[key] = _Job(call, self._pool.submit(_outcome, work, call))
        return self._jobs[key]

    async def _finished(self, job: _Job[T], report: Callable[[Step], Awaitable[None]]) -> bool:
        end = time.monotonic() + self._settings.call_seconds
        outcome = asyncio.wrap_future(job.outcome)
        told = 0
        while not outcome.done():
            left = end - time.monotonic()
            if left <= 0:
                return False
            await asyncio.wait([outcome], timeout=min(left, _REPORT_SECONDS))
            if job.call.step.done > told:  # the protocol wants it to grow
                told = job.call.step.done
                await report(job.call.step)
        return True
