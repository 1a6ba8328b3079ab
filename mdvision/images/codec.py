"""Pictures decoded and bounded for a model; with `encoding` the only module that knows Pillow.

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
import threading
from contextlib import ExitStack, contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple, cast

from PIL import Image

from mdvision.errors import Code, Details, Issue, MdVisionError, failure
from mdvision.images.encoding import Encoded, Encoder, in_srgb, on_white, plain
from mdvision.images.headers import is_lossy_webp, largest_size, tiff_pages, without_slow_parts
from mdvision.images.policy import fit
from mdvision.images.silence import pillow_silenced
from mdvision.images.sniff import RASTER, SVG, git_lfs_size, sniff

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from PIL.ImageFile import ImageFile

    from mdvision.images.policy import ImagePolicy
    from mdvision.limits import Limits
    from mdvision.model import Box, MediaType

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
_TRANSPOSED_SIDES = frozenset({5, 6, 7, 8})  # EXIF orientations that swap width and height
_FROM_THE_RIGHT = frozenset({2, 3, 7, 8})  # those whose stored rows run the other way
_FROM_THE_BOTTOM = frozenset({3, 4, 6, 7})  # and those whose stored columns do
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
_LARGE_PIXELS = 25_000_000  # a picture of four bytes a pixel takes 100 MB, twice while it is made
_LARGE_TURNS = threading.BoundedSemaphore(2)
"""So many large pictures are decoded at a time, in the whole process."""
_READ_BYTES = 1 << 24  # Pillow's 64 KiB make a row of millions of pixels take quadratic time


class BoundedImage(NamedTuple):
    """A picture within the bounds of a policy."""

    data: bytes
    media_type: MediaType
    width_pixels: int
    height_pixels: int
    source_width_pixels: int
    """After orientation."""
    source_height_pixels: int
    region: Box | None
    """The part of the source that is shown, after orientation; None = all of it."""
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
    with _explained(kind, limits), ExitStack() as turn:
        picture = _Picture(data, kind, limits, bounds=policy, turn=turn)
        return picture.untouched(policy) or picture.shown(policy)


class DecodedImage:
    """A picture decoded once, at full size, of which the whole and any part can be shown on white.

    Raises:
        SourceError, DecodeError, UnsupportedFormatError, MissingExtraError: as `bound_image`.
    """

    def __init__(self, data: bytes, limits: Limits) -> None:
        self._kind, self._limits = _kind(data, limits), limits
        with _explained(self._kind, limits), ExitStack() as turn:
            self._picture = _Picture(data, self._kind, limits, bounds=None, turn=turn)

    @property
    def size(self) -> tuple[int, int]:
        """Width and height in pixels, after orientation."""
        return self._picture.width, self._picture.height

    def bounded(self, policy: ImagePolicy, region: Box | None = None) -> BoundedImage:
        """The whole, or a region that lies within, bounded by a policy; no alpha is left.

        The region is cut out at full size and reduced then, as far as the policy asks for it. Under
        the policy "original" it is not reduced at all, and is PNG.
        """
        with _explained(self._kind, self._limits):
            picture = self._picture
            as_it_is = None if region or picture.is_transparent() else picture.untouched(policy)
            return as_it_is or picture.shown(policy, region, is_on_white=True)


@contextmanager
def _explained(kind: str, limits: Limits) -> Generator[None, None, None]:
    """Whatever decoding and encoding raise is told as one of our errors."""
    try:
        with pillow_silenced():
            yield
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

    def __init__(
        self,
        data: bytes,
        kind: str,
        limits: Limits,
        *,
        bounds: ImagePolicy | None,
        turn: ExitStack,
    ) -> None:
        """Decode it; with `bounds` detail that they would drop may be left out.

        A large one first waits for its turn, which `turn` holds until it closes.
        """
        self.data, self.kind = data, kind
        if size := largest_size(data, kind):
            _check_pixels(size, limits)
        self.image: Image.Image = self._decoded(limits, bounds, turn)
        self.orientation = _orientation(self.image)
        width, height = self.stored_size
        turned = self.orientation in _TRANSPOSED_SIDES
        self.width, self.height = (height, width) if turned else (width, height)

    def _decoded(self, limits: Limits, bounds: ImagePolicy | None, turn: ExitStack) -> ImageFile:
        image = _reader(self.kind)(io.BytesIO(without_slow_parts(self.data, self.kind)))
        self.stored_size = width, height = image.size
        _check_pixels(image.size, limits)
        if self.kind == "JPEG" and bounds is not None and bounds.format != "original":
            size = fit(width, height, bounds)
            if size != (width, height):
                image.draft(None, size)  # lets the decoder skip detail that would be dropped
        if width * height > _LARGE_PIXELS:
            turn.enter_context(_LARGE_TURNS)
        image.decodermaxblock = _READ_BYTES
        image.load()
        return image

    def untouched(self, policy: ImagePolicy) -> BoundedImage | None:
        """The picture as it is, when that is what the policy asks for.

        Under "original" that is whatever models take, of any number of bytes.
        """
        size = self.width, self.height
        fits = self.kind in SENDABLE and (
            policy.format == "original"
            or (
                policy.format in ("auto", self.kind.lower())
                and fit(*size, policy) == size
                and len(self.data) <= policy.max_bytes
                and self.orientation == 1
                and self.image.mode in _PLAIN_MODES
                and not _is_animated(self.image)
                and (self.kind != "PNG" or self._is_simple_png())
            )
        )
        if not fits:
            return None
        found = Encoded(self.data, SENDABLE[self.kind], *size)
        return BoundedImage(*found, *size, None, ())

    def _is_simple_png(self) -> bool:
        """Of 8 bits at most, and not cut off behind its last pixel, which Pillow lets pass."""
        return self.data[_PNG_DEPTH_AT] <= 8 and _PNG_END in self.data  # noqa: PLR2004 - bits

    def is_transparent(self) -> bool:
        """Whether anything behind the picture would be seen."""
        return plain(self.image).mode == "RGBA"

    def shown(
        self, policy: ImagePolicy, region: Box | None = None, *, is_on_white: bool = False
    ) -> BoundedImage:
        """The picture or a region reduced, upright, and encoded after its source."""
        encoder = Encoder(policy)
        if region is None:
            self._tell(encoder)
        image = self._cut(region)
        size = (self.width, self.height) if region is None else region[2:]
        if policy.format != "original":
            size = fit(*size, policy)
        turned = self.orientation in _TRANSPOSED_SIDES
        stored_size = (size[1], size[0]) if turned else size
        if image.size != stored_size:
            image = image.resize(stored_size, Image.Resampling.LANCZOS, reducing_gap=1.0)
        image = self._finished(image)
        if is_on_white:
            image = on_white(image)
        is_photo = self.kind == "JPEG" or (self.kind == "WebP" and is_lossy_webp(self.data))
        found = encoder.encoded(image, is_photo=is_photo)
        return BoundedImage(*found, self.width, self.height, region, tuple(encoder.issues))

    def _cut(self, region: Box | None) -> Image.Image:
        """The picture or a region as it is stored, in plain colours."""
        if region is None:
            return plain(self.image)
        if self.image.mode.startswith(("I", "F")):  # scaled by the range of the whole
            self.image = plain(self.image)
        return plain(self.image.crop(self._stored(region)))

    def _stored(self, region: Box) -> tuple[int, int, int, int]:
        """Left, top, right and bottom of a region among the pixels as they are stored."""
        left, top, width, height = region
        if self.orientation in _TRANSPOSED_SIDES:
            left, top, width, height = top, left, height, width
        if self.orientation in _FROM_THE_RIGHT:
            left = self.stored_size[0] - left - width
        if self.orientation in _FROM_THE_BOTTOM:
            top = self.stored_size[1] - top - height
        return left, top, left + width, top + height

    def _finished(self, image: Image.Image) -> Image.Image:
        """In sRGB, upright, and bare of what its source said: comments, places, dates."""
        image = in_srgb(image, self.image.info.get("icc_profile"))
        if self.orientation in _UPRIGHT:
            image = image.transpose(_UPRIGHT[self.orientation])
        image.info = {}
        return image

    def _tell(self, encoder: Encoder) -> None:
        if encoder.policy.format == "original" and self.kind not in SENDABLE:
            encoder.tell(f"converted from {self.kind} to PNG", "format")
        is_tiff = self.kind == "TIFF"
        frames = tiff_pages(self.data) if is_tiff else getattr(self.image, "n_frames", 1)
        if frames > 1:
            what = "page" if is_tiff else "frame"
            encoder.tell(f"first {what} of {frames}", "first_frame", frames=frames)


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
