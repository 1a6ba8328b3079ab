"""What an access policy lets through."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from mdvision.errors import Code, MdVisionError, failure
from mdvision.model.access import ALL, AccessPolicy
from mdvision.sources.addresses import literal_address, normal_host
from mdvision.sources.resolve import GITHUB, GITHUB_RAW

if TYPE_CHECKING:
    from collections.abc import Sequence

NONE = "none"
_NOT_IN_HOST = re.compile(r"[:/@,\s\\\ud800-\udfff]|.{254}")  # RFC 1035, section 2.3.4: 253 at most
_GLOB_VALUES = 2  # that look like files: a shell has expanded an unquoted star


def policy_from_flags(
    paths: Sequence[str], domains: Sequence[str], *, private_network: bool
) -> AccessPolicy:
    """Make a policy of the values of --allow-path and --allow-domain, of which both must be given.

    Raises:
        InvalidInputError: a flag is missing, or its values are none.
    """
    if not paths:
        raise _refused(
            "At least one --allow-path is required.", "Pass --allow-path DIR (repeatable)."
        )
    if not domains:
        message = "At least one --allow-domain is required."
        raise _refused(message, "Pass --allow-domain HOST (repeatable), all, or none.")
    return AccessPolicy(
        paths=folders_from_flags(paths),
        domains=hosts_from_flags(domains),
        private_network=private_network,
    )


def folders_from_flags(values: Sequence[str]) -> tuple[str, ...]:
    """The folders that the values of --allow-path name; quotes round one are dropped.

    Raises:
        InvalidInputError: a folder does not exist.
    """
    folders = [_unquoted(value) for value in values]
    folders = [os.path.join(".", folder) if folder == ALL else folder for folder in folders]
    for folder in folders:
        if not os.path.isdir(folder):
            raise _refused(f"--allow-path {folder} is not a folder.", "Name a folder that exists.")
    return tuple(folders)


def hosts_from_flags(values: Sequence[str]) -> tuple[str, ...]:
    """The hosts that the values of --allow-domain name.

    Quotes round a value are dropped, and so is a leading "*."; "*" is "all", "none" no host.

    Raises:
        InvalidInputError: "all" or "none" does not stand alone, a value is no host, or the values
            look like the names of files in the working directory.
    """
    hosts = [_unquoted(value).lower() for value in values]
    hosts = [ALL if host == "*" else host.removeprefix("*.") for host in hosts]
    if ALL in hosts and NONE in hosts:
        raise _refused("--allow-domain all and none are mutually exclusive.", "Pass one of them.")
    for word in (ALL, NONE):
        if word in hosts and len(hosts) > 1:
            message = f"--allow-domain {word} must be the only entry."
            raise _refused(message, f"Pass {word} alone, or hosts.")
    if len(hosts) >= _GLOB_VALUES and any(map(os.path.lexists, map(_unquoted, values))):
        message = "Several --allow-domain values look like shell glob expansion of an unquoted *."
        raise _refused(message, "Pass --allow-domain=all, or quote the star.")
    for host in hosts:
        is_address = literal_address(host) is not None
        if not is_address and (
            not all(host.removesuffix(".").split(".")) or _NOT_IN_HOST.search(host)
        ):
            raise _refused(
                f"--allow-domain {host!r} is not a host.",
                "Pass a host such as example.com, with no scheme and no port.",
            )
    return () if hosts == [NONE] else tuple(hosts)


def _unquoted(value: str) -> str:
    return value.strip().strip("\"'").strip()


def _refused(message: str, action: str) -> MdVisionError:
    return failure(Code.CONFIG_INVALID, message, next_action=action)


def host_allowed(host: str, domains: Sequence[str]) -> bool:
    """Whether a host is one of `domains` or lies below one; an address only equals itself.

    What github.com shows is served by raw.githubusercontent.com, so that counts as github.com's.

    >>> [host_allowed(host, ["example.com"]) for host in ("docs.example.com", "evilexample.com")]
    [True, False]
    """
    if ALL in domains:
        return True
    address, name = literal_address(host), normal_host(host)
    if address is not None:
        return any(address == literal_address(domain) for domain in domains)
    allowed = [normal_host(domain) for domain in domains if literal_address(domain) is None]
    if name == GITHUB_RAW and GITHUB in allowed:
        return True
    return any(name == domain or name.endswith(f".{domain}") for domain in allowed)


def host_listed(host: str, domains: Sequence[str]) -> bool:
    """Whether that very host is listed, which lifts the block of private addresses for it."""
    address = literal_address(host)
    if address is not None:
        return any(address == literal_address(domain) for domain in domains)
    return normal_host(host) in {normal_host(domain) for domain in domains if domain != ALL}
