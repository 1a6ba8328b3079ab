"""The commands that the README shows give what it shows; its Python is run as a doctest."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def commands() -> list[tuple[str, str]]:
    """Each command of the console block, and what follows it."""
    (block,) = re.findall(r"^````console\n(.*?)^````$", README, re.MULTILINE | re.DOTALL)
    found = re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block, re.MULTILINE)
    assert "".join(f"$ {command}\n{output}" for command, output in found) == block
    return found


@pytest.mark.parametrize(("command", "output"), commands(), ids=lambda text: text.split("\n")[0])
def test_a_command_gives_what_is_shown(command: str, output: str, tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    name, *arguments = shlex.split(command)
    assert name == "mdvision"
    found = subprocess.run(
        [sys.executable, "-m", name, *arguments], cwd=tmp_path, capture_output=True, check=True
    )
    assert found.stdout.decode("utf-8").replace("\r\n", "\n") == output
    assert found.stderr == b""
    for picture in re.findall(r"^\[picture .*: (.*), \d+x\d+\]$", output, re.MULTILINE):
        assert (tmp_path / picture).is_file()


def test_the_help_that_is_named_is_there() -> None:
    for command in set(re.findall(r"`mdvision ((?:\w+ )?--help)`", README)):
        words = [sys.executable, "-m", "mdvision", *command.split()]
        assert b"usage: mdvision" in subprocess.run(words, capture_output=True, check=True).stdout
    assert "`mdvision read --help`" in README


@pytest.mark.parametrize("path", [ROOT / "README.md", *(ROOT / "docs").glob("*.md")], ids=str)
def test_a_link_to_a_file_leads_there(path: Path) -> None:
    text = re.sub(r"```.*?```|`[^`\n]*`", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", text):
        assert target.startswith("https://") or (path.parent / target).exists()
