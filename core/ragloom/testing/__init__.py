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
``StoreContract``        the fixture ``make_store``; :class:`StoreAgreement` takes the same
``RerankerContract``     the fixture ``reranker``
``FormatterContract``    the fixture ``formatter``
=======================  ======================================================================

No rule can be overridden: that is an error when the tests are collected. What a part knowingly does
otherwise is declared with its reason in ``deviations``, and becomes a strict xfail.

``fakes`` holds parts without a model or a disk, ``strategies`` Hypothesis strategies, and
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
    from ragloom.testing.formatters import FormatterContract
    from ragloom.testing.loaders import LoaderContract
    from ragloom.testing.plugins import PluginContract
    from ragloom.testing.rerankers import RerankerContract
    from ragloom.testing.stores import StoreContract

__all__ = [
    "ChunkerContract",
    "Contract",
    "EmbedderContract",
    "FormatterContract",
    "LoaderContract",
    "PluginContract",
    "RerankerContract",
    "StoreAgreement",
    "StoreContract",
]

_ON_FIRST_USE = {
    "ChunkerContract": "chunkers",
    "Contract": "contract",
    "EmbedderContract": "embedders",
    "FormatterContract": "formatters",
    "LoaderContract": "loaders",
    "PluginContract": "plugins",
    "RerankerContract": "rerankers",
    "StoreAgreement": "agreement",
    "StoreContract": "stores",
}

if "pytest" in sys.modules:
    # Failing assertions show the values, as in tests of one's own.
    sys.modules["pytest"].register_assert_rewrite(
        *(f"ragloom.testing.{name}" for name in sorted(set(_ON_FIRST_USE.values()))),
        "ragloom.testing.store_filters",
        "ragloom.testing.store_keeping",
    )


def __getattr__(name: str) -> object:
    """Import a contract, and pytest with it, when it is first asked for (PEP 562)."""
    if name not in _ON_FIRST_USE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value: object = getattr(import_module(f"ragloom.testing.{_ON_FIRST_USE[name]}"), name)
    globals()[name] = value
    return value
