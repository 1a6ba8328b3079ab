"""What the server was started with."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from mdvision.images.policy import ImagePolicy
from mdvision.limits import Limits

if TYPE_CHECKING:
    from mdvision.model import AccessPolicy

TOOLSETS = ("markdown",)
"""The groups of tools there are."""

_MAX_TEXT_BYTES = 268_435_456
_BYTES_A_CHAR = 8  # of text in JSON at most 6, and room for pictures besides


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What the flags say."""

    policy: AccessPolicy
    """What may be read."""
    toolsets: tuple[str, ...] = ("markdown",)
    """Groups of tools that are offered."""
    max_result_bytes: int = 900_000
    """Bytes of a whole result as JSON: Claude Desktop refuses more than 1 MiB."""
    max_result_chars: int = 50_000
    """Characters of text in a result."""
    call_seconds: float = 25.0
    """How long a call works before it answers that it is not done yet."""
    image_format: Literal["auto", "png"] = "auto"
    """"png": every picture as PNG, as md-vision gives them."""
    limits: Limits = field(default_factory=lambda: Limits(max_text_bytes=_MAX_TEXT_BYTES))
    """How much is taken in."""

    @property
    def image_policy(self) -> ImagePolicy:
        """The bounds of a picture."""
        return ImagePolicy(format=self.image_format)

    @property
    def text_chars(self) -> int:
        """Characters of text in a result; its bytes have room for the worst of them."""
        return min(self.max_result_chars, self.max_result_bytes // _BYTES_A_CHAR)
