"""What a tool is, and the one gate that all calls pass: arguments judged, errors made answers."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, cast

from jsonschema import Draft202012Validator

from mdvision.errors import Code, MdVisionError, failure
from mdvision_mcp.content import Answer, answer_result, error_result
from mdvision_mcp.work import Call, Desk, Stopped, Unfinished

if TYPE_CHECKING:
    from collections.abc import Awaitable, Iterator, Sequence

    from jsonschema import ValidationError
    from mcp.types import CallToolResult

    from mdvision_mcp.settings import Settings
    from mdvision_mcp.work import Step

_LOG = logging.getLogger("mdvision_mcp")

_MAX_ADDRESS_CHARS = 1_000
_MOST_FAULTS = 5
_SHOWN_CHARS = 40

Schema = Mapping[str, object]
Arguments = Mapping[str, object]

ADDRESS: Schema = {"type": "string", "minLength": 1, "maxLength": _MAX_ADDRESS_CHARS}
"""Of a parameter that names a file or page."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A tool: what clients are told of it, and what it does."""

    name: str
    title: str
    description: str
    parameters: Mapping[str, Schema]
    """JSON schemas, as plain as the pickiest client needs them."""
    required: tuple[str, ...]
    run: Callable[[Arguments, Call], Answer]
    """Does the work in a thread of its own; arguments are valid, defaults filled in."""
    open_world: bool = True
    """Whether it may fetch from the web."""

    @property
    def input_schema(self) -> dict[str, object]:
        """The JSON schema of all arguments."""
        return {
            "type": "object",
            "properties": {name: dict(schema) for name, schema in self.parameters.items()},
            "required": list(self.required),
            "additionalProperties": False,
        }


class Gate:
    """Runs the tools that are offered."""

    def __init__(self, tools: Sequence[Tool], settings: Settings) -> None:
        self.tools = {tool.name: tool for tool in tools}
        self._desk: Desk[CallToolResult] = Desk(settings)

    async def call(
        self,
        name: str,
        arguments: Mapping[str, object],
        report: Callable[[Step], Awaitable[None]],
    ) -> CallToolResult:
        """Answer a call; whatever goes wrong is an answer too."""
        try:
            tool = self._named(name)
            given = _judged(tool, arguments)
            key = name, json.dumps(given, sort_keys=True)
            result = await self._desk.answer(key, lambda call: _result(tool, given, call), report)
        except MdVisionError as error:
            return error_result(error.issue)
        if isinstance(result, Unfinished):
            return answer_result(_unfinished(name, result.step))
        return result

    def _named(self, name: str) -> Tool:
        if name in self.tools:
            return self.tools[name]
        message = f"There is no tool {name[:100]!r}."
        action = f"Call one of {', '.join(self.tools)}."
        raise failure(Code.INPUT_INVALID, message, next_action=action, details={"reason": "tool"})


def _result(tool: Tool, arguments: Arguments, call: Call) -> CallToolResult:
    try:
        return answer_result(tool.run(arguments, call))
    except (MdVisionError, Stopped):
        raise
    except Exception as error:
        # What it says may hold anything, so that it stays here.
        _LOG.exception("%s failed", tool.name)
        message = f"{tool.name} failed unexpectedly."
        raise failure(Code.INTERNAL_ERROR, message) from error


def _unfinished(name: str, step: Step) -> Answer:
    far = f": {step.done} of {step.total} {step.what}" if step.total else ""
    text = f"Not done yet{far}. The work goes on: call {name} with the same arguments again."
    meta = {"unfinished": True, "done": step.done, "total": step.total}
    return Answer(blocks=(text,), meta=meta)


def _judged(tool: Tool, arguments: Arguments) -> dict[str, object]:
    """The arguments with their defaults; null is taken for not given, as some clients send it."""
    given = {name: value for name, value in arguments.items() if value is not None}
    faults = list(islice(_faults(tool, given), _MOST_FAULTS))
    if faults:
        message = "; ".join(_fault(tool, fault) for fault in faults) + "."
        action = f"Correct that and call {tool.name} again."
        details = {"reason": "arguments"}
        raise failure(Code.INPUT_INVALID, message, next_action=action, details=details)
    found = {
        name: schema["default"] for name, schema in tool.parameters.items() if "default" in schema
    }
    for name, value in given.items():
        found[name] = _whole(value)
    return found


def _faults(tool: Tool, given: dict[str, object]) -> Iterator[ValidationError]:
    judge = Draft202012Validator(tool.input_schema)
    return judge.iter_errors(cast("dict[str, str]", given))  # pyright: ignore[reportUnknownMemberType]


def _whole(value: object) -> object:
    """Whole numbers as such: JSON schema takes 1.0 for one."""
    if isinstance(value, float):
        return int(value)
    if isinstance(value, list):
        return [_whole(item) for item in cast("list[object]", value)]
    return value


_PHRASES: Mapping[str, Callable[[object], str]] = {
    "type": lambda wanted: f"must be of type {wanted}",
    "minimum": lambda least: f"must be at least {least}",
    "maximum": lambda most: f"must be at most {most}",
    "minLength": lambda _: "must not be empty",
    "maxLength": lambda most: f"must have at most {most} characters",
    "minItems": lambda least: f"must hold at least {least} items",
    "maxItems": lambda most: f"must hold at most {most} items",
}


def _fault(tool: Tool, fault: ValidationError) -> str:
    """What is wrong with an argument; its value, which may be anything, is not repeated."""
    if fault.validator == "required":
        missing = [name for name in tool.required if name not in cast("Arguments", fault.instance)]
        return f"{', '.join(missing)} must be given"
    if fault.validator == "additionalProperties":
        unknown = [
            name for name in cast("Arguments", fault.instance) if name not in tool.parameters
        ]
        named = ", ".join(name[:_SHOWN_CHARS] for name in unknown[:_MOST_FAULTS])
        return f"there is no parameter {named}; there are {', '.join(tool.parameters)}"
    where = ".".join(map(str, fault.absolute_path))
    return f"{where} {_PHRASES[str(fault.validator)](fault.validator_value)}"
