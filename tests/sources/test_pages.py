"""What a page's first bytes make of it, and which host a written name is."""

from __future__ import annotations

import gzip
import random
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

import mdvision
from mdvision import AccessPolicy, Code, Limits, Loader, MdVisionError
from mdvision.model import Resource
from mdvision.sources.policy import policy_from_flags

BOM = b"\xef\xbb\xbf"


def load(data: bytes, monkeypatch: pytest.MonkeyPatch, media_type: str = "text/plain") -> bytes:
    page = Resource(data=data, uri="https://x.test/a.md", media_type=media_type)

    def fetch(*_: object) -> Resource:
        return page

    monkeypatch.setattr("mdvision.sources.web.fetch", fetch)
    return Loader().load_markdown("https://x.test/a.md").data


@pytest.mark.parametrize(
    "data",
    [
        b"<!DOCTYPE html><p>x",
        b"<html lang=en>",
        BOM + b" \r\n<!-- a --> <!-- b\n -->\n<!doctype  HTML>",
        b'<?xml version="1.0"?>\n<html>',
    ],
)
def test_pages_that_begin_as_html(data: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(MdVisionError, match="URL returned HTML") as raised:
        load(data, monkeypatch)
    assert raised.value.issue.code is Code.SOURCE_UNSUPPORTED


@pytest.mark.parametrize(
    "data",
    [b"", b"   ", b"<!-- note -->\n# A", b"<!-- <html> never closed", b"<htmlx>", b"# <html>", BOM],
)
def test_pages_that_do_not(data: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    assert load(data, monkeypatch) == data


def test_sent_as_html(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(MdVisionError, match="URL returned HTML"):
        load(b"# A", monkeypatch, "text/html")


@pytest.mark.parametrize("data", [b"<!--a-->" * 100_000, b"<!--" * 100_000, b" " * 1_000_000])
def test_many_comments_cost_no_more_than_their_length(
    data: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = time.perf_counter()
    load(data + b"# x", monkeypatch)
    assert time.perf_counter() - before < 2


def asked_for(url: str, allowed: str, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names that a fetch has resolved before it fails."""
    asked: list[str] = []

    def resolver(host: str, *_: object, **__: object) -> list[object]:
        asked.append(host)
        raise OSError

    monkeypatch.setattr("socket.getaddrinfo", resolver)
    with pytest.raises(MdVisionError):
        Loader(AccessPolicy(domains=(allowed,))).load(url)
    return asked


@pytest.mark.parametrize(
    ("url", "allowed", "asked"),
    [
        # two hosts under IDNA 2008, and two owners: RFC 5894, section 7.2
        ("http://faß.test/", "fass.test", []),
        ("http://faß.test/", "faß.test", ["xn--fa-hia.test"]),
        ("http://xn--fa-hia.test/", "faß.test", ["xn--fa-hia.test"]),
        ("http://BÜCHER.test:8080/", "bücher.test", ["xn--bcher-kva.test"]),
        ("http://a。test/", "a.test", ["a.test"]),
        ("http://a\u200db.test/", "all", []),
        ("http://a.test%00.evil.test/", "a.test", []),
        ("http://a.test#@evil.test/", "a.test", ["a.test"]),
    ],
)
def test_the_host_that_was_checked_is_the_one_resolved(
    url: str, allowed: str, asked: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert asked_for(url, allowed, monkeypatch) == asked


TEXT = random.Random(0).randbytes(50_000).hex().encode()  # noqa: S311 - repeatable, packs badly
PACKED = {
    "/whole": gzip.compress(TEXT),
    "/cut": gzip.compress(TEXT)[:20_000],
    "/members": b"".join(map(gzip.compress, (b"# one\n", b"", b"# two\n"))),
    "/empty": b"",
}


class _Handler(BaseHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        body = PACKED[self.path]
        self.send_response(200)
        self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@pytest.fixture
def server() -> Iterator[str]:
    running = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield f"http://127.0.0.1:{running.server_address[1]}"
    running.shutdown()
    running.server_close()
    thread.join()


def test_a_packed_body_comes_whole_or_not_at_all(server: str) -> None:
    loader = Loader()
    assert loader.load(f"{server}/whole").data == TEXT
    assert loader.load(f"{server}/members").data == b"# one\n# two\n"
    assert loader.load(f"{server}/empty").data == b""
    assert Loader(limits=Limits(max_input_bytes=10**30)).load(f"{server}/whole").data == TEXT
    with pytest.raises(MdVisionError, match="ends in the middle") as raised:
        loader.load(f"{server}/cut")
    assert raised.value.issue.code is Code.FETCH_FAILED


@pytest.mark.parametrize("host", ["x.test:8080", "a..test", ".", ".x.test", "http://x.test"])
def test_flags_that_name_no_host(host: str) -> None:
    with pytest.raises(MdVisionError) as raised:
        policy_from_flags(["."], [host], private_network=False)
    assert raised.value.issue.code is Code.CONFIG_INVALID


@pytest.mark.parametrize(
    "host", ["localhost", "[::1]", "::1", "127.0.0.1", "x.test.", "bücher.test"]
)
def test_flags_that_name_one(host: str) -> None:
    assert policy_from_flags(["."], [host], private_network=False).domains


def test_messages_never_hold_the_query(monkeypatch: pytest.MonkeyPatch) -> None:
    page = Resource(data=b"%PDF-1.7\n", uri="https://x.test/a.md?token=hush", media_type="")
    monkeypatch.setattr("mdvision.sources.web.fetch", lambda *_: page)
    for call in (mdvision.read_with_images, mdvision.index_markdown_url):
        with pytest.raises(mdvision.UnsupportedFormatError) as raised:
            call("https://x.test/a.md?token=hush")
        assert raised.value.issue.message == "https://x.test/a.md is no text: it holds PDF data."
        assert "hush" not in f"{raised.value!r}"
