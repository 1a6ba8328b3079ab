"""Talk to the MCP server as a client does, and print what a model would get.

    python examples/talk_to_server.py

It needs the extra `mcp`. The server runs in a process of its own, with the examples as the only
folder that it may read and no host that it may fetch.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from mcp import Client, StdioServerParameters
from mcp.types import CallToolResult

EXAMPLES = Path(__file__).parent
SERVER = StdioServerParameters(
    command=sys.executable,
    args=["-m", "mdvision_mcp", f"--allow-path={EXAMPLES}", "--allow-domain=none"],
)
CALLS: tuple[tuple[str, dict[str, object]], ...] = (
    ("index_md", {"uri": "trail-guide", "max_level": 2}),
    ("search_md", {"uri": ".", "query": "wind fog", "max_results": 3}),
    (
        "read_md_with_images",
        {"uri": "trail-guide/guide.md", "section": "Along the crest (points 3 to 7)"},
    ),
    ("view_image", {"path": "trail-guide/img/profile.png"}),
)


async def main() -> None:
    """Make the calls, one after another."""
    async with Client(SERVER) as client:
        for name, arguments in CALLS:
            given = ", ".join(f"{key}={value!r}" for key, value in arguments.items())
            print(f"== {name}({given})")
            print(as_read(await client.call_tool(name, arguments)))


def as_read(result: CallToolResult) -> str:
    """The blocks of an answer in order, a picture as one line."""
    shown: list[str] = []
    for block in result.content:
        if block.type == "text":
            shown.append(block.text)
        elif block.type == "image":
            shown.append(f"<{block.mime_type}, {len(block.data):,} characters of base64>\n")
    return "".join(shown)


if __name__ == "__main__":
    asyncio.run(main())
