"""Every spelling of an address is that address, and what wraps a private one is private."""

from __future__ import annotations

import ipaddress
import socket

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mdvision import AccessPolicy, Code, Loader, MdVisionError
from mdvision.sources.addresses import is_public, literal_address, normal_host


@pytest.mark.parametrize(
    ("host", "address"),
    [
        ("127.0.0.1", "127.0.0.1"),
        ("127.0.0.1.", "127.0.0.1"),
        ("127.1", "127.0.0.1"),
        ("127.0.1", "127.0.0.1"),
        ("2130706433", "127.0.0.1"),
        ("0177.0.0.1", "127.0.0.1"),
        ("017700000001", "127.0.0.1"),
        ("0x7f.1", "127.0.0.1"),
        ("0X7F000001", "127.0.0.1"),
        ("0x7f.0.0.0x1", "127.0.0.1"),
        ("0", "0.0.0.0"),
        ("①②⑦.⓪.⓪.①", "127.0.0.1"),
        ("１２７．０．０．１", "127.0.0.1"),
        ("127。0。0。1", "127.0.0.1"),
        ("[::1]", "::1"),
        ("::1", "::1"),
        ("[0:0:0:0:0:0:0:1]", "::1"),
        ("[::ffff:127.0.0.1]", "::ffff:7f00:1"),
        ("[FE80::1%25eth0]", "fe80::1"),
        ("[fe80::1%eth0]", "fe80::1"),
    ],
)
def test_spellings(host: str, address: str) -> None:
    assert literal_address(host) == ipaddress.ip_address(address)


@pytest.mark.parametrize(
    "host",
    ["", ".", "x.test", "localhost", "4294967296", "1.2.3.4.5", "1.2.3.x", "127.0.0.1x", "[x]"],
)
def test_names_are_no_addresses(host: str) -> None:
    assert literal_address(host) is None


@given(st.ip_addresses(v=4))
def test_all_forms_of_one_address(address: ipaddress.IPv4Address) -> None:
    a, b, c, d = address.packed
    rest = c * 256 + d
    for form in (
        f"{address}",
        f"{int(address)}",
        f"{int(address):#x}",
        f"0{int(address):o}",
        f"{a}.{b}.{rest}",
        f"{a:#x}.0{b:o}.{c}.{d:#X}",
    ):
        assert literal_address(form) == address


@given(st.ip_addresses(v=4))
def test_an_address_is_as_private_as_what_it_wraps(address: ipaddress.IPv4Address) -> None:
    word = int(address)
    mapped = ipaddress.IPv6Address((0xFFFF << 32) | word)
    six_to_four = ipaddress.IPv6Address((0x2002 << 112) | (word << 80))
    nat64 = ipaddress.IPv6Address((0x64FF9B << 96) | word)
    public = is_public(str(address))
    assert is_public(str(mapped)) == public
    assert is_public(str(six_to_four)) == public
    assert is_public(str(nat64)) == public
    assert not is_public(str(ipaddress.IPv6Address(word)))  # compatible, deprecated by RFC 4291
    assert not is_public(str(ipaddress.IPv6Address((0xFFFF << 48) | word)))  # RFC 2765
    if address.is_private or address.is_loopback or address.is_multicast or address.is_link_local:
        assert not public


@pytest.mark.parametrize(
    ("host", "name"),
    [
        ("EXAMPLE.Test.", "example.test"),
        ("a。test。", "a.test"),
        ("bücher.test", "xn--bcher-kva.test"),
        ("XN--BCHER-KVA.test", "xn--bcher-kva.test"),
        ("BU\u0308CHER.test", "xn--bcher-kva.test"),  # composed and not, of either case
        ("faß.test", "xn--fa-hia.test"),
        ("ｅｘ.test", "ex.test"),
    ],
)
def test_one_name_for_each_host(host: str, name: str) -> None:
    assert normal_host(host) == name
    assert normal_host(name) == name


PRIVATE = [
    *("127.0.0.1", "2130706433", "0177.0.0.1", "0x7f.1", "127.1", "0", "127.0.0.1.", "①②⑦.⓪.⓪.①"),
    *("[::1]", "[::]", "[::ffff:127.0.0.1]", "[::ffff:a9fe:a9fe]", "[::127.0.0.1]"),
    *("[2002:7f00:1::]", "[2001:0:7f00:1::]", "[64:ff9b::7f00:1]", "[64:ff9b:1::1]", "[fec0::1]"),
    *("[fe80::1%25eth0]", "[fc00::1]", "[ff02::1]", "169.254.169.254", "100.64.0.1", "10.1.2.3"),
    *("172.16.0.1", "192.168.0.1", "224.0.0.1", "255.255.255.255", "[::ffff:0:127.0.0.1]"),
]


@pytest.mark.parametrize("host", PRIVATE)
@pytest.mark.parametrize("proxy", [None, "http://proxy.test"])
def test_a_private_address_is_not_even_tried(
    host: str, proxy: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def connect(*_: object) -> None:
        raise AssertionError(host)

    monkeypatch.setattr(socket.socket, "connect", connect)
    for url in (f"http://{host}/x", f"https://{host}:8443/x", f"HTTP://{host.upper()}/x"):
        with pytest.raises(MdVisionError) as raised:
            Loader(AccessPolicy(domains=("all",)), proxy=proxy).load(url)
        issue = raised.value.issue
        assert (issue.code, issue.details) == (
            Code.URL_ACCESS_DENIED,
            {"reason": "private_address"},
        )
