"""Indexing: the headings and pictures of a text, a file, a page or a folder."""

from __future__ import annotations

import logging
import os
import posixpath
from collections import Counter, deque
from concurrent.futures import BrokenExecutor
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING, NamedTuple

from mdvision.errors import Code, Issue, MdVisionError, StoreError, failure, issue
from mdvision.markdown.frontmatter import parse_front_matter
from mdvision.model import AccessPolicy, MarkdownFileIndex, MarkdownFolderIndex
from mdvision.sources.document import Document, load_document, parse_document
from mdvision.sources.files import list_markdown
from mdvision.sources.loader import Loader
from mdvision.sources.resolve import is_url, shown_reference

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from concurrent.futures import Future, ProcessPoolExecutor

    from mdvision.limits import Limits
    from mdvision.model import Progress, Source
    from mdvision.sources.files import FolderListing
    from mdvision.storing import IndexCache, Stamp

_LOGGER = logging.getLogger("mdvision")
_BATCH = 64  # files that a worker process takes at once
_BATCHES_AHEAD = 3  # for each worker: enough to keep it busy, few enough to bound memory
_EXTRAS = {".pdf": "pdf"}  # which extra reads what; "documents" reads the other kinds
_WORTH_WORKERS_BYTES = 33_554_432  # less is indexed before a second process has started


def index_markdown_text(text: str, *, path: str | None = None) -> MarkdownFileIndex:
    r"""Index a markdown text; `path` is only noted, and its suffix tells MDX from markdown.

    >>> index = index_markdown_text("# Guide\n\n![map](map.png)\n\n## Setup\n")
    >>> [(row.heading, row.line_start, row.image_count) for row in index.rows]
    [('# Guide', 1, 1), ('## Setup', 5, 0)]
    """
    return _file_index(parse_document(text, path or ""), path)


def index_markdown_file(path: Source, *, loader: Loader | None = None) -> MarkdownFileIndex:
    """Index a markdown file.

    Raises:
        SourceError: the file is missing, too large, or no text.
        AccessDeniedError: the loader's policy forbids it.
    """
    return _file_index(load_document(path, loader or Loader()), os.fspath(path))


def index_markdown_url(url: str, *, loader: Loader | None = None) -> MarkdownFileIndex:
    """Index a markdown page from the web; the index's `path` is the address after redirects.

    Raises:
        InvalidInputError: it is no http(s) address.
        SourceError: the page is missing, too large, slow, or HTML.
        AccessDeniedError: the loader's policy forbids it.
    """
    if not is_url(url):
        message = f"{shown_reference(url)} is no http or https address."
        action = "Pass the address of a page; index_markdown_file takes a path."
        details = {"reason": "scheme"}
        raise failure(Code.INPUT_INVALID, message, next_action=action, details=details)
    document = load_document(url, loader or Loader())
    return _file_index(document, document.uri)


def _file_index(document: Document, path: str | None) -> MarkdownFileIndex:
    parsed = document.outline
    block = parsed.source.text[: parsed.body_start]
    metadata, faults = parse_front_matter(block) if block else ({}, ())
    return MarkdownFileIndex(
        path=path,
        frontmatter=parsed.frontmatter,
        metadata=metadata,
        line_count=parsed.source.line_count,
        char_count=parsed.char_count,
        rows=parsed.rows,
        images=parsed.images,
        issues=document.issues + faults,
    )


def index_markdown_folder(
    path: Source,
    *,
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
    gitignore: bool = True,
    documents: bool = False,
    workers: int = 1,
    cache: Source | None = None,
    progress: Progress | None = None,
    loader: Loader | None = None,
) -> MarkdownFolderIndex:
    """Index the markdown files of a folder and its subfolders.

    Taken are `*.md`, `*.markdown` and `*.mdx`, in byte order of their relative paths; left out are
    hidden files, `node_modules` and what .gitignore files exclude. A file that cannot be read has
    an index without rows, with the issue.

    Args:
        path: the folder.
        include: gitignore-style patterns; only files that one names are taken, hidden ones too.
        exclude: gitignore-style patterns of files that are left out, whatever `include` says.
        gitignore: heed .gitignore files, from the repository's root down.
        documents: give convertible documents (PDF, Word, ...) a place in the sequence too, without
            rows; none is converted, and `documents` of the result lists them either way.
        workers: processes that index; 0 chooses by the amount of text and the processors.
        cache: file to keep indexes of unchanged files in; it is made when it does not exist.
        progress: called with the number of files done, their total, and the file's path.
        loader: the door to go through; by default one that trusts the caller.

    Raises:
        SourceNotFoundError: there is no such folder.
        InvalidInputError: the path is a file, a pattern is none, or `workers` is below 0.
        AccessDeniedError: the loader's policy forbids it.
    """
    _check_workers(workers)
    issues: list[Issue] = []
    run = _FolderRun(
        path, include, exclude, loader, issues.append, gitignore=gitignore, documents=documents
    )
    files: list[MarkdownFileIndex] = []
    for index in run.indexes(workers, cache):
        files.append(index)
        if progress:
            progress(len(files), len(run.paths), index.path or "")
    return MarkdownFolderIndex(
        files=tuple(files), documents=run.listing.documents, issues=tuple(issues)
    )


def iter_markdown_folder(
    path: Source,
    *,
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
    gitignore: bool = True,
    documents: bool = False,
    workers: int = 1,
    cache: Source | None = None,
    loader: Loader | None = None,
) -> Iterator[MarkdownFileIndex]:
    """Index a folder's files one after another, in the same order, in bounded memory.

    The arguments are those of `index_markdown_folder`. What is wrong with the folder as a whole (a
    link that leads out, no markdown, a cache that cannot be used) is in that function's result
    alone; here the logger `mdvision` warns of it.

    Raises:
        SourceNotFoundError: there is no such folder.
        InvalidInputError: the path is a file, a pattern is none, or `workers` is below 0.
        AccessDeniedError: the loader's policy forbids it.
    """
    _check_workers(workers)
    run = _FolderRun(
        path, include, exclude, loader, _warn, gitignore=gitignore, documents=documents
    )
    return run.indexes(workers, cache)


def _check_workers(workers: int) -> None:
    if workers < 0:
        message = f"workers is {workers}; it must be at least 0."
        raise failure(Code.INPUT_INVALID, message, details={"reason": "workers"})


def _warn(found: Issue) -> None:
    from mdvision.rendering import issue_line

    _LOGGER.warning("%s", issue_line(found))


class _FolderRun:
    """One pass over a folder."""

    def __init__(
        self,
        folder: Source,
        include: Sequence[str],
        exclude: Sequence[str],
        loader: Loader | None,
        tell: Callable[[Issue], None],
        *,
        gitignore: bool,
        documents: bool,
    ) -> None:
        self.loader = loader or Loader()
        self.folder = os.fspath(folder)
        self.listing = list_markdown(folder, self.loader, include, exclude, gitignore=gitignore)
        self.paths = list(self.listing.files)
        self.documents = (
            {entry.path for entry in self.listing.documents} if documents else set[str]()
        )
        if self.documents:
            self.paths = sorted((*self.paths, *self.documents), key=os.fsencode)
        self.tell = tell  # takes what is wrong with the folder as a whole
        self.workers_ended = False
        self.is_partial = bool(include or exclude)
        for found in self.listing.issues:
            tell(found)
        if not self.listing.files:
            tell(_nothing_found(self.folder, self.listing, by_patterns=self.is_partial))

    def indexes(self, workers: int, cache: Source | None) -> Iterator[MarkdownFileIndex]:
        """Give every file's index, in order; a few batches of files are under way at a time."""
        with ExitStack() as stack:
            known = self._cache(cache, stack)
            processes = workers or self._worthwhile_processes()
            pool = stack.enter_context(_pool(processes)) if processes > 1 else None
            under_way: deque[_Batch] = deque()
            for paths in _batches(self.paths, _BATCH):
                under_way.append(self._begun(paths, known, pool))
                if len(under_way) > (processes * _BATCHES_AHEAD if pool else 0):
                    yield from self._finished(under_way.popleft(), known)
            while under_way:
                yield from self._finished(under_way.popleft(), known)
            if known and not self.is_partial:
                known.keep_only(self.listing.root, {self._real(path) for path in self.paths})

    def _cache(self, path: Source | None, stack: ExitStack) -> IndexCache | None:
        if path is None:
            return None
        from mdvision.storing import IndexCache  # brings sqlite3

        try:
            return stack.enter_context(IndexCache(path))
        except StoreError as error:  # without a cache the answer is the same, only later
            self.tell(error.issue)
            return None

    def _worthwhile_processes(self) -> int:
        stamps = (_stamp(self._real(path)) for path in self.paths)
        size = sum(stamp.size for stamp in stamps if stamp)
        return (os.cpu_count() or 1) if size > _WORTH_WORKERS_BYTES else 1

    def _begun(
        self, paths: tuple[str, ...], known: IndexCache | None, pool: ProcessPoolExecutor | None
    ) -> _Batch:
        stamps = {path: _stamp(self._real(path)) for path in paths} if known else {}
        found = {
            path: index
            for path, stamp in stamps.items()
            if known
            and stamp
            and self._could_be_read(path, stamp)
            and (index := known.get(self._real(path), stamp, self._shown(path)))
        }
        missing = [
            self._shown(path) for path in paths if path not in found and path not in self.documents
        ]
        made = None
        if pool and missing and not self.workers_ended:
            with suppress(BrokenExecutor):
                made = pool.submit(_indexed, missing, self.loader.policy, self.loader.limits)
        return _Batch(paths, stamps, found, missing, made)

    def _finished(self, batch: _Batch, known: IndexCache | None) -> Iterator[MarkdownFileIndex]:
        made = self._results(batch)
        for path in batch.paths:
            index = batch.found.get(path)
            if path in self.documents:
                index = _not_converted(self._shown(path))
            elif index is None:
                index = next(made)
                stamp = batch.stamps.get(path)
                if known and stamp:
                    known.put(self._real(path), stamp, index)
            yield index

    def _could_be_read(self, path: str, stamp: Stamp) -> bool:
        """Whether the loader would read the file now: a cache must not know more than it."""
        most = self.loader.limits.max_text_bytes
        return (most is None or stamp.size <= most) and os.access(self._real(path), os.R_OK)

    def _results(self, batch: _Batch) -> Iterator[MarkdownFileIndex]:
        """The indexes that were missing: a worker's, or made here when there is none any more."""
        if batch.made:
            try:
                return iter(batch.made.result())
            except BrokenExecutor:
                if not self.workers_ended:
                    self.tell(_workers_ended())
                self.workers_ended = True
        return (_index_or_issue(path, self.loader) for path in batch.missing)

    def _shown(self, path: str) -> str:
        return posixpath.join(self.folder, path)

    def _real(self, path: str) -> str:
        return os.path.join(self.listing.root, path)


class _Batch(NamedTuple):
    """Some files under way."""

    paths: tuple[str, ...]
    stamps: dict[str, Stamp | None]
    found: dict[str, MarkdownFileIndex]
    """What the cache knew."""
    missing: list[str]
    """The other files, as shown."""
    made: Future[list[MarkdownFileIndex]] | None
    """Their indexes, when another process makes them."""


def _pool(processes: int) -> ProcessPoolExecutor:
    """Processes begun afresh: a forked one would inherit locks that other threads hold."""
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    return ProcessPoolExecutor(processes, mp_context=get_context("spawn"))


def _indexed(
    paths: list[str], policy: AccessPolicy | None, limits: Limits
) -> list[MarkdownFileIndex]:
    """Index some files in a worker process."""
    loader = Loader(policy, limits)
    return [_index_or_issue(path, loader) for path in paths]


def _workers_ended() -> Issue:
    message = "The worker processes ended before their work; the rest was done in one process."
    action = "Guard the script with if __name__ == '__main__':, or give the machine more memory."
    return issue(Code.INTERNAL_ERROR, message, next_action=action)


def _index_or_issue(path: str, loader: Loader) -> MarkdownFileIndex:
    try:
        return index_markdown_file(path, loader=loader)
    except MdVisionError as error:
        return _empty_index(path, error.issue)


def _not_converted(path: str) -> MarkdownFileIndex:
    message = f"{path} is a document; a folder's documents are listed, not converted."
    found = issue(Code.SOURCE_UNSUPPORTED, message, details={"reason": "document"})
    return _empty_index(path, found)


def _empty_index(path: str, found: Issue) -> MarkdownFileIndex:
    return MarkdownFileIndex(
        path=path,
        frontmatter="",
        metadata={},
        line_count=0,
        char_count=0,
        rows=(),
        images=(),
        issues=(found,),
    )


def _nothing_found(folder: str, listing: FolderListing, *, by_patterns: bool) -> Issue:
    kinds = Counter(os.path.splitext(entry.path)[1].lower() for entry in listing.documents)
    message, action = f"No markdown files found in {folder}.", ""
    if by_patterns:
        action = "The patterns may leave all of them out: check those, then the path."
    if kinds:
        counted = ", ".join(f"{count} {suffix}" for suffix, count in sorted(kinds.items()))
        message = f"No markdown files found in {folder}; it holds {counted}."
        extras = {_EXTRAS.get(suffix, "documents") for suffix in kinds}
        action = "This version reads markdown alone; a later one reads these documents with the "
        action += f"extra {' and '.join(sorted(extras))}."
    return issue(Code.SOURCE_NOT_FOUND, message, next_action=action, details={"reason": "empty"})


def _batches(paths: Sequence[str], size: int) -> Iterator[tuple[str, ...]]:
    for start in range(0, len(paths), size):
        yield tuple(paths[start : start + size])


def _stamp(path: str) -> Stamp | None:
    from mdvision.storing import Stamp

    try:
        return Stamp.of(path)
    except OSError:
        return None
