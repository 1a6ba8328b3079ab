"""Names for the plain types that appear in many signatures."""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike  # the name alone: the model opens nothing
from typing import Literal

Source = str | PathLike[str]
"""A local path or an http(s) URL. A trailing "#slug" names a section where one can be named."""

MediaType = Literal["image/png", "image/jpeg", "image/webp", "image/gif"]
"""The picture formats that vision models take."""

LineRange = tuple[int, int]
"""First and last line, 1-based, inclusive."""

Box = tuple[int, int, int, int]
"""Left, top, width, height, in pixels of the source picture after orientation."""

Progress = Callable[[int, int, str], None]
"""Called with the number done, the total, and what is being done."""
