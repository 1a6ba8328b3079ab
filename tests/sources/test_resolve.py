"""What addresses mean, however they are written; whatever they hold, they fail by name."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mdvision
from mdvision import AccessPolicy, Code, Limits, Loader, MdVisionError
from mdvision.sources.resolve import (
    Assets,
    decode_data_uri,
    file_path,
    join_url,
    local_candidates,
    raw_form,
    shown_reference,
    shown_url,
    split_url,
)


@pytest.mark.parametrize(
    ("reference", "paths"),
    [
        ("a.png", ["a.png"]),
        ("a%20b.png?x=1#y", ["a%20b.png?x=1#y", "a%20b.png", "a b.png"]),
        ("a#b?c.png", ["a#b?c.png", "a"]),
        ("img\\a.png", ["img/a.png"]),
        ("%2e%2e\\a.png", ["%2e%2e/a.png", "../a.png"]),
        ("%252e.png", ["%252e.png", "%2e.png"]),  # decoded once
        ("#top", ["#top"]),
        ("", []),
    ],
)
def test_the_paths_that_a_reference_may_mean(reference: str, paths: list[str]) -> None:
    assert local_candidates(reference) == paths


@pytest.mark.parametrize(
    ("uri", "data"),
    [
        ("data:image/png;base64,AAEC/w==", b"\x00\x01\x02\xff"),
        ("data:image/png;base64, AAEC\n /w= =", b"\x00\x01\x02\xff"),
        ("data:image/png;base64,AAEC_w", b"\x00\x01\x02\xff"),
        ("data:;charset=utf-8;BASE64,AAEC%2Fw%3D%3D", b"\x00\x01\x02\xff"),
        ("DATA:,a%20b+c", b"a b+c"),
        ("data:image/svg+xml,<svg a=','/>", b"<svg a=','/>"),
        ("data:;base64,", b""),
        ("data:,\u00e9", b"\xc3\xa9"),
    ],
)
def test_data_uris(uri: str, data: bytes) -> None:
    assert decode_data_uri(uri) == data


@pytest.mark.parametrize(
    "uri",
    ["data:image/png;base64", "data:;base64,A", "data:;base64,AA==AA", "data:;base64,é\ud800"],
)
def test_broken_data_uris(uri: str) -> None:
    with pytest.raises(MdVisionError) as raised:
        decode_data_uri(uri)
    assert raised.value.issue.code is Code.DECODE_FAILED
    assert "base64,A" not in str(raised.value)


def test_a_data_uri_is_bounded_as_a_file_is() -> None:
    loader = Loader(limits=Limits(max_input_bytes=3))
    assert loader.load_reference("", "data:,abc").data == b"abc"
    with pytest.raises(MdVisionError) as raised:
        loader.load_reference("", "data:,abcd")
    assert raised.value.issue.code is Code.SOURCE_TOO_LARGE


@pytest.mark.parametrize(
    ("uri", "path"),
    [
        ("file:///a/b%20c.png?x#y", "/a/b c.png"),
        ("FILE://localhost/a.png", "/a.png"),
        ("file:/a.png", "/a.png"),
        ("file://far.test/a.png", ""),
        ("file:////srv/share/a.png", ""),
        ("file://[x", ""),
        ("file:", ""),
    ],
)
def test_file_uris(uri: str, path: str) -> None:
    assert file_path(uri) == path


@pytest.mark.parametrize(
    ("page", "raw"),
    [
        ("https://github.com/o/r/blob/v1/docs/a.md?plain=1#L3", "o/r/v1/docs/a.md"),
        ("http://www.github.com/o/r/raw/main/a%20b.png", "o/r/main/a%20b.png"),
        ("HTTPS://GitHub.com/o/r/blob/main/a.md", "o/r/main/a.md"),
    ],
)
def test_github_pages_in_raw_form(page: str, raw: str) -> None:
    assert raw_form(page) == f"https://raw.githubusercontent.com/{raw}"


@pytest.mark.parametrize(
    "url",
    [
        "https://github.com/o/r/tree/main/docs",
        "https://github.com/o/r/blob/main",
        "https://github.com.evil.test/o/r/blob/main/a.md",
        "https://evilgithub.com/o/r/blob/main/a.md",
        "https://evil.test/?https://github.com/o/r/blob/main/a.md",
        "https://raw.githubusercontent.com/o/r/main/a.md",
    ],
)
def test_addresses_that_stay_as_they_are(url: str) -> None:
    assert raw_form(url) == url


@pytest.mark.parametrize(
    ("reference", "url"),
    [
        ("img/a b.png", "https://x.test/docs/img/a%20b.png"),
        ("..\\a.png", "https://x.test/a.png"),
        ("//y.test/a.png", "https://y.test/a.png"),
        ("/\\y.test/a.png", "https://y.test/a.png"),
        ("?x", "https://x.test/docs/a.md?x"),
        ("https:b.png", "https://x.test/docs/b.png"),
    ],
)
def test_what_a_page_names(reference: str, url: str) -> None:
    assert join_url("https://x.test/docs/a.md", reference) == url


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("http://ok.com@127.0.0.1/", "userinfo"),
        ("http://@x.test/", "userinfo"),
        ("http://me:@x.test/", "userinfo"),
        ("http://ok.com\\@127.0.0.1/", "characters"),
        ("http://x.test/\u00a0a", "characters"),
        ("http://x.test\u2028/a", "characters"),
        ("http://x.test/a\x00b", "characters"),
        ("http://127%2e0.0.1/", "characters"),
        ("http://x.test:port/", "malformed"),
        ("http://x.test:65536/", "malformed"),
        ("http://[::1/", "malformed"),
        ("http://x.test\uff0fy/", "malformed"),
        ("http:///a", "scheme"),
        ("ftp://x.test/", "scheme"),
        ("//x.test/", "scheme"),
        ("javascript:alert(1)", "scheme"),
    ],
)
def test_addresses_that_are_refused(url: str, reason: str) -> None:
    with pytest.raises(MdVisionError) as raised:
        split_url(f"{url}?token=hush#hush")
    issue = raised.value.issue
    assert (issue.code, issue.details["reason"]) == (Code.URL_ACCESS_DENIED, reason)
    assert "hush" not in f"{raised.value} {raised.value!r} {issue.to_dict()}"


@pytest.mark.parametrize("show", [shown_url, shown_reference])
@pytest.mark.parametrize(
    "url",
    [
        "https://me:hush@x.test/a",
        "https://me:hush@else@x.test/a",
        "https:\\\\me:hush@x.test/a",
        "https://x.test/a?hush",
        "https://x.test/a#hush",
        "//me:hush@x.test/a?hush",
    ],
)
def test_messages_show_no_secret(show: object, url: str) -> None:
    assert callable(show)
    shown = show(url)
    assert "hush" not in shown
    assert "x.test/a" in shown


@pytest.mark.parametrize(
    "reference", ["./img/a%20b.png?x", "img\\a b.png", "./img/./../img/a b.png"]
)
def test_pictures_in_memory(reference: str) -> None:
    found = Assets({".\\img\\a b.png": b"1", "img/other.png": b"2"}).find(reference)
    assert found == (None if ".." in reference else b"1")  # names are compared, not walked
    assert Assets({}).find(reference) is None


def test_names_of_pictures_in_memory_are_gone_through_once() -> None:
    class Counted(dict[str, bytes]):
        rounds = 0

        def __iter__(self) -> Iterator[str]:
            self.rounds += 1
            return super().__iter__()

    assets = Counted({f"./{k}.png": b"" for k in range(100)})
    text = "".join(f"![x]({k}.png)\n" for k in range(100))
    assert mdvision.read_text_with_images(text, assets=assets, max_images=99).images == ()
    assert assets.rounds == 1


PIECES = [
    *("http:", "https:", "file:", "//", "/", "[", "]", "::1", "@", "%", "%2e", "%00", "..", "\\"),
    *("#", "?", "x.test", "a.png", " ", "\t", "\n", "\0", "\ud800", "data:", ",", ";base64", "="),
    *("C:", ":", "é", "。", "ß", "127.0.0.1", "~", "-", "*", "xn--", '"', "\x85", "\u2028", ":80"),
    *(":99999", "github.com/o/r/blob/", "ftp:"),
]
odd = st.lists(st.sampled_from(PIECES), max_size=8).map("".join)
BASES = ["", "/nowhere/a.md", "http://docs.test/a/b.md", "https://github.com/o/r/blob/main/a.md"]


@pytest.fixture(scope="module")
def no_network() -> object:
    def refuse(*_: object, **__: object) -> None:
        raise OSError

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket, "getaddrinfo", refuse)
        yield


@settings(deadline=None)
@given(
    reference=odd,
    base=st.one_of(st.sampled_from(BASES), odd.map("http://".__add__)),
    policy=st.sampled_from([None, AccessPolicy(paths=("/nowhere",), domains=("x.test",))]),
)
def test_whatever_is_named_fails_by_name(
    reference: str, base: str, policy: AccessPolicy | None, no_network: object
) -> None:
    loader = Loader(policy)
    for call in (loader.load, loader.load_markdown, loader.folder, loader.open):
        try:
            call(reference)
        except MdVisionError as error:
            assert error.issue.message
    try:
        loader.load_reference(base, reference)
    except MdVisionError as error:
        assert error.issue.message


@pytest.mark.parametrize("mark", ["/", "?", "#"])
def test_a_password_that_breaks_the_address_is_not_shown(mark: str) -> None:
    with pytest.raises(mdvision.AccessDeniedError) as raised:
        split_url(f"http://mallory:hush{mark}hush@host/")
    told = f"{raised.value} {raised.value.issue.to_dict()}"
    assert "hush" not in told
    assert "mallory" not in told
