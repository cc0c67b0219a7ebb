"""Words for people: the nearest one that is known, and nouns in the right number."""

import ast
import re

import pytest

from ragloom.config.spelling import counted, did_you_mean

_NOUNS = re.compile(
    r" (chunk|document|error|file|hit|lesson|part|passage|question|template|token|warning)s\b"
)


@pytest.mark.parametrize(
    ("count", "said"), [(0, "0 files"), (1, "1 file"), (2, "2 files"), (1000, "1000 files")]
)
def test_a_noun_in_the_right_number(count, said):
    assert said == counted(count, "file")


def test_the_nearest_word_whatever_its_case():
    assert "; did you mean 'Loader'?" == did_you_mean("loder", ["Loader", "store"])
    assert "" == did_you_mean("xyz", ["Loader", "store"])


def test_no_command_says_1_files(root):
    """``{n} files`` is wrong for one file; ``{m} of {n} files`` is a share of all of them."""
    wrong = []
    paths = [*root.glob("core/ragloom/cli/*.py"), *root.glob("plugins/*/*/*.py")]
    for path in paths:
        tree = ast.parse(path.read_text("utf-8"))
        raised = {
            id(inner)
            for node in ast.walk(tree)
            if isinstance(node, ast.Raise)
            for inner in ast.walk(node)
        }
        for node in ast.walk(tree):
            if not isinstance(node, ast.JoinedStr) or id(node) in raised:
                continue
            texts = ["", *node.values]
            for before, value, after in zip(texts, texts[1:], texts[2:], strict=False):
                share = isinstance(before, ast.Constant) and before.value.endswith((" of ", " in "))
                number = isinstance(value, ast.FormattedValue) and not share
                if number and isinstance(after, ast.Constant) and _NOUNS.match(after.value):
                    wrong.append(f"{path.relative_to(root)}:{node.lineno}: {after.value}")
    assert [] == wrong
