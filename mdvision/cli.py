"""The command `mdvision`: index markdown, read sections of it with their pictures."""

from __future__ import annotations

import argparse
import io
import os
import shlex
import sys
import time
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, TextIO, cast

from mdvision.errors import Code, Issue, MdVisionError, failure
from mdvision.limits import MAX_HEADING_LEVEL

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from mdvision.model import (
        ImagePart,
        MarkdownFileIndex,
        MarkdownFolderIndex,
        MarkdownReading,
    )
    from mdvision.sources.loader import Loader

GIVEN, NOTHING_GIVEN, WRONG_USAGE, INTERRUPTED = 0, 1, 2, 130
"""Exit codes."""

_DEFAULT_MAX_IMAGES = 10
_MOMENT_SECONDS = 1.0
_SUFFIXES = {"image/png": "png", "image/jpeg": "jpg", "image/webp": "webp", "image/gif": "gif"}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; gives the exit code.

    0: something was given (issues stand on stderr). 1: nothing could be given. 2: wrong usage.
    130: interrupted.
    """
    if sys.stderr is None:  # closed; what is printed to None goes to stdout
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - for good
    if sys.stdout is None:
        print("mdvision: stdout is closed: there is nowhere to write to.", file=sys.stderr)
        return NOTHING_GIVEN
    parser = _parser()
    options = parser.parse_args(arguments)
    _speak_utf8()
    try:
        run: Callable[[argparse.Namespace], int] = options.run
        return run(options)
    except MdVisionError as error:
        _complain(error.issue)
        asked_wrongly = error.issue.code in (Code.INPUT_INVALID, Code.CONFIG_INVALID)
        return WRONG_USAGE if asked_wrongly else NOTHING_GIVEN
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:  # the reader of our output has what it wanted
        with suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return GIVEN
    except OSError as error:  # of what we write: reading has errors of its own
        print(f"mdvision: {error.filename or 'output'}: {error.strerror}", file=sys.stderr)
        return NOTHING_GIVEN


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="mdvision", description="Index markdown, and read sections of it with their pictures."
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="show the version and exit")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    access = _access_options()

    index = commands.add_parser(
        "index", parents=[access], help="list the headings of a file, a folder or a page"
    )
    index.set_defaults(run=_index)
    index.add_argument("source", metavar="PATH|URL", help="markdown file, folder, or address")
    index.add_argument(
        "--format",
        choices=("tsv", "json", "jsonl"),
        default="tsv",
        help="tsv: a table for each file (default); json: one value; jsonl: a line for each file",
    )
    index.add_argument(
        "--max-level",
        type=_whole(1, MAX_HEADING_LEVEL),
        default=MAX_HEADING_LEVEL,
        metavar="N",
        help="headings down to level N",
    )
    index.add_argument(
        "--pattern", metavar="P", help="of a folder, only the files that P names, as in .gitignore"
    )

    read = commands.add_parser(
        "read", parents=[access], help="print a document or a section, and write its pictures"
    )
    read.set_defaults(run=_read)
    read.add_argument("source", metavar="SOURCE", help="file or address; '#slug' names a section")
    read.add_argument("--section", metavar="S", help="heading, path ('A > B') or '#slug'")
    read.add_argument("--lines", type=_lines, metavar="A:B", help="first and last line")
    read.add_argument(
        "--max-images",
        type=_whole(0),
        default=_DEFAULT_MAX_IMAGES,
        metavar="N",
        help=f"pictures shown at most (default {_DEFAULT_MAX_IMAGES})",
    )
    read.add_argument(
        "--max-chars", type=_whole(1), metavar="N", help="cut the text at a block's end before N"
    )
    read.add_argument("--out", metavar="DIR", help="write the pictures there, as image-001.png ...")
    return parser


def _access_options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(add_help=False)
    group = parser.add_argument_group(
        "access",
        "Without these flags the source you name is opened, a local document may name any local"
        " picture, and a page only pictures of its own host. With one of them no host is fetched"
        " that is not allowed, and with --allow-path no file opened outside the folders.",
    )
    group.add_argument(
        "--allow-path", action="append", default=[], metavar="DIR", help="folder that may be read"
    )
    group.add_argument(
        "--allow-domain",
        action="append",
        default=[],
        metavar="HOST",
        help="host that may be fetched, with its subdomains; 'all' or 'none' alone",
    )
    group.add_argument(
        "--allow-private-network",
        action="store_true",
        help="hosts with addresses that are not public may be fetched too",
    )
    return parser


class _Version(argparse.Action):
    """Looks the version up only when it is asked for."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from importlib.metadata import version

        sys.stdout.write(f"mdvision {version('mdvision')}\n")
        parser.exit()


def _whole(least: int, most: int | None = None) -> Callable[[str], int]:
    def number(text: str) -> int:
        value = int(text)
        if value < least or (most is not None and value > most):
            raise ValueError
        return value

    number.__name__ = f"whole number from {least}" + (f" to {most}" if most is not None else "")
    return number


def _lines(text: str) -> tuple[int, int]:
    first, separator, last = text.partition(":")
    if not separator:
        raise ValueError
    return int(first), int(last)


_lines.__name__ = "range of lines, as 120:180"  # argparse names the type in its message


def _loader(options: argparse.Namespace) -> Loader:
    from mdvision.sources.loader import Loader

    if not (options.allow_path or options.allow_domain or options.allow_private_network):
        return Loader()
    from mdvision.model import AccessPolicy
    from mdvision.sources.policy import folders_from_flags, hosts_from_flags

    policy = AccessPolicy(
        paths=folders_from_flags(options.allow_path) or ("all",),
        domains=hosts_from_flags(options.allow_domain),
        private_network=options.allow_private_network,
    )
    return Loader(policy)


# index


def _index(options: argparse.Namespace) -> int:
    from mdvision.indexing import index_markdown_file, index_markdown_folder, index_markdown_url
    from mdvision.sources.resolve import is_url, shown_source

    source: str = options.source
    with _loader(options) as loader:
        if options.pattern and not loader.is_folder(source):
            message = f"--pattern chooses among a folder's files; {shown_source(source)} is none."
            raise failure(Code.INPUT_INVALID, message)
        if is_url(source):
            return _print_index(options, index_markdown_url(source, loader=loader))
        if loader.is_folder(source):
            include = (options.pattern,) if options.pattern else ()
            with _ProgressLine(sys.stderr) as line:
                folder = index_markdown_folder(
                    source, include=include, loader=loader, progress=line.show
                )
            return _print_folder(options, folder)
        return _print_index(options, index_markdown_file(source, loader=loader))


def _print_index(options: argparse.Namespace, index: MarkdownFileIndex) -> int:
    from mdvision.rendering import file_index_text, index_json

    index = _down_to(index, options.max_level)
    as_text = file_index_text if options.format == "tsv" else index_json
    sys.stdout.write(as_text(index).rstrip("\n") + "\n")
    for found in index.issues:
        _complain(found, index.path)
    return GIVEN


def _print_folder(options: argparse.Namespace, folder: MarkdownFolderIndex) -> int:
    from mdvision.rendering import file_index_text, index_json

    files = [_down_to(index, options.max_level) for index in folder]
    if options.format == "tsv":
        sys.stdout.write("\n".join(map(file_index_text, files)))
    elif options.format == "jsonl":
        sys.stdout.writelines(f"{index_json(index)}\n" for index in files)
    else:
        sys.stdout.write(index_json(replace(folder, files=tuple(files))) + "\n")
    for found in folder.issues:
        _complain(found)
    for index in files:
        for found in index.issues:
            _complain(found, index.path)
    return GIVEN if files else NOTHING_GIVEN


def _down_to(index: MarkdownFileIndex, level: int) -> MarkdownFileIndex:
    return replace(index, rows=tuple(row for row in index.rows if row.level <= level))


class _ProgressLine:
    """One line on a terminal that counts files, once a folder takes longer than a moment."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._wanted = stream.isatty()
        self._next = time.monotonic() + _MOMENT_SECONDS
        self._shown = False

    def show(self, done: int, total: int, _: str) -> None:
        """Count on, a few times a second."""
        now = time.monotonic()
        if self._wanted and now >= self._next:
            self._next = now + _MOMENT_SECONDS / 5
            self._shown = True
            self._stream.write(f"\rindexed {done:,} of {total:,} files")
            self._stream.flush()

    def __enter__(self) -> _ProgressLine:
        return self

    def __exit__(self, *_: object) -> None:
        if self._shown:
            self._stream.write("\r\x1b[K")


# read


def _read(options: argparse.Namespace) -> int:
    from mdvision.reading import read_with_images
    from mdvision.rendering import reading_blocks, reading_footer

    with _loader(options) as loader:
        reading = read_with_images(
            options.source,
            section=options.section,
            line_range=options.lines,
            max_images=options.max_images,
            max_chars=options.max_chars,
            loader=loader,
        )
    if options.out:
        addresses = _written(reading.images, options.out)
    else:
        addresses = [image.source for image in reading.images]
    in_order = iter(addresses)  # blocks ask for the address of each picture once
    blocks = reading_blocks(reading, lambda _: next(in_order))
    text = "".join(block for block in blocks if isinstance(block, str))
    sys.stdout.write(text + reading_footer(reading, _go_on(options, reading)))
    for found in reading.issues:
        _complain(found)
    return GIVEN


def _written(images: Iterable[ImagePart], folder: str) -> list[str]:
    """Write the pictures; gives the path of each."""
    from mdvision.storing import write_atomically

    os.makedirs(folder, exist_ok=True)
    names: list[str] = []
    for number, image in enumerate(images, start=1):
        name = os.path.join(folder, f"image-{number:03}.{_SUFFIXES[image.media_type]}")
        write_atomically(name, image.data)  # through no link that lies there
        names.append(name)
    return names


def _go_on(options: argparse.Namespace, reading: MarkdownReading) -> str:
    """The command that gives what `max_chars` cut off."""
    cut = next((i for i in reading.issues if i.code is Code.RESULT_TRUNCATED), None)
    if cut is None:
        return ""
    first, last = cast("tuple[int, int]", cut.details["lines"])
    words = ["mdvision", "read", reading.source, "--lines", f"{first}:{last}"]
    words += ["--max-chars", str(options.max_chars)]
    if options.max_images != _DEFAULT_MAX_IMAGES:
        words += ["--max-images", str(options.max_images)]
    if options.out:
        words += ["--out", _next_out(options, first)]
    words += [word for path in options.allow_path for word in ("--allow-path", path)]
    words += [word for host in options.allow_domain for word in ("--allow-domain", host)]
    words += ["--allow-private-network"] * options.allow_private_network
    return shlex.join(words)


def _next_out(options: argparse.Namespace, first: int) -> str:
    """Where the next pages' pictures go: their names begin anew, so that is another folder."""
    out: str = options.out.rstrip(os.sep)
    if options.lines:
        out = out.removesuffix(f"-{options.lines[0]}")
    return f"{out}-{first}"


# what both need


def _complain(found: Issue, path: str | None = None) -> None:
    from mdvision.rendering import issue_line
    from mdvision.sources.resolve import shown_source

    where = f"{shown_source(path)}: " if path else ""
    print(f"mdvision: {where}{issue_line(found)}", file=sys.stderr)


def _speak_utf8() -> None:
    r"""Write UTF-8 with line ends as they are; a name that is not UTF-8 shows as `\udcff`."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace", newline="\n")
