"""A member of any JSON that people write is put and taken away, and the rest stays."""

from __future__ import annotations

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragloom_install import jsonc, sections, tables

KEYS = st.sampled_from(["mcpServers", "a", "ragloom", 'q"\\', "é", "//", "/*"])
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.text(max_size=5),
    st.sampled_from(["//", "}", "/* x"]),
)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3)
)
SPACES = st.sampled_from(["", " ", "\n", "\n  ", " // c }\n", "/* { */", "\r\n\t"])


def written(draw, value):
    """Some way to write a value: with blanks, comments and trailing commas anywhere."""

    def space():
        return draw(SPACES)

    if isinstance(value, dict):
        members = [
            f"{space()}{json.dumps(k)}{space()}:{space()}{written(draw, v)}{space()}"
            for k, v in value.items()
        ]
        comma = "," if members and draw(st.booleans()) else ""
        return "{" + ",".join(members) + comma + space() + "}"
    if isinstance(value, list):
        items = [f"{space()}{written(draw, item)}{space()}" for item in value]
        comma = "," if items and draw(st.booleans()) else ""
        return "[" + ",".join(items) + comma + space() + "]"
    return json.dumps(value, ensure_ascii=draw(st.booleans()))


@given(st.data(), st.dictionaries(KEYS, VALUES, max_size=4))
def test_put_and_drop_change_nothing_else(data, value):
    text = data.draw(SPACES) + written(data.draw, value) + data.draw(SPACES)
    assert value == jsonc.read(text)
    servers = value.get("mcpServers", {})
    if not isinstance(servers, dict):
        with pytest.raises(ValueError, match="mcpServers is not an object"):
            jsonc.put(text, ("mcpServers", "ragloom"), {"command": "x"})
        return
    put = jsonc.put(text, ("mcpServers", "ragloom"), {"command": "x", "args": ["mcp"]})
    expected = {**value, "mcpServers": {**servers, "ragloom": {"command": "x", "args": ["mcp"]}}}
    assert expected == jsonc.read(put)
    dropped = jsonc.read(jsonc.drop(put, ("mcpServers", "ragloom")))
    kept = {key: one for key, one in servers.items() if key != "ragloom"}
    assert {**value, "mcpServers": kept} == dropped
    for comment in ("// c }", "/* { */"):
        assert text.count(comment) <= put.count(comment) or "ragloom" in servers


@given(st.text())
def test_any_text_is_read_or_refused_with_its_line(text):
    with suppress(ValueError):
        jsonc.read(text)
        return
    with pytest.raises(ValueError, match=r"^line "):
        jsonc.read(text)


def test_deep_nesting_is_refused():
    with pytest.raises(ValueError, match="line 1"):
        jsonc.read("[" * 100_000)


@pytest.mark.parametrize(
    "text", ["", "a = 1", "# c\n[mcp_servers.b]\nx = 1\n\n# of c\n[c]\n", "[a]\r\nb = 1\r\n"]
)
def test_a_table_is_put_once_and_dropped(text):
    values = {"command": "ragloom", "args": ["mcp"]}
    put = tables.put(text, ("mcp_servers", "ragloom"), values)
    assert put == tables.put(put, ("mcp_servers", "ragloom"), values)
    changed = tables.put(put, ("mcp_servers", "ragloom"), values | {"command": "other"})
    assert 'command = "other"' in changed
    assert text.strip() == tables.drop(changed, ("mcp_servers", "ragloom")).strip()


@given(st.text())
def test_a_section_is_put_and_dropped(text):
    put = sections.put(text, "Search.")
    assert put == sections.put(put, "Search.")
    if "ragloom:" not in text:
        assert text.rstrip("\r\n") == sections.drop(put).rstrip("\r\n")
