import pytest

from ragloom_templates import TemplateLibrary
from ragloom_templates.linting import lint
from ragloom_templates.skeleton import write_skeleton

from .conftest import PROOF


@pytest.fixture
def library(workspace):
    return TemplateLibrary(["one", "two"], workspace=workspace)


def test_a_good_library_has_no_findings(library, write):
    write("one/proof.md", PROOF)
    write("one/npc/system.md", "You make characters.")
    assert [] == lint(library)


def test_every_problem_is_found_in_one_run(library, write, embedder):
    write("one/a.md", "---\nname: [a\n---\nText\n")
    write("one/b.md", "---\nname: a\n---\n")
    write("one/c.md", "Text.\n")
    write(
        "one/d.md", "---\nname: a\nname: b\ndomain: [x]\nKeywords: y\nkeywords: {a: b}\n---\nText\n"
    )
    write("one/proof.md", PROOF)
    write("two/proof.md", PROOF)
    findings = [(f.path, f.line, f.severity, f.problem) for f in lint(library)]
    assert [
        ("one/a.md", 3, "error", "front matter: did not find expected ',' or ']'"),
        ("one/b.md", 1, "error", "it has no content below its front matter"),
        (
            "one/c.md",
            1,
            "warning",
            "there is no front matter: it is found by its file name and its text alone",
        ),
        ("one/d.md", 1, "warning", "there is no 'description', by which it is found"),
        ("one/d.md", 3, "warning", "'name' is given twice; the last counts"),
        ("one/d.md", 4, "warning", "'domain' should be text, not a list"),
        ("one/d.md", 5, "warning", "'Keywords' is not read: write 'keywords'"),
        ("one/d.md", 6, "warning", "'keywords' should be a list such as [proof, negation]"),
        (
            "two/proof.md",
            1,
            "warning",
            "one/proof.md has the id 'proof' already; this one's is longer",
        ),
    ] == findings
    assert [] == embedder.passages


def test_a_skeleton_that_nobody_filled_in_is_told(library, workspace):
    write_skeleton(workspace.root / "one", "Root cause analysis")
    (finding,) = lint(library)
    assert ("one/root-cause-analysis.md", 7, "warning") == (
        finding.path,
        finding.line,
        finding.severity,
    )
    assert "'description' is still that of the skeleton: fill it in" == finding.problem
