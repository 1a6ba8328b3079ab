"""A folder of documents to serve, and a file outside it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.mcp.talk import GUIDE, picture


@pytest.fixture
def docs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "docs"
    (root / "img").mkdir(parents=True)
    (root / "api").mkdir()
    (root / "guide.md").write_text(GUIDE, encoding="utf-8")
    (root / "api" / "calls.md").write_text("# Calls\n\n## Proxy\n\ntext\n", encoding="utf-8")
    (root / "img" / "red.png").write_bytes(picture("red"))
    (root / "img" / "green.png").write_bytes(picture("green"))
    (tmp_path / "secret.md").write_text("# TOPSECRET\n", encoding="utf-8")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    return root
