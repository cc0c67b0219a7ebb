"""Variables that look like settings and are none."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from ragloom.cli._variables import misspelt_variables
from ragloom.config.settings import SETTINGS

if TYPE_CHECKING:
    from click.testing import Result


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("TOPK", "TOP_K"),
        ("EMBEDER", "EMBEDDER"),
        ("EMBEDER_MODEL", "EMBEDDER_MODEL"),
        ("STOR_PATH", "STORE_PATH"),
        ("CHUNK_SIZE", "CHUNKER_SIZE"),
        ("MIN_RELEVENCE", "MIN_RELEVANCE"),
        ("SOURCE", "SOURCES"),
        ("FORMAT", "FORMATTER"),
        ("DISABLE_PLUGINS", "DISABLED_PLUGINS"),
    ],
)
def test_a_misspelt_variable_has_one_that_it_is_likely_to_mean(name: str, meant: str) -> None:
    variable = f"RAGLOOM_{name}"

    assert {variable: f"RAGLOOM_{meant}"} == misspelt_variables({variable: "x", "HOME": "/"})


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("LIBRARIAN_THRESHOLDS", "LIBRARIAN_THRESHOLD"),
        ("LIBRARIAN_TOPN", "LIBRARIAN_TOP_N"),
        ("KNOWLEDGE_DATABASES", "KNOWLEDGE_DATABASE"),
        ("RAG_STORE_PTH", "RAG_STORE_PATH"),
        ("RAG_CHUNKSIZE", "RAG_CHUNK_SIZE"),
        ("AUDIT_KEEPS", "AUDIT_KEEP"),
        ("TEMPLATES_TOPK", "TEMPLATES_TOP_K"),
        ("LIBRARIAN_TOKEN", ""),
        ("MCP_TOKEN", ""),
    ],
)
def test_a_misspelt_variable_of_a_plugin_is_named_by_every_command(
    name: str, meant: str, cli: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(f"RAGLOOM_{name}", "x")

    said = f"unknown variable RAGLOOM_{name} ignored; did you mean RAGLOOM_{meant}?"

    assert bool(meant) == (said in cli("status").stderr)


@pytest.mark.parametrize(
    "name",
    [
        *map(str.upper, SETTINGS),
        *("STORE_PATH", "STORE_PTH", "RERANKER_MODEL", "DISABLED_PLUGINS"),
        *("RAG_STORE", "RAG_STORE_PATH", "RAG_CHUNK_SIZE", "RAG_CHUNK_OVERLAP", "TOOLS_RAG"),
        *("DOCS_BASE_DIR", "LIBRARIAN_TOP_N", "KNOWLEDGE_DATABASE", "TEMPLATES_TOP_K"),
        *("TEST_GROWTH", "TEST_POSTGRES", "BENCH_COLLECTIONS", "TOKEN", "CONFIG"),
        *("ACME_KEY", "STORER_PATH"),
    ],
)
def test_variables_of_settings_plugins_and_tests_are_not_misspelt(name: str) -> None:
    assert {} == misspelt_variables({f"RAGLOOM_{name}": "x"}, ["acme", "storer"])
