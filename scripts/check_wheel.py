"""Build the wheel, and use it as a stranger does: in a clean environment, warnings as errors.

Every public name is imported there, and tests/consumer/consumer.py, written as a user would write
it, is run and checked by mypy and pyright in strict mode against the installed package.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).parent.parent
CONSUMER = ROOT / "tests" / "consumer" / "consumer.py"
IMPORT_ALL = "import mdvision; [getattr(mdvision, name) for name in mdvision.__all__]"


def run(*command: str | Path, folder: Path) -> None:
    """Run a command outside the checkout, so that only what is installed is found."""
    environment = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")}
    subprocess.run([str(word) for word in command], cwd=folder, env=environment, check=True)


def main() -> None:
    """Build, install, import, check."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run(sys.executable, "-m", "build", "--wheel", "--outdir", folder, ROOT, folder=folder)
        (wheel,) = folder.glob("mdvision-*.whl")
        venv.create(folder / "clean", with_pip=True)
        python = folder / "clean" / "bin" / "python"
        run(
            python,
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            wheel,
            folder=folder,
        )
        run(python, "-W", "error", "-c", IMPORT_ALL, folder=folder)
        run(python, "-W", "error", CONSUMER, folder=folder)
        run(folder / "clean" / "bin" / "mdvision", "--version", folder=folder)
        run(folder / "clean" / "bin" / "mdvision-mcp", "--version", folder=folder)
        run(
            sys.executable,
            "-m",
            "mypy",
            "--strict",
            "--python-executable",
            python,
            CONSUMER,
            folder=folder,
        )
        run(sys.executable, "-m", "pyright", "--pythonpath", python, CONSUMER, folder=folder)
    print("the wheel is whole")


if __name__ == "__main__":
    main()
