"""Attachments on GitHub: github.com redirects to its storage, and nothing else gains by that.

A proxy on this machine stands in for all hosts.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from mdvision import AccessPolicy, Code, Loader, MdVisionError
from mdvision.sources.resolve import is_github_attachment

PAGE = "http://github.com/o/r/wiki/a.md"
ASSET = "http://github.com/user-attachments/assets/1f-2"
OLD_ASSET = "http://github.com/o/r/assets/123/1f-2"
BUCKET = "http://github-production-user-asset-6210df.s3.amazonaws.com/1/2?X-Amz-Signature=hush"
PRIVATE = "http://private-user-images.githubusercontent.com/1/2.png?jwt=hush"


class Web:
    """Hosts that redirect as they are told, or give their own address."""

    def __init__(self) -> None:
        self.redirects: dict[str, str] = {}
        self.asked: list[str] = []
        web = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *_: object) -> None:
                pass

            def do_GET(self) -> None:
                web.asked.append(self.path)
                target = web.redirects.get(self.path)
                body = b"" if target else self.path.encode()
                self.send_response(302 if target else 200)
                if target:
                    self.send_header("Location", target)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.proxy = f"http://127.0.0.1:{self.server.server_address[1]}"


@pytest.fixture
def web() -> Iterator[Web]:
    served = Web()
    thread = threading.Thread(target=served.server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield served
    served.server.shutdown()
    served.server.server_close()
    thread.join()


def brought(
    web: Web, named: str, policy: AccessPolicy | None = None, base: str = PAGE
) -> str | Code:
    try:
        return Loader(policy, proxy=web.proxy).load_reference(base, named).data.decode()
    except MdVisionError as error:
        return error.issue.code


GITHUB = AccessPolicy(domains=("github.com",))


@pytest.mark.parametrize("policy", [None, GITHUB], ids=["trust", "policy"])
@pytest.mark.parametrize("target", [BUCKET, PRIVATE])
@pytest.mark.parametrize("asset", [ASSET, OLD_ASSET])
def test_an_attachment_is_brought_from_storage(
    web: Web, asset: str, target: str, policy: AccessPolicy | None
) -> None:
    web.redirects[asset] = target
    assert brought(web, asset, policy) == target


@pytest.mark.parametrize("policy", [None, GITHUB], ids=["trust", "policy"])
@pytest.mark.parametrize(
    "target",
    [
        "http://evil.test/x.png",
        "http://github-production-user-asset-6210df.s3.amazonaws.com.evil.test/",
        "http://evil-github-production-user-asset-6210df.s3.amazonaws.com/",
        "http://github-production-user-asset-evil.s3.amazonaws.com/",
        "http://other.s3.amazonaws.com/",
        "http://evilgithubusercontent.com/",
        "http://127.0.0.1/",
    ],
)
def test_no_other_host_is_storage(web: Web, target: str, policy: AccessPolicy | None) -> None:
    web.redirects[ASSET] = target
    assert brought(web, ASSET, policy) is Code.URL_ACCESS_DENIED
    assert web.asked == [ASSET]


@pytest.mark.parametrize("policy", [None, GITHUB], ids=["trust", "policy"])
def test_storage_is_reached_from_an_attachment_alone(web: Web, policy: AccessPolicy | None) -> None:
    assert brought(web, BUCKET, policy) is Code.URL_ACCESS_DENIED
    web.redirects["http://github.com/o/r/x.png"] = BUCKET
    assert brought(web, "http://github.com/o/r/x.png", policy) is Code.URL_ACCESS_DENIED
    web.redirects |= {ASSET: BUCKET, BUCKET: "http://other.s3.amazonaws.com/"}
    assert brought(web, ASSET, policy) is Code.URL_ACCESS_DENIED
    assert "http://other.s3.amazonaws.com/" not in web.asked


def test_who_may_not_name_github_gains_nothing(web: Web) -> None:
    web.redirects[ASSET] = BUCKET
    assert brought(web, ASSET, base="/docs/a.md") is Code.URL_ACCESS_DENIED
    assert brought(web, ASSET, base="http://evil.test/a.md") is Code.URL_ACCESS_DENIED
    assert brought(web, ASSET, AccessPolicy(domains=("x.test",))) is Code.URL_ACCESS_DENIED
    assert web.asked == []


def test_a_local_document_may_name_an_attachment_where_github_is_allowed(web: Web) -> None:
    web.redirects[ASSET] = BUCKET
    assert brought(web, ASSET, GITHUB, base="/docs/a.md") == BUCKET


@pytest.mark.parametrize(
    ("named", "is_one"),
    [
        ("https://github.com/user-attachments/assets/1f", True),
        ("https://github.com/user-attachments/files/1/a.png", True),
        ("https://github.com/o/r/assets/1/2", True),
        ("https://github.com/o/r/blob/main/assets/1", False),
        ("https://github.com.evil.test/user-attachments/assets/1f", False),
        ("https://evil.test/github.com/user-attachments/assets/1f", False),
        ("https://gist.github.com/user-attachments/assets/1f", False),
        ("", False),
    ],
)
def test_what_an_attachment_is(named: str, is_one: bool) -> None:
    assert is_github_attachment(named, "objects.githubusercontent.com") is is_one
