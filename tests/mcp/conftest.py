"""A folder of documents to serve, and a file outside it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.mcp.talk import GUIDE, Drip, picture


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


@pytest.fixture
def slow_site() -> Iterator[str]:
    Drip.sent = 0
    server = ThreadingHTTPServer(("127.0.0.1", 0), Drip)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/a.md"
    server.shutdown()
    server.server_close()
