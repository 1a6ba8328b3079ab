"""The SVG cases of tests/cases, and real drawings where there are any."""

from __future__ import annotations

import io
import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import resvg_py
import yaml
from PIL import Image

import mdvision
from mdvision import Code, MdVisionError
from mdvision.images.svg_source import parse_svg, svg_words

CASES = Path(__file__).parent / "cases"
HOSTILE = CASES / "svg-hostile-inputs"
DATA = os.environ.get("MDVISION_TEST_DATA", "")
MUST_BE_SHOWN = ("text", "css", "currentcolor", "percent", "data_png", "nosize", "switch_foreign")
SECRET = (255, 0, 254)  # of no drawing


class Listener:
    """A web server that nobody is to call."""

    def __init__(self) -> None:
        self.calls = 0
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        threading.Thread(target=self.listen, daemon=True).start()

    def listen(self) -> None:
        while True:
            try:
                connection, _ = self.socket.accept()
            except OSError:
                return
            self.calls += 1
            connection.close()


@pytest.fixture
def listener() -> Iterator[Listener]:
    found = Listener()
    yield found
    found.socket.close()


def prepared(folder: Path, port: int) -> Path:
    """The hostile files with the paths and the port put in."""
    for path in HOSTILE.glob("*.svg"):
        data = path.read_bytes().replace(b"@DIR@", os.fsencode(folder))
        (folder / path.name).write_bytes(data.replace(b":8765", f":{port}".encode()))
    Image.new("RGB", (10, 10), SECRET).save(folder / "secret.png")
    return folder


def colours(png: bytes) -> set[object]:
    image = Image.open(io.BytesIO(png)).convert("RGB")
    return {colour for _, colour in image.getcolors(1 << 22) or []}


PROGRAM = """
import json, os, resource, sys, time
import mdvision
from mdvision import sandbox
for path in sys.argv[1:]:
    began = time.monotonic()
    try:
        image = mdvision.view_image(path)
        open(path + ".png", "wb").write(image.data)
        code = ""
    except mdvision.MdVisionError as error:
        code = error.issue.code.name
    print(json.dumps([os.path.basename(path), code, time.monotonic() - began]))
sandbox._close_kept()
# Our own is not ru_maxrss, which begins with that of the process that started this one.
own = next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(json.dumps([resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, int(own)]))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="by ru_maxrss in KiB, and a limit of Linux")
def test_hostile_inputs(tmp_path: Path, listener: Listener) -> None:
    """A picture or an issue within 10 s and 500 MB; no file, no host; the process lives."""
    folder = prepared(tmp_path, listener.port)
    paths = sorted(map(str, folder.glob("*.svg")))
    assert len(paths) == 28
    command = [sys.executable, "-c", PROGRAM, *paths]
    found = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    *answers, memory = map(json.loads, found.stdout.splitlines())
    assert [name for name, _, _ in answers] == [Path(path).name for path in paths]
    for name, code, seconds in answers:
        assert seconds < 10, name
        assert not (code and name.startswith(MUST_BE_SHOWN)), name
        assert code in ("", "DECODE_FAILED", "SOURCE_UNSUPPORTED"), name
    assert all(20_000 < kib < 500_000_000 / 1024 for kib in memory)
    for path in folder.glob("*.svg.png"):
        assert SECRET not in colours(path.read_bytes()), path.name
    assert listener.calls == 0


def test_the_secret_would_be_seen(tmp_path: Path, listener: Listener) -> None:
    """So the test above can fail."""
    text = (prepared(tmp_path, listener.port) / "img_abs.svg").read_text()
    assert SECRET in colours(resvg_py.svg_to_bytes(svg_string=text))
    socket.create_connection(("127.0.0.1", listener.port)).close()
    time.sleep(0.2)
    assert listener.calls == 1


def test_external() -> None:
    folder = CASES / "svg-external"
    expected = yaml.safe_load((folder / "case.yaml").read_text("utf-8"))["expected"]["files"]
    assert set(expected) == {path.name for path in folder.glob("*.svg")}
    text = "".join(f"![]({name})\n" for name in expected)
    began = time.monotonic()
    reading = mdvision.read_text_with_images(text, base=folder / "doc.md")
    assert time.monotonic() - began < expected["laughs.svg"]["max_seconds"] + 1  # a child begins
    found = {
        issue.details["source"]: (issue.code, issue.details["reason"]) for issue in reading.issues
    }
    assert found == {
        "ext.svg": (Code.CONTENT_DROPPED, "external_reference"),
        "xxe.svg": (Code.SOURCE_UNSUPPORTED, "doctype"),
        "laughs.svg": (Code.SOURCE_UNSUPPORTED, "doctype"),
    }
    assert [Path(image.source).name for image in reading.images] == ["ext.svg"]
    secret = expected["xxe.svg"]["must_not_contain"]
    assert secret in (folder / "secret.txt").read_text()
    assert secret not in str(reading.to_dict())


def test_text() -> None:
    folder = CASES / "svg-text"
    expected = yaml.safe_load((folder / "case.yaml").read_text("utf-8"))["expected"]
    words = svg_words(parse_svg((folder / "plan.svg").read_bytes()))
    assert list(words.texts) == expected["texts"]
    assert (words.title, words.description) == (expected["title"], expected["desc"])
    assert not set(words.texts) & set(expected["not_texts"])


@pytest.mark.skipif(not DATA, reason="MDVISION_TEST_DATA names no folder of real drawings")
def test_real_drawings() -> None:
    failed: list[str] = []
    shown = 0
    for path in sorted(Path(DATA).glob("corpus/**/*.svg")):
        try:
            image = mdvision.view_image(path)
        except MdVisionError as error:
            failed.append(f"{path.name}: {error}")
            continue
        assert len(colours(image.data)) > 1, path.name
        assert 400 <= max(image.width_pixels, image.height_pixels) <= 1568
        shown += 1
    assert failed == []
    assert shown >= 52
