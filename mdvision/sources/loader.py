"""The one door in: files and pages, by the rules of a policy or by trust in the caller."""

from __future__ import annotations

import io
import os
import re
from typing import TYPE_CHECKING, BinaryIO
from urllib.parse import quote

from mdvision.errors import (
    AccessDeniedError,
    Code,
    InvalidInputError,
    MdVisionError,
    SourceNotFoundError,
    failure,
)
from mdvision.images.markup import begins_as_html
from mdvision.limits import Limits
from mdvision.model import AccessPolicy, Resource
from mdvision.model.access import ALL
from mdvision.sources.addresses import normal_host
from mdvision.sources.local import LocalNames
from mdvision.sources.opening import (
    EMPTY,
    beyond_memory,
    denied,
    is_inside,
    missing,
    open_file,
    real_path,
    too_large,
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
    scheme_of,
    shown_reference,
    shown_source,
    shown_url,
    split_url,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from types import TracebackType

    from mdvision.model import Source

_MEDIA_TYPE = re.compile(r"[\w.+-]{1,60}/[\w.+-]{1,60}", re.ASCII)
_UNSIZED_BYTES = 67_108_864  # taken beyond the size that a file claims: those in /proc claim none
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
        self._proxy = proxy
        self._ca_bundle = None if ca_bundle is None else os.fspath(ca_bundle)
        self._headers = dict(headers or {})
        self._private_hosts: set[str] = set()  # those that a trusted caller named himself
        self._folders: list[str] = []  # as they were given, and so are the paths in them told
        self._roots: list[str] | None = None
        if policy is not None and policy.paths != (ALL,):
            self._folders = [path for path in policy.paths if path and real_path(path)]
            self._roots = list(map(real_path, self._folders))

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

    def checkpoint(self) -> None:
        """Called for each folder, file and piece of a page; a subclass may raise here.

        So whoever works for somebody who may leave can stop.
        """

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
        return self._load_path(self.locate(named), named, self.limits.max_input_bytes)

    def load_markdown(self, source: Source) -> Resource:
        """Bring a markdown file, up to `limits.max_text_bytes`, or a page that is not HTML.

        Raises:
            InvalidInputError: it is a folder.
            SourceError: it is missing, too large, slow, not to be had, or HTML.
            AccessDeniedError: the policy forbids it.
        """
        named = os.fspath(source)
        if not is_url(named):
            path = self.locate(named)
            try:
                return self._load_path(path, named, self.limits.max_text_bytes)
            except InvalidInputError as error:  # it is a folder
                message = f"Expected a markdown file: {error.issue.message}"
                details = error.issue.details
                raise failure(Code.INPUT_INVALID, message, details=details) from None
        found = self._fetch(named, self._caller_may, by_caller=True)
        if found.media_type in _HTML_TYPES or begins_as_html(found.data):
            sent_as = found.media_type if _MEDIA_TYPE.fullmatch(found.media_type) else "unknown"
            message = f"URL returned HTML (Content-Type: {sent_as}), not plain text or markdown: "
            message += f"{shown_url(found.uri)}."
            action = "Give the address of the markdown itself, such as its raw form."
            details = {"reason": "html"}
            raise failure(Code.SOURCE_UNSUPPORTED, message, next_action=action, details=details)
        return found

    def open(self, source: Source) -> BinaryIO:
        """Open a source for reading; the checks are those of `load`, a local file of any size.

        Raises:
            SourceError: it is missing, not to be had, or a page that is too large or slow.
            AccessDeniedError: the policy forbids it.
        """
        named = os.fspath(source)
        if is_url(named):
            return io.BytesIO(self.load(named).data)
        path = self.locate(named)
        return open_file(path, named, self._roots)

    def locate(self, named: str) -> str:
        """The path that a caller means; nothing is opened.

        A relative one is tried against the working directory, then each allowed folder in order;
        the first that exists inside an allowed folder counts.

        Raises:
            InvalidInputError: it is a `file:` URI, or holds NUL.
            AccessDeniedError: it lies outside all allowed folders, whether it exists or not.
        """
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
        tried = [named, *(os.path.join(folder, named) for folder in self._folders)]
        inside = [path for path in tried if is_inside(real_path(path), self._roots)]
        if not inside:
            raise denied(named)
        return next((path for path in inside if os.path.lexists(path)), inside[0])

    def folder(self, source: Source) -> str:
        """The path of a folder that a caller names.

        Raises:
            InvalidInputError: it is a file or an address.
            SourceNotFoundError: there is no such folder.
            AccessDeniedError: the policy forbids it.
        """
        named = os.fspath(source)
        path = "" if is_url(named) else self.locate(named)
        if self._roots is not None and path and not is_inside(real_path(path), self._roots):
            raise denied(named)
        if os.path.isdir(path):
            return path
        if path and not os.path.exists(path):
            raise missing(named)
        message = f"Expected a folder: {shown_source(named) or EMPTY} is none."
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

    def names(self, base: str, site_roots: Sequence[Source] = ()) -> LocalNames:
        """What names in the document at `base` may mean on disk, for `load_named`.

        Args:
            base: path or URL of the document, or of its folder with a final "/"; "" when the text
                has none, and then it may only name `data:`, or what a policy allows.
            site_roots: folders in which a path that begins with "/" is looked for first.
        """
        return LocalNames(base, site_roots, self._roots, self.checkpoint)

    def load_reference(
        self, base: str, reference: str, site_roots: Sequence[Source] = ()
    ) -> Resource:
        """Bring the picture that a document at `base` names: `load_named` for a single one."""
        return self.load_named(self.names(base, site_roots), reference)

    def load_named(self, names: LocalNames, reference: str, *, kind: str = "inline") -> Resource:
        """Bring the picture that a document names.

        Args:
            names: of the document.
            reference: the address as the document wrote it.
            kind: as in `ImageReference`; a name in a "wiki" embed is no address.

        Raises:
            SourceError: it is missing, too large, slow, or not to be had.
            AccessDeniedError: the document may not name it.
        """
        base, by_name = names.base, kind == "wiki"
        scheme = "" if by_name else scheme_of(reference)
        if scheme == "data":
            return Resource(data=self._data(reference), uri="", media_type="")
        on_web = scheme in ("http", "https") or reference.replace("\\", "/").startswith("//")
        if scheme and not on_web and scheme != "file":
            message = f"{shown_reference(reference)} is of a kind that cannot be opened."
            raise failure(Code.SOURCE_UNSUPPORTED, message, details={"reason": "scheme"})
        if is_url(base):
            if scheme == "file":
                raise denied(shown_reference(reference))
            address = quote(reference) if by_name else reference
            return self._fetch(join_url(base, address), lambda host: self._page_may(host, base))
        if on_web and not by_name:
            return self._fetch(join_url("https:", reference), self._document_may)
        return self._load_local(names, reference, kind)

    def _data(self, reference: str) -> bytes:
        data = decode_data_uri(reference)
        if len(data) > self.limits.max_input_bytes:
            raise too_large("The data: URI", self.limits.max_input_bytes, len(data))
        return data

    def _load_local(self, names: LocalNames, reference: str, kind: str) -> Resource:
        """Bring a local file that a local document names: the first of its paths that is one."""
        shown = shown_reference(reference)
        is_absolute = scheme_of(reference) == "file" or reference.startswith(("/", "\\"))
        if not names.base and not (is_absolute and self.policy):
            message = f"{shown} cannot be found: the text has no base."
            action = "Pass base= or assets=."
            details = {"reason": "missing"}
            raise failure(Code.SOURCE_NOT_FOUND, message, next_action=action, details=details)
        refused: MdVisionError = missing(shown)
        for path in names.paths(reference, kind):
            try:
                return self._load_path(path, shown, self.limits.max_input_bytes)
            except SourceNotFoundError:
                continue
            except (AccessDeniedError, InvalidInputError) as error:  # outside, or a folder
                refused = error
        raise refused

    # how

    def _load_path(self, path: str, shown: str, limit: int | None) -> Resource:
        self.checkpoint()
        with open_file(path, shown, self._roots) as file:
            size = os.fstat(file.fileno()).st_size
            if limit is not None and size > limit:
                raise too_large(shown, limit, size)
            # What is asked for is reserved at once, so that is not the whole of a high limit.
            most = None if limit is None else min(limit, size + _UNSIZED_BYTES)
            try:
                data = file.read(-1 if most is None else most + 1)
            except OSError as error:
                raise unopened(error, shown) from None
            except (MemoryError, OverflowError):
                raise beyond_memory(shown, size) from None
        if most is not None and len(data) > most:
            raise too_large(shown, most, len(data))
        return Resource(data=data, uri=path, media_type="")

    def _fetch(
        self, url: str, allows: Callable[[str], None], *, by_caller: bool = False
    ) -> Resource:
        named = normal_host(split_url(url).hostname or "")
        from mdvision.sources.web import WebRules, fetch  # brings requests

        private: set[str] = set()  # hosts of this fetch that turned out to be

        def may_be_private(host: str) -> bool:
            private.add(normal_host(host))
            return self._may_be_private(host, named, by_caller=by_caller)

        rules = WebRules(
            limits=self.limits,
            allows=allows,
            checkpoint=self.checkpoint,
            may_be_private=may_be_private,
            proxy=self._proxy,
            ca_bundle=self._ca_bundle,
            headers=self._headers,
        )
        found = fetch(url, rules)
        if by_caller:
            self._private_hosts.update(private)
        return found

    def _may_be_private(self, host: str, named: str, *, by_caller: bool) -> bool:
        """Whether a host that turned out to be in a private network may be fetched.

        Of a trusted caller the very host that he named, and then what its pages name there. A page
        from the public network cannot claim that by having its name resolve to a private address,
        nor by a redirect to a host that he named before.
        """
        if self.policy is not None:
            return self.policy.private_network or host_listed(host, self.policy.domains)
        return normal_host(host) == named and (by_caller or named in self._private_hosts)

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


def _domain_denied(host: str, why: str) -> MdVisionError:
    message = f"Domain is not allowed: {host}; {why}."
    return failure(Code.URL_ACCESS_DENIED, message, details={"reason": "domain"})
