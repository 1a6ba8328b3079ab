"""Aside: one pure function in a child process, within limits of time and memory.

For work on what strangers made, by a library that may take for ever or all memory, hold the
interpreter's lock, or end the process. A child is started anew, never forked: it has no file or
socket of ours but two pipes, and it imports nothing of the program that called, which therefore
needs no main guard. When the time is over it is killed from here; should we be gone by then, by an
alarm of its own. Ctrl-C in a terminal reaches it too, and ends it.

A child that has answered is kept for the next call: to start one takes many times as long as to
draw a small picture. It ends by itself after a while. Where a kept one fails, the fault may lie in
what it did before, so the call is made once more, in a new one.

This bounds what a function may cost. It is no wall against code that has taken over the child: that
runs as the same user.
"""

from __future__ import annotations

import atexit
import math
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING, BinaryIO, Literal, TypeVar, cast

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")

_BEGIN = (
    "import pickle, sys; sys.path[:] = pickle.load(sys.stdin.buffer);"
    " from mdvision.sandbox import serve; serve()"
)
_KEPT = 4
"""Children kept at most; each holds some 40 MB."""
_KEPT_SECONDS = 30
_GRACE_SECONDS = 1
"""By which the child's own alarm comes behind our kill."""
_STACK_BYTES = 64 << 20
_NO_WINDOW = getattr(subprocess, "CREATE_NO_WINDOW", 0)  # on Windows a console would pop up


class SandboxError(Exception):
    """The function gave no answer, neither a value nor an exception of its own.

    `reason` is "timeout"; "memory", it asked for more than it may have; "crash", the child ended;
    or "start", there could be no child.
    """

    def __init__(self, reason: Literal["timeout", "memory", "crash", "start"]) -> None:
        super().__init__(reason)
        self.reason = reason


def run(work: Callable[[], T], *, seconds: float, memory_bytes: int) -> T:
    """Call a function in a child process, and give what it gives or raise what it raises.

    Several threads may do so at once; each has a child of its own.

    >>> from functools import partial
    >>> run(partial(divmod, 7, 2), seconds=20, memory_bytes=500_000_000)
    (3, 1)

    Args:
        work: a function that a child can import by its module's name, or a `functools.partial` of
            one and its arguments; these and the result are pickled.
        seconds: time for all of it, the start of a child included. As many children work at a time
            as there are processors; time that is waited for one of them does not count.
        memory_bytes: address space of the child, its libraries included; not held to on Windows and
            macOS, which know no such limit.

    Raises:
        SandboxError: the time was over, memory ran out, or the child ended or could not start.
    """
    request = pickle.dumps(work)
    with _TURNS:  # before the clock starts: a child that waits for a processor is not slow
        return cast("T", _answer(request, time.monotonic() + seconds, memory_bytes))


def _answer(request: bytes, deadline: float, memory_bytes: int) -> object:
    if kept := _kept_child():
        try:
            return kept.ask(request, deadline, memory_bytes)
        except SandboxError as error:
            if error.reason == "timeout":
                raise
    return _Child().ask(request, deadline, memory_bytes)


class _Child:
    """One child process, and the pipes to it."""

    def __init__(self) -> None:
        if not sys.executable or getattr(sys, "frozen", False):  # it would be another program
            raise SandboxError("start")
        self.path = _import_path()
        command = [sys.executable, "-I", "-c", _BEGIN]
        try:
            self.process = subprocess.Popen(  # noqa: S603 - our own interpreter
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                creationflags=_NO_WINDOW,
            )
        except OSError:
            raise SandboxError("start") from None
        self.requests = cast("BinaryIO", self.process.stdin)
        self.answers = cast("BinaryIO", self.process.stdout)
        self.begin = pickle.dumps(self.path)
        self.is_late = False

    def ask(self, request: bytes, deadline: float, memory_bytes: int) -> object:
        """Have a function called; afterwards the child is kept, or is no more."""
        try:
            found = self._exchange(request, deadline, memory_bytes)
        except (EOFError, OSError, pickle.UnpicklingError):
            found = None
        except BaseException:  # Ctrl-C
            self.close()
            raise
        if found is None or self.is_late:
            self.close()
            raise SandboxError("timeout" if self.is_late else "crash")
        is_error, answer = found
        if isinstance(answer, MemoryError):
            self.close()
            raise SandboxError("memory")
        self.keep()
        if is_error:
            raise cast("Exception", answer)
        return answer

    def _exchange(self, request: bytes, deadline: float, memory_bytes: int) -> tuple[bool, object]:
        """Send a call and read its answer: whether that is an exception, and the value or that."""
        left = max(deadline - time.monotonic(), 0)
        killer = threading.Timer(left, self._end_late)
        killer.daemon = True
        killer.start()
        try:
            self.requests.write(self.begin)
            self.begin = b""
            pickle.dump((left, memory_bytes, request), self.requests)
            self.requests.flush()
            return cast("tuple[bool, object]", pickle.load(self.answers))  # noqa: S301 - our child's
        finally:
            killer.cancel()
            killer.join()  # so that it cannot end the child later, in another call

    def _end_late(self) -> None:
        self.is_late = True
        self.process.kill()

    def keep(self) -> None:
        """Have it ready for the next call."""
        if len(_KEPT_CHILDREN) < _KEPT:
            _KEPT_CHILDREN.append(self)
        else:
            self.close()

    def close(self) -> None:
        """End the process."""
        self.process.kill()
        self.forget()
        self.process.wait()

    def forget(self) -> None:
        """Let go of the pipes."""
        for pipe in (self.requests, self.answers):
            with suppress(OSError):  # what was not written is of no use any more
                pipe.close()


_KEPT_CHILDREN: deque[_Child] = deque()  # its operations are atomic
_TURNS = threading.BoundedSemaphore(os.cpu_count() or 1)


def _kept_child() -> _Child | None:
    """A child that waits for work, and looks for modules where this process does now."""
    path = _import_path()
    with suppress(IndexError):
        while True:
            child = _KEPT_CHILDREN.pop()
            if child.path == path:
                return child
            child.close()
    return None


def _import_path() -> list[str]:
    found: list[str] = []
    for path in sys.path:
        with suppress(OSError):  # "" where the working directory was deleted
            found.append(os.path.abspath(path))
    return found


def _close_kept() -> None:
    with suppress(IndexError):
        while True:
            _KEPT_CHILDREN.pop().close()


def _forget_kept() -> None:
    """In a fork of this process: the children are its parent's."""
    for child in _KEPT_CHILDREN:
        child.process.returncode = 0  # nobody is to wait for it here
        child.forget()
    _KEPT_CHILDREN.clear()


atexit.register(_close_kept)
if sys.platform != "win32":
    os.register_at_fork(after_in_child=_forget_kept)


# in the child


def serve() -> None:
    """Answer calls until nobody asks any more: what a child does."""
    requests, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints must not come among the answers
    _become_mortal()
    while True:
        _set_alarm(_KEPT_SECONDS)
        try:
            seconds, memory_bytes, request = pickle.load(requests)  # noqa: S301 - our parent's
        except EOFError:
            return
        _set_alarm(seconds + _GRACE_SECONDS)
        answer = _answered(request, memory_bytes)
        answers.write(answer)
        answers.flush()


def _answered(request: bytes, memory_bytes: int) -> bytes:
    """The pickled answer: whether it is an exception, and the value or that."""
    try:
        _set_memory(memory_bytes)
        return pickle.dumps((False, pickle.loads(request)()))  # noqa: S301 - our parent's
    except Exception as error:  # noqa: BLE001 - it is raised again where it was asked for
        _set_memory(None)
        try:
            return pickle.dumps((True, error))
        except Exception:  # noqa: BLE001 - whatever its own methods raise
            return pickle.dumps((True, RuntimeError(repr(error))))
    finally:
        _set_memory(None)


if sys.platform == "win32":

    def _become_mortal() -> None:
        pass

    def _set_alarm(_seconds: float) -> None:
        pass

    def _set_memory(_bytes: int | None) -> None:
        pass

else:
    import resource

    def _become_mortal() -> None:
        """Let signals end this process, whatever was set where it was started, without a dump.

        And give it room to recurse: libraries do, as deep as their input nests.
        """
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        for number in (signal.SIGINT, signal.SIGALRM):
            signal.signal(number, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        _set_limit(resource.RLIMIT_STACK, _STACK_BYTES)

    def _set_alarm(seconds: float) -> None:
        """End this process after so long: by the system, whoever holds the interpreter's lock."""
        signal.alarm(math.ceil(seconds))

    def _set_memory(most: int | None) -> None:
        """Bound the address space; None = as much as there may be."""
        _set_limit(resource.RLIMIT_AS, most)

    def _set_limit(which: int, most: int | None) -> None:
        _, hard = resource.getrlimit(which)
        soft = hard if most is None else most
        if hard != resource.RLIM_INFINITY:
            soft = min(soft, hard)
        with suppress(ValueError, OSError):  # macOS refuses some
            resource.setrlimit(which, (soft, hard))
