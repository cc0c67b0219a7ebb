"""Who may use the page: one browser, on this machine, and no other page."""

from __future__ import annotations

import subprocess
import sys

import pytest
from browser import Client, page_of

API = "/api/state"


def test_the_address_is_the_first_line_and_is_good_for_one_browser(project):
    with page_of(project, "how to retry", "--space", "docs") as (url, _):
        assert url.startswith("http://127.0.0.1:")
        first, second = Client(url), Client(url)
        assert 401 == first.ask("/")[0]
        assert 401 == first.ask(first.first.replace("token=", "token=x"))[0]
        headers = first.enter()
        assert "/?space=docs&q=how+to+retry" == headers["location"]
        assert "HttpOnly" in headers["set-cookie"]
        assert "SameSite=Strict" in headers["set-cookie"]
        assert "token" not in headers["location"]
        status, _, body = second.ask(second.first)
        assert 401 == status
        assert b"used up" in body
        assert 200 == first.ask(API)[0]
        assert 401 == second.ask(API)[0]


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"Host": "evil.example"}, 421),
        ({"Host": "evil.example:80"}, 421),
        ({"Host": "127.0.0.1"}, 421),
        ({"Host": "127.0.0.1:1"}, 421),
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "http://127.0.0.1:1"}, 403),
        ({"Origin": "null"}, 403),
        ({"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "cors"}, 403),
        ({"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "no-cors"}, 403),
        ({"Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": "cors"}, 200),
        ({"Cookie": "ragloom=1"}, 401),
        ({"Cookie": ";=;[]"}, 401),
    ],
)
def test_only_the_page_itself_may_ask(client, headers, status):
    answered, answer, _ = client.ask(API, **headers)
    assert status == answered
    assert "access-control-allow-origin" not in answer


def test_its_own_origin_may_ask_and_nothing_opens_for_another(client, project):
    own = f"http://{client.netloc}"
    assert 200 == client.ask(API, Origin=own)[0]
    for path in ("/api/open?path=docs/copy.md&line=1", "/api/measure"):
        assert 403 == client.ask(path, "POST", Origin="https://evil.example")[0]
        assert 405 == client.ask(path)[0]  # a link or a picture opens nothing


def test_every_answer_says_what_a_browser_may_do_with_it(client):
    for path in ("/", "/assets/app.js", API, "/api/nothing", "/api/search"):
        headers = client.ask(path)[1]
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "script-src 'self'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy
        assert "nosniff" == headers["x-content-type-options"]
        assert "no-store" == headers["cache-control"]


def test_only_assets_are_served(client):
    for path in (
        "/assets/../app.py",
        "/assets/%2e%2e/app.py",
        "/assets//etc/passwd",
        "/etc/passwd",
    ):
        assert 404 == client.ask(path)[0]


def test_an_unknown_space_is_one_line(project):
    command = [
        sys.executable,
        "-m",
        "ragloom",
        "-C",
        str(project),
        "ui",
        "--no-browser",
        "-s",
        "dcos",
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (1, "") == (done.returncode, done.stdout)
    assert "unknown space 'dcos'; did you mean docs?" in done.stderr.replace("'docs'", "docs")
