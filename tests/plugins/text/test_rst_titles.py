"""Section titles of reStructuredText: those that docutils finds, whatever stands around them."""

import warnings

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragloom_text.rst import plain_title, titles

pytest.importorskip("docutils")

_TEXT = """\
Title
Long title here
===
====
=====
-----
--
-
~~~~
\"\"\"
::
Text::
\\::
- item
* x
+
1. Intro
2. Next
1.
a. b
iv. Four
iv) x
i. one
ii. two
MC. x
IIII. x
#. auto
(1) p
1) one
99. x
A. B. Person
z. last
  indented
    more
   Title
 =====
.. note::
.. _label:
.. comment
..
:field: value
>>> x
| line
| a |
+---+
+--+--+
=== ===
==== ====
==========
-a  option
-a
--long=x  text
> quoted
__ anon
日本語
Ünïcode
=
a
* *
\tTabbed
++++
...."""
LINES = ["", *_TEXT.split("\n")]


def by_docutils(text):
    from docutils import nodes
    from docutils.core import publish_doctree

    overrides = {
        "doctitle_xform": False,
        "report_level": 5,
        "halt_level": 6,
        "file_insertion_enabled": False,
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = publish_doctree(text, settings_overrides=overrides)
    found = []
    for section in tree.findall(nodes.section):
        level = 1
        above = section.parent
        while above is not tree:
            level += isinstance(above, nodes.section)
            above = above.parent
        found.append((level, plain_title(section[0].rawsource)))
    return found


def ours(text):
    return [(one.level, one.title) for one in titles(text)]


@settings(deadline=None)
@given(st.lists(st.sampled_from(LINES), min_size=2, max_size=14).map("\n".join))
def test_any_lines(text):
    assert by_docutils(text) == ours(text)


@settings(deadline=None, max_examples=50)
@given(st.lists(st.sampled_from(LINES), min_size=2, max_size=8).map("\n".join))
def test_spans_hold_the_title_and_its_lines(text):
    for one in titles(text):
        lines = text[slice(*one.span)].splitlines()
        assert len(lines) in {2, 3}
        assert one.title == plain_title(lines[-2])
        assert text[: one.span.start] == "" or text[one.span.start - 1] == "\n"


@pytest.mark.parametrize(
    ("written", "plain"),
    [
        ("Use ``x * y`` and *more* of **it**", "Use x * y and more of it"),
        ("See `the guide <https://a.b>`_ and `x`_ or y_", "See the guide and x or y"),
        (":py:func:`~a.b` of :ref:`this <that>`", "a.b of this"),
        ("|release| notes\\ s of a\\*b", "release notess of a*b"),
        ("2 * 3 * 4 and snake_case and `role`:abbr:", "2 * 3 * 4 and snake_case and role"),
    ],
)
def test_titles_are_without_markup(written, plain):
    assert plain == plain_title(written)
