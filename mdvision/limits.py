"""How much is too much: what markdown, and a reading of it, may cost, in one place."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

from mdvision.errors import Code, failure
from mdvision.value import Value

MAX_REFERENCE_CHARS = 512
"""A picture's address that is longer leaves the text; an issue names its beginning."""

MAX_TITLE_CHARS = 500
"""Of a title, in a section path: every row below it repeats them."""

MAX_NESTING = 100
"""Containers (quotes, list items) that markdown may stand in; deeper markers are text."""

MAX_METADATA_NODES = 10_000
"""Values that front matter may hold, counted at every level."""

MAX_REPEATED_CHARS = 100_000
"""Characters that aliases in front matter may repeat, all together."""

MAX_INTEGER_BITS = 10_000
"""Bits of a number in front matter: Python refuses to write out much longer ones."""

MAX_RENDERED_CHARS = 200_000
"""Markdown that is rendered at once; longer text is given plain."""

MAX_RENDERED_MARKS = 300
"""Inline marks in one block that is rendered; mistletoe's time grows with their square."""

MAX_RENDERED_BLOCKS = 3_000
"""Blocks that are rendered at once; some make mistletoe look through all that follow."""

MAX_RENDERED_NESTING = 50
"""Containers that a rendered block may stand in; mistletoe recurses."""

MAX_HEADING_LEVEL = 6
"""Levels of headings in markdown."""

_LONGEST_SECONDS = 1e9  # thirty years; a timer takes little more


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits(Value):
    """What a `Loader` takes in before it gives up."""

    max_input_bytes: int = 20_971_520
    """Bytes of one picture, of one document to convert, and of anything from the network."""
    max_text_bytes: int | None = None
    """Bytes of one local markdown, text or CSV file; None = no limit."""
    max_decoded_pixels: int = 100_000_000
    """Width times height of a picture."""
    max_redirects: int = 3
    """Redirects followed in one fetch."""
    timeout_seconds: float = 30.0
    """Time for a whole fetch, redirects and body included."""

    def __post_init__(self) -> None:
        """Refuse what is no number: it would bound nothing."""
        for field in fields(self):
            value: object = getattr(self, field.name)
            if value is None and field.name == "max_text_bytes":
                continue
            kinds = (int, float) if field.name == "timeout_seconds" else int
            most = _LONGEST_SECONDS if field.name == "timeout_seconds" else math.inf
            if isinstance(value, bool) or not isinstance(value, kinds) or not 0 <= value <= most:
                message = f"{field.name} is {value!r}; it must be a number from 0 on."
                raise failure(Code.INPUT_INVALID, message, details={"reason": field.name})
