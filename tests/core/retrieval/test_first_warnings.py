"""What the first index run says of its model, in one line, once."""

from __future__ import annotations

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
