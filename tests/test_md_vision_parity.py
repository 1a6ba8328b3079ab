"""What md-vision 0.2.1's own tests check, asked of us; those of SVG come with the extra `svg`.

Where we differ on purpose (README, "Differences from md-vision") the check says so.
"""

from __future__ import annotations

import base64
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

import mdvision
from mdvision import ImagePart, Loader, MarkdownReading, MdVisionError, TextPart
from mdvision.rendering import file_index_text, reading_blocks
from mdvision.sources.policy import policy_from_flags

PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgYGD4DwABBAEAghI0GQAAAABJRU5ErkJggg=="
)
DOCUMENT = """---
title: Demo
---

# Intro

![Logo](./logo.png)

## Details

Body text.

```md
## Not indexed
```

## Next

More text.
"""


def kinds(reading: MarkdownReading) -> list[str]:
    return ["image" if isinstance(part, ImagePart) else "text" for part in reading.parts]


def text_of(part: object) -> str:
    assert isinstance(part, TextPart)
    return part.text


def write(folder: Path, text: str, *pictures: str) -> Path:
    for name in pictures:
        (folder / name).write_bytes(PIXEL)
    path = folder / "doc.md"
    path.write_text(text, encoding="utf-8")
    return path


@contextmanager
def serving(pages: dict[str, tuple[str, bytes]]) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            media_type, body = pages[self.path]
            self.send_response(200)
            if media_type:
                self.send_header("Content-Type", media_type)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def loader(folder: Path, *domains: str) -> Loader:
    return Loader(policy_from_flags([str(folder)], domains or ["none"], private_network=False))


# test/markdown.test.ts


def test_preserves_frontmatter() -> None:
    assert mdvision.index_markdown_text(DOCUMENT).frontmatter == "---\ntitle: Demo\n---"


def test_selects_exact_heading_sections_and_discovers_images() -> None:
    reading = mdvision.read_text_with_images(DOCUMENT, section="## Details")
    assert "## Details" in reading.text
    assert "## Next" not in reading.text
    assert (reading.images, reading.issues) == ((), ())


def test_selects_inclusive_line_ranges() -> None:
    reading = mdvision.read_text_with_images(
        DOCUMENT, line_range=(5, 7), assets={"./logo.png": PIXEL}
    )
    assert reading.text == "# Intro\n\n![Logo](./logo.png)\n"
    assert len(reading.images) == 1


def test_indexes_headings_while_ignoring_fenced_code() -> None:
    rows = mdvision.index_markdown_text(DOCUMENT).rows
    assert [row.heading for row in rows] == ["# Intro", "## Details", "## Next"]
    assert rows[0].image_count == 1


def test_returns_a_useful_error_for_missing_sections() -> None:
    """A difference: "Details" alone names the section here; a name that fits nothing does not."""
    assert mdvision.read_text_with_images(DOCUMENT, section="Details").line_start == 9
    with pytest.raises(mdvision.SectionNotFoundError, match="^Section not found"):
        mdvision.read_text_with_images(DOCUMENT, section="Missing")


def test_falls_back_to_line_range() -> None:
    reading = mdvision.read_text_with_images(
        DOCUMENT, section="## Missing", line_range=(5, 7), assets={"./logo.png": PIXEL}
    )
    assert "# Intro" in reading.text
    assert len(reading.images) == 1


def test_parses_gfm_constructs() -> None:
    text = "- [x] done\n\n| a |\n| - |\n| b |\n"
    assert mdvision.read_text_with_images(text).text == text
    assert "<table>" in mdvision.markdown_to_html(text)


@pytest.mark.parametrize(
    ("source", "named"),
    [
        ("https://example.test/chart.png", True),
        ("data:image/png;base64,abcd", False),
        (f"https://example.test/{'a' * 600}", False),
    ],
)
def test_exposes_resolvable_image_addresses_but_no_data(source: str, named: bool) -> None:
    reading = mdvision.read_text_with_images(f"![x]({source})\n", assets={source: PIXEL})
    (line, _, _) = reading_blocks(reading, lambda image: image.source)
    assert isinstance(line, str)
    assert (f": {source}" in line) == named
    assert source in reading.parts[0].text if named else source not in line  # type: ignore[union-attr]


def test_splits_into_text_and_images_in_document_order() -> None:
    reading = mdvision.read_text_with_images(
        "# Intro\n\n![logo](./logo.png)\n\n## Next\n", assets={"./logo.png": PIXEL}
    )
    assert kinds(reading) == ["text", "image", "text"]
    assert "# Intro" in text_of(reading.parts[0])
    assert "## Next" in text_of(reading.parts[2])


# test/tools.test.ts


def test_inlines_html_images(tmp_path: Path) -> None:
    """A difference: the tag stays in the text, which is the source verbatim."""
    tag = '<img src="./diagram.png" alt="diagram" width="400"/>'
    path = write(tmp_path, f"# HTML image\n\n{tag}\n\nDone.\n", "diagram.png")
    reading = mdvision.read_with_images(path, loader=loader(tmp_path))
    assert kinds(reading) == ["text", "image", "text"]
    assert tag in text_of(reading.parts[0])
    assert "Done." in text_of(reading.parts[2])


def test_inlines_local_raster_images(tmp_path: Path) -> None:
    text = "# Images\n\n![pixel](./pixel.png)\n\n![second](./second.png)"
    path = write(tmp_path, text, "pixel.png", "second.png")
    reading = mdvision.read_with_images(path, loader=loader(tmp_path))
    assert kinds(reading) == ["text", "image", "text", "image"]
    assert "pixel.png" in text_of(reading.parts[0])
    assert "second.png" in text_of(reading.parts[2])


def test_interleaves_an_early_image_before_trailing_markdown(tmp_path: Path) -> None:
    text = "# Title\n\nIntro paragraph.\n\n![chart](./chart.png)\n\n## Later\n\nTail text.\n"
    reading = mdvision.read_with_images(write(tmp_path, text, "chart.png"), loader=loader(tmp_path))
    assert kinds(reading) == ["text", "image", "text"]
    assert "chart.png" in text_of(reading.parts[0])
    assert "## Later" in text_of(reading.parts[2])


def test_honours_max_images(tmp_path: Path) -> None:
    path = write(tmp_path, "# Images\n\n![a](./a.png)\n\n![b](./b.png)\n", "a.png", "b.png")
    assert len(mdvision.read_with_images(path, max_images=1).images) == 1


def test_missing_section_without_line_range(tmp_path: Path) -> None:
    path = write(tmp_path, "# Present\n")
    with pytest.raises(MdVisionError, match="^Section not found"):
        mdvision.read_with_images(path, section="## Missing", loader=loader(tmp_path))


def test_line_range_when_the_section_is_not_found(tmp_path: Path) -> None:
    path = write(tmp_path, "# Present\n\nBody.\n")
    reading = mdvision.read_with_images(path, section="## Missing", line_range=(1, 1))
    assert reading.text == "# Present\n"


def test_rejects_file_uris() -> None:
    with pytest.raises(MdVisionError, match="file:"):
        mdvision.read_with_images("file:///tmp/doc.md")


def test_indexes_a_folder_with_frontmatter_and_tsv_rows(tmp_path: Path) -> None:
    (tmp_path / "b.md").write_text("# B\n")
    text = "---\ntitle: A\n---\n\n# A\n\n```md\n## Ignored\n```\n\n## A child\n"
    (tmp_path / "a.md").write_text(text)
    folder = mdvision.index_markdown_folder(tmp_path, loader=loader(tmp_path))
    shown = "\n".join(file_index_text(index) for index in folder)
    assert shown.index("a.md") < shown.index("b.md")
    assert "---\ntitle: A\n---" in shown
    assert "heading\tline_start\tn_images\tchar_count" in shown
    assert "# A\t5\t0\t" in shown
    assert "## Ignored" not in shown


def test_reads_remote_markdown_and_images(tmp_path: Path) -> None:
    pages = {
        "/doc.md": ("text/plain", b"# Remote\n\n![r](./r.png)\n"),
        "/r.png": ("image/png", PIXEL),
    }
    with serving(pages) as host:
        reading = mdvision.read_with_images(f"{host}/doc.md", loader=loader(tmp_path, "127.0.0.1"))
        assert [image.source for image in reading.images] == [f"{host}/r.png"]
        (line, _, _) = reading_blocks(reading, lambda image: image.source)
        assert f"{host}/r.png" in str(line)


def test_omits_data_uri_text() -> None:
    encoded = base64.b64encode(PIXEL).decode()
    text = f"# Inline\n\n![p](data:image/png;base64,{encoded})\n"
    reading = mdvision.read_text_with_images(text)
    assert len(reading.images) == 1
    assert all(encoded not in part.text for part in reading.parts if isinstance(part, TextPart))
    assert reading.text == text


@pytest.mark.parametrize(
    ("media_type", "body"),
    [
        ("text/html; charset=utf-8", b"<!DOCTYPE html><html><body><h1>Viewer</h1></body></html>"),
        ("text/html; charset=utf-8", b"<html></html>"),
        ("TEXT/HTML", b"# markdown, but sent as HTML"),
        ("", b"<!DOCTYPE html><html><body>Hi</body></html>"),
        ("text/plain", b"<html><body>Hi</body></html>"),
    ],
)
def test_rejects_remote_html(tmp_path: Path, media_type: str, body: bytes) -> None:
    with serving({"/viewer.md": (media_type, body)}) as host:
        allowed = loader(tmp_path, "127.0.0.1")
        with pytest.raises(MdVisionError, match="^URL returned HTML"):
            mdvision.read_with_images(f"{host}/viewer.md", loader=allowed)


@pytest.mark.parametrize(
    ("media_type", "body"),
    [
        ("text/plain", b"# Title\n\nBody"),
        ("text/markdown", b"# Title"),
        ("application/octet-stream", b"# Title\n\nBody"),
        ("text/plain", b"# Example\n\n```html\n<html><body>ignored</body></html>\n```\n"),
        ("text/plain", b"<!-- a comment -->\n# Title\n"),
    ],
)
def test_accepts_remote_text(tmp_path: Path, media_type: str, body: bytes) -> None:
    with serving({"/doc.md": (media_type, body)}) as host:
        index = mdvision.index_markdown_url(f"{host}/doc.md", loader=loader(tmp_path, "127.0.0.1"))
        assert len(index.rows) == 1


def test_enforces_allowed_paths(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    path = write(tmp_path, "# Hidden\n")
    with pytest.raises(MdVisionError, match="^Path is not allowed"):
        mdvision.read_with_images(path, loader=loader(tmp_path / "other"))


# test/html-images.test.ts


def test_detects_img_tags() -> None:
    (image,) = mdvision.index_markdown_text(
        '<img src="images/a.svg" alt="Train" width="1200"/>'
    ).images
    assert (image.source, image.alt, image.kind) == ("images/a.svg", "Train", "html")


def test_splits_html_around_img_tags() -> None:
    reading = mdvision.read_text_with_images(
        '<p>before</p><img src="a.png"/><p>after</p>', assets={"a.png": PIXEL}
    )
    assert kinds(reading) == ["text", "image", "text"]


def test_splits_markdown_with_html_img_tags() -> None:
    text = '# Example\n\n*caption*\n\n<img src="./chart.svg" alt="Chart" width="400"/>\n\nTail.\n'
    reading = mdvision.read_text_with_images(text, assets={"./chart.svg": PIXEL})
    assert kinds(reading) == ["text", "image", "text"]
    assert "*caption*" in text_of(reading.parts[0])
    assert "<img" in text_of(reading.parts[0])
    assert "Tail." in text_of(reading.parts[2])


# test/indexing.test.ts


def test_indexes_text() -> None:
    text = DOCUMENT.removesuffix("\n## Next\n\nMore text.\n")
    index = mdvision.index_markdown_text(text, path="docs/demo.md")
    assert index.path == "docs/demo.md"
    assert index.line_count == 15
    assert index.char_count == len(text)
    assert [row.heading for row in index.rows] == ["# Intro", "## Details"]
    assert index.rows[0].image_count == 1


def test_indexes_a_file(tmp_path: Path) -> None:
    path = write(tmp_path, "# Guide\n\n## Setup\n")
    index = mdvision.index_markdown_file(path)
    assert index.path == str(path)
    assert [row.heading for row in index.rows] == ["# Guide", "## Setup"]


def test_rejects_a_folder_as_a_file(tmp_path: Path) -> None:
    with pytest.raises(MdVisionError, match="^Expected a markdown file"):
        mdvision.index_markdown_file(tmp_path)


def test_rejects_a_file_as_a_folder(tmp_path: Path) -> None:
    with pytest.raises(MdVisionError, match="^Expected a folder"):
        mdvision.index_markdown_folder(write(tmp_path, "# Doc\n"))


def test_an_empty_folder_says_so(tmp_path: Path) -> None:
    folder = mdvision.index_markdown_folder(tmp_path)
    assert len(folder) == 0
    assert folder.issues[0].message.startswith("No markdown files found")


# test/access.test.ts


def test_flags_make_a_policy(tmp_path: Path) -> None:
    (tmp_path / "more").mkdir()
    policy = policy_from_flags(
        [str(tmp_path), str(tmp_path / "more")],
        ["example.com", "raw.githubusercontent.com"],
        private_network=False,
    )
    assert len(policy.paths) == 2
    assert policy.domains == ("example.com", "raw.githubusercontent.com")


@pytest.mark.parametrize(
    ("paths", "domains", "message"),
    [
        ([], ["none"], "At least one --allow-path is required"),
        (["."], [], "At least one --allow-domain is required"),
        (["."], ["all", "example.com"], "all must be the only entry"),
        (["."], ["none", "example.com"], "none must be the only entry"),
        (["."], ["all", "none"], "mutually exclusive"),
        (["."], ["README.md", "pyproject.toml", "docs"], "shell"),
    ],
)
def test_flags_that_are_refused(paths: list[str], domains: list[str], message: str) -> None:
    with pytest.raises(mdvision.InvalidInputError, match=message):
        policy_from_flags(paths, domains, private_network=False)


def test_quoted_wildcards_are_all() -> None:
    assert policy_from_flags(["."], ['"*"'], private_network=False).domains == ("all",)


@pytest.mark.parametrize(
    ("domains", "url", "message"),
    [
        (["none"], "https://example.com/", "^URLs are disabled"),
        (["example.com"], "https://evil.test/", "^Domain is not allowed"),
    ],
)
def test_domains_are_enforced(domains: list[str], url: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(MdVisionError, match=message):
        loader(tmp_path, *domains).load(url)
