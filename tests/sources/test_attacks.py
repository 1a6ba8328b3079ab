"""What a hostile path, link, page or address may try; nothing of it brings a byte."""

from __future__ import annotations

import contextlib
import os
import socket
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import mdvision
from mdvision import AccessPolicy, Code, Limits, Loader, MdVisionError
from mdvision.sources import opening
from mdvision.sources.addresses import is_public

SECRET = b"# TOP SECRET\n"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """An allowed folder, with a forbidden one beside it and links of every kind."""
    allowed = tmp_path / "allowed"
    (allowed / "sub").mkdir(parents=True)
    (tmp_path / "allowed_sibling").mkdir()
    (tmp_path / "allowed_sibling" / "s.md").write_bytes(SECRET)
    (allowed / "a.md").write_text("# A\n")
    (allowed / "..dots.md").write_text("# dots\n")
    (allowed / "~").mkdir()
    (allowed / "~" / "x.md").write_text("# tilde\n")
    (allowed / "out.md").symlink_to(tmp_path / "allowed_sibling" / "s.md")
    (allowed / "outdir").symlink_to(tmp_path / "allowed_sibling")
    (allowed / "in.md").symlink_to("a.md")
    (allowed / "loop1.md").symlink_to("loop2.md")
    (allowed / "loop2.md").symlink_to("loop1.md")
    (allowed / "dangling.md").symlink_to(tmp_path / "nowhere" / "x.md")
    (allowed / "proc.md").symlink_to("/proc/self/environ")
    (allowed / "zero.md").symlink_to("/dev/zero")
    (allowed / "around").symlink_to(".")
    os.mkfifo(allowed / "fifo.md")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(allowed / "socket.md"))
    return tmp_path


def refused(loader: Loader, source: str) -> MdVisionError:
    """The error that a source gives, which tells nothing and comes at once."""
    before = time.monotonic()
    with pytest.raises(MdVisionError) as raised:
        loader.load_markdown(source)
    assert time.monotonic() - before < 1
    told = f"{raised.value} {raised.value!r} {raised.value.issue.to_dict()}"
    assert "SECRET" not in told
    assert "Traceback" not in told
    return raised.value


@pytest.mark.parametrize(
    "name",
    [
        "../allowed_sibling/s.md",
        "sub/../../allowed_sibling/s.md",
        "{root}/allowed_sibling/s.md",
        "{root}/allowed/../allowed_sibling/s.md",
        "/etc/passwd",
        "/proc/self/environ",
        "/dev/stdin",
        "a\0.md",
        "x" * 5000,
        "a.md/",
        "a.md/../a.md/x",
        "nowhere.md",
        "..",
        ".",
        "",
        "~/.bashrc",
        "file:///etc/passwd",
        "file://localhost/etc/passwd",
        "FILE:///etc/passwd",
        "%2e%2e/allowed_sibling/s.md",
        "..\\allowed_sibling\\s.md",
        "\\\\srv\\share\\x.md",
        "\\\\?\\C:\\x.md",
        "C:secret.md",
        "C:\\Windows\\win.ini",
        "CON",
        "a.md:x",
        "a.md::$DATA",
        "out.md",
        "outdir/s.md",
        "loop1.md",
        "dangling.md",
        "proc.md",
        "zero.md",
        "fifo.md",
        "socket.md",
        "\udcff.md",
        "gopher://x/y",
        "ftp://x/y.md",
    ],
)
def test_paths_that_bring_nothing(name: str, tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tree / "allowed")
    loader = Loader(AccessPolicy(paths=(str(tree / "allowed"),)))
    error = refused(loader, name.format(root=tree))
    if "{root}" not in name:
        assert str(tree) not in str(error)


@pytest.mark.parametrize("name", ["a.md", "..dots.md", "~/x.md", "in.md", "around/around/a.md"])
def test_paths_that_are_allowed(name: str, tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tree)
    loader = Loader(AccessPolicy(paths=("allowed",)))
    assert loader.load_markdown(name).data.startswith(b"# ")


@pytest.mark.parametrize("name", ["fifo.md", "socket.md", "zero.md", "sub", "loop1.md"])
def test_special_files_stop_a_trusted_caller_too(name: str, tree: Path) -> None:
    refused(Loader(), str(tree / "allowed" / name))


def test_existence_outside_is_not_told(tree: Path) -> None:
    loader = Loader(AccessPolicy(paths=(str(tree / "allowed"),)))
    there = refused(loader, str(tree / "allowed_sibling" / "s.md")).issue
    absent = refused(loader, str(tree / "allowed_sibling" / "t.md")).issue
    assert (there.code, there.details, there.next_action) == (
        absent.code,
        absent.details,
        absent.next_action,
    )
    assert there.message.replace("s.md", "") == absent.message.replace("t.md", "")


def test_a_folder_swapped_for_a_link_between_check_and_open(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The check sees the folder, the opening its replacement; what was opened is judged."""
    target = tree / "allowed" / "sub" / "s.md"
    target.write_text("# harmless\n")
    original = os.open

    def swapping(path: str, *arguments: Any) -> int:
        if str(path) == str(target):
            (tree / "allowed" / "sub").rename(tree / "aside")
            (tree / "allowed" / "sub").symlink_to(tree / "allowed_sibling")
        return original(path, *arguments)

    monkeypatch.setattr(opening.os, "open", swapping)
    loader = Loader(AccessPolicy(paths=(str(tree / "allowed"),)))
    assert refused(loader, str(target)).issue.code is Code.FILE_ACCESS_DENIED


def test_sizes_are_bounded_even_where_they_are_not_told(tree: Path) -> None:
    sparse = tree / "allowed" / "sparse.md"
    with sparse.open("wb") as file:
        file.truncate(5_000_000_000)
    limited = Loader(limits=Limits(max_text_bytes=1_000, max_input_bytes=1_000))
    assert refused(limited, str(sparse)).issue.code is Code.SOURCE_TOO_LARGE
    if Path("/proc/self/maps").exists():  # has a size of 0
        assert refused(limited, "/proc/self/maps").issue.code is Code.SOURCE_TOO_LARGE


@pytest.fixture(scope="module")
def mirrored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tree in which every folder has links in and out."""
    root = tmp_path_factory.mktemp("mirrored")
    (root / "allowed" / "sub").mkdir(parents=True)
    (root / "s").mkdir()
    for secret in (root / "s" / "s.md", root / "s.md"):
        secret.write_bytes(SECRET)
    for place in (root / "allowed", root / "allowed" / "sub"):
        (place / "a.md").write_text("# A\n")
        (place / "out.md").symlink_to(root / "s.md")
        (place / "outdir").symlink_to(root / "s")
        (place / "in.md").symlink_to("a.md")
        (place / "around").symlink_to(".")
    return root


PARTS = ["..", ".", "sub", "a.md", "out.md", "outdir", "in.md", "s.md", "", "around", "allowed"]


@given(parts=st.lists(st.sampled_from(PARTS), min_size=1, max_size=6))
def test_the_policy_admits_nothing_that_lies_outside(parts: list[str], mirrored: Path) -> None:
    root = os.path.realpath(mirrored / "allowed")
    path = os.path.join(root, *parts)
    is_inside = os.path.realpath(path).startswith(root + os.sep)
    try:
        data = Loader(AccessPolicy(paths=(root,))).load_markdown(path).data
    except MdVisionError:
        return
    assert is_inside
    assert data == b"# A\n"


# what documents name


def issues_of(text: str, base: str, loader: Loader | None = None) -> list[tuple[Code, object]]:
    reading = mdvision.read_text_with_images(text, base=base, loader=loader)
    assert reading.images == ()
    assert reading.text == text
    return [(issue.code, issue.details.get("reason")) for issue in reading.issues]


@pytest.mark.parametrize(
    "reference",
    [
        "file:///etc/passwd",
        "/etc/passwd",
        "../../etc/passwd",
        "C:/x.png",
        "\\\\srv\\x.png",
        "//evil.test/x.png",
    ],
)
@pytest.mark.parametrize("policy", [None, AccessPolicy(domains=("docs.test",)), AccessPolicy()])
def test_a_page_never_reaches_a_file_or_a_foreign_host(
    reference: str, policy: AccessPolicy | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[object] = []
    monkeypatch.setattr("mdvision.sources.loader.open_file", lambda *a, **_: opened.append(a))

    def resolver(host: object, *_: object, **__: object) -> list[Any]:
        assert host == "docs.test"
        raise OSError

    monkeypatch.setattr("socket.getaddrinfo", resolver)
    found = issues_of(f"![x](<{reference}>)\n", "http://docs.test/a/b.md", Loader(policy))
    assert len(found) == 1
    assert opened == []


@pytest.mark.parametrize(
    ("reference", "code"),
    [
        ("http://docs.test/x.png", Code.URL_ACCESS_DENIED),
        ("//docs.test/x.png", Code.URL_ACCESS_DENIED),
        ("javascript:alert(1)", Code.SOURCE_UNSUPPORTED),
        ("ftp://x/y.png", Code.SOURCE_UNSUPPORTED),
        ("data:image/png;base64,%%%", Code.DECODE_FAILED),
        ("data:image/png,not a picture", Code.SOURCE_UNSUPPORTED),
        ("data:", Code.DECODE_FAILED),
        ("a\x01b.png", Code.SOURCE_NOT_FOUND),
    ],
)
def test_what_a_local_document_may_not_name(reference: str, code: Code, tmp_path: Path) -> None:
    text = f"![x](<{reference}>)\n"
    assert [found[0] for found in issues_of(text, str(tmp_path / "a.md"))] == [code]


def test_text_without_a_base_names_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.png").write_bytes(b"x")
    reading = mdvision.read_text_with_images(f"![a](p.png) ![b]({tmp_path}/p.png)\n")
    assert [issue.code for issue in reading.issues] == [Code.SOURCE_NOT_FOUND] * 2
    loader = Loader(AccessPolicy(paths=(str(tmp_path),)))
    reading = mdvision.read_text_with_images("![a](p.png)\n", loader=loader)
    assert [issue.code for issue in reading.issues] == [Code.SOURCE_NOT_FOUND]


# pages


class _Handler(BaseHTTPRequestHandler):
    seen: list[dict[str, str]]

    def log_message(self, *_: object) -> None:
        pass

    def answer(self, status: int, body: bytes = b"", **headers: str) -> None:
        self.send_response(status)
        for name, value in {
            "Content-Type": "text/markdown",
            "Content-Length": str(len(body)),
            **headers,
        }.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self) -> None:
        self.seen.append(dict(self.headers))
        name = self.path.partition("?")[0].strip("/").replace("-", "_")
        with contextlib.suppress(OSError):  # the client has gone
            getattr(self, f"page_{name}", lambda: self.answer(404))()

    def port(self) -> int:
        return int(self.server.server_address[1])

    def page_ok(self) -> None:
        self.answer(200, b"# ok\n")

    def page_to_private(self) -> None:
        self.answer(302, Location=f"http://127.0.0.2:{self.port()}/ok")

    def page_to_file(self) -> None:
        self.answer(302, Location="file:///etc/passwd")

    def page_to_elsewhere(self) -> None:
        self.answer(302, Location=f"http://localhost:{self.port()}/ok")

    def page_loop(self) -> None:
        self.answer(302, Location="/loop")

    def page_userinfo(self) -> None:
        self.answer(302, Location=f"http://me:pass@127.0.0.1:{self.port()}/ok")

    def page_endless(self) -> None:
        self.send_response(200)
        self.end_headers()
        while True:
            self.wfile.write(b"x" * 65_536)

    def page_drip(self) -> None:
        self.send_response(200)
        self.end_headers()
        for _ in range(100):
            self.wfile.write(b"x")
            self.wfile.flush()
            time.sleep(0.1)

    def page_drip_headers(self) -> None:
        for c in b"HTTP/1.0 200 OK\r\nX-Slow: " + b"x" * 100:
            self.wfile.write(bytes([c]))
            self.wfile.flush()
            time.sleep(0.1)

    def page_silent(self) -> None:
        time.sleep(5)

    def page_bomb(self) -> None:
        packer = zlib.compressobj(9, zlib.DEFLATED, 31)
        body = b"".join(packer.compress(bytes(1_000_000)) for _ in range(40)) + packer.flush()
        self.answer(200, body, Content_Encoding="gzip")

    def page_gzip(self) -> None:
        packer = zlib.compressobj(9, zlib.DEFLATED, 31)
        self.answer(200, packer.compress(b"# packed\n") + packer.flush(), Content_Encoding="gzip")

    def page_brotli(self) -> None:
        self.answer(200, b"whatever", Content_Encoding="br")

    def page_bad_gzip(self) -> None:
        self.answer(200, b"no gzip", Content_Encoding="gzip")

    def page_cut(self) -> None:
        self.answer(200, b"# cut\n", Content_Length="1000")

    def page_error(self) -> None:
        self.answer(500, b"secret body")

    def page_gone(self) -> None:
        self.answer(410)


@pytest.fixture
def server() -> Iterator[tuple[str, list[dict[str, str]]]]:
    seen: list[dict[str, str]] = []
    handler = type("Handler", (_Handler,), {"seen": seen})
    running = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    running.daemon_threads = True
    thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield f"http://127.0.0.1:{running.server_address[1]}", seen
    running.shutdown()
    running.socket.close()
    thread.join()


HERE = AccessPolicy(paths=(), domains=("127.0.0.1",))


@pytest.mark.parametrize(
    ("page", "code", "reason"),
    [
        ("to-private", Code.URL_ACCESS_DENIED, "domain"),
        ("to-elsewhere", Code.URL_ACCESS_DENIED, "domain"),
        ("to-file", Code.URL_ACCESS_DENIED, "scheme"),
        ("userinfo", Code.URL_ACCESS_DENIED, "userinfo"),
        ("loop", Code.FETCH_FAILED, "redirects"),
        ("endless", Code.SOURCE_TOO_LARGE, None),
        ("bomb", Code.SOURCE_TOO_LARGE, None),
        ("drip", Code.FETCH_TIMEOUT, None),
        ("drip-headers", Code.FETCH_TIMEOUT, None),
        ("silent", Code.FETCH_TIMEOUT, None),
        ("brotli", Code.FETCH_FAILED, "encoding"),
        ("bad-gzip", Code.FETCH_FAILED, None),
        ("cut", Code.FETCH_FAILED, None),
        ("error", Code.FETCH_FAILED, "http"),
        ("gone", Code.SOURCE_NOT_FOUND, "http"),
        ("nothing", Code.SOURCE_NOT_FOUND, "http"),
    ],
)
def test_pages_that_bring_nothing(
    page: str, code: Code, reason: str | None, server: tuple[str, list[dict[str, str]]]
) -> None:
    loader = Loader(HERE, Limits(timeout_seconds=1.0, max_input_bytes=1_000_000))
    before = time.monotonic()
    with pytest.raises(MdVisionError) as raised:
        loader.load_markdown(f"{server[0]}/{page}?token=hush#part")
    assert time.monotonic() - before < 3
    issue = raised.value.issue
    assert issue.code is code
    assert reason in (None, issue.details.get("reason"))
    told = f"{raised.value} {raised.value!r} {issue.to_dict()} {raised.value.__cause__}"
    assert all(secret not in told for secret in ("hush", "secret body", "me:pass"))


def test_pages_that_come(server: tuple[str, list[dict[str, str]]]) -> None:
    loader = Loader(HERE)
    assert loader.load_markdown(f"{server[0]}/ok#part").data == b"# ok\n"
    assert loader.load_markdown(f"{server[0]}/gzip").data == b"# packed\n"
    with loader.open(f"{server[0]}/ok") as file:
        assert file.read() == b"# ok\n"


def test_the_environment_is_not_asked(
    server: tuple[str, list[dict[str, str]]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    (tmp_path / ".netrc").write_text("machine 127.0.0.1 login me password hush\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("NETRC", str(tmp_path / ".netrc"))
    assert Loader().load(f"{server[0]}/ok").data == b"# ok\n"
    assert "Authorization" not in server[1][0]


def test_headers_stay_on_https(server: tuple[str, list[dict[str, str]]]) -> None:
    loader = Loader(headers={"127.0.0.1": {"Authorization": "hush"}})
    loader.load(f"{server[0]}/ok")
    assert "Authorization" not in server[1][0]


@pytest.mark.parametrize(
    "url",
    [
        "http://ok.com@127.0.0.1/x",
        "http://ok.com\\@127.0.0.1/x",
        "http://127.0.0.1 /x",
        "http://127.0.0.1\t/x",
        "http://127.0.0.1\n/x",
        "http://ok.com:x/",
        "http:///x",
        "http://[::1/x",
        "http://①②⑦.⓪.⓪.①/x",
        "http://localhost./x",
        "http://sub.localhost/x",
        "http://0/x",
        "http://[fe80::1%25eth0]/x",
        "http://[2002:7f00:1::]/x",
        "http://[2001:0:7f00:1::]/x",
        "http://[::7f00:1]/x",
        "HTTP://LOCALHOST/x",
    ],
)
def test_addresses_that_are_refused_even_if_all_are_allowed(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def connect(*_: object) -> None:
        raise AssertionError(url)

    def resolver(host: str, port: int, *_: object, **__: object) -> list[Any]:
        if "localhost" in host.lower():
            return [(socket.AF_INET, 1, 6, "", ("127.0.0.1", port))]
        return original(host, port, *_, **__)

    original: Callable[..., list[Any]] = socket.getaddrinfo
    monkeypatch.setattr("socket.getaddrinfo", resolver)
    monkeypatch.setattr("socket.socket.connect", connect)
    with pytest.raises(MdVisionError):
        Loader(AccessPolicy(domains=("all",))).load(url)


def test_a_name_that_resolves_to_a_private_address_later(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rebinding: each answer is judged by itself, and one private address among several is enough."""
    answers = [["93.184.215.14"], ["127.0.0.1"], ["93.184.215.14", "10.0.0.1"]]
    connected: list[object] = []

    def resolver(_: str, port: int, *__: object, **___: object) -> list[Any]:
        return [(socket.AF_INET, 1, 6, "", (address, port)) for address in answers.pop(0)]

    def connect(_: object, address: object) -> None:
        connected.append(address)
        raise OSError

    monkeypatch.setattr("mdvision.sources.web.socket.getaddrinfo", resolver)
    monkeypatch.setattr(
        "mdvision.sources.web.create_connection", lambda address, *_, **__: connect(None, address)
    )
    loader = Loader(AccessPolicy(domains=("all",)))
    codes = []
    for _ in range(3):
        with pytest.raises(MdVisionError) as raised:
            loader.load("http://rebind.test/x")
        codes.append(raised.value.issue.code)
    assert codes == [Code.FETCH_FAILED, Code.URL_ACCESS_DENIED, Code.URL_ACCESS_DENIED]
    assert connected == [("93.184.215.14", 80)]


@pytest.mark.parametrize(
    ("address", "public"),
    [
        *(
            (a, False)
            for a in [
                "127.0.0.1",
                "10.0.0.1",
                "100.64.0.1",
                "169.254.169.254",
                "0.0.0.0",
                "192.0.0.8",
                "192.0.2.1",
            ]
        ),
        *(
            (a, False)
            for a in [
                "198.18.0.1",
                "198.51.100.1",
                "203.0.113.1",
                "224.0.0.1",
                "240.0.0.1",
                "255.255.255.255",
            ]
        ),
        *(
            (a, False)
            for a in [
                "::1",
                "::",
                "::ffff:127.0.0.1",
                "::127.0.0.1",
                "2002:7f00:1::",
                "2001:0:7f00:1::",
                "fec0::1",
            ]
        ),
        *(
            (a, False)
            for a in [
                "64:ff9b::7f00:1",
                "64:ff9b:1::1",
                "fe80::1",
                "fc00::1",
                "ff02::1",
                "2001:db8::1",
            ]
        ),
        *(
            (a, True)
            for a in [
                "8.8.8.8",
                "93.184.215.14",
                "::ffff:8.8.8.8",
                "2002:808:808::",
                "64:ff9b::808:808",
            ]
        ),
        ("2606:4700:4700::1111", True),
    ],
)
def test_which_addresses_are_public(address: str, public: bool) -> None:
    assert is_public(address) == public


def test_a_trusted_caller_s_page_may_name_its_own_host_alone(
    server: tuple[str, list[dict[str, str]]],
) -> None:
    port = server[0].rpartition(":")[2]
    reading = mdvision.read_text_with_images(
        f"![own](/ok) ![other](http://localhost:{port}/ok)\n", base=f"{server[0]}/a.md"
    )
    own, other = reading.issues
    # the text came from memory: nobody fetched from that host, so a private address counts for nothing
    assert (own.code, own.details["reason"]) == (Code.URL_ACCESS_DENIED, "private_address")
    assert (other.code, other.details["reason"]) == (Code.URL_ACCESS_DENIED, "domain")


def test_a_page_that_never_came_opens_no_private_host(
    server: tuple[str, list[dict[str, str]]],
) -> None:
    with Loader() as loader:
        with pytest.raises(MdVisionError):
            loader.load(f"{server[0]}/missing")
        with pytest.raises(MdVisionError) as raised:
            loader.load_reference(f"{server[0]}/a.md", "ok")
        assert raised.value.issue.details["reason"] == "private_address"
        loader.load(f"{server[0]}/ok")
        assert loader.load_reference(f"{server[0]}/a.md", "ok").data
