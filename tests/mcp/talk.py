"""Talking to the server, in this process or over stdio, in both eras of the protocol."""

from __future__ import annotations

import io
import sys
import time
from collections.abc import Awaitable, Callable
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import anyio
from mcp import Client, StdioServerParameters
from mcp.types import CallToolResult
from PIL import Image

from mdvision.model import AccessPolicy
from mdvision_mcp.server import create_server
from mdvision_mcp.settings import Settings

ERAS = ("auto", "legacy")

GUIDE = """\
---
title: Guide
---
# Guide

Intro with `proxy` words.

![red square](img/red.png)

## Setup

| a | b |
|---|---|
| ![green](img/green.png) | c |

After the table.

## Setup

Second *Setup*. Behind a
firewall.

### Deep

![gone](img/gone.png)
"""


def picture(colour: str, size: tuple[int, int] = (40, 20)) -> bytes:
    data = io.BytesIO()
    Image.new("RGB", size, colour).save(data, "PNG")
    return data.getvalue()


def settings_for(root: Path, **options: Any) -> Settings:
    return Settings(policy=AccessPolicy(paths=(str(root),)), **options)


def ask(
    settings: Settings, *calls: tuple[str, dict[str, object]], era: str = "auto"
) -> list[CallToolResult]:
    """The answers to some calls, in order, from a server in this process."""
    found: list[CallToolResult] = []

    async def talk(client: Client) -> None:
        for name, arguments in calls:
            found.append(await client.call_tool(name, arguments))

    with_client(settings, talk, era)
    return found


def with_client(
    settings: Settings, talk: Callable[[Client], Awaitable[None]], era: str = "auto"
) -> None:
    async def run() -> None:
        async with Client(create_server(settings), mode=era) as client:
            await talk(client)

    anyio.run(run)


def texts(result: CallToolResult) -> str:
    return "".join(block.text for block in result.content if block.type == "text")


def command(root: Path, *flags: str) -> list[str]:
    return [
        sys.executable,
        "-m",
        "mdvision_mcp",
        f"--allow-path={root}",
        "--allow-domain=none",
        *flags,
    ]


def stdio(root: Path, *flags: str, **environment: str) -> StdioServerParameters:
    program, *arguments = command(root, *flags)
    return StdioServerParameters(command=program, args=arguments, env=environment or None)


class Drip(BaseHTTPRequestHandler):
    """Sends a byte now and then, and counts them."""

    sent = 0

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/markdown")
        self.end_headers()
        try:
            for _ in range(600):
                self.wfile.write(b"#" * 70_000)
                Drip.sent += 1
                time.sleep(0.05)
        except OSError:
            pass

    def log_message(self, *_: object) -> None:  # type: ignore[override]
        pass
