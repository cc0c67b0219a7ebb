"""Real templates: parts of three public collections, and problems with the template to choose."""

from __future__ import annotations

import json
import shutil

import pytest
from click.testing import CliRunner

from ragloom import Workspace
from ragloom.cli import cli

pytest.importorskip("onnxruntime", reason="needs the extra [onnx]")
pytest.importorskip("milvus_lite", reason="needs the extra [milvus]")

from ragloom_templates import TemplateLibrary
from ragloom_templates.evaluating import read_problems

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def library(root, tmp_path_factory):
    folder = tmp_path_factory.mktemp("collections")
    shutil.copytree(root / "tests" / "data" / "templates", folder, dirs_exist_ok=True)
    with TemplateLibrary(["templates"], workspace=Workspace.open(folder)) as made:
        made.index()
        yield made


@pytest.fixture(scope="module")
def figures(library):
    """What ``ragloom eval`` prints."""
    arguments = ["-C", library.workspace.root, "eval", library.workspace.root, "--json"]
    result = CliRunner().invoke(cli, [*map(str, arguments)])
    assert 0 == result.exit_code, result.output
    return json.loads(result.stdout)


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


def test_there_are_problems_enough(library):
    problems = read_problems(library.workspace.root / "problems.jsonl")
    fitting = [problem for problem in problems if problem.template is not None]
    assert (40, 10) == (len(fitting), len(problems) - len(fitting))


def test_the_right_template_comes_first_or_among_three(figures):
    assert 50 == figures["queries"]
    assert figures["metrics"]["top1"] >= 0.70
    assert figures["metrics"]["top3"] >= 0.90


def test_the_default_threshold_keeps_most_of_them(figures):
    assert figures["metrics"]["shown1"] >= 0.70
    assert figures["metrics"]["shown3"] >= 0.85


def test_what_fits_nothing_gets_the_fallback(figures):
    assert 1.0 == figures["metrics"]["fallback"]
