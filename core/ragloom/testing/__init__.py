"""What the authors of plugins need for their tests. Public, and kept stable.

One contract class a protocol: subclass it in a test module, write one fixture, and every rule that
ragloom counts on is tested::

    from functools import partial

    import pytest
    from ragloom.testing import StoreContract

    class TestMyStore(StoreContract):
        @pytest.fixture
        def make_store(self):
            return partial(MyStore, url="http://127.0.0.1:6333")

=======================  ======================================================================
:class:`PluginContract`  the fixture ``plugin``: the name of the module under the entry point
``LoaderContract``       the fixture ``loader``; ``samples``, files of its format, where it needs any
``ChunkerContract``      the fixture ``chunker``
``EmbedderContract``     the fixture ``embedder``; ``variants``, embedders of other options
``StoreContract``        the fixture ``make_store``; :class:`StoreAgreement` takes the same, and so does
                         :class:`SearchableStoreContract`, for stores that search
``RerankerContract``     the fixture ``reranker``
``FormatterContract``    the fixture ``formatter``
``RunnerContract``       the fixture ``runner``
=======================  ======================================================================

No rule can be overridden: that is an error when the tests are collected. A known
deviation is declared with its reason in ``deviations``, and becomes a strict xfail.

``ExactStore`` and ``HashingEmbedder`` need no disk and no model; ``strategies`` are Hypothesis's;
``fixtures`` is a pytest plugin: ``pytest_plugins = ["ragloom.testing.fixtures"]`` in a conftest.py.
``ragloom plugins check DISTRIBUTION`` runs the contracts of whatever is installed.

``pip install 'ragloom[testing]'`` brings pytest and hypothesis.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ragloom.testing.agreement import StoreAgreement
    from ragloom.testing.chunkers import ChunkerContract
    from ragloom.testing.contract import Contract
    from ragloom.testing.embedders import EmbedderContract
    from ragloom.testing.fakes import (
        ExactStore,
        HashingEmbedder,
        HashingOptions,
        RegexCounter,
        hashing_provider,
    )
    from ragloom.testing.formatters import FormatterContract
    from ragloom.testing.loaders import LoaderContract
    from ragloom.testing.plugins import PluginContract
    from ragloom.testing.rerankers import RerankerContract
    from ragloom.testing.runners import RunnerContract
    from ragloom.testing.searchable_stores import SearchableStoreContract
    from ragloom.testing.stores import StoreContract

__all__ = [
    "ChunkerContract",
    "Contract",
    "EmbedderContract",
    "ExactStore",
    "FormatterContract",
    "HashingEmbedder",
    "HashingOptions",
    "LoaderContract",
    "PluginContract",
    "RegexCounter",
    "RerankerContract",
    "RunnerContract",
    "SearchableStoreContract",
    "StoreAgreement",
    "StoreContract",
    "hashing_provider",
]

_ON_FIRST_USE = {
    "ChunkerContract": "chunkers",
    "Contract": "contract",
    "EmbedderContract": "embedders",
    "ExactStore": "fakes",
    "FormatterContract": "formatters",
    "HashingEmbedder": "fakes",
    "HashingOptions": "fakes",
    "LoaderContract": "loaders",
    "PluginContract": "plugins",
    "RegexCounter": "fakes",
    "RerankerContract": "rerankers",
    "RunnerContract": "runners",
    "SearchableStoreContract": "searchable_stores",
    "StoreAgreement": "agreement",
    "StoreContract": "stores",
    "hashing_provider": "fakes",
}

if "pytest" in sys.modules:
    # Failing assertions show the values, as in tests of one's own.
    sys.modules["pytest"].register_assert_rewrite(
        *(f"ragloom.testing.{name}" for name in sorted({*_ON_FIRST_USE.values()} - {"fakes"})),
        "ragloom.testing.store_fixtures",
        "ragloom.testing.store_keeping",
    )


def __getattr__(name: str) -> object:
    """Import a contract, and pytest with it, on first use (PEP 562)."""
    if name not in _ON_FIRST_USE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value: object = getattr(import_module(f"ragloom.testing.{_ON_FIRST_USE[name]}"), name)
    globals()[name] = value
    return value
