"""What holds for every test: nothing beyond this machine is reached, and a busy one is no fault."""

from __future__ import annotations

import ipaddress
import signal
import socket
from collections.abc import Iterator

import pytest
from hypothesis import settings

settings.register_profile("mdvision", deadline=None, print_blob=True)
settings.load_profile("mdvision")
# A job in the background is started with SIGINT ignored, and what it starts inherits that.
signal.signal(signal.SIGINT, signal.default_int_handler)


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:  # a name
        return host == "localhost"


@pytest.fixture(autouse=True, scope="session")
def _loopback_only() -> Iterator[None]:
    """Fail the test that connects elsewhere, so that the suite is the same without a network."""
    connect = socket.socket.connect

    def guarded(self: socket.socket, address: tuple[str, int]) -> None:
        internet = self.family in (socket.AF_INET, socket.AF_INET6)
        if internet and not _is_loopback(address[0]):
            pytest.fail(f"a test connects to {address[0]}")
        connect(self, address)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket.socket, "connect", guarded)
        yield
