"""What no template is for gets the fallback, on the bundled model."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ragloom import Workspace

pytest.importorskip("onnxruntime", reason="needs the extra [onnx]")
pytest.importorskip("milvus_lite", reason="needs the extra [milvus]")

from ragloom_templates import TemplateLibrary
from ragloom_templates.matching import distinction

CASES = Path(__file__).parents[2] / "data" / "cases"
NONSENSE = [
    "qwerty",
    "asdf jkl",
    "blah blah blah",
    "test test test",
    "hello",
    "hello world",
    "thanks a lot!",
    "what is your name?",
    "wibble",
    "lorem ipsum dolor",
    "Lorem ipsum dolor sit amet, ut enim ad minim veniam, quis nostrud exercitation ullamco",
    "The florbish wendled three grommicks before the snithe, and the code norfed.",
    "???",
    "1234",
]
PROBLEMS = {
    "outage": "cause",
    "proof": "proof",
    "goals for next year": "year",
    "compare postgres with mysql": "options",
    "Our API was down last night, why?": "cause",
    "Explain black holes to a five year old": "child",
    "Which of my tasks is urgent?": "urgency",
}


def read(name):
    return [json.loads(line) for line in (CASES / name).open(encoding="utf-8")]


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    root = tmp_path_factory.mktemp("library")
    folder = root / "data" / "templates"
    folder.mkdir(parents=True)
    for template in read("templates_library.jsonl"):
        (folder / template["path"]).write_text(template["text"], "utf-8")
    with TemplateLibrary(workspace=Workspace.open(root)) as made:
        made.index()
        yield made


@pytest.mark.parametrize(
    "case", read("templates_nothing.jsonl"), ids=lambda case: case["problem"][:20]
)
def test_public_reports(library, case):
    assert case["fallback"] == library.search(case["problem"])[0].fallback


@pytest.mark.parametrize("problem", NONSENSE)
def test_nonsense_and_small_talk_get_the_fallback(library, problem):
    assert library.search(problem)[0].fallback


@pytest.mark.parametrize(("problem", "expected"), PROBLEMS.items())
def test_a_few_words_of_a_real_problem_do_not(library, problem, expected):
    assert expected == library.search(problem)[0].id


def test_what_is_as_near_to_every_template_is_near_to_none():
    assert distinction([0.25, 0.22, 0.19, 0.18, 0.15]) < 0.1
    assert distinction([0.4, 0.1, 0.05, 0.02, 0.0]) > 0.9
    assert distinction([0.2]) < 0.1
    assert distinction([0.5]) > 0.9  # the only template of a library
