"""Looking nearer at a picture: which pixels come, what their lines say, and that all of it fits."""

from __future__ import annotations

import base64
import io
import json
import random
import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mcp.types import CallToolResult
from PIL import Image

from mdvision.rendering import PICTURE_LINE
from mdvision_mcp.settings import Settings
from tests.mcp.talk import ask, settings_for, texts

GO_ON = re.compile(r'go on with: view_image\(path=("[^"]*"), tiles=(\[[\d, ]+\])\)')


def pictures(result: CallToolResult) -> list[Image.Image]:
    return [
        Image.open(io.BytesIO(base64.b64decode(block.data))).convert("RGB")
        for block in result.content
        if block.type == "image"
    ]


def lines(result: CallToolResult) -> list[str]:
    """The line before each picture; every picture has its own directly before it."""
    found = []
    for before, block in zip(result.content, result.content[1:], strict=False):
        if block.type == "image":
            assert before.type == "text"
            assert PICTURE_LINE.fullmatch("\n" + before.text)
            found.append(before.text.rstrip("\n"))
    assert len(found) == len(pictures(result))
    return found


def footer(result: CallToolResult) -> list[str]:
    _, rule, rest = texts(result).rpartition("\n---\n")
    return rest.rstrip("\n").split("\n") if rule else []


def within(result: CallToolResult, asked: Settings) -> None:
    size = len(result.model_dump_json(by_alias=True, exclude_none=True).encode())
    assert size <= asked.max_result_bytes
    assert len(texts(result)) <= asked.max_result_chars


def plan(width: int, height: int) -> Image.Image:
    """A drawing: lines, so that PNG makes little of it, and each place looks different."""
    image = Image.new("RGB", (width, height), "white")
    for x in range(0, width, 50):
        image.paste((x // 50 % 200, 0, 90), (x, 0, x + 3, height))
    for y in range(0, height, 50):
        image.paste((0, y // 50 % 200, 30), (0, y, width, y + 2))
    return image


def noise(width: int, height: int) -> Image.Image:
    pixels = random.Random(1).randbytes(width * height * 3)  # noqa: S311 - repeatable
    return Image.frombytes("RGB", (width, height), pixels)


def view(root: Path, **arguments: object) -> CallToolResult:
    (found,) = ask(settings_for(root), ("view_image", {"path": "a.png", **arguments}))
    within(found, settings_for(root))
    return found


def test_a_region(tmp_path: Path) -> None:
    whole = plan(3000, 2000)
    whole.save(tmp_path / "a.png")
    found = view(tmp_path, region=[1490, 990, 700, 500])
    assert texts(found) == ("[picture 1 of 1: a.png, 3000x2000, region [1490, 990, 700, 500]]\n")
    (shown,) = pictures(found)
    assert shown.tobytes() == whole.crop((1490, 990, 2190, 1490)).tobytes()


def test_a_region_that_is_reduced_says_where_its_detail_is(tmp_path: Path) -> None:
    plan(5000, 1920).save(tmp_path / "a.png")
    found = view(tmp_path, region=[0, 0, 4000, 1000], tiles=[0], max_tiles=9)
    assert lines(found) == [
        "[picture 1 of 1: a.png, 5000x1920, region [0, 0, 4000, 1000], shown 1568x392]"
    ]
    assert footer(found) == [
        # rows of six, the last tile from 3976 on; the second row begins at 896
        (
            "shown at 39% of its size, too small to read;"
            " it lies in the tiles 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11"
        ),
        'look nearer with: view_image(path="a.png", tiles=[0]) or region=[left, top, width, height]',
    ]


def test_a_region_beyond_the_edge_is_named_as_it_is(tmp_path: Path) -> None:
    plan(300, 200).save(tmp_path / "a.png")
    found, none = ask(
        settings_for(tmp_path),
        ("view_image", {"path": "a.png", "region": [250, 150, 400, 400]}),
        ("view_image", {"path": "a.png", "region": [300, 0, 5, 5]}),
    )
    assert texts(found) == "[picture 1 of 1: a.png, 300x200, region [250, 150, 50, 50]]\n"
    assert none.is_error
    assert "which is 300x200" in texts(none)


def test_tiles_that_are_named(tmp_path: Path) -> None:
    whole = plan(3840, 2160)
    whole.save(tmp_path / "a.png")
    found = view(tmp_path, tiles=[14, 1, 1], max_tiles=3)
    assert lines(found) == [
        "[picture 1 of 2: a.png, 3840x2160, tile 14, region [2816, 1136, 1024, 1024]]",
        "[picture 2 of 2: a.png, 3840x2160, tile 1, region [896, 0, 1024, 1024]]",
    ]
    last, second = pictures(found)
    assert last.tobytes() == whole.crop((2816, 1136, 3840, 2160)).tobytes()
    assert second.tobytes() == whole.crop((896, 0, 1920, 1024)).tobytes()
    assert footer(found) == []
    assert found.meta is not None
    assert found.meta["mdvision/result"] == {
        "width_pixels": 3840,
        "height_pixels": 2160,
        "tiles": [14, 1],
    }


def test_tiles_that_are_not_there(tmp_path: Path) -> None:
    plan(2000, 1000).save(tmp_path / "a.png")
    found = view(tmp_path, tiles=[2, 3])
    assert len(pictures(found)) == 1
    assert footer(found) == ["some tiles are not there: the picture has 3 tiles, counted from 0"]
    none = view(tmp_path, tiles=[3, 10**30])
    assert none.is_error
    assert "There is no such tile: the picture has 3 tiles" in texts(none)


def test_the_whole_and_its_tiles(tmp_path: Path) -> None:
    plan(800, 5000).save(tmp_path / "a.png")
    found = view(tmp_path, max_tiles=64)
    assert [line[:14] for line in lines(found)] == [f"[picture {k} of " for k in range(1, 8)]
    assert lines(found)[0] == "[picture 1 of 7: a.png, 800x5000, shown 250x1568]"
    assert (
        lines(found)[6] == "[picture 7 of 7: a.png, 800x5000, tile 5, region [0, 3976, 800, 1024]]"
    )
    assert footer(found) == ["the whole is shown at 31% of its size, too small to read"]


def test_a_whole_at_full_size_has_no_tiles(tmp_path: Path) -> None:
    plan(1500, 1100).save(tmp_path / "a.png")
    found = view(tmp_path, max_tiles=64)
    assert texts(found) == "[picture 1 of 1: a.png, 1500x1100]\n"


def test_fewer_tiles_than_there_are(tmp_path: Path) -> None:
    plan(3840, 2160).save(tmp_path / "a.png")
    found = view(tmp_path, max_tiles=2)
    assert [re.findall(r"tile (\d+)", line) for line in lines(found)] == [[], ["0"], ["14"]]
    assert footer(found) == [
        "2 of 15 tiles are shown",
        'go on with: view_image(path="a.png", tiles=[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13])',
    ]


def test_the_calls_lead_through_every_tile_at_full_size(tmp_path: Path) -> None:
    """Tiles that take much: what an answer has no room for comes with the next."""
    noise(2500, 1024).save(tmp_path / "a.png")
    asked = settings_for(tmp_path)
    arguments: dict[str, object] = {"path": "a.png", "max_tiles": 64}
    seen: list[int] = []
    for _ in range(4):
        (found,) = ask(asked, ("view_image", arguments))
        within(found, asked)
        for line, shown in zip(lines(found), pictures(found), strict=True):
            if "tile" in line:
                assert shown.size == (1024, 1024), "a tile that is smaller is of no use"
        seen += [int(k) for line in lines(found) for k in re.findall(r"tile (\d+)", line)]
        more = GO_ON.search(texts(found))
        if not more:
            break
        arguments = {"path": json.loads(more[1]), "tiles": json.loads(more[2])}
    assert seen == [0, 1, 2]


def test_transparency_lies_on_white(tmp_path: Path) -> None:
    Image.new("RGBA", (2000, 1000), (0, 0, 0, 0)).save(tmp_path / "a.png")
    for arguments in ({"region": [0, 0, 50, 50]}, {"tiles": [1]}, {"max_tiles": 2}):
        for shown in pictures(view(tmp_path, **arguments)):
            assert shown.getextrema() == ((255, 255),) * 3


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"region": [0, 0, 5]}, "region must hold at least 4 items"),
        ({"region": [0, 0, 5, 5, 5]}, "region must hold at most 4 items"),
        ({"region": [-1, 0, 5, 5]}, "region.0 must be at least 0"),
        ({"region": "0,0,5,5"}, "region must be of type array"),
        ({"region": [0.5, 0, 5, 5]}, "region.0 must be of type integer"),
        ({"region": [0, 0, 0, 5]}, "holds no pixel"),
        ({"tiles": [-1]}, "tiles.0 must be at least 0"),
        ({"tiles": 3}, "tiles must be of type array"),
        ({"tiles": list(range(65))}, "tiles must hold at most 64 items"),
        ({"max_tiles": 0}, "max_tiles must be at least 1"),
        ({"max_tiles": 65}, "max_tiles must be at most 64"),
    ],
)
def test_wrong_arguments(tmp_path: Path, arguments: dict[str, object], words: str) -> None:
    plan(300, 200).save(tmp_path / "a.png")
    found = view(tmp_path, **arguments)
    assert found.is_error
    assert words in texts(found)


def test_no_tiles_and_whole_numbers(tmp_path: Path) -> None:
    plan(300, 200).save(tmp_path / "a.png")
    assert lines(view(tmp_path, tiles=[])) == ["[picture 1 of 1: a.png, 300x200]"]
    assert lines(view(tmp_path, region=[1.0, 2.0, 30.0, 40.0], tiles=None)) == [
        "[picture 1 of 1: a.png, 300x200, region [1, 2, 30, 40]]"
    ]


def test_errors_are_those_of_a_whole_picture(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(b"no picture")
    plan(30, 20).save(tmp_path / "b.png")
    for more in ({"region": [0, 0, 5, 5]}, {"tiles": [0]}, {"max_tiles": 1}):
        broken, gone, outside = ask(
            settings_for(tmp_path),
            ("view_image", {"path": "a.png", **more}),
            ("view_image", {"path": "bb.png", **more}),
            ("view_image", {"path": "/etc/hostname", **more}),
        )
        assert "SOURCE_UNSUPPORTED" in texts(broken)
        assert 'Did you mean one of these: "b.png"' in texts(gone)
        assert "FILE_ACCESS_DENIED" in texts(outside)


SIZES = st.sampled_from([(40, 30), (1100, 700), (2000, 1500), (700, 9000)])
MORE = st.fixed_dictionaries(
    {},
    optional={
        "region": st.tuples(*[st.integers(0, 900)] * 2, *[st.integers(1, 4000)] * 2).map(list),
        "tiles": st.lists(st.integers(0, 12), max_size=64),
        "max_tiles": st.integers(1, 64),
    },
)


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    size=SIZES,
    more=MORE,
    is_noise=st.booleans(),
    name=st.sampled_from(["a.png", "\u6f22" * 70 + ".png", "./" * 490 + "a.png"]),
)
def test_no_answer_passes_the_least_limits(
    tmp_path: Path, size: tuple[int, int], more: dict[str, object], is_noise: bool, name: str
) -> None:
    (noise if is_noise else plan)(*size).save(tmp_path / name, compress_level=1)
    asked = settings_for(tmp_path, max_result_bytes=40_000, max_result_chars=4_000)
    (found,) = ask(asked, ("view_image", {"path": name, **more}))
    within(found, asked)
    assert found.is_error or lines(found)


def test_the_longest_footer_fits(tmp_path: Path) -> None:
    Image.new("1", (1_000_000, 100)).save(tmp_path / "a.png")  # 1,116 tiles
    folder = tmp_path
    for _ in range(4):
        folder /= "\x01" * 200
    folder.mkdir(parents=True)
    (folder / "a.png").write_bytes((tmp_path / "a.png").read_bytes())
    asked = settings_for(tmp_path, max_result_bytes=40_000, max_result_chars=4_000)
    for path in ("a.png", str((folder / "a.png").relative_to(tmp_path))):
        for more in ({}, {"max_tiles": 64}, {"tiles": list(range(1_052, 1_116))}):
            (found,) = ask(asked, ("view_image", {"path": path, **more}))
            assert not found.is_error
            within(found, asked)
