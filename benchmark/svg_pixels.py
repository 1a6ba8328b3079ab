"""Draw a folder of SVG; beside another renderer's pictures of them, tell how far they differ.

python -m benchmark.svg_pixels SVGS OURS            draws, and notes the sizes in OURS/sizes.json
python -m benchmark.svg_pixels SVGS OURS THEIRS     compares as well, by the files' stems

`benchmark/svg_chromium.mjs` makes THEIRS, at those sizes, by Chromium.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

from PIL import Image, ImageChops

import mdvision
from mdvision import ImagePart, MdVisionError

FAR = 32  # of 255: more than what two ways of smoothing an edge make
MOST_SHARE = 0.08  # of the pixels: text set in the same font by another hand stays below


def draw(svgs: Path, ours: Path) -> dict[str, ImagePart]:
    """Draw all; what cannot be drawn is printed."""
    drawn: dict[str, ImagePart] = {}
    seconds: list[float] = []
    paths = sorted(path for path in svgs.rglob("*") if path.suffix.lower() in (".svg", ".svgz"))
    for path in paths:
        began = time.perf_counter()
        try:
            part = mdvision.view_image(path)
        except MdVisionError as error:
            print(f"{path.relative_to(svgs)}: {error}")
            continue
        seconds.append(time.perf_counter() - began)
        drawn["_".join(path.relative_to(svgs).parts)] = part
    ours.mkdir(parents=True, exist_ok=True)
    for name, part in drawn.items():
        (ours / f"{Path(name).stem}.png").write_bytes(part.data)
    sizes = {name: (part.width_pixels, part.height_pixels) for name, part in drawn.items()}
    (ours / "sizes.json").write_text(json.dumps(sizes), encoding="utf-8")
    median = sorted(seconds)[len(seconds) // 2] * 1000 if seconds else 0
    print(f"{len(drawn)} of {len(paths)} drawn, {median:.0f} ms each (median)")
    return drawn


def compare(ours: Path, theirs: Path, names: list[str]) -> int:
    """Print the share of pixels that differ; gives how many pictures differ much."""
    shares: list[float] = []
    for stem in (Path(name).stem for name in names):
        if not (theirs / f"{stem}.png").exists():
            continue
        share = difference(ours / f"{stem}.png", theirs / f"{stem}.png")
        shares.append(share)
        print(f"{share:8.2%} {stem}")
    much = sum(share > MOST_SHARE for share in shares)
    if shares:
        median = sorted(shares)[len(shares) // 2]
        print(f"{len(shares)} compared, {median:.2%} of pixels differ (median), {much} differ much")
    return much


def difference(ours: Path, theirs: Path) -> float:
    """The share of pixels of which a channel differs by more than `FAR`; 1 for another size."""
    with Image.open(ours) as a, Image.open(theirs) as b:
        if a.size != b.size:
            return 1.0
        red, green, blue = ImageChops.difference(a.convert("RGB"), b.convert("RGB")).split()
        most = ImageChops.lighter(ImageChops.lighter(red, green), blue)
        return sum(most.histogram()[FAR + 1 :]) / (a.width * a.height)


def main() -> int:
    """Run; gives 1 when a picture differs much."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("svgs", type=Path)
    parser.add_argument("ours", type=Path)
    parser.add_argument("theirs", type=Path, nargs="?")
    given = parser.parse_args()
    drawn = draw(given.svgs, given.ours)
    return int(given.theirs is not None and compare(given.ours, given.theirs, list(drawn)) > 0)


if __name__ == "__main__":
    sys.exit(main())
