"""The command `mdvision-mcp`: flags are judged first, as what speaks MCP loads for a second."""

from __future__ import annotations

import argparse
import os
import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING

from mdvision.errors import MdVisionError
from mdvision.sources.policy import policy_from_flags
from mdvision_mcp.settings import TOOLSETS, Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

ENDED, NOT_INSTALLED, WRONG_USAGE = 0, 1, 2
"""Exit codes."""

_EPILOG = """\
Both --allow-path and --allow-domain are required; each flag takes one value and may be repeated.
An example: mdvision-mcp --allow-path ./docs --allow-domain none
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve over stdin and stdout until stdin ends; gives the exit code.

    0: stdin ended, or SIGTERM came. 1: the extra `mcp` is not installed. 2: wrong usage.
    """
    if sys.stderr is None:  # closed; what is printed to None goes to stdout
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - for good
    options = _parser().parse_args(arguments)
    if sys.stdin is None or sys.stdout is None:
        print("mdvision-mcp: stdin or stdout is closed; the server speaks there.", file=sys.stderr)
        return WRONG_USAGE
    try:
        settings = _settings(options)
    except MdVisionError as error:
        print(f"mdvision-mcp: {error}", file=sys.stderr)
        return WRONG_USAGE
    if find_spec("mcp") is None or find_spec("mcp_types") is None:  # mcp_types came with mcp 2
        print(
            "mdvision-mcp: the server needs the extra mcp (mcp 2.1.1 or later):"
            " pip install 'mdvision[mcp]'",
            file=sys.stderr,
        )
        return NOT_INSTALLED
    from mdvision_mcp.server import serve

    serve(settings)
    return ENDED


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="mdvision-mcp",
        description="An MCP server that indexes, searches and reads markdown with its pictures.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="show the version and exit")
    access = parser.add_argument_group("access")
    access.add_argument(
        "--allow-path", action="append", default=[], metavar="DIR", help="folder that may be read"
    )
    access.add_argument(
        "--allow-domain",
        action="append",
        default=[],
        metavar="HOST",
        help="host that may be fetched, with its subdomains; 'all' or 'none' alone",
    )
    access.add_argument(
        "--allow-private-network",
        action="store_true",
        help="hosts with addresses that are not public may be fetched too",
    )
    parser.add_argument(
        "--toolset",
        action="append",
        choices=(*TOOLSETS, "all"),
        help="group of tools to offer (default: markdown)",
    )
    defaults = Settings.__dataclass_fields__
    results = parser.add_argument_group("results")
    results.add_argument(
        "--max-result-bytes",
        type=_whole(40_000),
        default=defaults["max_result_bytes"].default,
        metavar="N",
        help="bytes of a result at most (default %(default)s, at least 40000)",
    )
    results.add_argument(
        "--max-result-chars",
        type=_whole(4_000),
        default=defaults["max_result_chars"].default,
        metavar="N",
        help="characters of text in a result at most (default %(default)s, at least 4000)",
    )
    results.add_argument(
        "--call-seconds",
        type=_whole(1, 3_600),
        default=defaults["call_seconds"].default,
        metavar="N",
        help="seconds after which a call says how far it is, and goes on (default %(default)s)",
    )
    results.add_argument(
        "--image-format",
        choices=("auto", "png"),
        default="auto",
        help="auto: pictures after their source (default); png: PNG always",
    )
    return parser


class _Version(argparse.Action):
    """Looks the version up only when it is asked for."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from importlib.metadata import version

        sys.stdout.write(f"mdvision-mcp {version('mdvision')}\n")
        parser.exit()


def _whole(least: int, most: int | None = None) -> Callable[[str], int]:
    def number(text: str) -> int:
        value = int(text)
        if value < least or (most is not None and value > most):
            raise ValueError
        return value

    number.__name__ = f"whole number from {least}" + (f" to {most}" if most is not None else "")
    return number


def _settings(options: argparse.Namespace) -> Settings:
    toolsets: list[str] = options.toolset or ["markdown"]
    return Settings(
        policy=policy_from_flags(
            options.allow_path,
            options.allow_domain,
            private_network=options.allow_private_network,
        ),
        toolsets=TOOLSETS if "all" in toolsets else tuple(dict.fromkeys(toolsets)),
        max_result_bytes=options.max_result_bytes,
        max_result_chars=options.max_result_chars,
        call_seconds=options.call_seconds,
        image_format=options.image_format,
    )
