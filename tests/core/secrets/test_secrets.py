"""What is a secret, by name and in content, and that nothing else is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.core.secrets.samples import CONTENTS, HARMLESS, HARMLESS_NAMES, KEY_FILE, NAMES

from ragloom.secrets.names import is_secret
from ragloom.secrets.redaction import (
    find_secrets,
    hide,
    hide_passwords,
    is_mostly_secret,
    redact,
    summary,
)


def test_the_list_is_long_enough() -> None:
    assert len(NAMES) + len(CONTENTS) >= 120
    assert len(HARMLESS) >= 40


@pytest.mark.parametrize("name", NAMES)
def test_a_secret_is_told_by_its_name(name: str) -> None:
    assert is_secret(name)
    assert is_secret(f"docs/{name}")
    assert is_secret(f"deep/er/{name.upper()}") or "/" in name or name.startswith(".ssh")


@pytest.mark.parametrize("name", HARMLESS_NAMES)
def test_a_page_about_secrets_is_none(name: str) -> None:
    assert not is_secret(f"docs/{name}")


@pytest.mark.parametrize("name", CONTENTS)
def test_a_secret_is_told_by_its_content(name: str) -> None:
    text, value = CONTENTS[name]
    shown = redact(text)
    assert value not in shown
    assert not any(value[at : at + 12] in shown for at in range(0, len(value) - 12, 6))
    assert "The gateway restarts after each release" in shown
    assert "the old one is removed." in shown
    assert value not in hide(text)


@pytest.mark.parametrize("name", CONTENTS)
def test_a_redacted_text_is_as_long_line_by_line(name: str) -> None:
    text, _ = CONTENTS[name]
    shown = redact(text)
    assert list(map(len, text.split("\n"))) == list(map(len, shown.split("\n")))
    assert len(text.encode()) == len(shown.encode())
    assert redact(shown) == shown


@pytest.mark.parametrize("name", HARMLESS)
def test_a_harmless_text_stays_as_it_is(name: str) -> None:
    assert redact(HARMLESS[name]) == HARMLESS[name]


def test_a_file_of_keys_is_mostly_secret_and_a_page_is_not() -> None:
    assert is_mostly_secret(KEY_FILE, find_secrets(KEY_FILE))
    assert not any(is_mostly_secret(text, find_secrets(text)) for text, _ in CONTENTS.values())
    assert not is_mostly_secret("", [])


def test_a_summary_names_no_value() -> None:
    text, value = CONTENTS["GitHub, classic"]
    assert summary(text, find_secrets(text)) == "a GitHub token in line 5"
    assert "and 2 more" in summary(text * 5, find_secrets(text * 5))
    assert value not in summary(text, find_secrets(text))


@pytest.mark.parametrize("pragma", ["# pragma: allowlist secret", "// gitleaks:allow"])
def test_a_pragma_excepts_its_line_only(pragma: str) -> None:
    _, value = CONTENTS["Stripe"]
    allowed, other = f"key {value} {pragma}", f"key {value}"
    assert redact(f"{allowed}\n{other}") == f"{allowed}\n{redact(other)}"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("postgresql://me:pw@host/db", "postgresql://me:***@host/db"),
        ("postgresql://me:p/w#d?@host/db", "postgresql://me:***@host/db"),
        ("postgresql://me:p@ss:w@host/db", "postgresql://me:***@host/db"),
        ("redis://:pw@host", "redis://:***@host"),
        ("https://abcdefghijkl@host/x", "https://***@host/x"),
        ("http://host:8080/a@b", "http://host:8080/a@b"),
        ("host=db password=pw dbname=x", "host=db password=*** dbname=x"),
        ("https://host/x?token=abc&page=2", "https://host/x?token=***&page=2"),
        ("'http://a:b@c' and 'http://d:e@f'", "'http://a:***@c' and 'http://d:***@f'"),
        ("sqlite:///lessons.db", "sqlite:///lessons.db"),
        ("expected COMPONENT.KEY=VALUE, found 'x'", "expected COMPONENT.KEY=VALUE, found 'x'"),
        ("key=value key=VALUES", "key=*** key=***"),
    ],
)
def test_a_message_shows_no_password_of_a_url(text: str, shown: str) -> None:
    assert hide_passwords(text) == shown
    assert hide(text) == shown


_PARTS = st.one_of(
    st.text(max_size=40),
    st.sampled_from([text for text, _ in CONTENTS.values()]),
    st.sampled_from([value for _, value in CONTENTS.values()]),
    st.sampled_from(
        ["-----BEGIN PRIVATE KEY-----", "://", "@", ":", "password=", "\r\n", "\u2028", "é", "密码"]
    ),
)


@given(st.lists(_PARTS, max_size=8).map("".join))
def test_redaction_moves_nothing_whatever_the_text(text: str) -> None:
    shown = redact(text)
    assert len(shown) == len(text)
    assert len(shown.encode("utf-8", "surrogatepass")) == len(text.encode("utf-8", "surrogatepass"))
    assert shown.splitlines() == [
        line[: len(before)]
        for line, before in zip(shown.splitlines(), text.splitlines(), strict=True)
    ]
    assert redact(shown) == shown
