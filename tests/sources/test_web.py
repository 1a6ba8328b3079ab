"""Servers that cheat: with time, with sizes, with redirects; and what a request gives away."""

from __future__ import annotations

import contextlib
import os
import socket
import ssl
import subprocess
import threading
import time
import tracemalloc
import zlib
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from mdvision import AccessPolicy, Code, Limits, Loader, MdVisionError
from mdvision.sources import web

HERE = AccessPolicy(paths=(), domains=("127.0.0.1",))
QUICK = Limits(timeout_seconds=0.5, max_input_bytes=1_000_000)


class Site:
    """A server whose pages are the raw bytes that a function gives; what was asked is kept."""

    def __init__(self) -> None:
        self.pages: dict[str, Callable[[], Iterator[bytes]]] = {}
        self.asked: list[tuple[str, dict[str, str]]] = []
        site = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *_: object) -> None:
                pass

            def do_GET(self) -> None:
                site.asked.append((self.path, dict(self.headers)))
                page = site.pages[self.path.partition("?")[0]]
                with contextlib.suppress(OSError):  # the client has gone
                    for piece in page():
                        self.wfile.write(piece)

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.server.block_on_close = False
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"

    def page(self, path: str, *pieces: bytes) -> str:
        self.pages[path] = lambda: iter(pieces)
        return f"{self.url}{path}?token=hush"

    def endless(self, path: str, head: bytes, piece: bytes, seconds: float = 0) -> str:
        def give() -> Iterator[bytes]:
            yield head
            while True:
                yield piece
                time.sleep(seconds)

        self.pages[path] = give
        return f"{self.url}{path}?token=hush"

    def silent_after(self, path: str, *pieces: bytes) -> str:
        def give() -> Iterator[bytes]:
            yield from pieces
            time.sleep(2)

        self.pages[path] = give
        return f"{self.url}{path}?token=hush"


@pytest.fixture
def site() -> Iterator[Site]:
    served = Site()
    thread = threading.Thread(target=served.server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield served
    served.server.shutdown()
    served.server.server_close()
    thread.join()


def head(*lines: str, status: str = "200 OK") -> bytes:
    return "\r\n".join([f"HTTP/1.1 {status}", *lines, "", ""]).encode()


def fails(url: str, loader: Loader) -> MdVisionError:
    """The error that a page gives, by the deadline and without a secret."""
    before = time.monotonic()
    with pytest.raises(MdVisionError) as raised:
        loader.load_markdown(url)
    assert time.monotonic() - before < loader.limits.timeout_seconds + 0.9
    chain: list[BaseException] = [raised.value]
    while follows := (chain[-1].__cause__ or chain[-1].__context__):
        chain.append(follows)
    told = " ".join(f"{error} {error!r}" for error in chain) + f"{raised.value.issue.to_dict()}"
    assert "hush" not in told
    return raised.value


REDIRECT = head("Location: /ok", status="302 Found")


def test_a_server_that_falls_silent_gives_no_half_page(site: Site) -> None:
    """Without a length the end of the connection is the end of the body, unless we ended it."""
    loader = Loader(HERE, QUICK)
    for name, pieces in {
        "nothing": [],
        "half-a-line": [b"HTTP/1.1 20"],
        "half-a-head": [b"HTTP/1.1 200 OK\r\nX: y\r\n"],
        "no-body": [head()],
        "a-piece": [head(), b"x" * 65_536],
        "a-chunk": [head("Transfer-Encoding: chunked"), b"4\r\nabcd\r\n"],
        "short": [head("Content-Length: 9"), b"abcd"],
        "continue": [b"HTTP/1.1 100 Continue\r\n\r\n" * 20],
    }.items():
        error = fails(site.silent_after(f"/{name}", *pieces), loader)
        assert error.issue.code is Code.FETCH_TIMEOUT, name
        assert error.issue.retryable


@pytest.mark.parametrize(
    ("first", "drop"),
    [
        (b"HTTP/1.1 200 OK\r\nX: ", b"x"),
        (head(), b"x"),
        (head("Transfer-Encoding: chunked"), b"1\r\nx\r\n"),
        (head("Transfer-Encoding: chunked"), b"0"),
        (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    ],
)
def test_a_drip_ends_at_the_deadline(first: bytes, drop: bytes, site: Site) -> None:
    error = fails(site.endless("/drip", first, drop, 0.02), Loader(HERE, QUICK))
    assert error.issue.code is Code.FETCH_TIMEOUT
    assert error.issue.details["limit"] == 0.5


def test_the_deadline_is_for_all_hops_together(site: Site) -> None:
    def slow() -> Iterator[bytes]:
        time.sleep(0.3)
        yield head("Location: /b", status="302 Found")

    site.pages.update({"/a": slow, "/b": slow})
    assert fails(f"{site.url}/a", Loader(HERE, QUICK)).issue.code is Code.FETCH_TIMEOUT


def packed(data: bytes, times: int) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    return b"".join(packer.compress(data) for _ in range(times)) + packer.flush()


@pytest.mark.parametrize("status", ["302 Found", "200 OK", "404 Not Found"])
@pytest.mark.parametrize("encoding", ["gzip", "identity"])
def test_memory_is_bounded(status: str, encoding: str, site: Site) -> None:
    """A body that unpacks to 200 MB, or never ends; a redirect's or an error's is not read."""
    lines = ["Location: /ok", f"Content-Encoding: {encoding}"]
    first = head(*lines, status=status)
    site.page("/ok", head("Content-Length: 5"), b"# ok\n")
    if encoding == "gzip":
        url = site.page("/big", first, packed(bytes(1_000_000), 200))
    else:
        url = site.endless("/big", first, b"x" * 65_536)
    codes = {"200 OK": Code.SOURCE_TOO_LARGE, "404 Not Found": Code.SOURCE_NOT_FOUND}
    loader = Loader(HERE, Limits(timeout_seconds=5, max_input_bytes=1_000_000))
    tracemalloc.start()
    try:
        if status in codes:
            assert fails(url, loader).issue.code is codes[status]
        else:
            assert loader.load_markdown(url).data == b"# ok\n"
        assert tracemalloc.get_traced_memory()[1] < 8_000_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("answer", "data"),
    [
        (head("Content-Length: 3") + b"abcdef", b"abc"),  # what it said
        (head("Content-Length: 0") + b"abc", b""),
        (head() + b"abc", b"abc"),
        (head("Content-Length: -5") + b"abc", b"abc"),
        (head("Content-Length: many") + b"abc", b"abc"),
        (head("Transfer-Encoding: chunked") + b"3\r\nabc\r\n0\r\n\r\n", b"abc"),
        (head("Content-Encoding: IDENTITY") + b"abc", b"abc"),
        (head("Content-Encoding: deflate") + zlib.compress(b"abc"), b"abc"),
        (head(status="206 Partial Content") + b"abc", b"abc"),
        (head(status="204 No Content"), b""),
    ],
)
def test_bodies_that_come(answer: bytes, data: bytes, site: Site) -> None:
    assert Loader(HERE).load(site.page("/a.md", answer)).data == data


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (head("Content-Length: 9") + b"abc", "connection"),
        (head("Transfer-Encoding: chunked") + b"zz\r\nabc", "connection"),
        (head("Transfer-Encoding: chunked") + b"5\r\nabc", "connection"),
        (head("Content-Encoding: gzip") + packed(b"abc", 1)[:-4], "connection"),
        (head("Content-Encoding: gzip, gzip") + b"abc", "encoding"),
        (head("Content-Encoding: br") + b"abc", "encoding"),
        (head("Content-Encoding: gzip") + b"abc", "connection"),
        (b"SSH-2.0-OpenSSH\r\n", "connection"),
        (b"HTTP/1.1 abc\r\n\r\n", "connection"),
        (b"", "connection"),
        (b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 1_000 + b"\r\n", "connection"),
        (b"HTTP/1.1 200 OK\r\nX: " + b"y" * 100_000 + b"\r\n\r\n", "connection"),
        (head(status="302 Found"), "http"),
        (head(status="304 Not Modified"), "http"),
        (head(status="401 Unauthorized"), "http"),
        (head(status="500 Server Error") + b"hush", "http"),
    ],
)
def test_answers_that_are_none(answer: bytes, reason: str, site: Site) -> None:
    issue = fails(site.page("/a.md", answer), Loader(HERE)).issue
    assert (issue.code, issue.details["reason"]) == (Code.FETCH_FAILED, reason)


@pytest.mark.parametrize(
    ("location", "reason"),
    [
        ("http://[::1?hush", "malformed"),
        ("//[?hush", "malformed"),
        ("file:///etc/passwd?hush", "scheme"),
        ("ftp://127.0.0.1/?hush", "scheme"),
        ("data:text/plain,hush", "scheme"),
        ("javascript:x?hush", "scheme"),
        ("http://me:hush@127.0.0.1/", "userinfo"),
        ("http://evil.test/?hush", "domain"),
        ("http://169.254.169.254/?hush", "domain"),
        ("http://127.0.0.1.evil.test/?hush", "domain"),
    ],
)
def test_where_a_redirect_may_not_lead(location: str, reason: str, site: Site) -> None:
    url = site.page("/a", head(f"Location: {location}", status="301 Moved"))
    issue = fails(url, Loader(HERE)).issue
    assert (issue.code, issue.details["reason"]) == (Code.URL_ACCESS_DENIED, reason)


def test_how_many_redirects_are_followed(site: Site) -> None:
    site.page("/0", head(), b"# ok\n")
    for k in range(1, 5):
        site.page(f"/{k}", head(f"Location: /{k - 1}#part", status="307 Temporary"))
    found = Loader(HERE).load_markdown(f"{site.url}/3")
    assert (found.data, found.uri) == (b"# ok\n", f"{site.url}/0")
    issue = fails(f"{site.url}/4?hush", Loader(HERE)).issue
    assert (issue.details["reason"], issue.details["limit"]) == ("redirects", 3)
    assert fails(f"{site.url}/1", Loader(HERE, Limits(max_redirects=0))).issue.details["limit"] == 0


def test_a_redirect_in_plain_utf_8(site: Site) -> None:
    site.page("/%C3%A4%20b.md", head(), b"# ok\n")
    url = site.page("/a", "HTTP/1.1 302 Found\r\nLocation: /ä b.md\r\n\r\n".encode())
    assert Loader(HERE).load_markdown(url).data == b"# ok\n"


def test_a_trusted_caller_is_not_sent_into_his_own_network(site: Site) -> None:
    """He named this host and that one, but did not name that one here."""
    port = site.server.server_address[1]
    site.page("/ok", head(), b"# ok\n")
    away = site.page("/away", head(f"Location: http://localhost:{port}/ok", status="302 Found"))
    loader = Loader()
    assert loader.load(f"http://localhost:{port}/ok").data == b"# ok\n"
    assert fails(away, loader).issue.details["reason"] == "private_address"


def test_what_a_request_gives_away(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("http_proxy", "all_proxy", "https_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
        monkeypatch.setenv(name.upper(), "http://127.0.0.1:9")
    (tmp_path / ".netrc").write_text("default login me password hush\n")
    monkeypatch.setenv("NETRC", str(tmp_path / ".netrc"))
    cookie = head("Set-Cookie: a=hush; Path=/", "Location: /ok", status="302 Found")
    url = site.page("/a", cookie)
    site.page("/ok", head("Set-Cookie: b=hush"), b"# ok\n")
    loader = Loader(HERE, headers={"127.0.0.1": {"X-Token": "hush"}})
    loader.load(url)
    loader.load(url)
    names = {name for _, headers in site.asked for name in headers}
    assert len(site.asked) == 4
    assert names <= {"Host", "Accept", "Accept-Encoding", "User-Agent", "Connection"}
    assert not any("hush" in value for _, headers in site.asked for value in headers.values())


def test_a_connection_made_too_late_is_closed(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[socket.socket] = []
    connect = web.create_connection

    def late(*arguments: Any, **options: Any) -> socket.socket:
        made.append(connect(*arguments, **options))
        time.sleep(0.6)
        return made[-1]

    monkeypatch.setattr(web, "create_connection", late)
    assert fails(f"{site.url}/a", Loader(HERE, QUICK)).issue.code is Code.FETCH_TIMEOUT
    assert [connected.fileno() for connected in made] == [-1]


@pytest.mark.parametrize("scheme", ["http", "https"])
@pytest.mark.parametrize("proxy", [None, "http://proxy.test:3128", "https://proxy.test:3128"])
def test_what_is_found_while_connecting_is_told_as_it_is(
    scheme: str, proxy: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No layer between wraps our own errors into what would look like a broken connection."""
    answers: list[object] = []

    def resolver(*_: object, **__: object) -> list[object]:
        if not answers:
            raise OSError
        return answers

    monkeypatch.setattr("socket.getaddrinfo", resolver)
    url = f"{scheme}://x.test/a.md"
    loader = Loader(AccessPolicy(domains=("all",)), proxy=proxy)
    issue = fails(url, loader).issue
    assert (issue.code, issue.details) == (Code.FETCH_FAILED, {"reason": "dns"})
    if proxy is None:
        answers.append((socket.AF_INET, socket.SOCK_STREAM, 6, "", ("10.0.0.1", 80)))
        issue = fails(url, loader).issue
        assert (issue.code, issue.details["reason"]) == (Code.URL_ACCESS_DENIED, "private_address")


def test_a_proxy_that_is_named_is_used(site: Site) -> None:
    site.page("http://far.test/a.md", head(), b"# by proxy\n")
    policy = AccessPolicy(paths=(), domains=("far.test",))
    loader = Loader(policy, proxy=site.url)
    assert loader.load_markdown("http://far.test/a.md").data == b"# by proxy\n"
    with pytest.raises(MdVisionError):
        loader.load("http://elsewhere.test/a.md")
    with pytest.raises(MdVisionError) as raised:
        Loader(AccessPolicy(domains=("all",)), proxy=site.url).load("http://10.0.0.1/")
    assert raised.value.issue.details["reason"] == "private_address"
    assert [path for path, _ in site.asked] == ["http://far.test/a.md"]


@pytest.fixture
def secure(site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Site, Path]:
    """The same site over TLS, as a.test and b.test; all names lead here."""
    made = subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1"),
            *("-keyout", tmp_path / "key", "-out", tmp_path / "cert", "-subj", "/CN=a.test"),
            *("-addext", "subjectAltName=DNS:a.test,DNS:b.test"),
        ],
        capture_output=True,
        check=False,
    )
    if made.returncode:
        pytest.skip("openssl made no certificate")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "cert", tmp_path / "key")
    site.server.socket = context.wrap_socket(site.server.socket, server_side=True)
    original = socket.getaddrinfo

    def resolve(host: str, *arguments: object, **named: object) -> object:
        return original("127.0.0.1" if host.endswith(".test") else host, *arguments, **named)  # type: ignore[arg-type]

    monkeypatch.setattr("mdvision.sources.web.socket.getaddrinfo", resolve)
    return site, tmp_path / "cert"


def test_headers_go_to_their_host_alone(secure: tuple[Site, Path]) -> None:
    site, cert = secure
    port = site.server.server_address[1]
    a, b = f"https://a.test:{port}", f"https://b.test:{port}"
    site.page("/ok", head(), b"# ok\n")
    site.page("/same", head("Location: /ok", status="302 Found"))
    site.page("/away", head(f"Location: {b}/back", status="302 Found"))
    site.page("/back", head(f"Location: {a}/ok", status="302 Found"))
    policy = AccessPolicy(domains=("test",), private_network=True)
    headers = {"A.test.": {"X-A": "1"}, "b.test": {"X-B": "2"}, "test": {"X-C": "3"}}
    loader = Loader(policy, ca_bundle=cert, headers=headers)

    def sent(url: str) -> list[tuple[str, list[str]]]:
        site.asked.clear()
        assert loader.load(url).data == b"# ok\n"
        return [(path, [n for n in got if n.startswith("X-")]) for path, got in site.asked]

    assert sent(f"{a}/same") == [("/same", ["X-A"]), ("/ok", ["X-A"])]
    assert sent(f"{a}/away") == [("/away", ["X-A"]), ("/back", []), ("/ok", [])]


def test_certificates_are_checked(
    secure: tuple[Site, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    site, cert = secure
    port = site.server.server_address[1]
    site.page("/ok", head(), b"# ok\n")
    policy = AccessPolicy(domains=("test",), private_network=True)
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(cert))  # the environment does not count
    for host, loader in (
        ("a.test", Loader(policy)),
        ("c.test", Loader(policy, ca_bundle=cert)),
    ):
        issue = fails(f"https://{host}:{port}/ok?hush", loader).issue
        assert (issue.code, issue.details["reason"]) == (Code.FETCH_FAILED, "tls")
    missing = Loader(policy, ca_bundle=os.devnull + "/none")
    assert fails(f"https://a.test:{port}/ok?hush", missing).issue.code is Code.FETCH_FAILED


def test_a_resolver_that_does_not_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    released = threading.Event()

    def stuck(*_: object, **__: object) -> None:
        released.wait(3)
        raise OSError

    monkeypatch.setattr("mdvision.sources.web.socket.getaddrinfo", stuck)
    loader = Loader(AccessPolicy(domains=("slow.test",)), QUICK)
    try:
        assert fails("http://slow.test/?hush", loader).issue.code is Code.FETCH_TIMEOUT
    finally:
        released.set()


def test_the_next_address_is_tried(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    port = site.server.server_address[1]
    site.page("/ok", head(), b"# ok\n")
    original = web.create_connection
    tried: list[object] = []

    def connect(address: tuple[str, int], *arguments: object, **named: object) -> socket.socket:
        tried.append(address[0])
        if address[0] == "127.0.0.9":
            raise OSError
        return original(address, *arguments, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(web, "create_connection", connect)
    monkeypatch.setattr(web, "_addresses", lambda *_: ["127.0.0.9", "127.0.0.1"])
    policy = AccessPolicy(domains=("two.test",), private_network=True)
    assert Loader(policy).load(f"http://two.test:{port}/ok").data == b"# ok\n"
    assert tried == ["127.0.0.9", "127.0.0.1"]
