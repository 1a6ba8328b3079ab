"""`view_image`: one picture."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from mdvision.rendering import picture_line
from mdvision.viewing import view_image
from mdvision_mcp.content import Answer
from mdvision_mcp.markdown.source import URI, hints
from mdvision_mcp.paths import shown_path
from mdvision_mcp.readings import image_policy
from mdvision_mcp.tool import Tool

if TYPE_CHECKING:
    from mdvision_mcp.tool import Arguments
    from mdvision_mcp.work import Call


def _view(arguments: Arguments, call: Call) -> Answer:
    path = cast("str", arguments["path"])
    policy = image_policy(call.settings, call.settings.max_result_bytes // 10 * 9)
    with hints(path, call, pictures=True):
        image = view_image(path, image_policy=policy, loader=call.loader)
    line = picture_line(image, 1, 1, shown_path(image.source, call.loader)).lstrip("\n")
    facts = {"width_pixels": image.source_width_pixels, "height_pixels": image.source_height_pixels}
    return Answer(blocks=(line, image), meta=facts)


VIEW_IMAGE = Tool(
    name="view_image",
    title="View an image",
    description=(
        "Look at one picture: PNG, JPEG, WebP, GIF (its first frame), BMP, TIFF, AVIF and"
        " others, reduced to 1568 pixels. Returns a line with its path and true size, and the"
        " picture. Use it for a picture that read_md_with_images names but does not show, or to"
        " see one again. It reads no text out of the picture and shows no SVG."
        ' Example: view_image(path="docs/img/setup.png").'
    ),
    parameters={
        "path": {
            **URI,
            "description": "Local path or http(s) URL of the picture, as the line before a"
            " picture gives it.",
        },
    },
    required=("path",),
    run=_view,
)
