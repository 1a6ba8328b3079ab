"""Which network addresses are public, whatever way they are written or wrapped."""

from __future__ import annotations

import ipaddress
import re
import socket
import unicodedata

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

_NUMERIC = re.compile(r"(?:0x[0-9a-f]*|[0-9]+)(?:\.(?:0x[0-9a-f]*|[0-9]+)){0,3}")
_NAT64 = ipaddress.ip_network("64:ff9b::/96")  # RFC 6052
_NOT_PUBLIC = tuple(
    ipaddress.ip_network(block)
    for block in (
        # Python's own tables grew over the versions; these are not in all of them
        "192.0.0.0/24",  # RFC 6890, protocol assignments
        "3fff::/20",  # RFC 9637, documentation
        "5f00::/16",  # RFC 9602, segment routing
        "64:ff9b:1::/48",  # RFC 8215, local NAT64
        "fec0::/10",  # RFC 3879, site-local
        "::ffff:0:0:0/96",  # RFC 2765, translated IPv4
        "::/96",  # RFC 4291, IPv4-compatible
    )
)


def normal_host(host: str) -> str:
    """A host name as it is compared: NFKC, lower case, IDNA, no brackets and no final dot.

    IDNA is that of 2008, as requests and browsers have it; the standard library's codec would make
    one host of two: fass.de of faß.de.

    >>> normal_host("EXAMPLE.com."), normal_host("bücher.example"), normal_host("[::1]")
    ('example.com', 'xn--bcher-kva.example', '::1')
    """
    name = unicodedata.normalize("NFKC", host).strip("[]").rstrip(".").lower()
    if name.isascii():
        return name
    import idna  # requests' own; most hosts need none

    try:
        return idna.encode(name, uts46=True).decode("ascii").rstrip(".")
    except UnicodeError:
        return name


def literal_address(host: str) -> Address | None:
    """The address that a host is written as, in any spelling; None for a name.

    >>> literal_address("0x7f.1"), literal_address("[::1]"), literal_address("x.test")
    (IPv4Address('127.0.0.1'), IPv6Address('::1'), None)
    """
    name = normal_host(host).partition("%")[0]
    try:
        return ipaddress.ip_address(name)
    except ValueError:
        pass
    if not _NUMERIC.fullmatch(name):
        return None
    try:
        return ipaddress.IPv4Address(socket.inet_aton(name))
    except OSError:
        return None


def is_public(address: str) -> bool:
    """Whether an address belongs to the public network, and so does every one wrapped in it.

    The standard library's `is_global` lets IPv4 addresses through that are wrapped in IPv6 (mapped,
    6to4, Teredo, NAT64), and multicast.

    >>> is_public("93.184.215.14"), is_public("::ffff:127.0.0.1"), is_public("64:ff9b::a00:1")
    (True, False, False)
    """
    found = ipaddress.ip_address(address.partition("%")[0])
    return all(map(_is_public_itself, _wrapped(found) or [found]))


def _is_public_itself(address: Address) -> bool:
    if any(address.version == block.version and address in block for block in _NOT_PUBLIC):
        return False
    return address.is_global and not address.is_multicast


def _wrapped(address: Address) -> list[Address]:
    if isinstance(address, ipaddress.IPv4Address):
        return []
    found: list[Address | None] = [address.ipv4_mapped, address.sixtofour, *(address.teredo or ())]
    if address in _NAT64:
        found.append(ipaddress.IPv4Address(int(address) & 0xFFFFFFFF))
    return [inner for inner in found if inner is not None]
