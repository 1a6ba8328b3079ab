"""What an address means, a caller's or one that a document names; nothing is opened here."""

from __future__ import annotations

import base64
import binascii
import re
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, unquote, unquote_to_bytes, urljoin, urlsplit

from mdvision.errors import Code, MdVisionError, failure

if TYPE_CHECKING:
    from collections.abc import Mapping

GITHUB, GITHUB_RAW = "github.com", "raw.githubusercontent.com"

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):")  # one letter alone is a Windows drive
_FILE = re.compile(r"file:(?://(?:localhost)?(?=/))?((?!//)/[^?#]*)", re.IGNORECASE)
_WEB = re.compile(r"https?://", re.IGNORECASE)
_GITHUB_FILE = re.compile(
    r"https?://(?:www\.)?github\.com/([^/?#]+/[^/?#]+)/(?:blob|raw)/([^/?#]+/[^?#]+)", re.IGNORECASE
)
_GITHUB_ATTACHMENT = re.compile(
    r"https?://(?:www\.)?github\.com/(?:user-attachments|[^/?#]+/[^/?#]+)/(?:assets|files)/[^/?#]",
    re.IGNORECASE,
)
_GITHUB_STORAGE = re.compile(
    r"(?:[a-z0-9-]+\.)?githubusercontent\.com"
    r"|github-production-(?:user-asset|repository-file)-[0-9a-f]{1,40}\.s3\.amazonaws\.com"
)
_NOT_BASE64 = re.compile(rb"[^A-Za-z0-9+/]")
_SHOWN_CHARS = 200


def file_path(uri: str) -> str:
    """The local path of a `file:` URI (RFC 8089); "" when it lies on another host.

    >>> file_path("file:///a%20b.png"), file_path("file://far.test/x.png")
    ('/a b.png', '')
    """
    found = _FILE.match(uri)
    return unquote(found[1]) if found else ""


def is_url(source: str) -> bool:
    """Whether a source is an address on the web rather than a path."""
    return bool(_WEB.match(source))


def scheme_of(reference: str) -> str:
    r"""The scheme of an address in lower case; "" for a path, one with a drive letter included.

    >>> scheme_of("https://x.test/a"), scheme_of("C:\\a.png"), scheme_of("img/a:b.png")
    ('https', '', '')
    """
    found = _SCHEME.match(reference)
    return found[1].lower() if found else ""


def local_candidates(reference: str) -> list[str]:
    r"""The paths that a written reference may mean, the likeliest first.

    The name as it stands, without query and fragment, then percent-decoded. A backslash separates
    on every system.

    >>> local_candidates("img\\my%20pic.png?raw=true#dark")
    ['img/my%20pic.png?raw=true#dark', 'img/my%20pic.png', 'img/my pic.png']
    """
    name = reference.replace("\\", "/")
    bare = re.split("[?#]", name, maxsplit=1)[0]
    return list(dict.fromkeys(filter(None, (name, bare, unquote(bare)))))


class Assets:
    """Pictures in memory, by the names that a text gives them."""

    def __init__(self, assets: Mapping[str, bytes]) -> None:
        self._assets = assets
        self._names = {name.replace("\\", "/").removeprefix("./"): name for name in assets}

    def find(self, reference: str) -> bytes | None:
        """Look a reference up: as it stands, then by the paths that it may mean."""
        if reference in self._assets:
            return self._assets[reference]
        for candidate in local_candidates(reference):
            if (name := self._names.get(candidate.removeprefix("./"))) is not None:
                return self._assets[name]
        return None


def decode_data_uri(reference: str) -> bytes:
    """Decode a `data:` URI (RFC 2397), base64 or percent-encoded.

    Base64 may be broken by white space, of the URL-safe alphabet, and without its padding.

    Raises:
        DecodeError: there is no comma, or the base64 is none.
    """
    head, comma, body = reference.partition(",")
    if not comma:
        raise _bad_data("it has no comma")
    data = unquote_to_bytes(body.encode("utf-8", "surrogatepass"))
    if not head.lower().rstrip().endswith(";base64"):
        return data
    data = b"".join(data.split()).replace(b"-", b"+").replace(b"_", b"/").rstrip(b"=")
    if _NOT_BASE64.search(data):
        raise _bad_data("it is not base64")
    try:
        return base64.b64decode(data + b"=" * (-len(data) % 4))
    except binascii.Error:
        raise _bad_data("its base64 is cut off") from None


def _bad_data(reason: str) -> MdVisionError:
    message = f"The data: URI could not be decoded: {reason}."
    return failure(Code.DECODE_FAILED, message, details={"reason": "corrupt"})


def raw_form(url: str) -> str:
    """The address of a file's bytes, where `url` is GitHub's page about the file.

    >>> raw_form("https://github.com/o/r/blob/main/docs/a.md#top")
    'https://raw.githubusercontent.com/o/r/main/docs/a.md'
    """
    found = _GITHUB_FILE.match(url)
    return f"https://{GITHUB_RAW}/{found[1]}/{found[2]}" if found else url


def is_github_attachment(named: str, host: str) -> bool:
    """Whether `named` is an attachment on GitHub, and `host` one where GitHub stores them.

    github.com answers such an address with a redirect to its storage, for a few minutes.

    >>> is_github_attachment("https://github.com/user-attachments/assets/1f", "evil.test")
    False
    """
    return bool(_GITHUB_ATTACHMENT.match(named) and _GITHUB_STORAGE.fullmatch(host))


def split_url(url: str) -> SplitResult:
    """Take an address apart.

    Raises:
        AccessDeniedError: it is not http(s), names no host, hides one behind user information, or
            has characters that programs read differently.
    """
    if any(c <= " " or c in "\\\x7f" or c.isspace() for c in url):
        raise _denied_url(
            url, "it has white space, control characters or backslashes", "characters"
        )
    try:
        parts = urlsplit(url)
        parts.port  # noqa: B018 - raises when it is no number
    except ValueError:
        message = "The address is not well-formed, so it is not fetched."  # and may hide a password
        details = {"reason": "malformed"}
        raise failure(Code.URL_ACCESS_DENIED, message, details=details) from None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise _denied_url(url, "only http and https addresses with a host are fetched", "scheme")
    if "%" in parts.hostname and ":" not in parts.hostname:
        raise _denied_url(url, "its host is not spelled out", "characters")
    if parts.username is not None or parts.password is not None:
        raise _denied_url(url, "it carries user information", "userinfo")
    return parts


def _denied_url(url: str, why: str, reason: str) -> MdVisionError:
    message = f"The address {shown_url(shown_reference(url))} is not fetched: {why}."
    return failure(Code.URL_ACCESS_DENIED, message, details={"reason": reason})


def shown_url(url: str) -> str:
    """An address as messages show it: without user information, query and fragment.

    >>> shown_url("https://me:secret@x.test/a?token=1#b")
    'https://x.test/a'
    """
    bare = re.split("[?#]", url, maxsplit=1)[0]
    bare = re.sub(r"//[^/]*@", "//", bare.replace("\\", "/"))
    return "".join(c if c.isprintable() else "?" for c in bare[:_SHOWN_CHARS])


def shown_source(source: str) -> str:
    """What a caller names, as messages show it: a path as he wrote it.

    >>> shown_source("https://x.test/a.md?token=1"), shown_source("docs/a?b.md")
    ('https://x.test/a.md', 'docs/a?b.md')
    """
    return shown_url(source) if is_url(source) else source


def shown_reference(reference: str) -> str:
    """What a document names, as messages show it."""
    if scheme_of(reference) == "data":
        return "a data: URI"
    if scheme_of(reference) or reference.replace("\\", "/").startswith("//"):
        return shown_url(reference)
    return "".join(c if c.isprintable() else "?" for c in reference[:_SHOWN_CHARS])


def join_url(base: str, reference: str) -> str:
    """The address of what a document at `base` names; GitHub's pages of files in raw form.

    Raises:
        AccessDeniedError: one of them cannot be taken apart.
    """
    try:
        return raw_form(urljoin(base, reference.replace("\\", "/").replace(" ", "%20")))
    except ValueError:
        raise _denied_url(reference, "it is not well-formed", "malformed") from None
