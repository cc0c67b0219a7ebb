"""Descriptions of APIs, split at their operations."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ragloom import Source
from ragloom_text.openapi import is_api
from ragloom_text.plain import CodeLoader

YAML = """\
# The harbour's API
openapi: 3.1.0
info: {title: Häfen, version: "1"}
paths:
  /berths:
    get:
      summary: List berths
      responses: {"200": {description: ok}}
    post:
      operationId: addBerth
      responses: {"201": {description: made}}
  /berths/{id}:
    parameters:
      - {name: id, in: path}
    "delete":
      responses: {"204": {description: gone}}
components:
  schemas:
    Berth:
      type: object
"""
TITLES = [
    (1, "openapi"),
    (1, "info"),
    (1, "/berths"),
    (2, "GET /berths: List berths"),
    (2, "POST /berths: addBerth"),
    (1, "/berths/{id}"),
    (2, "DELETE /berths/{id}"),
    (1, "components"),
    (2, "schemas"),
    (3, "Berth"),
]


def load(text: str, name: str = "api.yaml"):
    return CodeLoader().load(Source(uri=name, path=Path(name)), text.encode())


def titles(document):
    return [(one.level, one.title) for one in document.sections]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_operations_of_yaml(end):
    document = load(YAML.replace("\n", end))
    assert TITLES == titles(document)
    assert {"title": "Häfen", "version": "1"} == document.metadata
    heads = [document.text[slice(*one.span)] for one in document.sections]
    assert "openapi: 3.1.0" == YAML[slice(*load(YAML).sections[0].span)] + ": 3.1.0"
    assert [f"    get:{end}", f"    post:{end}"] == heads[3:5]
    assert f'    "delete":{end}' == heads[6]


@pytest.mark.parametrize("indent", [None, 2, "\t"])
def test_operations_of_json(indent):
    import yaml

    text = json.dumps(yaml.safe_load(YAML), indent=indent, ensure_ascii=False)
    document = load(text, "api.json")
    assert TITLES == titles(document)
    for one in document.sections:
        key = one.title.split()[0].lower() if one.level == 2 else one.title
        assert json.dumps(key) in document.text[slice(*one.span)]


def test_a_chunk_is_an_operation():
    heading = pytest.importorskip("ragloom_markdown.chunker")
    from ragloom.testing.fakes import RegexCounter

    pieces = list(
        heading.HeadingChunker().split(load(YAML), counter=RegexCounter(), max_tokens=2000)
    )
    shown = {
        piece.headings[-1]: YAML[slice(*piece.span)].strip() for piece in pieces if piece.headings
    }
    assert (
        shown["POST /berths: addBerth"]
        == YAML[YAML.index("post:") : YAML.index("  /berths/{id}")].strip()
    )
    assert ("/berths", "GET /berths: List berths") in {piece.headings for piece in pieces}


@pytest.mark.parametrize(
    "text",
    ["a: 1\n", "openapi: x\n", "openapi: 3.0.0\npaths: [\n", "- openapi: 3.0.0\n",
     "openapi: 3.0.0\npaths: 3\n",
     "openapi: 3.0.0\npaths:\n  /a: &a\n    get: {}\n  /b: *a\n  ? [x]\n  : 1\n"],
)  # fmt: skip
def test_what_is_none_or_damaged_stays_text(text):
    document = load(text)
    assert text == document.text
    edges = [edge for one in document.sections for edge in one.span]
    assert edges == sorted(edges)


def test_a_long_description_is_read_where_it_lies(tmp_path):
    from ragloom.sources.discovery import walk
    from ragloom.sources.roots import resolve_roots

    (tmp_path / "api.json").write_text(
        '{"openapi": "3.0.0", "x": "' + "y" * 200_000 + '"}', "utf-8"
    )
    (tmp_path / "b.json").write_text('{"x": "' + "y" * 200_000 + '"}', "utf-8")
    found = walk(resolve_roots(["."], tmp_path), base=tmp_path, endings={".json"})
    assert ["api.json"] == [one.source.uri for one in found]
    assert not is_api("openapi notes: 3\n")
