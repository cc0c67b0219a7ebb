"""British and American spellings find each other, where no document holds the one that is asked for."""

from __future__ import annotations

import pytest

from ragloom.retrieval.spelling_variants import spelling_variants

PAIRS = [
    ("colour", "color"), ("colours", "colors"), ("coloured", "colored"), ("favourite", "favorite"),
    ("behaviour", "behavior"), ("behavioural", "behavioral"), ("honour", "honor"), ("flavours", "flavors"),
    ("centre", "center"), ("centred", "centered"), ("metres", "meters"), ("fibre", "fiber"),
    ("organise", "organize"), ("organisation", "organization"), ("authorisation", "authorization"),
    ("authorised", "authorized"), ("serialiser", "serializer"), ("customising", "customizing"),
    ("analyse", "analyze"), ("analysing", "analyzing"), ("catalogue", "catalog"), ("dialogues", "dialogs"),
    ("cancelled", "canceled"), ("labelling", "labeling"), ("modelled", "modeled"),
    ("traveller", "traveler"),
    ("licence", "license"), ("defence", "defense"), ("programme", "program"), ("grey", "gray"),
    ("artefact", "artifact"), ("judgement", "judgment"),
]  # fmt: skip


@pytest.mark.parametrize(("british", "american"), PAIRS)
def test_each_is_the_others_variant(british, american):
    assert american in spelling_variants(british)
    assert british in spelling_variants(american)


@pytest.mark.parametrize(
    "word", ["our", "four", "is", "word", "log", "wise", "latency", "", "größe"]
)
def test_other_words_have_none(word):
    assert [] == list(spelling_variants(word))


@pytest.mark.parametrize("mode", ["hybrid", "lexical"])
@pytest.mark.parametrize(("british", "american"), PAIRS)
def test_either_spelling_finds_a_document_in_the_other(make_space, files, british, american, mode):
    (files / "one.md").write_text(f"# Rules\n\nWe keep the {american} of the house.\n", "utf-8")
    (files / "two.md").write_text("# Bread\n\nOf flour and water, with salt.\n", "utf-8")
    space = make_space()
    space.index()
    (hit,) = space.search(british, mode=mode).hits
    assert hit.chunk.uri == "one.md"
