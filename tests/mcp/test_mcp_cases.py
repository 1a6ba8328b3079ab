"""The cases of kind mcp that need no process of their own; the others are in test_stdio.py."""

from __future__ import annotations

import base64
import io
import threading
from pathlib import Path
from typing import Any

import anyio
import pytest
import yaml
from mcp import Client
from PIL import Image

import mdvision
from tests.mcp.talk import ERAS, ask, settings_for, texts, with_client

CASES = Path(__file__).parents[1] / "cases"
COLOURS = {"red": (220, 20, 20), "green": (20, 160, 40)}


def expected_of(name: str) -> dict[str, Any]:
    text = (CASES / name / "case.yaml").read_text(encoding="utf-8")
    expected: dict[str, Any] = yaml.safe_load(text)["expected"]
    return expected


def nearest_colour(data: str) -> str:
    image = Image.open(io.BytesIO(base64.b64decode(data))).convert("RGB").resize((1, 1))
    pixel = image.getpixel((0, 0))
    assert isinstance(pixel, tuple)
    return min(
        COLOURS, key=lambda c: sum((a - b) ** 2 for a, b in zip(pixel, COLOURS[c], strict=True))
    )


@pytest.mark.parametrize("era", ERAS)
def test_block_order(era: str) -> None:
    expected = expected_of("mcp-block-order")
    call = ("read_md_with_images", {"uri": "doc.md"})
    (found,) = ask(settings_for(CASES / "mcp-block-order"), call, era=era)
    assert expected["tool"] == "read"
    assert [block.type for block in found.content] == expected["blocks"]
    told = [block.text for block in found.content if block.type == "text"]
    for text, words in zip(told, expected["texts_contain"], strict=True):
        assert all(word in text for word in words)
    images = [block for block in found.content if block.type == "image"]
    assert [nearest_colour(image.data) for image in images] == expected["colors"]
    assert {image.mime_type for image in images} == {expected["image_mime"]}
    assert expected["no_structured_copy_of_base64"]
    assert found.structured_content is None


def test_concurrent_in_the_library() -> None:
    """Four threads index and read four documents 200 times each."""
    root = CASES / "mcp-concurrent"
    expected = expected_of("mcp-concurrent")
    names = [f"d{k}.md" for k in range(4)]
    right = {
        name: (mdvision.index_markdown_file(root / name), mdvision.read_with_images(root / name))
        for name in names
    }
    for name, picture in expected["reference_image"].items():
        assert [Path(image.source).name for image in right[name][1].images] == [picture]
    wrong: list[str] = []

    def work(name: str) -> None:
        for _ in range(200):
            index = mdvision.index_markdown_file(root / name)
            if (index, mdvision.read_with_images(root / name)) != right[name]:
                wrong.append(name)

    threads = [threading.Thread(target=work, args=(name,)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert expected["all_equal_to_single_thread"]
    assert wrong == []


def test_concurrent_in_the_server() -> None:
    names = [f"d{k}.md" for k in range(4)]

    async def talk(client: Client) -> None:
        async def read(name: str) -> str:
            return texts(await client.call_tool("read_md_with_images", {"uri": name}))

        right = {name: await read(name) for name in names}

        async def work(name: str) -> None:
            for _ in range(20):
                assert await read(name) == right[name]

        async with anyio.create_task_group() as group:
            for name in names:
                group.start_soon(work, name)

    with_client(settings_for(CASES / "mcp-concurrent"), talk)
