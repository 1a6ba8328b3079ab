"""No file of the packages is longer than 400 lines: one that is wants to be two."""

from __future__ import annotations

import sys
from pathlib import Path

PACKAGES = ("mdvision", "mdvision_mcp")
MOST_LINES = 400


def main() -> int:
    """Print the files that are too long; gives the exit code."""
    root = Path(__file__).parent.parent
    files = sorted(path for name in PACKAGES for path in (root / name).rglob("*.py"))
    sizes = {path: path.read_text("utf-8").count("\n") for path in files}
    too_long = {path: size for path, size in sizes.items() if size > MOST_LINES}
    for path, size in too_long.items():
        print(f"{path}: {size} lines, over {MOST_LINES}")
    return int(bool(too_long))


if __name__ == "__main__":
    sys.exit(main())
