"""`view_image`: a picture, a part of it or its tiles, and the calls that look nearer."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from mdvision.errors import Code, failure
from mdvision.images.tiles import overlap, plan_tiles, tile_columns, tile_grid
from mdvision.rendering import issue_line, picture_line, quoted
from mdvision.viewing import READABLE_SCALE, look, open_image, shown_scale
from mdvision_mcp.content import Answer, block_bytes, scrubbed
from mdvision_mcp.markdown.source import URI, hints
from mdvision_mcp.paths import shown_path
from mdvision_mcp.readings import image_policy
from mdvision_mcp.tool import Tool

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mdvision.images.part import OpenImage
    from mdvision.model import Box, ImagePart
    from mdvision_mcp.tool import Arguments
    from mdvision_mcp.work import Call

MAX_TILES = 64
"""Tiles that one call can ask for."""
_AT_LEAST = 5  # pictures that an answer has room for; more when they take less than their share
_TOLD_TILES = 24  # of those that show a region
_FOOTER_BYTES = 2_000  # with the numbers of 64 tiles, in the facts too, and without the path
_LINE_CHARS = 130  # of a picture's line without an address
_LINES_PART, _PATH_PART = 2, 4  # of a result's characters, for the lines and for the last call
_FRAME_PART, _ADDRESS_PART = 20, 40  # of its bytes


def _view(arguments: Arguments, call: Call) -> Answer:
    path = cast("str", arguments["path"])
    region = cast("list[int]", arguments.get("region", []))
    tiles = cast("list[int]", arguments.get("tiles", []))
    max_tiles = cast("int", arguments.get("max_tiles", 0))
    with hints(path, call, pictures=True):
        if not region and (tiles or max_tiles):
            return _tiles_answer(path, tiles, max_tiles or MAX_TILES, call)
        return _picture_answer(path, cast("Box", tuple(region)) if region else None, call)


def _picture_answer(path: str, region: Box | None, call: Call) -> Answer:
    """The whole picture or a region of it; when it is reduced, how to look nearer."""
    policy = image_policy(call.settings, _room(path, call))
    image, notes = look(path, region, policy, call.loader)
    lines = [*map(issue_line, notes), *_nearer(image, path, call)]
    return _answer([(image, None)], lines, _address(image.source, 1, call))


def _nearer(image: ImagePart, path: str, call: Call) -> list[str]:
    """How a picture that is reduced can be seen at full size."""
    if shown_scale(image) >= 1:
        return []
    if path.lower().endswith((".svg", ".svgz")):
        return [_scale(image), "look nearer with region=[left, top, width, height]"]
    width, height = image.source_width_pixels, image.source_height_pixels
    grid, region = tile_grid(width, height), image.region
    if region is None:
        first = 0
        where = f"it has tiles 0 to {len(grid) - 1}, in rows of {tile_columns(width)}"
    else:
        over = [number for number, tile in enumerate(grid) if overlap(tile, region)]
        first = over[0]
        more = ", ..." if len(over) > _TOLD_TILES else ""
        where = f"it lies in the tiles {', '.join(map(str, over[:_TOLD_TILES]))}{more}"
    return [
        f"{_scale(image)}; {where}",
        f"look nearer with: {_call(path, [first], call)} or region=[left, top, width, height]",
    ]


def _scale(image: ImagePart) -> str:
    scale = shown_scale(image)
    small = ", too small to read" if scale < READABLE_SCALE else ""
    return f"shown at {int(scale * 100)}% of its size{small}"


def _call(path: str, tiles: Sequence[int], call: Call) -> str:
    """The call that shows some tiles."""
    return f"view_image(path={_named(path, call)}, tiles={list(tiles)})"


def _named(path: str, call: Call) -> str:
    """The path as it stands in a call, where it is not too long."""
    named = quoted(path)
    return named if len(named) <= call.settings.text_chars // _PATH_PART else "..."


def _tiles_answer(path: str, named: Sequence[int], most: int, call: Call) -> Answer:
    """The tiles that are named; when none are, the whole picture and `most` of its tiles.

    Those that there is no room for are named in the call that shows them.

    Raises:
        InvalidInputError: none of the tiles that are named is there.
        MdVisionError: as `view_image`.
    """
    image = open_image(path, call.loader)
    plan = plan_tiles(image.width_pixels, image.height_pixels, most)
    count = len(plan.grid)
    there = f"the picture has {count} tiles, counted from 0"
    tiles = [tile for tile in dict.fromkeys(named) if tile < count] if named else plan.selected
    if not tiles:
        message = f"There is no such tile: {there}."
        raise failure(Code.INPUT_INVALID, message, details={"reason": "tiles", "actual": count})
    shown = _looks(path, image, tiles if named else [None, *tiles], plan.grid, call)
    lines = [f"some tiles are not there: {there}"] if len(tiles) < len(set(named)) else []
    wanted: Sequence[int] = tiles
    if not named:
        overview = shown[0][0]
        wanted = () if shown_scale(overview) == 1 else range(count)
        if shown_scale(overview) < READABLE_SCALE:
            lines.append(f"the whole is {_scale(overview)}")
    seen = {tile for _, tile in shown if tile is not None}
    left = [tile for tile in wanted if tile not in seen]
    if left:
        lines.append(f"{len(seen)} of {len(wanted)} tiles are shown")
        lines.append(f"go on with: {_call(path, left[:MAX_TILES], call)}")
    return _answer(shown, lines, _address(image.source, len(shown), call))


def _looks(
    path: str, image: OpenImage, tiles: Sequence[int | None], grid: Sequence[Box], call: Call
) -> list[tuple[ImagePart, int | None]]:
    """The tiles, and the whole for None, as many as there is room for, each with its number.

    A whole at full size needs no tiles.
    """
    room, chars = _room(path, call), call.settings.text_chars // _LINES_PART
    share = image_policy(call.settings, room // min(len(tiles), _AT_LEAST))
    whole = image_policy(call.settings, room)
    address = _address(image.source, len(tiles), call)
    found: list[tuple[ImagePart, int | None]] = []
    for number, tile in enumerate(tiles):
        call.progress(number, len(tiles), "parts of the picture are there")
        part, _ = image.part(share) if tile is None else image.tile(share, grid[tile])
        if tile is not None and shown_scale(part) < 1:  # rather fewer tiles than smaller ones
            part, _ = image.tile(whole, grid[tile])
        line = picture_line(part, len(tiles), len(tiles), address, tile)
        room -= block_bytes(line) + block_bytes(part)
        chars -= len(line)
        if found and (room < 0 or chars < 0):
            break
        found.append((part, tile))
        if tile is None and shown_scale(part) == 1:
            break
    return found


def _address(source: str, count: int, call: Call) -> str:
    """What the lines of `count` pictures call it: its path, or nothing where that is too long."""
    path, settings = shown_path(source, call.loader), call.settings
    has_room = (
        len(path) + _LINE_CHARS
    ) * count <= settings.text_chars // _LINES_PART and block_bytes(
        path
    ) <= settings.max_result_bytes // _ADDRESS_PART
    return path if has_room else ""


def _answer(
    shown: Sequence[tuple[ImagePart, int | None]], lines: list[str], address: str
) -> Answer:
    blocks: list[str | ImagePart] = []
    for number, (part, tile) in enumerate(shown, 1):
        line = picture_line(part, number, len(shown), address, tile).lstrip("\n")
        blocks += [scrubbed(line), part]
    if footer := _footer(lines):
        blocks.append(footer)
    any_part, _ = shown[0]
    facts = {
        "width_pixels": any_part.source_width_pixels,
        "height_pixels": any_part.source_height_pixels,
        "tiles": [tile for _, tile in shown if tile is not None],
    }
    return Answer(blocks=tuple(blocks), meta=facts)


def _room(path: str, call: Call) -> int:
    """Bytes of a result for pictures and their lines."""
    most = call.settings.max_result_bytes
    return most - most // _FRAME_PART - _FOOTER_BYTES - block_bytes(_named(path, call))


def _footer(lines: Sequence[str]) -> str:
    return "\n".join(("", "---", *lines, "")) if lines else ""


VIEW_IMAGE = Tool(
    name="view_image",
    title="View an image",
    description=(
        "Look at one picture: PNG, JPEG, WebP, GIF (its first frame), BMP, TIFF, AVIF and"
        " others, the whole of it reduced to 1568 pixels. Where that is too small to read, look"
        " nearer: region gives a part, tiles give numbered parts, max_tiles the whole and its"
        " tiles, all from the full size. Returns for each picture a line with its path, true"
        " size and region, and the picture. Use it for a picture that read_md_with_images names"
        " but does not show, or shows too small. SVG has no tiles. It reads no text out of the"
        ' picture. Examples: view_image(path="img/map.png"),'
        ' view_image(path="img/map.png", region=[0, 600, 800, 400]).'
    ),
    parameters={
        "path": {
            **URI,
            "description": "Local path or http(s) URL of the picture, as the line before a"
            " picture gives it.",
        },
        "region": {
            "type": "array",
            "items": {"type": "integer", "minimum": 0},
            "minItems": 4,
            "maxItems": 4,
            "description": "Part to show from the full size: [left, top, width, height] in"
            " pixels of the picture. Used instead of tiles and max_tiles.",
        },
        "tiles": {
            "type": "array",
            "items": {"type": "integer", "minimum": 0},
            "maxItems": MAX_TILES,
            "description": "Numbers of tiles to show at full size, for example [0, 1]. Tiles"
            " are 1024 pixels wide and high, overlap by 128, and are counted from 0 row by row."
            " Used instead of max_tiles.",
        },
        "max_tiles": {
            "type": "integer",
            "minimum": 1,
            "maximum": MAX_TILES,
            "description": "Show the whole, and then up to so many of its tiles, 1 to 64,"
            " spread evenly where there are more.",
        },
    },
    required=("path",),
    run=_view,
)
