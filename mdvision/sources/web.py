"""Fetching over http(s): every hop is checked, and the address checked is the one connected to."""

from __future__ import annotations

import contextlib
import socket
import sys
import threading
import time
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast
from urllib.parse import urldefrag

import requests
from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.exceptions import HTTPError
from urllib3.util.connection import create_connection

from mdvision.errors import Code, Details, MdVisionError, failure
from mdvision.model import Resource
from mdvision.sources.addresses import is_public, literal_address, normal_host
from mdvision.sources.resolve import is_github_attachment, join_url, raw_form, shown_url, split_url

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from urllib3.response import BaseHTTPResponse

    from mdvision.limits import Limits

_PIECE_BYTES = 65_536
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_ENCODINGS = {"": False, "identity": False, "gzip": True, "x-gzip": True, "deflate": True}
_ANY_HEADER = zlib.MAX_WBITS | 32  # zlib's or gzip's
_GONE = frozenset({404, 410})


@dataclass(frozen=True, slots=True, kw_only=True)
class WebRules:
    """What one fetch may do."""

    limits: Limits
    allows: Callable[[str], None]
    """Raises when a host may not be fetched."""
    checkpoint: Callable[[], None]
    """Raises when nobody wants the answer any more."""
    may_be_private: Callable[[str], bool]
    """Whether a host may have addresses that are not public."""
    proxy: str | None
    ca_bundle: str | None
    headers: Mapping[str, Mapping[str, str]]


def fetch(url: str, rules: WebRules) -> Resource:
    """Fetch an address, following redirects by hand.

    Raises:
        AccessDeniedError: a hop's host or its address is not allowed.
        SourceNotFoundError: the server has no such page (404, 410).
        SourceError: it fails, redirects too often, sends too much, or takes too long.
    """
    with _Deadline(rules.limits.timeout_seconds) as deadline:
        url = raw_form(urldefrag(url).url)
        origin = normal_host(split_url(url).hostname or "")
        at_origin, named = True, ""
        for _ in range(rules.limits.max_redirects + 1):
            url = _with_ascii_host(url)
            host = split_url(url).hostname or ""
            rules.checkpoint()
            if not is_github_attachment(named, normal_host(host)):
                rules.allows(host)
            address = literal_address(host)
            if address is not None and not is_public(str(address)):
                _check_private(host, rules)
            at_origin = at_origin and normal_host(host) == origin
            found = _hop(url, host, rules, deadline, with_headers=at_origin)
            if isinstance(found, Resource):
                return found
            named, url = url, urldefrag(join_url(url, found)).url
        limit = rules.limits.max_redirects
        message = f"{shown_url(url)} redirects more than {limit} times."
        raise failure(Code.FETCH_FAILED, message, details={"reason": "redirects", "limit": limit})


def _with_ascii_host(url: str) -> str:
    """The address with its host as it is compared: nobody who sees it later reads another one."""
    parts = split_url(url)
    host = parts.hostname or ""
    if host.isascii():
        return url
    name = normal_host(host)
    if not name.isascii():
        message = f"The address {shown_url(url)} is not fetched: its host is no name."
        raise failure(Code.URL_ACCESS_DENIED, message, details={"reason": "malformed"})
    port = f":{parts.port}" if parts.port is not None else ""
    return parts._replace(netloc=name + port).geturl()


def _hop(
    url: str, host: str, rules: WebRules, deadline: _Deadline, *, with_headers: bool
) -> Resource | str:
    """One request: what it brings, or where it redirects to."""
    headers = {"Accept-Encoding": "identity", "User-Agent": "mdvision", "Accept": "*/*"}
    if with_headers and url.lower().startswith("https:"):
        headers |= _headers_for(host, rules.headers)
    # No session: that would ask the environment and .netrc, and read a redirect's body to its end.
    with contextlib.closing(_Adapter(host, rules, deadline)) as adapter:
        try:
            request = requests.Request("GET", url, headers=headers).prepare()
            return _answer(adapter, request, url, rules, deadline)
        except MdVisionError:
            raise
        except (requests.RequestException, HTTPError, OSError, ValueError, zlib.error) as error:
            failed = _failed(error, url, deadline)
    raise failed  # out here, so that it does not carry the other one, which holds the whole address


def _answer(
    adapter: HTTPAdapter,
    request: requests.PreparedRequest,
    url: str,
    rules: WebRules,
    deadline: _Deadline,
) -> Resource | str:
    with adapter.send(
        request,
        stream=True,
        timeout=deadline.remaining(),
        proxies={"http": rules.proxy, "https": rules.proxy} if rules.proxy else {},
        verify=rules.ca_bundle or True,
    ) as response:
        location = response.headers.get("Location")
        if response.status_code in _REDIRECTS and location:
            return location.encode("latin-1").decode("utf-8", "replace").strip()
        _check_status(response.status_code, url)
        media_type = response.headers.get("Content-Type", "").partition(";")[0]
        data = _body(response, url, rules, deadline)
        return Resource(data=data, uri=url, media_type=media_type.strip().lower())


def _headers_for(host: str, headers: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
    return {
        name: value
        for listed, values in headers.items()
        if normal_host(listed) == normal_host(host)
        for name, value in values.items()
    }


def _check_status(status: int, url: str) -> None:
    if 200 <= status < 300:  # noqa: PLR2004 - RFC 9110, section 15.3
        return
    details: Details = {"reason": "http", "http_status": status}
    if status in _GONE:
        message = f"{shown_url(url)} was not found (HTTP {status})."
        raise failure(Code.SOURCE_NOT_FOUND, message, details=details)
    message = f"{shown_url(url)} could not be fetched (HTTP {status})."
    raise failure(Code.FETCH_FAILED, message, details=details)


def _body(response: requests.Response, url: str, rules: WebRules, deadline: _Deadline) -> bytes:
    """The body, decompressed, up to the limit: a server may compress what was asked for plain."""
    limit = rules.limits.max_input_bytes
    encoding = response.headers.get("Content-Encoding", "").strip().lower()
    if encoding not in _ENCODINGS:
        message = f"{shown_url(url)} is sent in an encoding that was not asked for."
        raise failure(Code.FETCH_FAILED, message, details={"reason": "encoding"})
    body = _Packed() if _ENCODINGS[encoding] else _Plain()
    raw = cast("BaseHTTPResponse", response.raw)
    data = bytearray()
    while piece := raw.read(_PIECE_BYTES, decode_content=False):
        deadline.check()
        rules.checkpoint()
        data += body.unpack(piece, limit + 1 - len(data))
        if len(data) > limit:
            message = f"{shown_url(url)} sends more than {limit:,} bytes."
            raise failure(Code.SOURCE_TOO_LARGE, message, details={"limit": limit})
    deadline.check()  # a connection that was shut looks like the end of a body without a length
    if not body.is_whole:
        message = f"{shown_url(url)} ends in the middle."
        raise failure(Code.FETCH_FAILED, message, details={"reason": "connection"})
    return bytes(data)


class _Plain:
    """A body as it is; urllib3 counts it against Content-Length."""

    is_whole = True

    def unpack(self, piece: bytes, _limit: int) -> bytes:
        return piece


class _Packed:
    """A compressed body; gzip may come in several members (RFC 1952, section 2.2)."""

    def __init__(self) -> None:
        self._member = zlib.decompressobj(_ANY_HEADER)
        self.is_whole = True

    def unpack(self, piece: bytes, limit: int) -> bytes:
        data = bytearray()
        while piece and len(data) < limit:
            if self._member.eof:
                self._member = zlib.decompressobj(_ANY_HEADER)
            data += self._member.decompress(piece, min(limit - len(data), sys.maxsize))
            piece = self._member.unconsumed_tail or self._member.unused_data
        self.is_whole = self._member.eof
        return bytes(data)


def _failed(error: Exception, url: str, deadline: _Deadline) -> MdVisionError:
    """The error for what went wrong below; its own text may hold the whole address."""
    timed_out = isinstance(error, (requests.Timeout, TimeoutError)) or deadline.is_over
    if timed_out:
        return deadline.error()
    reason = "tls" if isinstance(error, requests.exceptions.SSLError) else "connection"
    message = f"{shown_url(url)} could not be fetched ({reason})."
    return failure(Code.FETCH_FAILED, message, details={"reason": reason})


class _Deadline:
    """One time limit for a whole fetch: past it the sockets are shut, whatever they wait for."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._end = time.monotonic() + seconds
        self._sockets: list[socket.socket] = []
        self._timer = threading.Timer(seconds, self._shut)
        self._timer.daemon = True

    def __enter__(self) -> _Deadline:
        self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()
        for held in self._sockets:
            held.close()

    @property
    def is_over(self) -> bool:
        return time.monotonic() >= self._end

    def remaining(self) -> float:
        self.check()
        return max(self._end - time.monotonic(), 0.001)

    def check(self) -> None:
        if self.is_over:
            raise self.error()

    def error(self) -> MdVisionError:
        message = f"No whole answer came within {self._seconds:g} s."
        return failure(Code.FETCH_TIMEOUT, message, details={"limit": self._seconds})

    def watch(self, connected: socket.socket) -> socket.socket:
        """Shut this connection at the end; by a handle of our own, as TLS takes over the first."""
        self._sockets.append(connected.dup())
        if self.is_over:  # the end may have come before there was something to shut
            connected.close()
            raise self.error()
        return connected

    def _shut(self) -> None:
        for held in self._sockets:
            with contextlib.suppress(OSError):
                held.shutdown(socket.SHUT_RDWR)


def _addresses(host: str, port: int, deadline: _Deadline) -> list[str]:
    """Resolve a host; a resolver that does not answer is left behind at the deadline."""
    found: list[str] = []

    def resolve() -> None:
        with contextlib.suppress(OSError, UnicodeError):
            answers = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
            found.extend(dict.fromkeys(str(answer[4][0]) for answer in answers))

    thread = threading.Thread(target=resolve, daemon=True)
    thread.start()
    thread.join(deadline.remaining())
    deadline.check()
    if not found:
        message = f"The host {host} could not be resolved."
        raise failure(Code.FETCH_FAILED, message, details={"reason": "dns"})
    return found


class _Adapter(HTTPAdapter):
    """Connects to addresses that were checked; a proxy of the operator's is not checked."""

    def __init__(self, host: str, rules: WebRules, deadline: _Deadline) -> None:
        def connect(connection: HTTPConnection) -> socket.socket:
            # What a proxy is asked for stands elsewhere: this is the host to connect to.
            name, port = connection._dns_host, connection.port or 80  # noqa: SLF001 # pyright: ignore[reportPrivateUsage]
            addresses = _addresses(name, port, deadline)
            if not rules.proxy and not all(map(is_public, addresses)):
                _check_private(host, rules)
            return deadline.watch(_connected(addresses, port, connection, deadline))

        class Plain(HTTPConnection):
            def _new_conn(self) -> socket.socket:
                return connect(self)

        class Secure(HTTPSConnection):
            def _new_conn(self) -> socket.socket:
                return connect(self)

        class PlainPool(HTTPConnectionPool):
            ConnectionCls = Plain  # pyright: ignore[reportAssignmentType]

        class SecurePool(HTTPSConnectionPool):
            ConnectionCls = Secure  # pyright: ignore[reportAssignmentType]

        self._pools = {"http": PlainPool, "https": SecurePool}
        super().__init__(max_retries=0)

    def init_poolmanager(self, *arguments: object, **options: object) -> None:
        super().init_poolmanager(*arguments, **options)  # type: ignore[arg-type]
        self.poolmanager.pool_classes_by_scheme = self._pools

    def proxy_manager_for(self, proxy: str, **options: object) -> object:
        manager = super().proxy_manager_for(proxy, **options)
        manager.pool_classes_by_scheme = self._pools
        return manager


def _check_private(host: str, rules: WebRules) -> None:
    if not rules.may_be_private(host):
        message = f"The host {host} is in a private network."
        action = "Allow that very host (--allow-domain), or --allow-private-network."
        details: Details = {"reason": "private_address"}
        raise failure(Code.URL_ACCESS_DENIED, message, next_action=action, details=details)


def _connected(
    addresses: list[str], port: int, connection: HTTPConnection, deadline: _Deadline
) -> socket.socket:
    """Connect to the first of the addresses that answers."""
    error: OSError | None = None
    for address in addresses:
        try:
            return create_connection(
                (address, port),
                deadline.remaining(),
                source_address=connection.source_address,
                socket_options=connection.socket_options,
            )
        except OSError as failed:
            error = failed
    raise error or OSError
