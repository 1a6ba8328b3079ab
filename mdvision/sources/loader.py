"""The one door in: files and pages, by the rules of a policy or by trust in the caller."""

from __future__ import annotations

import codecs
import io
import math
import os
import re
from dataclasses import fields
from typing import TYPE_CHECKING, BinaryIO

from mdvision.errors import AccessDeniedError, Code, MdVisionError, SourceNotFoundError, failure
from mdvision.limits import Limits
from mdvision.model import AccessPolicy, Resource
from mdvision.model.access import ALL
from mdvision.sources.addresses import normal_host
from mdvision.sources.opening import (
    denied,
    is_inside,
    missing,
    open_file,
    real_path,
    unopened,
)
from mdvision.sources.policy import host_allowed, host_listed
from mdvision.sources.resolve import (
    GITHUB,
    GITHUB_RAW,
    decode_data_uri,
    file_path,
    is_url,
    join_url,
    local_candidates,
    scheme_of,
    shown_reference,
    shown_url,
    split_url,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from types import TracebackType

    from mdvision.model import Source

_HTML = re.compile(rb"<(?:!doctype\s+html|html)\b", re.IGNORECASE)
_NOT_SPACE = re.compile(rb"\S")
_BEFORE_HTML = ((b"<!--", b"-->"), (b"<?xml", b">"))
_MEDIA_TYPE = re.compile(r"[\w.+-]{1,60}/[\w.+-]{1,60}", re.ASCII)
_LONGEST_SECONDS = 1e9  # thirty years; a timer takes little more
_HTML_TYPES = ("text/html", "application/xhtml+xml")


class Loader:
    """Opens files and fetches pages; reusable, safe from several threads, a context manager.

    Without a policy the caller is trusted: the source he names is opened; a local document may name
    any local file and no host, a document from the web its own host and no file. With a policy all
    is checked, the caller's sources too. A document from the web never names a local file.

    Args:
        policy: which files and hosts may be read; None trusts the caller.
        limits: how much is taken in.
        proxy: URL of a proxy for all fetches; the environment's are not used. The proxy resolves
            names then, so that private addresses are recognised only where they are written out.
        ca_bundle: file of certificate authorities to trust.
        headers: headers by exact host; sent over https alone, and never after a redirect elsewhere.
    """

    def __init__(
        self,
        policy: AccessPolicy | None = None,
        limits: Limits | None = None,
        *,
        proxy: str | None = None,
        ca_bundle: Source | None = None,
        headers: Mapping[str, Mapping[str, str]] | None = None,
    ) -> None:
        self.policy = policy
        self.limits = limits or Limits()
        _check(self.limits)
        self._proxy = proxy
        self._ca_bundle = None if ca_bundle is None else os.fspath(ca_bundle)
        self._headers = dict(headers or {})
        self._private_hosts: set[str] = set()  # those that a trusted caller named himself
        self._roots: list[str] | None = None
        if policy is not None and policy.paths != (ALL,):
            self._roots = [real for path in policy.paths if path and (real := real_path(path))]

    def __enter__(self) -> Loader:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of what is held; a loader may be used again afterwards."""

    # what a caller names

    def load(self, source: Source) -> Resource:
        """Bring a picture, a document or a page, up to `limits.max_input_bytes`.

        Raises:
            SourceError: it is missing, too large, slow, or not to be had.
            AccessDeniedError: the policy forbids it.
        """
        named = os.fspath(source)
        if is_url(named):
            return self._fetch(named, self._caller_may, by_caller=True)
        return self._load_path(self._locate(named), named, self.limits.max_input_bytes)

    def load_markdown(self, source: Source) -> Resource:
        """Bring a markdown file, up to `limits.max_text_bytes`, or a page that is not HTML."""
        named = os.fspath(source)
        if not is_url(named):
            return self._load_path(self._locate(named), named, self.limits.max_text_bytes)
        found = self._fetch(named, self._caller_may, by_caller=True)
        if found.media_type in _HTML_TYPES or _begins_as_html(found.data):
            sent_as = found.media_type if _MEDIA_TYPE.fullmatch(found.media_type) else "unknown"
            message = f"URL returned HTML (Content-Type: {sent_as}), not plain text or markdown: "
            message += f"{shown_url(found.uri)}."
            action = "Give the address of the markdown itself, such as its raw form."
            details = {"reason": "html"}
            raise failure(Code.SOURCE_UNSUPPORTED, message, next_action=action, details=details)
        return found

    def open(self, source: Source) -> BinaryIO:
        """Open a source for reading, by the same checks; a local file can be seeked."""
        named = os.fspath(source)
        if is_url(named):
            return io.BytesIO(self.load(named).data)
        path = self._locate(named)
        return open_file(path, named, self._roots)

    def folder(self, source: Source) -> str:
        """The path of a folder that a caller names.

        Raises:
            InvalidInputError: it is a file or an address.
            SourceNotFoundError: there is no such folder.
            AccessDeniedError: the policy forbids it.
        """
        named = os.fspath(source)
        path = "" if is_url(named) else self._locate(named)
        if self._roots is not None and path and not is_inside(real_path(path), self._roots):
            raise denied(named)
        if os.path.isdir(path):
            return path
        if path and not os.path.exists(path):
            raise missing(named)
        message = f"Expected a folder: {shown_url(named) if is_url(named) else named} is none."
        raise failure(Code.INPUT_INVALID, message, details={"reason": "not_a_folder"})

    def is_folder(self, source: Source) -> bool:
        """Whether a source is a folder that may be read."""
        try:
            self.folder(source)
        except MdVisionError:
            return False
        return True

    def may_read(self, path: str) -> bool:
        """Whether the policy lets a local path through once its links are followed."""
        return self._roots is None or is_inside(real_path(path), self._roots)

    # what a document names

    def load_reference(
        self, base: str, reference: str, site_roots: Sequence[Source] = ()
    ) -> Resource:
        """Bring the picture that a document at `base` names.

        Args:
            base: path or URL of the document, or of its folder with a final "/"; "" when the text
                has none, and then it may only name `data:`, or what a policy allows.
            reference: the address as the document wrote it.
            site_roots: folders in which a path that begins with "/" is looked for as well.

        Raises:
            SourceError: it is missing, too large, slow, or not to be had.
            AccessDeniedError: the document may not name it.
        """
        scheme = scheme_of(reference)
        if scheme == "data":
            return Resource(data=self._data(reference), uri="", media_type="")
        on_web = scheme in ("http", "https") or reference.replace("\\", "/").startswith("//")
        if scheme and not on_web and scheme != "file":
            message = f"{shown_reference(reference)} is of a kind that cannot be opened."
            raise failure(Code.SOURCE_UNSUPPORTED, message, details={"reason": "scheme"})
        if is_url(base):
            if scheme == "file":
                raise denied(shown_reference(reference))
            return self._fetch(join_url(base, reference), lambda host: self._page_may(host, base))
        if on_web:
            return self._fetch(join_url("https:", reference), self._document_may)
        return self._load_named(base, reference, site_roots)

    def _data(self, reference: str) -> bytes:
        data = decode_data_uri(reference)
        if len(data) > self.limits.max_input_bytes:
            raise _too_large("The data: URI", self.limits.max_input_bytes, len(data))
        return data

    def _load_named(self, base: str, reference: str, site_roots: Sequence[Source]) -> Resource:
        """Bring a local file that a local document names: the first of its readings that is one."""
        shown = shown_reference(reference)
        is_absolute = scheme_of(reference) == "file" or reference.startswith(("/", "\\"))
        if not base and not (is_absolute and self.policy):
            message = f"{shown} cannot be found: the text has no base."
            action = "Pass base= or assets=."
            details = {"reason": "missing"}
            raise failure(Code.SOURCE_NOT_FOUND, message, next_action=action, details=details)
        refused: MdVisionError = missing(shown)
        for path in _readings(base, reference, site_roots):
            try:
                return self._load_path(path, shown, self.limits.max_input_bytes)
            except SourceNotFoundError:
                continue
            except AccessDeniedError as error:
                refused = error
        raise refused

    # how

    def _load_path(self, path: str, shown: str, limit: int | None) -> Resource:
        with open_file(path, shown, self._roots) as file:
            size = os.fstat(file.fileno()).st_size
            if limit is not None and size > limit:
                raise _too_large(shown, limit, size)
            try:
                data = file.read(-1 if limit is None else limit + 1)  # /proc files have no size
            except OSError as error:
                raise unopened(error, shown) from None
            except (MemoryError, OverflowError):
                raise _too_large(shown, size - 1, size) from None
        if limit is not None and len(data) > limit:
            raise _too_large(shown, limit, len(data))
        return Resource(data=data, uri=path, media_type="")

    def _locate(self, named: str) -> str:
        """The path meant: against the working directory, then each allowed folder in order."""
        if scheme_of(named) == "file":
            instead = file_path(named) or "itself"
            message = f"file:// URIs are not supported: pass the path {instead} instead."
            action = "Pass the local path."
            details = {"reason": "scheme"}
            raise failure(Code.INPUT_INVALID, message, next_action=action, details=details)
        if named.startswith("://", len(scheme_of(named)) or len(named)):
            message = f"{shown_url(named)} cannot be opened: only paths, http and https can."
            raise failure(Code.URL_ACCESS_DENIED, message, details={"reason": "scheme"})
        if "\0" in named:
            message = "A path cannot hold a NUL character."
            raise failure(Code.INPUT_INVALID, message, details={"reason": "path"})
        if self._roots is None or os.path.isabs(named):
            return named
        tried = [named, *(os.path.join(root, named) for root in self._roots)]
        inside = [path for path in tried if is_inside(real_path(path), self._roots)]
        if not inside:
            raise denied(named)
        return next((path for path in inside if os.path.lexists(path)), inside[0])

    def _fetch(
        self, url: str, allows: Callable[[str], None], *, by_caller: bool = False
    ) -> Resource:
        split_url(url)
        from mdvision.sources.web import WebRules, fetch  # brings requests

        rules = WebRules(
            limits=self.limits,
            allows=allows,
            may_be_private=self._may_be_private(url, by_caller=by_caller),
            proxy=self._proxy,
            ca_bundle=self._ca_bundle,
            headers=self._headers,
        )
        return fetch(url, rules)

    def _may_be_private(self, url: str, *, by_caller: bool) -> Callable[[str], bool]:
        """Whether a host that turned out to be in a private network may be fetched.

        Of a trusted caller the very host that he named, and then what its pages name there. A page
        from the public network cannot claim that by having its name resolve to a private address,
        nor by a redirect to a host that he named before.
        """
        policy = self.policy
        if policy is not None:
            return lambda host: policy.private_network or host_listed(host, policy.domains)
        named = normal_host(split_url(url).hostname or "")

        def trusted(host: str) -> bool:
            if by_caller and normal_host(host) == named:
                self._private_hosts.add(named)
            return normal_host(host) == named and named in self._private_hosts

        return trusted

    def _caller_may(self, host: str) -> None:
        if self.policy is not None:
            self._policy_allows(host, self.policy)

    def _document_may(self, host: str) -> None:
        if self.policy is None:
            raise _domain_denied(host, "a local document may name no host")
        self._policy_allows(host, self.policy)

    def _page_may(self, host: str, base: str) -> None:
        if self.policy is not None:
            self._policy_allows(host, self.policy)
            return
        own = normal_host(split_url(base).hostname or "")
        family = {GITHUB, GITHUB_RAW} if own in (GITHUB, GITHUB_RAW) else {own}
        if normal_host(host) not in family:
            raise _domain_denied(host, "a page may name its own host alone")

    def _policy_allows(self, host: str, policy: AccessPolicy) -> None:
        if not policy.domains:
            message = f"URLs are disabled: no host is allowed, {host} neither."
            raise failure(Code.URL_ACCESS_DENIED, message, details={"reason": "domain"})
        if not host_allowed(host, policy.domains):
            raise _domain_denied(host, "it is not among the allowed hosts")


def _check(limits: Limits) -> None:
    """Refuse limits that are none: what is no number bounds nothing."""
    for field in fields(limits):
        value: object = getattr(limits, field.name)
        if value is None and field.name == "max_text_bytes":
            continue
        kinds = (int, float) if field.name == "timeout_seconds" else int
        most = _LONGEST_SECONDS if field.name == "timeout_seconds" else math.inf
        if isinstance(value, bool) or not isinstance(value, kinds) or not 0 <= value <= most:
            message = f"{field.name} is {value!r}; it must be a number from 0 on."
            raise failure(Code.INPUT_INVALID, message, details={"reason": field.name})


def _begins_as_html(data: bytes) -> bool:
    """Whether the first thing after byte-order mark, white space and comments is an HTML page's.

    By steps: a pattern for all of it would try every way to part many comments.
    """
    start = len(codecs.BOM_UTF8) if data.startswith(codecs.BOM_UTF8) else 0
    while True:
        found = _NOT_SPACE.search(data, start)
        start = found.start() if found else len(data)
        close = next((close for open_, close in _BEFORE_HTML if data.startswith(open_, start)), b"")
        end = data.find(close, start) if close else -1
        if end < 0:
            return bool(_HTML.match(data, start))
        start = end + len(close)


def _readings(base: str, reference: str, site_roots: Sequence[Source]) -> Iterator[str]:
    """The local paths that a reference may mean, the likeliest first."""
    if scheme_of(reference) == "file":
        if path := file_path(reference):
            yield path
        return
    folder = base if base.endswith("/") or os.path.isdir(base) else os.path.dirname(base)
    for name in local_candidates(reference):
        yield os.path.join(folder, name)
        if name.startswith("/"):
            yield from (os.path.join(os.fspath(root), name.lstrip("/")) for root in site_roots)


def _domain_denied(host: str, why: str) -> MdVisionError:
    message = f"Domain is not allowed: {host}; {why}."
    return failure(Code.URL_ACCESS_DENIED, message, details={"reason": "domain"})


def _too_large(shown: str, limit: int, size: int) -> MdVisionError:
    message = f"{shown} is larger than {limit:,} bytes."
    return failure(Code.SOURCE_TOO_LARGE, message, details={"limit": limit, "actual": size})
