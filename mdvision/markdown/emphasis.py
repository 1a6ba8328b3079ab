"""Emphasis, strong emphasis and strikethrough: which runs of marks open, close, and pair.

CommonMark 0.31.2, section 6.2 and the appendix's "process emphasis"; strikethrough as in cmark-gfm,
one or two tildes that must be as many on either side.
"""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

from mdvision.markdown.links import ESCAPABLE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mdvision.markdown.spans import Span

_STRIKETHROUGH_LENGTHS = (1, 2)


class Mark:
    """A run of one mark, as `**`."""

    __slots__ = ("at", "char", "closes", "count", "length", "node", "opens")

    def __init__(self, text: str, at: int, end: int, node: int) -> None:
        self.char, self.at, self.length = text[at], at, end - at
        self.node = node  # where it stands in the plain text
        self.count = self.length  # marks that are not paired yet
        before, after = at, end
        if self.char != "~":  # cmark-gfm looks past strikethrough's marks: **~~a~~**b
            while text[before - 1 : before] == "~":
                before -= 1
            while text[after : after + 1] == "~":
                after += 1
        around = text[before - 1 : before] or " ", text[after : after + 1] or " "
        self.opens, self.closes = _flanks(self.char, *around)
        if self.char == "~" and self.length not in _STRIKETHROUGH_LENGTHS:
            self.opens = self.closes = False


def pair_marks(marks: Sequence[Mark]) -> list[Span]:
    """Pair marks, which lowers their counts; gives the ranges from opener to closer.

    Linear: for each kind of closer it is remembered below which place no opener fits.
    """
    pairs: list[Span] = []
    openers: list[tuple[int, Mark]] = []
    floor: dict[tuple[str, bool, int], int] = {}
    for index, closer in enumerate(marks):
        kind = closer.char, closer.opens, closer.length % 3
        while closer.closes and closer.count:
            k = _opener(openers, closer, floor.get(kind, -1))
            if k < 0:
                floor[kind] = index - 1
                break
            opener = openers[k][1]
            if closer.char == "~" and opener.length != closer.length:
                del openers[k:]  # cmark-gfm gives up both
                closer.opens = False
                break
            used = 2 if opener.count > 1 and closer.count > 1 else 1
            opener.count -= used
            closer.count -= used
            pairs.append((opener.at, closer.at + closer.length))
            del openers[k + (opener.count > 0) :]
        if closer.opens and closer.count:
            openers.append((index, closer))
    return pairs


def _opener(openers: Sequence[tuple[int, Mark]], closer: Mark, lowest: int) -> int:
    """The place among `openers` of the nearest one that fits, above index `lowest`; or -1."""
    k = len(openers) - 1
    while k >= 0 and openers[k][0] > lowest:
        if _fits(openers[k][1], closer):
            return k
        k -= 1
    return -1


def _fits(opener: Mark, closer: Mark) -> bool:
    if opener.char != closer.char:
        return False
    both = opener.closes or closer.opens
    of_three = (opener.length + closer.length) % 3 == 0
    return not (both and of_three and (opener.length % 3 or closer.length % 3))


def _flanks(char: str, before: str, after: str) -> tuple[bool, bool]:
    """Whether a run can open and can close, by the characters around it."""
    space_before, space_after = _is_space(before), _is_space(after)
    sign_before, sign_after = _is_sign(before), _is_sign(after)
    left = not space_after and (not sign_after or space_before or sign_before)
    right = not space_before and (not sign_before or space_after or sign_after)
    if char == "_":
        return left and (not right or sign_before), right and (not left or sign_after)
    return left, right


def _is_space(c: str) -> bool:
    """Unicode white space (section 2.1)."""
    return c in " \t\n\f\r" or unicodedata.category(c) == "Zs"


def _is_sign(c: str) -> bool:
    """Unicode punctuation (section 2.1)."""
    return c in ESCAPABLE or unicodedata.category(c)[0] in "PS"
