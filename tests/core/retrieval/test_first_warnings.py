"""What the first index run says of its model, and of the chunker of source code: in one line, once."""

from __future__ import annotations

import sys

from ragloom.config.component import Component

HINT = "take another model"
GERMAN = "Die Schlüssel werden jede Woche getauscht, da sonst keiner merkt, wann er alle zu erneuern hat."
ENGLISH = "The keys are rotated every week, as they expire otherwise and nobody would notice it."


def warnings_of(space, files, *texts, hint=HINT):
    for number, text in enumerate(texts):
        (files / f"{number}.md").write_text(f"{text}\n", "utf-8")
    space.embedder.foreign_hint = hint
    return [line for line in space.index().warnings if "calibration" not in line]


def test_much_text_in_another_language_is_told_once(files, make_space):
    space = make_space()
    assert [f"50% of the chunks are not in English: {HINT}"] == (
        warnings_of(space, files, GERMAN, ENGLISH)
    )
    assert [] == warnings_of(space, files, GERMAN, ENGLISH, GERMAN + " Immer.")


def test_little_of_it_and_models_that_know_it_are_not(files, make_space):
    assert [] == warnings_of(make_space(), files, *[ENGLISH + f" {n}." for n in range(4)], GERMAN)


def test_a_model_that_has_nothing_to_say_says_nothing(files, make_space):
    assert [] == warnings_of(make_space(), files, GERMAN, hint="")


def code_hints(space):
    return [line for line in space.index().warnings if "source code" in line]


def test_source_code_without_its_chunker_is_told_once(files, make_space, monkeypatch):
    monkeypatch.setitem(sys.modules, "tree_sitter_language_pack", None)  # is not installed
    space = make_space()
    for name in ("a.py", "b.py", "c.go", "d.md", "e.json"):
        (files / name).write_text(f"words of {name}\n", "utf-8")

    (line,) = code_hints(space)
    assert line.startswith(
        "3 files of source code split at blank lines: pip install 'ragloom[code]'"
    )
    assert "'chunkers: {.py: code, .go: code}' in ragloom.yaml" in line
    (files / "f.py").write_text("more words\n", "utf-8")
    assert [] == code_hints(space)


def test_prose_and_code_that_has_a_chunker_are_not_told(files, make_space):
    (files / "d.md").write_text("words\n", "utf-8")
    assert [] == code_hints(make_space())

    (files / "a.py").write_text("word = 1\n", "utf-8")
    chosen = {".py": Component(name="sentence")}
    assert [] == code_hints(make_space(name="other", chunkers=chosen))
