"""Answers as the blocks of the protocol: UTF-8 that can be written, and never too much of it."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mcp.types import Annotations, CallToolResult, ContentBlock, ImageContent, TextContent

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mdvision.errors import Issue
    from mdvision.model import ImagePart
    from mdvision_mcp.settings import Settings

_FOR_MODEL = Annotations(audience=["assistant"], priority=0.9)
_ERROR_CHARS = 2_000
META_KEY = "mdvision/result"
"""Under which `_meta` holds what else is known of an answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a tool gives."""

    blocks: tuple[str | ImagePart, ...]
    """Text and pictures in the order in which they are read."""
    meta: Mapping[str, object] = field(default_factory=dict[str, object])
    """Facts for programs, as plain data; the model does not see them."""
    error: Issue | None = None
    """Why nothing of what was asked for is in it."""


def fits(answer: Answer, settings: Settings) -> bool:
    """Whether an answer stays within the limits of a result."""
    texts = [block for block in answer.blocks if isinstance(block, str)]
    size = sum(map(json_bytes, texts)) + _BLOCK_BYTES * (len(texts) + 1)
    size += sum(picture_bytes(block) for block in answer.blocks if not isinstance(block, str))
    size += len(json.dumps(answer.meta))
    return size <= settings.max_result_bytes and sum(map(len, texts)) <= settings.max_result_chars


def answer_result(answer: Answer) -> CallToolResult:
    """An answer as the protocol has it: content alone, as some clients show data instead of it."""
    content = [_block(block) for block in answer.blocks] or [_text("")]
    meta = {META_KEY: dict(answer.meta)} if answer.meta else None
    if answer.error is None:
        return CallToolResult(content=content, _meta=meta)
    data = {"error": _error_data(answer.error)}
    return CallToolResult(content=content, structured_content=data, is_error=True, _meta=meta)


def error_result(found: Issue) -> CallToolResult:
    """An error: in the text, since many clients drop the rest, and as data."""
    return answer_result(Answer(blocks=(error_text(found),), error=found))


def _error_data(found: Issue) -> dict[str, object]:
    error: dict[str, object] = {
        "code": found.code.name,
        "message": _said(found.message),
        "retryable": found.retryable,
        "userActionRequired": found.user_action_required,
        "nextAction": _said(found.next_action),
    }
    details = json.dumps(found.to_dict()["details"], ensure_ascii=False)
    if len(details) <= _ERROR_CHARS:
        error["details"] = json.loads(scrubbed(details))
    return error


def error_text(found: Issue) -> str:
    """An error as the model reads it; what it names may be long."""
    return f"{found.code.name}: {_said(found.message)}\nNext: {_said(found.next_action)}"


def _said(text: str) -> str:
    return scrubbed(text if len(text) <= _ERROR_CHARS else f"{text[:_ERROR_CHARS]}…")


def scrubbed(text: str) -> str:
    """The text with what UTF-8 cannot say replaced: it would end the connection."""
    return text.encode("utf-8", "replace").decode()


def json_bytes(text: str) -> int:
    """Bytes that a text takes in a result."""
    return len(json.dumps(scrubbed(text), ensure_ascii=False).encode())


def picture_bytes(image: ImagePart) -> int:
    """Bytes that a picture takes in a result."""
    return -(-len(image.data) // 3) * 4 + _BLOCK_BYTES


def block_bytes(block: str | ImagePart) -> int:
    """Bytes that a block takes in a result, all around it counted."""
    return json_bytes(block) + _BLOCK_BYTES if isinstance(block, str) else picture_bytes(block)


def data_bytes(share: int) -> int:
    """Bytes that a picture may have to take `share` bytes in a result."""
    return max(share - _BLOCK_BYTES, 0) // 4 * 3


_BLOCK_BYTES = 150  # of a block without its content


def _block(block: str | ImagePart) -> ContentBlock:
    if isinstance(block, str):
        return _text(block)
    data = base64.b64encode(block.data).decode("ascii")
    return ImageContent(type="image", data=data, mime_type=block.media_type, annotations=_FOR_MODEL)


def _text(text: str) -> TextContent:
    return TextContent(type="text", text=scrubbed(text))
