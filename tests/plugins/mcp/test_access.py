"""Who may ask a server over HTTP, against a real process on a real port."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from contextlib import contextmanager
from http.client import HTTPConnection
from urllib.parse import urlsplit

import pytest

pytest.importorskip("mcp")

from ragloom import ConfigError
from ragloom_mcp.access import Access, listen, read_token

TOKEN = "0123456789abcdef0123456789abcdef"  # noqa: S105
EVERYWHERE = "0.0.0.0"  # noqa: S104
BEARER = {"Authorization": f"Bearer {TOKEN}"}
PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}


@contextmanager
def served(project, *arguments, token=""):
    """The address of a server, and its process."""
    command = [sys.executable, "-m", "ragloom", "-C", str(project), "mcp", "--http", "--no-watch"]
    environment = dict(os.environ) | ({"RAGLOOM_MCP_TOKEN": token} if token else {})
    with subprocess.Popen(
        [*command, "--port", "0", *arguments], stderr=subprocess.PIPE, text=True, env=environment
    ) as process:
        try:
            lines = iter(process.stderr)
            yield next(line for line in lines if "http://" in line).split()[-1], process
        finally:
            process.terminate()


def ask(url, path="/mcp", method="POST", body=PING, **headers):
    """The status, the headers and the content of an answer."""
    connection = HTTPConnection(urlsplit(url).netloc, timeout=60)
    given = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    given |= {name.replace("_", "-"): value for name, value in headers.items()}
    connection.request(method, path, json.dumps(body) if body else None, given)
    answer = connection.getresponse()
    content = answer.read()
    return answer.status, dict(answer.getheaders()), json.loads(content) if content else None


def test_token_host_and_origin_of_a_real_server(workspace, project):
    assert workspace
    with served(project, "--allow-origin", "https://app.example", token=TOKEN) as (url, _):
        assert 200 == ask(url, **BEARER)[0]
        for headers, status, said in (
            ({}, 401, "Authorization: Bearer TOKEN"),
            ({"Authorization": f"Bearer {TOKEN}x"}, 401, "Authorization: Bearer TOKEN"),
            ({"Authorization": f"Basic {TOKEN}"}, 401, "Authorization: Bearer TOKEN"),
            ({**BEARER, "Host": "evil.example"}, 421, "--allow-host"),
            ({**BEARER, "Host": "evil.example:80@127.0.0.1"}, 421, "--allow-host"),
            ({**BEARER, "Origin": "https://evil.example"}, 403, "--allow-origin"),
            ({**BEARER, "Origin": "null"}, 403, "--allow-origin"),
            ({**BEARER, "Origin": "http://localhost:3000"}, 200, ""),
            ({**BEARER, "Origin": "https://app.example"}, 200, ""),
        ):
            found, sent, content = ask(url, **headers)
            assert status == found, headers
            if status != 200:
                assert said in content["error"]["message"]
                assert "\n" not in content["error"]["message"]
            if status == 401:
                assert "Bearer" == sent["www-authenticate"]
        assert (200, "ok") == (
            (health := ask(url, "/health", "GET", None))[0],
            health[2]["status"],
        )
        assert 421 == ask(url, "/health", "GET", None, Host="evil.example")[0]


def test_a_page_of_an_allowed_origin_may_ask_and_read(workspace, project):
    assert workspace
    with served(project, "--allow-origin", "https://app.example", token=TOKEN) as (url, _):
        before = {
            "Origin": "https://app.example",
            "Access-Control-Request-Method": "POST",
            "Access-Control-Request-Headers": "authorization, content-type",
        }
        status, sent, _ = ask(url, method="OPTIONS", body=None, **before)
        assert (204, "https://app.example") == (status, sent["access-control-allow-origin"])
        assert "authorization, content-type" == sent["access-control-allow-headers"]
        status, sent, _ = ask(url, Origin="https://app.example", **BEARER)
        assert (200, "https://app.example") == (status, sent["access-control-allow-origin"])
        before["Origin"] = "https://evil.example"
        assert 403 == ask(url, method="OPTIONS", body=None, **before)[0]


def test_beyond_loopback_only_with_a_token(workspace, project):
    assert workspace
    command = [sys.executable, "-m", "ragloom", "-C", str(project), "mcp", "--http"]
    refused = subprocess.run(
        [*command, "--host", EVERYWHERE], capture_output=True, text=True, check=False, timeout=120
    )
    assert 1 == refused.returncode
    assert "0.0.0.0 is reachable from other machines: give a token with --token-file" in (
        refused.stderr
    )
    file = project / "token"
    file.write_text(TOKEN + "\n", "utf-8")
    arguments = ("--host", EVERYWHERE, "--token-file", str(file), "--allow-host", "docs.example")
    with served(project, *arguments) as (url, _):
        near = url.replace(EVERYWHERE, "127.0.0.1")
        assert 401 == ask(near)[0]
        assert 200 == ask(near, Host="docs.example", **BEARER)[0]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_stops_when_it_is_told_to(number, workspace, project):
    assert workspace
    with served(project) as (url, process):
        assert 200 == ask(url)[0]
        process.send_signal(number)
        assert 0 == process.wait(30)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"host": "192.0.2.1"}, "192.0.2.1 is reachable from other machines"),
        ({"host": "::"}, ":: is reachable from other machines"),
        ({"host": "docs.example"}, "docs.example is reachable from other machines"),
        ({"token": "short"}, "the token has 5 characters; it takes 16 at least"),
        ({"token": "a blank in the token"}, "holds blanks"),
        ({"token": "ö" * 20}, "beyond ASCII"),
        ({"origins": ["docs.example"]}, "'docs.example' is no origin: write https://"),
    ],
)
def test_what_is_not_safe_is_refused(given, message):
    with pytest.raises(ConfigError, match=message):
        Access(**given)


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1:80", "[::1]:8765", "LOCALHOST"])
def test_this_machine_is_known_by_its_names(host):
    assert (0, "") == Access().refusal(host, "", "", "/mcp")


@pytest.mark.parametrize(
    "host", ["", "evil.example", "localhost.evil.example", "[", "127.0.0.2", "a@localhost"]
)
def test_other_names_are_not(host):
    assert 421 == Access().refusal(host, "", "", "/mcp")[0]
    assert (0 if "@" not in host else 421) == Access(hosts=["*"]).refusal(host, "", "", "/mcp")[0]


def test_a_token_file_that_cannot_be_used(tmp_path):
    with pytest.raises(ConfigError, match="the token cannot be read: No such file"):
        read_token(tmp_path / "token")
    (tmp_path / "token").write_text("\n", "utf-8")
    with pytest.raises(ConfigError, match="is empty: openssl rand -hex 32"):
        read_token(tmp_path / "token")


def test_a_port_that_is_taken():
    with listen(0) as listener:
        port = listener.getsockname()[1]
        with pytest.raises(ConfigError, match=rf"cannot listen on 127\.0\.0\.1:{port}: "):
            listen(port)
