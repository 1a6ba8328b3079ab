"""How large a picture may be, and what it costs a model."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, get_args

from mdvision.errors import Code, failure
from mdvision.value import Value

Preset = Literal["default", "claude", "claude-high", "openai", "gemini", "md-vision", "original"]
ImageFormat = Literal["auto", "png", "original"]

CLAUDE_PATCH_PIXELS = 28
CLAUDE_EDGE_PIXELS = 1568
CLAUDE_PATCHES = 1568
GEMINI_EDGE_PIXELS = 3072
_GEMINI_TOKENS = 1120
_OPENAI_BASE, _OPENAI_TILE, _OPENAI_TILE_PIXELS = 85, 170, 512
_LEAST = {
    "max_edge_pixels": 1,
    "short_edge_pixels": 1,
    "max_patches": 1,
    "patch_pixels": 1,
    "max_bytes": 100,  # a PNG of one half transparent pixel takes 95 with its palette
}
_OPTIONAL = frozenset({"short_edge_pixels", "max_patches"})


@dataclass(frozen=True, slots=True, kw_only=True)
class ImagePolicy(Value):
    """The bounds of a picture that is shown, and its format."""

    max_edge_pixels: int = CLAUDE_EDGE_PIXELS
    """The longer edge at most: 1568."""
    short_edge_pixels: int | None = None
    """The shorter edge at most: 768 for models that cut pictures into tiles."""
    max_patches: int | None = None
    """Patches at most, each `patch_pixels` square, those at the edges counted whole."""
    patch_pixels: int = CLAUDE_PATCH_PIXELS
    """The edge of a patch."""
    max_bytes: int = 3_750_000
    """Bytes of the encoded picture at most: 5 MB once in base64. At least 100, for one pixel."""
    format: ImageFormat = "auto"
    """"auto": as it is where it fits, else JPEG or PNG after its source; "png": PNG always;
    "original": the bytes as they are, whatever their size, once they have proved to decode; what
    models do not take (BMP, TIFF, ...) becomes PNG."""

    def __post_init__(self) -> None:
        for name, least in _LEAST.items():
            value: object = getattr(self, name)
            if value is None and name in _OPTIONAL:
                continue
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                message = f"{name} is {value!r}; it must be a whole number of at least {least}."
                raise failure(Code.INPUT_INVALID, message, details={"reason": name})
        if self.format not in get_args(ImageFormat):
            message = (
                f"The picture format {self.format!r} is none of {', '.join(get_args(ImageFormat))}."
            )
            raise failure(Code.INPUT_INVALID, message, details={"reason": "format"})

    @classmethod
    def preset(cls, name: Preset) -> ImagePolicy:
        """The policy that fits a family of models.

        - claude: 1568 px and 1568 patches of 28 px, beyond which Claude itself scales down
          (https://platform.claude.com/docs/en/build-with-claude/vision).
        - claude-high: 2576 px and 4784 patches, for the models of high resolution from Opus 4.7 on.
          The edge is what users of them report; for the number of patches we have no page.
        - openai: within 2048 px, the shorter edge at most 768, for the models that cut pictures
          into tiles: GPT-4o, GPT-4.1 and others
          (https://platform.openai.com/docs/guides/images-vision).
        - gemini: 3072 px (https://ai.google.dev/gemini-api/docs/image-understanding).
        - md-vision: 1568 px, PNG always, as that server gives them.
        - original: nothing is reduced.

        `estimate_tokens` says what each charges.

        Raises:
            InvalidInputError: there is no such preset.
        """
        policies = {
            "default": cls(),
            "claude": cls(max_patches=CLAUDE_PATCHES),
            "claude-high": cls(max_edge_pixels=2576, max_patches=4784),
            "openai": cls(max_edge_pixels=2048, short_edge_pixels=768),
            "gemini": cls(max_edge_pixels=GEMINI_EDGE_PIXELS),
            "md-vision": cls(format="png"),
            "original": cls(format="original"),
        }
        if name not in policies:
            message = f"There is no preset {name!r}; there are {', '.join(policies)}."
            raise failure(Code.INPUT_INVALID, message, details={"reason": "preset"})
        return policies[name]


def fit(width: int, height: int, policy: ImagePolicy) -> tuple[int, int]:
    """The size at which a picture is shown: its own, or the largest of its shape within bounds.

    >>> fit(3136, 1568, ImagePolicy()), fit(1920, 1080, ImagePolicy.preset("claude"))
    ((1568, 784), (1456, 819))
    """
    scale = min(Fraction(1), Fraction(policy.max_edge_pixels, max(width, height)))
    if policy.short_edge_pixels is not None:
        scale = min(scale, Fraction(policy.short_edge_pixels, min(width, height)))
    size = _scaled(width, height, scale)
    if policy.max_patches is None or _patches(*size, policy.patch_pixels) <= policy.max_patches:
        return size
    return _within_patches((width, height), max(size), policy.max_patches, policy.patch_pixels)


def _scaled(width: int, height: int, scale: Fraction) -> tuple[int, int]:
    return max(1, math.floor(width * scale)), max(1, math.floor(height * scale))


def _patches(width: int, height: int, patch: int) -> int:
    return math.ceil(width / patch) * math.ceil(height / patch)


def _within_patches(
    size: tuple[int, int], most_pixels: int, most: int, patch: int
) -> tuple[int, int]:
    """The largest size of that shape within a number of patches, by its longer edge."""
    longer = max(size)
    low, high = 1, most_pixels + 1  # `low` fits, as far as anything does; `high` does not
    while high - low > 1:
        middle = (low + high) // 2
        if _patches(*_scaled(*size, Fraction(middle, longer)), patch) <= most:
            low = middle
        else:
            high = middle
    return _scaled(*size, Fraction(low, longer))


def estimate_tokens(width: int, height: int, policy: ImagePolicy) -> int:
    """What a picture costs the family of models that the policy's bounds are for.

    Each family first scales a picture down by its own rule, so that more pixels cost no more.

    - Bounds in patches (claude, claude-high) cost a token for each patch; bounds that name neither
      patches nor a shorter edge (default, md-vision, original) cost what Claude's standard models
      charge (https://platform.claude.com/docs/en/build-with-claude/vision).
    - A shorter edge (openai) costs 85 tokens and 170 for each tile of 512 px, as GPT-4o
      (https://platform.openai.com/docs/guides/images-vision). Models that count patches of 32 px
      there, GPT-4.1 mini and others, have prices of their own.
    - The bounds of the preset gemini cost 1120, which Gemini 3 spends on each picture by default
      (https://ai.google.dev/gemini-api/docs/media-resolution).

    >>> estimate_tokens(1920, 1080, ImagePolicy())
    1560
    >>> estimate_tokens(2048, 4096, ImagePolicy.preset("openai"))
    1105
    """
    if policy.short_edge_pixels is not None:
        fitted = fit(width, height, ImagePolicy.preset("openai"))
        return _OPENAI_BASE + _OPENAI_TILE * _patches(*fitted, _OPENAI_TILE_PIXELS)
    if policy.max_patches is None:
        if policy.max_edge_pixels == GEMINI_EDGE_PIXELS:
            return _GEMINI_TOKENS
        policy = ImagePolicy.preset("claude")
    return _patches(*fit(width, height, policy), policy.patch_pixels)
