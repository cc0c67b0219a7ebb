"""A few words with an article, a preposition or a particle are found as the words alone are."""

from __future__ import annotations

import pytest

NOTES = {
    "browser.md": "# Browser\n\nThe library runs in a browser as well, without a server.\n",
    "production.md": "# Deployment\n\nUse JSON in production; colours are for humans.\n",
    "opt.md": "# Privacy\n\nEveryone may opt out of the newsletter, or sign up again.\n",
    "option.md": "# Choices\n\nWhoever has to opt for one looks at the price.\n",
    "bread.md": "# Bread\n\nOf flour and water, with salt.\n",
}


@pytest.fixture
def found(find_in):
    return find_in(NOTES)


@pytest.mark.parametrize(
    ("query", "path"),
    [
        ("the browser", "browser.md"),
        ("a browser", "browser.md"),
        ("in the browser", "browser.md"),
        ("without a server", "browser.md"),
        ("in production", "production.md"),
        ("for production", "production.md"),
        ("our newsletter", "opt.md"),
        ("opt out", "opt.md"),
        ("sign up", "opt.md"),
    ],
)
def test_they_find_what_holds_them(found, query, path):
    assert [path] == found(query)


@pytest.mark.parametrize(
    "query",
    [
        "the river",
        "in Paris",
        "over the moon",
        "this",
        "of the",
        "by the way",
        "who are you",
        "how are you",
    ],
)
def test_what_stands_nowhere_is_not_found(found, query):
    assert [] == found(query)
