"""Pictures decoded, bounded and encoded for a model; the only module that knows Pillow.

The order matters. The kind is told by the bytes, the number of pixels by the header, both before
anything is decoded; then the whole is decoded, since what a model is sent must not be damaged; what
fits goes through untouched; what does not is reduced first and turned upright then, which is less
work. Pillow's plugins are called by name: `Image.open` would try every format, and warn or refuse
by a pixel limit of its own.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false
# Pillow's types name numpy's, which is not installed, and leave some of ImageCms' out.
from __future__ import annotations

import io
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple, cast

from PIL import Image, ImageCms

from mdvision.errors import Code, Details, Issue, MdVisionError, failure, issue
from mdvision.images.headers import is_lossy_webp, largest_size, tiff_pages, without_slow_parts
from mdvision.images.policy import fit
from mdvision.images.silence import pillow_silenced
from mdvision.images.sniff import RASTER, SVG, git_lfs_size, sniff

if TYPE_CHECKING:
    from collections.abc import Callable

    from PIL.ImageFile import ImageFile

    from mdvision.images.policy import ImagePolicy
    from mdvision.limits import Limits
    from mdvision.model import MediaType

SENDABLE: dict[str, MediaType] = {
    "PNG": "image/png",
    "JPEG": "image/jpeg",
    "WebP": "image/webp",
    "GIF": "image/gif",
}
"""Kinds that models take, with their media types."""

_READERS = {
    "PNG": "PngImagePlugin.PngImageFile",
    "JPEG": "JpegImagePlugin.JpegImageFile",  # not its factory: that gives MPO for some cameras
    "WebP": "WebPImagePlugin.WebPImageFile",
    "GIF": "GifImagePlugin.GifImageFile",
    "AVIF": "AvifImagePlugin.AvifImageFile",
    "BMP": "BmpImagePlugin.BmpImageFile",
    "TIFF": "TiffImagePlugin.TiffImageFile",
    "ICO": "IcoImagePlugin.IcoImageFile",
    "JPEG 2000": "Jpeg2KImagePlugin.Jpeg2KImageFile",
    "PPM": "PpmImagePlugin.PpmImageFile",
    "QOI": "QoiImagePlugin.QoiImageFile",
}
_PLAIN_MODES = frozenset({"1", "L", "LA", "P", "RGB", "RGBA"})
_ALPHA_MODES = frozenset({"RGBA", "LA", "PA", "La", "RGBa"})
_TRANSPOSED_SIDES = frozenset({5, 6, 7, 8})  # EXIF orientations that swap width and height
_UPRIGHT = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}
_ORIENTATION_TAG = 0x0112
_PNG_DEPTH_AT = 24  # PNG specification, section 11.2.1: the bit depth in IHDR
_PNG_END = b"\0\0\0\0IEND"
_FAST_PNG = {"compress_level": 1, "compress_type": 3}  # Z_RLE: as small as level 1, and faster
_QUALITIES = (85, 75, 65, 55, 45)
_SMALL_EDGE_PIXELS = 512  # below it halved colour resolution shows in thin coloured lines
_SHRINK = 0.8
_SMALLEST_JPEG_BYTES = 1_000  # one pixel in colour takes 629, a block of 8 not much more
_PROFILE_HEAD_BYTES = 3_000  # a profile's name stands in them
_READ_BYTES = 1 << 24  # Pillow's 64 KiB make a row of millions of pixels take quadratic time
_MAX_16_BIT = 65_535


class BoundedImage(NamedTuple):
    """A picture within the bounds of a policy."""

    data: bytes
    media_type: MediaType
    width_pixels: int
    height_pixels: int
    source_width_pixels: int
    """After orientation."""
    source_height_pixels: int
    issues: tuple[Issue, ...]
    """What of it was reduced beyond its size."""


def bound_image(data: bytes, policy: ImagePolicy, limits: Limits) -> BoundedImage:
    """Bound a picture by a policy.

    A still and upright PNG, JPEG, WebP or GIF of plain 8-bit mode within bounds goes through
    untouched. Else JPEG and lossy WebP become JPEG, everything else PNG; an animation gives its
    first frame.

    Raises:
        SourceError: more bytes than `limits.max_input_bytes`.
        DecodeError: damaged or empty, or more pixels than `limits.max_decoded_pixels`.
        UnsupportedFormatError: no picture, or of a format that is not read here, as SVG.
    """
    kind = _kind(data, limits)
    try:
        with pillow_silenced():
            picture = _Picture(data, kind, policy, limits)
            if policy.format == "original":
                return picture.original()
            return picture.untouched() or picture.encoded()
    except MdVisionError:
        raise
    except Image.DecompressionBombError:  # of a frame beyond its screen, or above a higher limit
        raise _too_many_pixels(limits.max_decoded_pixels) from None
    except MemoryError:
        raise _undecodable("it takes more memory than there is", "memory") from None
    except Exception:  # noqa: BLE001 - decoders raise whatever damaged bytes lead them to
        raise _undecodable(f"the {kind} data is damaged", "corrupt") from None


def _kind(data: bytes, limits: Limits) -> str:
    if len(data) > limits.max_input_bytes:
        message = (
            f"The picture has {len(data):,} bytes, over the limit of {limits.max_input_bytes:,}."
        )
        details: Details = {"limit": limits.max_input_bytes, "actual": len(data)}
        raise failure(Code.SOURCE_TOO_LARGE, message, details=details)
    if not data:
        raise _undecodable("the file is empty", "empty")
    kind = sniff(data)
    if kind in _READERS:
        return kind
    if (size := git_lfs_size(data)) is not None:
        message = f"The file is a Git LFS pointer to a picture of {size} bytes."
        action = "Run git lfs pull in the repository."
        pointer: Details = {"reason": "lfs_pointer", "actual": size}
        raise failure(Code.SOURCE_UNSUPPORTED, message, next_action=action, details=pointer)
    what = f"{kind} data" if kind else "something else"
    reason = "format" if kind in RASTER or kind == SVG else "not_an_image"
    message = f"The file is no picture that can be read: it holds {what}."
    raise failure(Code.SOURCE_UNSUPPORTED, message, details={"reason": reason})


def _check_pixels(size: tuple[int, int], limits: Limits) -> None:
    if size[0] * size[1] > limits.max_decoded_pixels:
        raise _too_many_pixels(limits.max_decoded_pixels, size)


def _too_many_pixels(limit: int, size: tuple[int, int] | None = None) -> MdVisionError:
    if size is None:
        limit = min(limit, 2 * (Image.MAX_IMAGE_PIXELS or limit))  # where Pillow refuses
        message, details = f"The picture has more pixels than the limit of {limit:,}.", {}
    else:
        message = f"The picture has {size[0]}x{size[1]} pixels, over the limit of {limit:,}."
        details = {"actual": size[0] * size[1]}
    return failure(Code.PIXEL_LIMIT_EXCEEDED, message, details={"limit": limit, **details})


def _undecodable(why: str, reason: str) -> MdVisionError:
    message = f"The picture could not be decoded: {why}."
    return failure(Code.DECODE_FAILED, message, details={"reason": reason})


class _Picture:
    """One picture on its way through."""

    def __init__(self, data: bytes, kind: str, policy: ImagePolicy, limits: Limits) -> None:
        self.data, self.kind, self.policy = data, kind, policy
        self.issues: list[Issue] = []
        if size := largest_size(data, kind):
            _check_pixels(size, limits)
        self.image = _reader(kind)(io.BytesIO(without_slow_parts(data, kind)))
        _check_pixels(self.image.size, limits)
        width, height = self.image.size
        bounds = fit(width, height, policy)
        if kind == "JPEG" and policy.format != "original" and bounds != (width, height):
            self.image.draft(None, bounds)  # lets the decoder skip detail that would be dropped
        self.image.decodermaxblock = _READ_BYTES
        self.image.load()
        self.orientation = _orientation(self.image)
        turned = self.orientation in _TRANSPOSED_SIDES
        self.width, self.height = (height, width) if turned else (width, height)

    def result(self, data: bytes, media_type: MediaType, size: tuple[int, int]) -> BoundedImage:
        return BoundedImage(data, media_type, *size, self.width, self.height, tuple(self.issues))

    def original(self) -> BoundedImage:
        """The bytes as they are; what no model takes becomes PNG of the same size.

        Neither is held to `max_bytes`.
        """
        size = self.width, self.height
        if self.kind in SENDABLE:
            return self.result(self.data, SENDABLE[self.kind], size)
        self.tell(f"converted from {self.kind} to PNG", "format")
        self.tell_frames()
        return self.result(_png(self.finished(_plain(self.image))), "image/png", size)

    def untouched(self) -> BoundedImage | None:
        """The picture as it is, when that is what the policy asks for."""
        size = self.width, self.height
        fits = (
            self.kind in SENDABLE
            and self.policy.format in ("auto", self.kind.lower())
            and fit(*size, self.policy) == size
            and len(self.data) <= self.policy.max_bytes
            and self.orientation == 1
            and self.image.mode in _PLAIN_MODES
            and not _is_animated(self.image)
            and (self.kind != "PNG" or self._is_simple_png())
        )
        return self.result(self.data, SENDABLE[self.kind], size) if fits else None

    def _is_simple_png(self) -> bool:
        """Of 8 bits at most, and not cut off behind its last pixel, which Pillow lets pass."""
        return self.data[_PNG_DEPTH_AT] <= 8 and _PNG_END in self.data  # noqa: PLR2004 - bits

    def encoded(self) -> BoundedImage:
        """The picture reduced, upright, and encoded after its source."""
        self.tell_frames()
        size = fit(self.width, self.height, self.policy)
        turned = self.orientation in _TRANSPOSED_SIDES
        image = _plain(self.image)
        stored_size = (size[1], size[0]) if turned else size
        if image.size != stored_size:
            image = image.resize(stored_size, Image.Resampling.LANCZOS, reducing_gap=1.0)
        image = self.finished(image)
        is_photo = self.kind == "JPEG" or (self.kind == "WebP" and is_lossy_webp(self.data))
        if self.policy.format == "auto" and is_photo and image.mode != "RGBA":
            return self._fitting_jpeg(image, tell_quality=False)
        return self._fitting_png(image)

    def finished(self, image: Image.Image) -> Image.Image:
        """In sRGB, upright, and bare of what its source said: comments, places, dates."""
        image = _in_srgb(image, self.image.info.get("icc_profile"))
        if self.orientation in _UPRIGHT:
            image = image.transpose(_UPRIGHT[self.orientation])
        image.info = {}
        return image

    def tell_frames(self) -> None:
        is_tiff = self.kind == "TIFF"
        frames = tiff_pages(self.data) if is_tiff else getattr(self.image, "n_frames", 1)
        if frames > 1:
            what = "page" if is_tiff else "frame"
            self.tell(f"first {what} of {frames}", "first_frame", frames=frames)

    def _fitting_png(self, image: Image.Image) -> BoundedImage:
        """PNG; over the byte limit with a palette, then JPEG where allowed, then smaller."""
        data = _png(image)
        if len(data) <= self.policy.max_bytes:
            return self.result(data, "image/png", image.size)
        return self._fitting_palette(image)

    def _fitting_palette(self, image: Image.Image) -> BoundedImage:
        can_be_jpeg = self.policy.format == "auto" and self.policy.max_bytes >= _SMALLEST_JPEG_BYTES
        while len(data := self._palette_png(image)) > self.policy.max_bytes:
            if can_be_jpeg:
                return self._fitting_jpeg(image, tell_quality=True)
            if image.size == (1, 1):
                break
            image = self._smaller(image)
        self.tell(f"colours reduced to a palette of {self._colours(image)}", "palette")
        return self.result(data, "image/png", image.size)

    def _palette_png(self, image: Image.Image) -> bytes:
        colours = self._colours(image)
        return _png(image.quantize(colours, method=Image.Quantize.FASTOCTREE))

    def _colours(self, image: Image.Image) -> int:
        """So many that the palette, of 4 bytes each, takes half of the bytes at most."""
        return min(256, self.policy.max_bytes // 8, image.width * image.height)

    def _fitting_jpeg(self, image: Image.Image, *, tell_quality: bool) -> BoundedImage:
        """JPEG, over the byte limit of less quality, then smaller.

        Its tables take some 620 bytes; where that is too much, PNG with a palette.
        """
        if self.policy.max_bytes < _SMALLEST_JPEG_BYTES:
            return self._fitting_palette(image)
        image = _on_white(image)
        while True:
            for quality in _QUALITIES:
                data = _jpeg(image, quality)
                if len(data) <= self.policy.max_bytes:
                    if tell_quality or quality != _QUALITIES[0]:
                        self.tell(f"encoded as JPEG of quality {quality}", "quality")
                    return self.result(data, "image/jpeg", image.size)
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


def _reader(kind: str) -> Callable[[io.BytesIO], ImageFile]:
    module, _, name = _READERS[kind].partition(".")
    found = getattr(import_module(f"PIL.{module}"), name)
    return cast("Callable[[io.BytesIO], ImageFile]", found)


def _orientation(image: Image.Image) -> int:
    """EXIF orientation, 1 to 8; 1 when there is none or it is damaged."""
    try:
        found = image.getexif().get(_ORIENTATION_TAG, 1)
    except Exception:  # noqa: BLE001 - damaged metadata must not cost the picture
        return 1
    return found if found in _UPRIGHT else 1


def _is_animated(image: Image.Image) -> bool:
    return bool(getattr(image, "is_animated", False))


def _plain(image: Image.Image) -> Image.Image:
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


def _in_srgb(image: Image.Image, profile: bytes | None) -> Image.Image:
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


def _on_white(image: Image.Image) -> Image.Image:
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
