"""Pixels made ready for a model, and encoded within a number of bytes."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false
# Pillow's types name numpy's, which is not installed, and leave some of ImageCms' out.
from __future__ import annotations

import io
from typing import TYPE_CHECKING, NamedTuple, cast

from PIL import Image, ImageCms

from mdvision.errors import Code, Issue, issue

if TYPE_CHECKING:
    from mdvision.images.policy import ImagePolicy
    from mdvision.model import MediaType

_FAST_PNG = {"compress_level": 1, "compress_type": 3}  # Z_RLE: as small as level 1, and faster
_QUALITIES = (85, 75, 65, 55, 45)
_SMALL_EDGE_PIXELS = 512  # below it halved colour resolution shows in thin coloured lines
_SHRINK = 0.8
_SMALLEST_JPEG_BYTES = 1_000  # one pixel in colour takes 629, a block of 8 not much more
_ALPHA_MODES = frozenset({"RGBA", "LA", "PA", "La", "RGBa"})
_PROFILE_HEAD_BYTES = 3_000  # a profile's name stands in them
_MAX_16_BIT = 65_535


class Encoded(NamedTuple):
    """A picture as a file."""

    data: bytes
    media_type: MediaType
    width_pixels: int
    height_pixels: int


class Encoder:
    """Encodes one picture within the bytes of a policy; its issues tell what that took."""

    def __init__(self, policy: ImagePolicy) -> None:
        self.policy = policy
        self.issues: list[Issue] = []

    def encoded(self, image: Image.Image, *, is_photo: bool) -> Encoded:
        """A photo as JPEG where that is allowed, else PNG; under "original" PNG of any size."""
        if self.policy.format == "original":
            return Encoded(_png(image), "image/png", *image.size)
        if self.policy.format == "auto" and is_photo and image.mode != "RGBA":
            return self._fitting_jpeg(image, tell_quality=False)
        return self._fitting_png(image)

    def _fitting_png(self, image: Image.Image) -> Encoded:
        """PNG; over the byte limit with a palette, then JPEG where allowed, then smaller."""
        data = _png(image)
        if len(data) <= self.policy.max_bytes:
            return Encoded(data, "image/png", *image.size)
        return self._fitting_palette(image)

    def _fitting_palette(self, image: Image.Image) -> Encoded:
        can_be_jpeg = self.policy.format == "auto" and self.policy.max_bytes >= _SMALLEST_JPEG_BYTES
        while len(data := self._palette_png(image)) > self.policy.max_bytes:
            if can_be_jpeg:
                return self._fitting_jpeg(image, tell_quality=True)
            if image.size == (1, 1):
                break
            image = self._smaller(image)
        self.tell(f"colours reduced to a palette of {self._colours(image)}", "palette")
        return Encoded(data, "image/png", *image.size)

    def _palette_png(self, image: Image.Image) -> bytes:
        colours = self._colours(image)
        return _png(image.quantize(colours, method=Image.Quantize.FASTOCTREE))

    def _colours(self, image: Image.Image) -> int:
        """So many that the palette, of 4 bytes each, takes half of the bytes at most."""
        return min(256, self.policy.max_bytes // 8, image.width * image.height)

    def _fitting_jpeg(self, image: Image.Image, *, tell_quality: bool) -> Encoded:
        """JPEG, over the byte limit of less quality, then smaller.

        Its tables take some 620 bytes; where that is too much, PNG with a palette.
        """
        if self.policy.max_bytes < _SMALLEST_JPEG_BYTES:
            return self._fitting_palette(image)
        image = on_white(image)
        while True:
            for quality in _QUALITIES:
                data = _jpeg(image, quality)
                if len(data) <= self.policy.max_bytes:
                    if tell_quality or quality != _QUALITIES[0]:
                        self.tell(f"encoded as JPEG of quality {quality}", "quality")
                    return Encoded(data, "image/jpeg", *image.size)
            image = self._smaller(image)

    def _smaller(self, image: Image.Image) -> Image.Image:
        size = max(1, int(image.width * _SHRINK)), max(1, int(image.height * _SHRINK))
        if not any(found.details.get("reason") == "bytes" for found in self.issues):
            self.tell(f"smaller, to stay within {self.policy.max_bytes:,} bytes", "bytes")
        return image.resize(size, Image.Resampling.LANCZOS)

    def tell(self, what: str, reason: str, **details: int) -> None:
        """Add the issue that the picture was reduced."""
        message = f"The picture is shown reduced: {what}."
        found = issue(Code.IMAGE_REDUCED, message, details={"reason": reason, **details})
        self.issues.append(found)


def plain(image: Image.Image) -> Image.Image:
    """The picture as L, RGB, RGBA or CMYK in 8 bits; opaque alpha is dropped."""
    if image.mode.startswith("I"):
        return _from_integers(image)
    if image.mode == "F":
        low, high = cast("tuple[float, float]", image.getextrema())
        scale = 255 / ((high - low) or 1)
        return image.point(lambda value: value * scale - low * scale).convert("L")
    if image.mode in _ALPHA_MODES or "transparency" in image.info:
        image = image if image.mode == "RGBA" else image.convert("RGBA")
        lowest, _ = cast("tuple[int, int]", image.getchannel("A").getextrema())
        return image.convert("RGB") if lowest == 255 else image  # noqa: PLR2004 - opaque
    if image.mode in ("L", "RGB", "CMYK"):  # CMYK is left to its profile; a copy takes memory
        return image
    return image.convert("L" if image.mode == "1" else "RGB")


def _from_integers(image: Image.Image) -> Image.Image:
    """16-bit grey scaled to 8 bits, where `convert` would clip it; so are larger integers."""
    image = image.convert("I")
    _, high = cast("tuple[int, int]", image.getextrema())
    scale = 255 / max(high, _MAX_16_BIT)
    return image.point(lambda value: value * scale + 0.5).convert("L")


def in_srgb(image: Image.Image, profile: bytes | None) -> Image.Image:
    """Colours by the profile of the source; its alpha, and grey, as they are."""
    if image.mode == "L":
        return image
    colours = image.convert("RGB") if image.mode == "RGBA" else image
    converted = None
    if profile and b"sRGB" not in profile[:_PROFILE_HEAD_BYTES]:
        try:
            source = ImageCms.ImageCmsProfile(io.BytesIO(profile))
            target = ImageCms.createProfile("sRGB")
            converted = ImageCms.profileToProfile(colours, source, target, outputMode="RGB")
        except (ImageCms.PyCMSError, OSError, ValueError, TypeError):
            pass  # a damaged profile must not cost the picture
    if image.mode != "RGBA":
        return converted or image.convert("RGB")
    if converted is not None:
        converted.putalpha(image.getchannel("A"))
    return converted or image


def on_white(image: Image.Image) -> Image.Image:
    """The picture as it is seen on a white page."""
    if image.mode != "RGBA":
        return image
    page = Image.new("RGB", image.size, "white")
    page.paste(image, mask=image.getchannel("A"))
    return page


def _png(image: Image.Image) -> bytes:
    out = io.BytesIO()
    image.save(out, "PNG", **_FAST_PNG, icc_profile=None)
    return out.getvalue()


def _jpeg(image: Image.Image, quality: int) -> bytes:
    out = io.BytesIO()
    whole_colour = max(image.size) <= _SMALL_EDGE_PIXELS
    subsampling = "4:4:4" if whole_colour else "4:2:0"
    image.save(out, "JPEG", quality=quality, subsampling=subsampling, icc_profile=None)
    return out.getvalue()
