"""The tests that the seed names (its section 5), on the bundled model and in Milvus Lite."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragloom import Workspace

pytest.importorskip("onnxruntime", reason="needs the extra [onnx]")
pytest.importorskip("milvus_lite", reason="needs the extra [milvus]")

from ragloom_templates import Template, TemplateLibrary, TemplateMatch

TEMPLATES = {
    "data/bot-buffer/bot-chain-of-thought.md": (
        "Chain of Thought", "general", "sequential", "reasoning, step by step",
        "Step-by-step reasoning", "1. Restate the question.\n2. Reason in small steps.",
    ),
    "data/bot-buffer/bot-tree-of-thought.md": (
        "Tree of Thought", "planning", "exploratory", "branches, alternatives, backtracking",
        "Explore several plans as branches of a tree and prune the bad ones",
        "1. List three ways to begin.\n2. Judge each branch.\n3. Go on with the best.",
    ),
    "data/bot-buffer/bot-five-whys.md": (
        "Five Whys", "engineering", "diagnostic", "root cause, outage, incident",
        "Find the root cause of a failure or an outage by asking why five times",
        "1. State the failure.\n2. Ask why it happened.\n3. Ask why again, five times.",
    ),
    "data/bot-buffer/bot-swot.md": (
        "SWOT Analysis", "business", "analytical", "strengths, weaknesses, market",
        "Judge a business by strengths, weaknesses, opportunities and threats",
        "1. List strengths.\n2. List weaknesses.\n3. Opportunities.\n4. Threats.",
    ),
    "data/bot-buffer/bot-close-reading.md": (
        "Close Reading", "literature", "interpretive", "poem, metaphor, imagery",
        "Interpret a poem or a passage of literature by its words and images",
        "1. Read it aloud.\n2. Mark the metaphors.\n3. Say what they do.",
    ),
    "data/templates/proof-by-contradiction.md": (
        "Proof by Contradiction", "mathematics", "deductive",
        "proof, contradiction, negation, assume, QED",
        "Template for proving statements by assuming the opposite",
        "1. **State the claim.**\n2. **Assume the negation.**\n3. Derive a contradiction.",
    ),
    "data/templates/proof-by-induction.md": (
        "Proof by Induction", "mathematics", "inductive",
        "proof, natural numbers, base case, inductive step",
        "Template for proving a statement for all natural numbers",
        "1. **Base case.**\n2. **Inductive step.** From n to n + 1.",
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    root = tmp_path_factory.mktemp("templates")
    for path, (name, domain, methodology, keywords, description, content) in TEMPLATES.items():
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(
            f'---\nname: "{name}"\ndomain: {domain}\nmethodology: {methodology}\n'
            f'keywords: [{keywords}]\ndescription: "{description}"\n---\n\n{content}\n',
            "utf-8",
        )
    with TemplateLibrary(workspace=Workspace.open(root)) as made:
        assert not made.is_ready()
        assert 7 == made.index()
        yield made


def test_all_md_files_of_both_default_folders_are_indexed(library):
    assert library.is_ready()
    assert [Path(path).stem for path in sorted(TEMPLATES, key=lambda path: Path(path).stem)] == [
        template.id for template in library.list()
    ]


def test_every_template_has_embeddings_in_the_store(library):
    space = library.space
    store = space.new_store()
    snapshot = space.snapshot()
    store.open(
        space=space.name, dimension=snapshot.meta.dimension, directory=space.directory / "store"
    )
    try:
        kept = {chunk.uri: chunk for chunks, _ in store.scan() for chunk in chunks}
        assert len(snapshot) == store.count()
    finally:
        store.close()
    assert set(TEMPLATES) == set(kept)
    metadata = kept["data/templates/proof-by-contradiction.md"].metadata
    assert "mathematics" == metadata["domain"]
    assert "deductive" == metadata["methodology"]


def test_indexing_again_changes_nothing(library):
    report = library.refresh()
    assert (7, 0) == (report.unchanged, report.embedded)
    assert 7 == library.index() == len(library.list())


@pytest.mark.parametrize(
    ("problem", "expected"),
    [
        ("Prove that \u221a2 is irrational", "proof-by-contradiction"),
        ("Show that 1 + 2 + \u2026 + n = n(n + 1) / 2 for every natural n", "proof-by-induction"),
        ("Why did the checkout service fail last night?", "bot-five-whys"),
        ("Should our bakery open a second shop? Weigh its chances.", "bot-swot"),
        ("What do the images in this poem about the sea mean?", "bot-close-reading"),
    ],
)
def test_the_template_that_fits_comes_first(library, problem, expected):
    best, *_ = library.search(problem, threshold=0.0)
    assert expected == best.id
    assert not best.fallback


def test_a_match_carries_the_template(library):
    best, *_ = library.search("Prove by contradiction that the square root of 2 is irrational")
    assert (
        TemplateMatch(
            id="proof-by-contradiction",
            name="Proof by Contradiction",
            score=best.score,
            description="Template for proving statements by assuming the opposite",
            content="1. **State the claim.**\n2. **Assume the negation.**\n3. Derive a contradiction.",
        )
        == best
    )
    assert 0.65 <= best.score <= 1


def test_three_templates_by_default_and_top_k_at_the_most(library):
    assert 3 == len(library.search("Prove a statement about numbers", threshold=0.0))
    assert 5 == len(library.search("Prove a statement about numbers", 5, threshold=0.0))


def test_scores_are_shares_in_falling_order(library):
    scores = [match.score for match in library.search("Prove it", 7, 0.0)]
    assert sorted(scores, reverse=True) == scores
    assert all(0 <= score <= 1 for score in scores)


def test_what_is_below_the_threshold_is_left_out(library):
    problem = "Prove by contradiction that there is no largest prime number"
    every = library.search(problem, 7, 0.0)
    some = library.search(problem, 7, every[1].score)
    assert every[:2] == some


@pytest.mark.parametrize(
    "problem", ["Which bus goes to the airport?", "How do I boil an egg?", "", "  ", "\u65e5\u672c"]
)
def test_the_fallback_comes_where_no_template_fits(library, problem):
    (match,) = library.search(problem)
    assert ("bot-chain-of-thought", "Chain of Thought", 0.5, True) == (
        match.id, match.name, match.score, match.fallback,
    )  # fmt: skip
    assert "1. Restate the question." in match.content  # the library's own, not the plugin's


def test_an_empty_library_answers_with_the_fallback_that_ships(tmp_path):
    library = TemplateLibrary(workspace=Workspace.open(tmp_path))
    (match,) = library.search("Prove that \u221a2 is irrational")
    assert ("bot-chain-of-thought", 0.5, True) == (match.id, match.score, match.fallback)
    assert "Work through the parts" in match.content
    assert 0 == library.index()
    assert not library.is_ready()
    assert [] == library.list()


def test_filters_leave_other_templates_out(library):
    found = library.search("Prove it", 7, 0.0, domain="mathematics", methodology="inductive")
    assert ["proof-by-induction"] == [match.id for match in found]
    (match,) = library.search("Prove it", domain="cooking")
    assert match.fallback


def test_a_template_is_added_and_updated(library, tmp_path):
    file = tmp_path / "rubber-duck.md"
    file.write_text(
        "---\nname: Rubber Duck\ndescription: Explain your code line by line to find a bug\n---\n"
        "1. Get a duck.\n2. Explain every line of code to it.\n",
        "utf-8",
    )
    added = library.add(file)
    assert ("rubber-duck", file) == (added.id, added.file_path)
    assert added == library.get("rubber-duck")
    assert "rubber-duck" == library.search("Explain my code line by line to find the bug")[0].id
    assert 8 == library.index()  # it stays when the folders are read again

    file.write_text(file.read_text("utf-8").replace("Get a duck", "Get a goose"), "utf-8")
    assert "goose" in library.add(file).content
    assert 8 == len(library.list())

    library.remove("rubber-duck")
    assert library.get("rubber-duck") is None
    assert file.is_file()
    assert 7 == library.index()


def test_listed_templates_are_whole(library):
    assert all(isinstance(template, Template) for template in library.list())
    template = library.get("proof-by-contradiction")
    assert ["proof", "contradiction", "negation", "assume", "QED"] == template.keywords
    assert "moderate" == template.complexity
    root = library.workspace.root
    assert root / "data" / "templates" / "proof-by-contradiction.md" == template.file_path


def test_another_process_finds_the_index(library):
    other = TemplateLibrary(workspace=Workspace.open(library.workspace.root))
    assert other.is_ready()
    assert 0 == other.refresh().embedded
