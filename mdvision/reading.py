"""Reading: a document or a part of it, verbatim, with its pictures where they stand."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote

from mdvision.drawing import shown_part
from mdvision.errors import Code, Issue, MdVisionError, SourceNotFoundError, failure, issue
from mdvision.images.policy import ImagePolicy
from mdvision.limits import MAX_HEADING_LEVEL, MAX_REFERENCE_CHARS
from mdvision.markdown.badges import is_badge
from mdvision.markdown.links import is_data
from mdvision.markdown.select import Slice, select
from mdvision.markdown.split import cut_at, lay_out
from mdvision.model import ImagePart, MarkdownReading, Resource, TextPart
from mdvision.sources.document import Document, load_document, parse_document
from mdvision.sources.loader import Loader
from mdvision.sources.resolve import Assets, is_url, shown_reference

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from mdvision.errors import Details
    from mdvision.limits import Limits
    from mdvision.markdown.lines import SourceText
    from mdvision.markdown.pictures import Picture, Unshown
    from mdvision.model import HeadingIndexRow, LineRange, Source

_PICTURES_AT_ONCE = 4
"""Fetched and decoded side by side; each may take hundreds of megabytes."""


def read_with_images(
    source: Source,
    *,
    section: str | HeadingIndexRow | None = None,
    line_range: LineRange | None = None,
    max_images: int | None = None,
    max_chars: int | None = None,
    image_policy: ImagePolicy | None = None,
    skip_badges: bool = False,
    site_roots: Sequence[Source] = (),
    loader: Loader | None = None,
) -> MarkdownReading:
    """Read a markdown file or page, or a part of it, with its pictures.

    Args:
        source: path or URL; a trailing "#slug" names a section when none is given.
        section: a heading with or without its hashes, titles joined by " > ", "#slug", or a row of
            the index.
        line_range: first and last line, 1-based, inclusive; taken when `section` is not found too.
        max_images: pictures shown at most; None = all.
        max_chars: characters of text at most; `next_line` of the result says where to go on.
        image_policy: bounds and format of the pictures.
        skip_badges: leave out the pictures of known badge services.
        site_roots: folders in which a picture named "/img/x.png" is looked for first.
        loader: the door to go through; by default one that trusts the caller.

    Raises:
        SectionNotFoundError: there is no such section, and no line range to fall back to.
        InvalidInputError: a line range outside the document, a bound that is too small.
        SourceError: the source is missing, too large, or no markdown.
        AccessDeniedError: the loader's policy forbids it.
    """
    options = _options(max_images, max_chars, image_policy, skip_badges=skip_badges)
    loader = loader or Loader()
    document, section = _load(source, section, loader)
    fetch = _from_document(document, site_roots, loader)
    part = select(document.outline, section, line_range)
    return _read(document, part, _Pictures(fetch, options, loader.limits))


def read_text_with_images(
    text: str,
    *,
    base: Source | None = None,
    assets: Mapping[str, bytes] | None = None,
    section: str | HeadingIndexRow | None = None,
    line_range: LineRange | None = None,
    max_images: int | None = None,
    max_chars: int | None = None,
    image_policy: ImagePolicy | None = None,
    skip_badges: bool = False,
    site_roots: Sequence[Source] = (),
    loader: Loader | None = None,
) -> MarkdownReading:
    r"""Read markdown from memory with its pictures.

    Args:
        text: the markdown.
        base: path or URL of the document (or "folder/"), from which relative addresses are found.
        assets: pictures by the address that the text names them with; looked through first.
        section: as in `read_with_images`, and so are all that follow.
        line_range: first and last line, 1-based, inclusive.
        max_images: pictures shown at most.
        max_chars: characters of text at most.
        image_policy: bounds and format of the pictures.
        skip_badges: leave out the pictures of known badge services.
        site_roots: folders in which a picture named "/img/x.png" is looked for first.
        loader: the door to go through.

    >>> reading = read_text_with_images("# A\n\n![no](gone.png)\n")
    >>> reading.text
    '# A\n\n![no](gone.png)\n'
    >>> reading.issues[0].code.name, reading.issues[0].details["line"]
    ('SOURCE_NOT_FOUND', 3)

    Raises:
        SectionNotFoundError: there is no such section, and no line range to fall back to.
        InvalidInputError: a line range outside the document, a bound that is too small.
    """
    options = _options(max_images, max_chars, image_policy, skip_badges=skip_badges)
    document = parse_document(text, "" if base is None else os.fspath(base))
    loader = loader or Loader()
    fetch = _from_assets(Assets(assets or {}), _from_document(document, site_roots, loader))
    part = select(document.outline, section, line_range)
    return _read(document, part, _Pictures(fetch, options, loader.limits))


def iter_sections(
    source: Source,
    *,
    level: int | None = None,
    max_images: int | None = None,
    max_chars: int | None = None,
    image_policy: ImagePolicy | None = None,
    skip_badges: bool = False,
    site_roots: Sequence[Source] = (),
    loader: Loader | None = None,
) -> Iterator[MarkdownReading]:
    """Read a document section by section, parsing it once.

    With `level=None` each heading gives its own lines, up to the next heading of any level, and
    what stands before the first heading comes first: every line once. With a level each heading of
    that level gives its whole section, subsections included.

    Args:
        source: path or URL.
        level: 1 to 6, or None.
        max_images: as in `read_with_images`, for each section, and so are all that follow.
        max_chars: characters of text at most.
        image_policy: bounds and format of the pictures.
        skip_badges: leave out the pictures of known badge services.
        site_roots: folders in which a picture named "/img/x.png" is looked for first.
        loader: the door to go through.

    Raises:
        InvalidInputError: there is no such level, or a bound is too small.
        SourceError: the source is missing, too large, or no markdown.
        AccessDeniedError: the loader's policy forbids it.
    """
    options = _options(max_images, max_chars, image_policy, skip_badges=skip_badges)
    if level is not None and not 1 <= level <= MAX_HEADING_LEVEL:
        message = f"level is {level}; headings have levels 1 to {MAX_HEADING_LEVEL}."
        raise failure(Code.INPUT_INVALID, message, details={"reason": "level", "actual": level})
    loader = loader or Loader()
    document = load_document(source, loader)
    pictures = _Pictures(_from_document(document, site_roots, loader), options, loader.limits)
    return (_read(document, part, pictures) for part in _sections(document, level))


def _sections(document: Document, level: int | None) -> Iterator[Slice]:
    outline = document.outline
    if level is not None:
        for row, start, end in zip(outline.rows, outline.starts, outline.ends, strict=True):
            if row.level == level:
                yield Slice(start, end, row.section_path, ())
        return
    paths = ((), *(row.section_path for row in outline.rows))
    for (start, end), path in zip(outline.own_lines(), paths, strict=True):
        if end > start:
            yield Slice(start, end, path, ())


def _load(
    source: Source, section: str | HeadingIndexRow | None, loader: Loader
) -> tuple[Document, str | HeadingIndexRow | None]:
    """Load a document; a "#slug" behind its name is the section, unless a file is named so."""
    named = os.fspath(source)
    name, mark, slug = named.rpartition("#")
    try:
        document = load_document(source, loader)
    except SourceNotFoundError:
        if not mark:
            raise
        document = load_document(name, loader)
    else:
        mark = mark if is_url(named) else ""  # a fragment is not sent to a server
    if section is None and mark:
        section = f"#{unquote(slug)}"
    return document, section


class _Options(NamedTuple):
    max_images: int | None
    max_chars: int | None
    image_policy: ImagePolicy
    skip_badges: bool


def _options(
    max_images: int | None,
    max_chars: int | None,
    image_policy: ImagePolicy | None,
    *,
    skip_badges: bool,
) -> _Options:
    for name, value, least in (("max_images", max_images, 0), ("max_chars", max_chars, 1)):
        if value is not None and value < least:
            message = f"{name} is {value}; it must be at least {least}."
            raise failure(Code.INPUT_INVALID, message, details={"reason": name, "limit": least})
    return _Options(max_images, max_chars, image_policy or ImagePolicy(), skip_badges)


_Fetch = Callable[["Picture"], Resource]
"""Brings the picture that a document refers to."""


def _from_document(document: Document, site_roots: Sequence[Source], loader: Loader) -> _Fetch:
    names = loader.names(document.uri, site_roots)

    def fetch(picture: Picture) -> Resource:
        if picture.kind == "svg":
            drawing = document.outline.source.text[picture.start : picture.end]
            return Resource(data=drawing.encode("utf-8", "replace"), uri="", media_type="")
        return loader.load_named(names, picture.source, kind=picture.kind)

    return fetch


def _from_assets(assets: Assets, otherwise: _Fetch) -> _Fetch:
    def fetch(picture: Picture) -> Resource:
        data = None if picture.kind == "svg" else assets.find(picture.source)
        if data is None:
            return otherwise(picture)
        return Resource(data=data, uri=picture.source, media_type="")

    return fetch


def _read(document: Document, part: Slice, pictures: _Pictures) -> MarkdownReading:
    outline, options = document.outline, pictures.options
    source, start, end = outline.source, part.start, part.end
    if options.max_chars is not None:
        end = cut_at(outline, start, end, options.max_chars)
    named = [
        picture
        for picture in outline.pictures_in(start, end)
        if not (options.skip_badges and is_badge(picture.source))
    ]
    shown, issues = pictures.show(named)
    torn = (outline.picture_across(border) for border in (start, end))
    issues += [_torn_issue(picture, source) for picture in torn if picture]
    issues += map(_unshown_issue, outline.unshown_in(start, end))
    parts: list[TextPart | ImagePart] = []
    for piece in lay_out(start, end, [picture for picture, _ in shown]):
        stored = source.stored(piece.start, piece.end)
        if piece.picture is None:
            parts.append(TextPart(text=stored, line_start=source.line_at(piece.start)))
        else:
            parts.append(replace(shown[piece.picture][1], markdown=stored))
    line_end = source.line_at(end - 1) if end else 0
    cut: tuple[Issue, ...] = ()
    if end < part.end:
        cut = (_cut_issue(line_end, source.line_at(part.end - 1)),)
    return MarkdownReading(
        source=document.uri,
        section_path=part.section_path,
        line_start=source.line_at(start) if source.text else 0,
        line_end=line_end,
        line_count=source.line_count,
        parts=tuple(parts),
        issues=(*document.issues, *part.issues, *issues, *cut),
        next_line=line_end + 1 if cut else None,
    )


class _Pictures:
    """Brings pictures side by side and gives them in order."""

    def __init__(self, fetch: _Fetch, options: _Options, limits: Limits) -> None:
        self.fetch = fetch
        self.options = options
        self.limits = limits

    def show(
        self, pictures: Sequence[Picture]
    ) -> tuple[list[tuple[Picture, ImagePart]], list[Issue]]:
        """Give the pictures that can be shown, up to `max_images`, and an issue for each other."""
        shown: list[tuple[Picture, ImagePart]] = []
        issues: list[Issue] = []
        limit = len(pictures) if self.options.max_images is None else self.options.max_images
        pool = ThreadPoolExecutor(_PICTURES_AT_ONCE, "mdvision-picture")
        under_way: dict[_Key, Future[tuple[ImagePart, tuple[Issue, ...]]]] = {}
        try:
            for k, picture in enumerate(pictures):
                if len(shown) == limit:
                    issues.append(_limit_issue(limit, len(pictures)))
                    break
                wanted = min(limit - len(shown), _PICTURES_AT_ONCE)
                for ahead in pictures[k : k + wanted]:
                    if _key(ahead) not in under_way:
                        under_way[_key(ahead)] = pool.submit(self._bring, ahead)
                try:
                    part, notes = under_way[_key(picture)].result()
                except MdVisionError as error:
                    issues.append(_at(picture, error.issue))
                else:
                    shown.append((picture, _as_named(part, picture)))
                    issues.extend(_at(picture, note) for note in notes)
        finally:
            pool.shutdown(wait=False, cancel_futures=True)  # on Ctrl-C nobody waits for the rest
        return shown, issues

    def _bring(self, picture: Picture) -> tuple[ImagePart, tuple[Issue, ...]]:
        found = self.fetch(picture)
        source = "" if is_data(picture.source) else found.uri
        return shown_part(found.data, self.options.image_policy, self.limits, source=source)


_Key = tuple[str, str, int]


def _key(picture: Picture) -> _Key:
    """Equal for pictures that are one and the same; every drawing is its own."""
    return picture.kind, picture.source, picture.start if picture.kind == "svg" else 0


def _as_named(part: ImagePart, picture: Picture) -> ImagePart:
    return replace(part, alt=picture.alt, title=picture.title, line_start=picture.line_start)


def _at(picture: Picture, found: Issue) -> Issue:
    """The issue with the place of the picture that it is about."""
    has_address = picture.source and not is_data(picture.source)
    named = {"source": picture.source[:MAX_REFERENCE_CHARS]} if has_address else {}
    shown, message = shown_reference(picture.source), found.message
    if shown not in message:  # what is wrong with the bytes does not say whose they are
        message = f"{shown}: {message}"
    details = {**found.details, **named, "line": picture.line_start}
    return replace(found, message=message, details=details)


_WHY_UNSHOWN = {
    "embed": ("{} is embedded; it is no picture and not shown.", "Read it by its own name."),
    "template": ("{} is filled in by a template, so no picture is known.", "See the built page."),
    "expression": ("{} is computed, so no picture is known.", "See the built page."),
}


def _unshown_issue(found: Unshown) -> Issue:
    message, action = _WHY_UNSHOWN[found.reason]
    message = message.format(shown_reference(found.source))
    source = found.source[:MAX_REFERENCE_CHARS]
    details: Details = {"reason": found.reason, "source": source, "line": found.line_start}
    return issue(Code.CONTENT_DROPPED, message, next_action=action, details=details)


def _limit_issue(limit: int, total: int) -> Issue:
    message = f"{limit} of {total} pictures are shown."
    return issue(Code.IMAGE_LIMIT_REACHED, message, details={"limit": limit, "actual": total})


def _torn_issue(picture: Picture, source: SourceText) -> Issue:
    first, last = picture.line_start, source.line_at(picture.end - 1)
    message = f"{shown_reference(picture.source)} stands on lines {first} to {last}."
    message += " They were not all asked for, so it is not shown."
    action = f"Read lines {first} to {last}."
    details: Details = {"line": first, "lines": (first, last)}
    return issue(Code.IMAGE_OMITTED, message, next_action=action, details=details)


def _cut_issue(last: int, wanted: int) -> Issue:
    message = f"The text was cut behind line {last}; lines {last + 1} to {wanted} are left."
    action = f"Read lines {last + 1} to {wanted}."
    details = {"lines": (last + 1, wanted)}
    return issue(Code.RESULT_TRUNCATED, message, next_action=action, details=details)
