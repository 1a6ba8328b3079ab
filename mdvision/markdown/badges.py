"""Badges: small remote pictures that say "build passing" and the like."""

from __future__ import annotations

from urllib.parse import urlsplit

BADGE_HOSTS = ("img.shields.io", "badge.fury.io", "badgen.net", "codecov.io", "coveralls.io")
"""Hosts that serve nothing but badges."""


def is_badge(source: str) -> bool:
    """Whether a picture's address is a badge: remote, and from such a host or named badge.svg.

    >>> is_badge("https://img.shields.io/pypi/v/x"), is_badge("docs/badge.svg")
    (True, False)
    """
    if not source.lower().startswith(("http://", "https://", "//")):
        return False
    try:
        address = urlsplit(source)
        host = (address.hostname or "").rstrip(".")
    except ValueError:
        return False
    return host in BADGE_HOSTS or address.path.endswith("badge.svg")
