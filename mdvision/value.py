"""What every value of the library has in common: it can be written out as plain data."""

from __future__ import annotations

import base64
import math
from collections.abc import Iterable, Mapping
from dataclasses import fields
from datetime import date, time
from enum import Enum
from typing import TYPE_CHECKING, ClassVar, cast

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

_DATA = (bytes, bytearray)


class Value:
    """Base of the public values: frozen, slotted, keyword-only dataclasses.

    Equality and the hash are those of the fields (dictionaries are left out of the hash); every
    value can be copied and pickled.
    """

    __slots__ = ()

    _derived: ClassVar[tuple[str, ...]] = ()
    """Names of the properties that `to_dict` gives beside the fields."""

    def to_dict(self, *, include_data: bool = False) -> dict[str, object]:
        """Give the value as plain data that `json.dumps` takes.

        Names stay as they are, tuples become lists, dates ISO 8601 strings, numbers that JSON does
        not know (NaN, infinities) None. Bytes are left out wherever they stand, or base64 with
        `include_data=True`.
        """
        names = [field.name for field in fields(cast("DataclassInstance", self))]
        found: dict[object, object] = {
            name: getattr(self, name) for name in (*names, *self._derived)
        }
        return _plain_mapping(found, include_data=include_data)


def _plain_mapping(values: Mapping[object, object], *, include_data: bool) -> dict[str, object]:
    return {
        str(key): plain(value, include_data=include_data)
        for key, value in values.items()
        if include_data or not isinstance(value, _DATA)
    }


def plain(value: object, *, include_data: bool = False) -> object:
    """Give `value` in the types that JSON knows; what has no such form becomes its text."""
    if isinstance(value, Value):
        return value.to_dict(include_data=include_data)
    if isinstance(value, Mapping):
        return _plain_mapping(cast("Mapping[object, object]", value), include_data=include_data)
    if isinstance(value, Iterable) and not isinstance(value, (str, *_DATA)):
        items = cast("Iterable[object]", value)
        return [
            plain(item, include_data=include_data)
            for item in items
            if include_data or not isinstance(item, _DATA)
        ]
    return _plain_scalar(value)


def _plain_scalar(value: object) -> object:
    if isinstance(value, Enum):
        return cast("object", value.value)
    if isinstance(value, (date, time)):  # a datetime is a date
        return value.isoformat()
    if isinstance(value, _DATA):
        return base64.b64encode(value).decode("ascii")
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if value is None or isinstance(value, (str, int, float)) else str(value)
