"""What a reading gives to a model's API, judged by the types of the API's own SDK."""

from __future__ import annotations

import base64
import io
import json

import pytest
from anthropic.types import ContentBlockParam, MessageParam
from google.genai import types as gemini
from openai.types.chat import ChatCompletionContentPartParam, ChatCompletionUserMessageParam
from PIL import Image
from pydantic import ConfigDict, TypeAdapter, ValidationError

import mdvision

STRICT = ConfigDict(extra="forbid")
ANTHROPIC = TypeAdapter(list[ContentBlockParam], config=STRICT)
OPENAI = TypeAdapter(list[ChatCompletionContentPartParam], config=STRICT)


def picture(kind: str) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (30, 20), "teal").save(out, kind)
    return out.getvalue()


KINDS = {"PNG": "image/png", "JPEG": "image/jpeg", "WEBP": "image/webp", "GIF": "image/gif"}
PICTURES = {f"{kind}.bin": picture(kind) for kind in KINDS}
TEXT = "# Title\n\n" + "\n\n".join(f"![]({name})" for name in PICTURES) + "\n\nEnd \U0001f6a9\n"


@pytest.fixture(scope="module")
def reading() -> mdvision.MarkdownReading:
    found = mdvision.read_text_with_images(TEXT, assets=PICTURES)
    assert [image.media_type for image in found.images] == list(KINDS.values())
    return found


def test_anthropic(reading: mdvision.MarkdownReading) -> None:
    blocks = reading.to_anthropic()
    assert json.loads(json.dumps(blocks)) == blocks
    ANTHROPIC.validate_python(blocks, strict=True)
    TypeAdapter(MessageParam).validate_python({"role": "user", "content": blocks})
    sources = [block["source"] for block in blocks if block["type"] == "image"]
    assert [s["media_type"] for s in sources] == list(KINDS.values())  # type: ignore[index]
    data = [base64.b64decode(s["data"], validate=True) for s in sources]  # type: ignore[index]
    assert data == list(PICTURES.values())


def test_openai(reading: mdvision.MarkdownReading) -> None:
    parts = reading.to_openai()
    assert json.loads(json.dumps(parts)) == parts
    OPENAI.validate_python(parts, strict=True)
    TypeAdapter(ChatCompletionUserMessageParam).validate_python({"role": "user", "content": parts})
    urls = [part["image_url"]["url"] for part in parts if part["type"] == "image_url"]  # type: ignore[index]
    for url, media_type, data in zip(urls, KINDS.values(), PICTURES.values(), strict=True):
        head, _, body = url.partition(",")
        assert head == f"data:{media_type};base64"
        assert base64.b64decode(body, validate=True) == data


def test_gemini(reading: mdvision.MarkdownReading) -> None:
    parts = reading.to_gemini()
    assert json.loads(json.dumps(parts)) == parts
    found = [gemini.Part.model_validate(part) for part in parts]
    gemini.Content.model_validate({"role": "user", "parts": parts})
    blobs = [part.inline_data for part in found if part.inline_data]
    # bytes, once: that the SDK takes base64 for what it is, and does not encode it again
    assert [(b.mime_type, b.data) for b in blobs] == list(
        zip(KINDS.values(), PICTURES.values(), strict=True)
    )
    assert "".join(part.text or "" for part in found).startswith("# Title\n\n")


def test_all_say_the_same_in_the_same_order(reading: mdvision.MarkdownReading) -> None:
    anthropic, openai, google = reading.to_anthropic(), reading.to_openai(), reading.to_gemini()
    wanted = [part.text if isinstance(part, mdvision.TextPart) else None for part in reading.parts]
    wanted = [text for text in wanted if text is None or text.strip()]
    for blocks in (anthropic, openai, google):
        assert [block.get("text") for block in blocks] == wanted


def test_a_wrong_block_would_be_seen() -> None:
    bad: list[tuple[TypeAdapter, dict[str, object]]] = [  # type: ignore[type-arg]
        (
            ANTHROPIC,
            {"type": "image", "source": {"type": "base64", "media_type": "image/bmp", "data": ""}},
        ),
        (ANTHROPIC, {"type": "text", "text": "a", "more": 1}),
        (OPENAI, {"type": "image_url", "image_url": {"href": "data:,"}}),
        (OPENAI, {"type": "text", "text": "a", "more": 1}),
    ]
    for adapter, block in bad:
        with pytest.raises(ValidationError):
            adapter.validate_python([block])
    with pytest.raises(ValidationError):
        gemini.Part.model_validate({"inline_data": {"type": "image/png", "data": ""}})
