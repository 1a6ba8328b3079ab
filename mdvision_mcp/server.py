"""The server: the tools that were asked for, over stdin and stdout."""

from __future__ import annotations

import logging
import os
import signal
import sys
from importlib.metadata import version
from typing import TYPE_CHECKING

import anyio
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.types import CallToolResult, ListToolsResult, ToolAnnotations
from mcp.types import Tool as ToolEntry

from mdvision_mcp import markdown
from mdvision_mcp.guidance import instructions
from mdvision_mcp.tool import Gate, Tool

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import FrameType

    from mcp.server.context import ServerRequestContext
    from mcp.types import CallToolRequestParams, PaginatedRequestParams

    from mdvision_mcp.settings import Settings
    from mdvision_mcp.work import Step

_TOOLSETS: Mapping[str, tuple[Tool, ...]] = {"markdown": markdown.TOOLS}
_LOG = logging.getLogger("mdvision_mcp")
_RESULT_CHARS_KEY = "anthropic/maxResultSizeChars"
"""By which a tool tells Claude Code that its text is not to be put into a file."""


def create_server(settings: Settings) -> Server[dict[str, object]]:
    """The server for some settings; what carries its messages is the caller's matter."""
    tools = [tool for name in settings.toolsets for tool in _TOOLSETS[name]]
    gate = Gate(tools, settings)
    entries = [_entry(tool, settings) for tool in tools]

    async def list_tools(
        _: ServerRequestContext[dict[str, object]], __: PaginatedRequestParams | None
    ) -> ListToolsResult:
        return ListToolsResult(tools=entries)

    async def call_tool(
        context: ServerRequestContext[dict[str, object]], params: CallToolRequestParams
    ) -> CallToolResult:
        async def report(step: Step) -> None:
            await context.session.report_progress(step.done, step.total or None, step.what or None)

        return await gate.call(params.name, params.arguments or {}, report)

    return Server(
        "mdvision",
        version=version("mdvision"),
        title="mdvision",
        instructions=instructions(settings),
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def _entry(tool: Tool, settings: Settings) -> ToolEntry:
    return ToolEntry(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=tool.input_schema,
        annotations=ToolAnnotations(
            title=tool.title,
            read_only_hint=True,
            destructive_hint=False,
            idempotent_hint=True,
            open_world_hint=bool(settings.policy.domains),
        ),
        _meta={_RESULT_CHARS_KEY: settings.max_result_chars},
    )


def serve(settings: Settings) -> None:
    """Serve over stdin and stdout until stdin ends or SIGTERM comes, and end the process then.

    At once: threads may still fetch or decode what nobody waits for any more.
    """
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _end)
    try:
        anyio.run(_serve, create_server(settings))
    except BaseException as error:  # noqa: BLE001 - whatever the pipes do, it ends the server
        _LOG.error("the connection ended: %s", type(error).__name__)
    _end()


async def _serve(server: Server[dict[str, object]]) -> None:
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


def _end(_: int = 0, __: FrameType | None = None) -> None:
    sys.stderr.flush()
    os._exit(0)
