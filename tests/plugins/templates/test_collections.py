"""Real templates: parts of three public collections, and problems with the template to choose."""

from __future__ import annotations

import shutil

import pytest

from ragloom import Workspace

pytest.importorskip("onnxruntime", reason="needs the extra [onnx]")
pytest.importorskip("milvus_lite", reason="needs the extra [milvus]")

from ragloom_templates import TemplateLibrary
from ragloom_templates.evaluating import evaluate, read_problems

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def library(root, tmp_path_factory):
    folder = tmp_path_factory.mktemp("collections")
    shutil.copytree(root / "tests" / "data" / "templates", folder, dirs_exist_ok=True)
    with TemplateLibrary(["templates"], workspace=Workspace.open(folder)) as made:
        made.index()
        yield made


@pytest.fixture(scope="module")
def result(library):
    problems = read_problems(library.workspace.root / "problems.jsonl")
    return evaluate(problems, library)


def test_all_load_whole(library):
    assert () == tuple(library.skipped)
    templates = library.list()
    folders = [template.id.partition("/")[0] for template in templates]
    assert {"anthropic-skills": 10, "awesome-copilot": 41, "fabric": 83} == {
        folder: folders.count(folder) for folder in sorted(set(folders))
    }
    assert all(template.description and template.content for template in templates)


def test_nothing_is_cut(library):
    report = library.refresh()
    assert (0, 0) == (report.truncated, report.embedded)
    space = library.space
    snapshot = space.snapshot()
    longest = max(snapshot.chunk(row).tokens for row in range(len(snapshot)))
    assert longest <= space.embedder.max_tokens


def test_there_are_problems_enough(result):
    fitting = [answer for answer in result.answers if answer.problem.template is not None]
    assert (40, 10) == (len(fitting), len(result.answers) - len(fitting))


def test_the_right_template_comes_first_or_among_three(result):
    assert result.metrics["top1"] >= 0.70
    assert result.metrics["ranked1"] >= 0.70
    assert result.metrics["ranked3"] >= 0.90


def test_what_fits_nothing_gets_the_fallback(result):
    assert 1.0 == result.metrics["fallback"]
