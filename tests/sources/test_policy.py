"""Which hosts and folders a policy lets through, and which flags make one."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import mdvision
from mdvision import AccessPolicy, Code, Loader, MdVisionError
from mdvision.sources.policy import host_allowed, host_listed, policy_from_flags


@pytest.mark.parametrize(
    ("host", "domains", "allowed", "listed"),
    [
        ("example.com", ["example.com"], True, True),
        ("EXAMPLE.com.", ["Example.Com"], True, True),
        ("example.com", ["EXAMPLE.COM."], True, True),
        ("docs.example.com", ["example.com"], True, False),
        ("evilexample.com", ["example.com"], False, False),
        ("example.com.evil.net", ["example.com"], False, False),
        ("com", ["example.com"], False, False),
        ("example.com", ["docs.example.com"], False, False),
        ("xn--bcher-kva.test", ["bücher.test"], True, True),
        ("a.bücher.test", ["xn--bcher-kva.test"], True, False),
        ("fass.test", ["faß.test"], False, False),
        ("raw.githubusercontent.com", ["github.com"], True, False),
        ("github.com", ["raw.githubusercontent.com"], False, False),
        ("evil.githubusercontent.com", ["github.com"], False, False),
        ("localhost", ["localhost"], True, True),
        ("sub.localhost", ["localhost"], True, False),
        ("127.0.0.1", ["localhost"], False, False),
        ("0x7f.1", ["127.0.0.1"], True, True),
        ("127.0.0.1", ["2130706433"], True, True),
        ("::1", ["[::1]"], True, True),
        ("127.0.0.2", ["127.0.0.1"], False, False),
        ("1.127.0.0.1", ["127.0.0.1"], False, False),
        ("127.0.0.1", ["0.0.1"], False, False),
        ("anything.test", ["all"], True, False),
        ("10.0.0.1", ["all"], True, False),
        ("anything.test", [], False, False),
    ],
)
def test_hosts(host: str, domains: list[str], *, allowed: bool, listed: bool) -> None:
    assert host_allowed(host, domains) == allowed
    assert host_listed(host, domains) == listed


label = st.text("ab-", min_size=1, max_size=3)
names = st.lists(label, min_size=1, max_size=4)


@given(names, names)
def test_a_host_is_allowed_by_whole_labels(host: list[str], domain: list[str]) -> None:
    is_below = host[-len(domain) :] == domain
    assert host_allowed(".".join(host), [".".join(domain)]) == is_below


def refused(paths: list[str], domains: list[str]) -> str:
    with pytest.raises(MdVisionError) as raised:
        policy_from_flags(paths, domains, private_network=False)
    assert raised.value.issue.code is Code.CONFIG_INVALID
    return str(raised.value)


def test_flags(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "docs").mkdir()
    (tmp_path / "file.md").touch()
    for domains, hosts in {
        ("none",): (),
        ("ALL",): ("all",),
        ("*",): ("all",),
        ("'*'",): ("all",),
        ("*.Example.com", '"x.test"'): ("example.com", "x.test"),
    }.items():
        policy = policy_from_flags(["docs"], domains, private_network=True)
        assert policy == AccessPolicy(paths=("docs",), domains=hosts, private_network=True)
    assert "--allow-path" in refused([], ["none"])
    assert "--allow-domain" in refused(["docs"], [])
    assert "not a folder" in refused(["docs", "nowhere"], ["none"])
    assert "not a folder" in refused(["file.md"], ["none"])
    assert "not a folder" in refused([""], ["none"])
    assert "not a folder" in refused(["all"], ["none"])
    (tmp_path / "all").mkdir()  # a folder of that name, not the word
    paths = policy_from_flags(["all"], ["none"], private_network=False).paths
    assert paths == ("./all",)
    assert "mutually exclusive" in refused(["docs"], ["all", "none"])
    assert "only entry" in refused(["docs"], ["all", "x.test"])
    assert "only entry" in refused(["docs"], ["x.test", "none"])
    assert "glob" in refused(["docs"], ["docs", "file.md"])
    for host in ("http://x.test", "x.test/a", "me@x.test", "", " ", "x test", "x\\y"):
        refused(["docs"], [host])


def test_an_empty_path_allows_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As an unset variable in somebody's configuration gives it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.md").write_text("# A\n")
    for paths in ((), ("",)):
        with pytest.raises(MdVisionError) as raised:
            Loader(AccessPolicy(paths=paths)).load("a.md")
        assert raised.value.issue.code is Code.FILE_ACCESS_DENIED


def test_a_folder_that_comes_later_is_allowed_then(tmp_path: Path) -> None:
    loader = Loader(AccessPolicy(paths=(str(tmp_path / "docs"),)))
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("# A\n")
    assert loader.load(tmp_path / "docs" / "a.md").data == b"# A\n"


def test_no_host_but_the_words_for_it() -> None:
    with pytest.raises(MdVisionError, match="URLs are disabled"):
        Loader(AccessPolicy()).load("http://x.test/a")
    with pytest.raises(MdVisionError, match="Domain is not allowed"):
        Loader(AccessPolicy(domains=("y.test",))).load("http://x.test/a")
    with pytest.raises(MdVisionError, match="Path is not allowed"):
        Loader(AccessPolicy(paths=())).load("/etc/passwd")


@pytest.mark.parametrize("name", ["paths", "domains"])
@pytest.mark.parametrize("value", ["/", "small.example", "all", None, (5,), ["a"], ("all", "x"), 7])
def test_a_policy_is_of_tuples_of_names(name: str, value: object) -> None:
    """A string would be read letter by letter: "/" would allow the whole machine."""
    with pytest.raises(mdvision.InvalidInputError, match=name):
        mdvision.AccessPolicy(**{name: value})  # type: ignore[arg-type]


def test_a_host_named_all_is_no_host_that_is_listed() -> None:
    assert not host_listed("all", ("all",))
    assert host_listed("small.example", ("small.example",))
