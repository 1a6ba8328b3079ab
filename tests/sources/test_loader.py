"""Whom the loader trusts with what: the caller, a local document, a page, a text without a base."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import mdvision
from mdvision import AccessPolicy, Code, Loader, MdVisionError
from mdvision.model import Resource
from mdvision.sources import web


@pytest.fixture
def fetched(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The addresses whose first host the rules let through; nothing is connected to."""
    seen: list[str] = []

    def hop(url: str, *_: object, **__: object) -> Resource:
        seen.append(url)
        return Resource(data=b"# ok\n", uri=url, media_type="")

    monkeypatch.setattr(web, "_hop", hop)
    return seen


def outcome(loader: Loader, base: str, reference: str) -> object:
    try:
        return loader.load_reference(base, reference).data
    except MdVisionError as error:
        return error.issue.code


DENIED = Code.URL_ACCESS_DENIED
PAGE, BLOB = "https://docs.test/a/b.md", "https://github.com/o/r/blob/v1/docs/a.md"


@pytest.mark.parametrize(
    ("base", "reference", "url"),
    [
        (PAGE, "x.png", "https://docs.test/a/x.png"),
        (PAGE, "/x y.png", "https://docs.test/x%20y.png"),
        (PAGE, "//docs.test/x.png", "https://docs.test/x.png"),
        (PAGE, "http://DOCS.test:8080/x.png", "http://DOCS.test:8080/x.png"),
        (PAGE, "https://cdn.docs.test/x.png", None),
        (PAGE, "https://test/x.png", None),
        (PAGE, "//evil.test/x.png", None),
        (PAGE, "\\\\evil.test\\x.png", None),
        (PAGE, "https:\\\\evil.test/x.png", None),
        (PAGE, "https://docs.test@evil.test/x.png", None),
        (BLOB, "img/x.png", "https://raw.githubusercontent.com/o/r/v1/docs/img/x.png"),
        (BLOB, "../x.png?raw=true", "https://raw.githubusercontent.com/o/r/v1/x.png"),
        (
            BLOB,
            "https://github.com/o/r/raw/v1/x.png",
            "https://raw.githubusercontent.com/o/r/v1/x.png",
        ),
        (BLOB, "https://user-images.githubusercontent.com/x.png", None),
        (
            "https://raw.githubusercontent.com/o/r/v1/a.md",
            "x.png",
            "https://raw.githubusercontent.com/o/r/v1/x.png",
        ),
        (
            "https://raw.githubusercontent.com/o/r/v1/a.md",
            "https://github.com/x.png",
            "https://github.com/x.png",
        ),
    ],
)
def test_a_page_names_its_own_host_alone(
    base: str, reference: str, url: str | None, fetched: list[str]
) -> None:
    assert outcome(Loader(), base, reference) == (b"# ok\n" if url else DENIED)
    assert fetched == [url] * bool(url)


@pytest.mark.parametrize("base", [PAGE, BLOB])
@pytest.mark.parametrize("policy", [None, AccessPolicy(paths=("/",), domains=("all",))])
def test_a_page_names_no_file(
    base: str, policy: AccessPolicy | None, fetched: list[str], tmp_path: Path
) -> None:
    (tmp_path / "x.png").write_bytes(b"SECRET")
    loader = Loader(policy)
    for reference in (f"file://{tmp_path}/x.png", f"FILE:{tmp_path}/x.png", "file:x.png"):
        assert outcome(loader, base, reference) is Code.FILE_ACCESS_DENIED
    assert outcome(loader, base, "C:\\x.png") is DENIED
    assert fetched == []
    assert outcome(loader, base, f"{tmp_path}/x.png") == b"# ok\n"  # a path on that host


def test_a_local_document_names_files_and_no_host(tmp_path: Path, fetched: list[str]) -> None:
    (tmp_path / "docs").mkdir()
    for name in ("x.png", "docs/a b.png", "docs/c%20d.png", "docs/c d.png", "docs/e#f?g.png"):
        (tmp_path / name).write_bytes(name.encode())
    base, loader = str(tmp_path / "docs" / "a.md"), Loader()
    for reference, name in {
        "a%20b.png?raw=1#dark": "docs/a b.png",
        "c%20d.png": "docs/c%20d.png",  # the name as it stands goes first
        "c%20d.png#x": "docs/c%20d.png",
        "e#f?g.png": "docs/e#f?g.png",
        ".\\a b.png": "docs/a b.png",
        "..\\x.png": "x.png",
        "%2E%2E/x.png": "x.png",
        f"{tmp_path}/x.png": "x.png",
        f"file://{tmp_path}/docs/a%20b.png": "docs/a b.png",
        f"file://localhost{tmp_path}/x.png": "x.png",
    }.items():
        assert outcome(loader, base, reference) == name.encode(), reference
    assert outcome(loader, base, f"file://far.test{tmp_path}/x.png") is Code.SOURCE_NOT_FOUND
    for reference in (
        "http://x.test/a",
        "//x.test/a",
        "\\\\x.test\\a",
        "HTTPS://x.test/a",
        "http:a",
    ):
        assert outcome(loader, base, reference) is DENIED, reference
    for reference in ("javascript:x", "ftp://x.test/a", "mailto:a@x.test", "vbscript:x"):
        assert outcome(loader, base, reference) is Code.SOURCE_UNSUPPORTED, reference
    assert fetched == []


def test_a_policy_counts_for_what_documents_name(tmp_path: Path, fetched: list[str]) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "x.png").write_bytes(b"in")
    (tmp_path / "out.png").write_bytes(b"SECRET")
    (tmp_path / "in" / "link").symlink_to("..")
    loader = Loader(AccessPolicy(paths=(str(tmp_path / "in"),), domains=("x.test",)))
    base = str(tmp_path / "in" / "a.md")
    assert outcome(loader, base, "x.png") == b"in"
    assert outcome(loader, base, f"file://{tmp_path}/in/x.png") == b"in"
    assert outcome(loader, base, "http://sub.x.test/a") == b"# ok\n"
    assert outcome(loader, base, "http://y.test/a") is DENIED
    for reference in (
        *("../out.png", "%2e%2e/out.png", "..\\out.png", "..%5Cout.png", "link/out.png"),
        *(f"{tmp_path}/out.png", f"file://{tmp_path}/out.png", "../nowhere.png", "/etc/passwd"),
    ):
        code = outcome(loader, base, reference)
        missing = reference == "..%5Cout.png"  # decoded, a name with a backslash in it
        assert code is (Code.SOURCE_NOT_FOUND if missing else Code.FILE_ACCESS_DENIED), reference
    assert fetched == ["http://sub.x.test/a"]


def test_site_roots(tmp_path: Path) -> None:
    for name in (
        "docs/a.md",
        "static/img/x.png",
        "public/img/x.png",
        "public/img/y z.png",
        "s.png",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(name.encode())
    roots = (tmp_path / "static", str(tmp_path / "public"))
    base = str(tmp_path / "docs" / "a.md")
    loader = Loader(AccessPolicy(paths=(str(tmp_path / "docs"), *map(str, roots))))
    for each in (Loader(), loader):
        assert each.load_reference(base, "/img/x.png", roots).data == b"static/img/x.png"
        assert (
            each.load_reference(base, "\\img\\y%20z.png?v=1", roots).data == b"public/img/y z.png"
        )
        with pytest.raises(MdVisionError):
            each.load_reference(base, "img/x.png", roots)
    with pytest.raises(MdVisionError) as raised:
        loader.load_reference(base, "/../s.png", roots)
    assert raised.value.issue.code is Code.FILE_ACCESS_DENIED


def test_github_pages_count_as_github_s(fetched: list[str]) -> None:
    raw = "https://raw.githubusercontent.com/o/r/v1/docs/a.md"
    for domains in (("github.com",), ("raw.githubusercontent.com",), ("all",)):
        found = Loader(AccessPolicy(domains=domains)).load_markdown(f"{BLOB}?plain=1#L3")
        assert found.uri == raw
    for domains in ((), ("x.test",), ("o.github.com",)):
        with pytest.raises(MdVisionError) as raised:
            Loader(AccessPolicy(domains=domains)).load_markdown(BLOB)
        assert raised.value.issue.code is DENIED
    assert fetched == [raw] * 3


@pytest.mark.parametrize("name", ["file:///a/b.md?hush", "FILE:/a/b.md"])
def test_the_caller_is_told_the_path_to_use(name: str) -> None:
    with pytest.raises(MdVisionError, match="pass the path /a/b.md instead") as raised:
        Loader().load_markdown(name)
    assert raised.value.issue.code is Code.INPUT_INVALID


def test_names_with_colons_are_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("note:1.md", "C:foo.md", "a.md:x", "x:y//z.md"):
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text(name)
        assert Loader().load_markdown(name).data == name.encode()


def test_where_relative_paths_are_looked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("cwd/a.md", "one/a.md", "one/b.md", "two/b.md", "two/c.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(name)
    monkeypatch.chdir(tmp_path / "cwd")
    loader = Loader(AccessPolicy(paths=("../one", "../two")))
    monkeypatch.chdir(tmp_path / "two")  # what was allowed stays what it was
    found = {name: loader.load(name).data for name in ("a.md", "b.md", "c.md")}
    assert found == {"a.md": b"one/a.md", "b.md": b"two/b.md", "c.md": b"two/c.md"}
    for name, code in {
        "../cwd/a.md": Code.FILE_ACCESS_DENIED,
        "../one/a.md": None,
        "../cwd/none.md": Code.FILE_ACCESS_DENIED,
        "none.md": Code.SOURCE_NOT_FOUND,
    }.items():
        try:
            assert loader.load(name).data
            assert code is None
        except MdVisionError as error:
            assert error.issue.code is code, name
            assert str(tmp_path) not in str(error)


def test_one_loader_for_many_threads(tmp_path: Path) -> None:
    for k in range(50):
        (tmp_path / f"{k}.md").write_text(str(k))
    with Loader(AccessPolicy(paths=(str(tmp_path),))) as loader, ThreadPoolExecutor(16) as pool:
        found = list(pool.map(lambda k: loader.load(tmp_path / f"{k % 50}.md").data, range(1_000)))
    assert found == [str(k % 50).encode() for k in range(1_000)]


@pytest.mark.parametrize(
    "limits",
    [
        {"timeout_seconds": float("inf")},
        {"timeout_seconds": float("nan")},
        {"timeout_seconds": -1},
        {"timeout_seconds": 1e10},
        {"timeout_seconds": None},
        {"max_input_bytes": -1},
        {"max_input_bytes": 1.5},
        {"max_input_bytes": "9"},
        {"max_redirects": True},
        {"max_text_bytes": -1},
    ],
)
def test_limits_that_are_none(limits: dict[str, object]) -> None:
    with pytest.raises(mdvision.InvalidInputError, match=next(iter(limits))):
        mdvision.Limits(**limits)  # type: ignore[arg-type]
