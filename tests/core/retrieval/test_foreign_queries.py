"""A question in another language is weighed by what it asks for, not by the language that it shares."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("onnxruntime", reason="needs the extra [onnx]")

from ragloom import Calibration
from ragloom.retrieval.foreign_queries import foreign_bonus, typical_cosine, word_bonus
from ragloom.retrieval.parsed_query import parse
from ragloom.retrieval.ranking import find_candidates

NOTES = {
    "turkish": [
        "Sunucu her gece olay günlüğünü bir klasöre yazar ve yedekleme sabaha kadar sürer.",
        "Ekmek hamuru iki saat dinlendirilir, sonra sıcak fırında kırk dakika pişirilir.",
        "Ankara'daki kütüphane hafta sonları saat dokuzda açılır ve akşam altıda kapanır.",
        "Bisikletin zinciri her ay temizlenir ve yağlanır; frenler ayrıca denetlenir.",
        "Toplantı notları her cuma paylaşılır ve bütün ekip tarafından okunur.",
        "Parola en az on iki karakter olmalı ve her yıl değiştirilmelidir.",
        "Bahçedeki domatesler sabah erken sulanır ve temmuz ayında toplanır.",
        "Fatura ödemeleri otuz gün içinde muhasebe bölümü tarafından yapılır.",
    ],
    "german": [
        "Der Server schreibt das Protokoll jede Nacht in ein Verzeichnis und sichert es am Morgen.",
        "Der Brotteig ruht zwei Stunden und wird danach vierzig Minuten im heißen Ofen gebacken.",
        "Die Bücherei in Hamburg wurde renoviert und öffnet am Wochenende um neun Uhr.",
        "Die Kette des Fahrrads wird jeden Monat gereinigt und geölt; die Bremsen werden geprüft.",
        "Die Notizen der Besprechung wurden bisher jeden Freitag geteilt und vom Team gelesen.",
        "Ein Passwort hat mindestens zwölf Zeichen und wird jedes Jahr geändert.",
        "Die Tomaten im Garten werden früh am Morgen gegossen und im Juli geerntet.",
        "Rechnungen werden innerhalb von dreißig Tagen von der Buchhaltung bezahlt.",
    ],
}
ABSENT = {
    "turkish": [
        "Ankara'nın belediye başkanı kimdir?",
        "Ankara'da kaç üniversite vardır?",
        "Sunucunun fiyatı ne kadardı?",
        "Bisikleti kim icat etmiştir?",
        "Domateslerin kilosu kaç liradır?",
        "Ekmek fabrikasının sahibi kimdi?",
    ],
    "german": [
        "Wann wurde Hamburg gegründet?",
        "Wie viele Menschen wurden in Hamburg geboren?",
        "Wer wurde zum Bürgermeister von Hamburg gewählt?",
        "Wie viel kosten Tomaten?",
        "Wann wurde die Bücherei gebaut?",
        "Wer hat das Fahrrad erfunden?",
    ],
}
ANSWERED = {
    "turkish": [
        ("Ankara'daki kütüphane saat kaçta açılır?", 2),
        ("Ekmek hamuru kaç saat dinlendirilir?", 1),
        ("Parola kaç karakter olmalı?", 5),
        ("Fatura ödemeleri kaç gün içinde yapılır?", 7),
        ("Bahçedeki domatesler ne zaman sulanır?", 6),
    ],
    "german": [
        ("Wann öffnet die Bücherei in Hamburg?", 2),
        ("Wie lange ruht der Brotteig?", 1),
        ("Wie viele Zeichen muss ein Passwort haben?", 5),
        ("Wann werden die Tomaten gegossen?", 6),
    ],
}


@pytest.fixture(scope="module")
def spaces(tmp_path_factory):
    from ragloom import Workspace

    made = {}
    for language, notes in NOTES.items():
        root = tmp_path_factory.mktemp(language)
        for number, note in enumerate(notes):
            (root / f"{number}.md").write_text(note, "utf-8")
        made[language] = Workspace.open(root).space("default")
        made[language].index()
    yield made
    for space in made.values():
        space.close()


@pytest.mark.parametrize(
    ("language", "question"), [(name, one) for name in ABSENT for one in ABSENT[name]]
)
def test_a_question_that_no_note_answers_finds_nothing(spaces, language, question):
    assert [] == [hit.chunk.text for hit in spaces[language].search(question).hits]


@pytest.mark.parametrize(
    ("language", "question", "note"), [(name, *one) for name in ANSWERED for one in ANSWERED[name]]
)
def test_a_question_finds_the_note_that_answers_it(spaces, language, question, note):
    assert f"{note}.md" == spaces[language].search(question).hits[0].chunk.uri


def calibration(weight, unrelated=0.0):
    return Calibration(
        bias=0.0,
        cosine_weight=weight,
        coverage_weight=0.0,
        unrelated_cosine=unrelated,
        source="made up",
    )


def bonuses(space, question, calibration):
    snapshot = space.snapshot()
    (query,) = parse(question, snapshot, space.embedder)
    found = find_candidates(query, snapshot=snapshot, embedder=space.embedder)
    return foreign_bonus(query, found, calibration), word_bonus(query), typical_cosine(found)


def test_what_a_query_has_in_common_with_any_chunk_is_taken_off(spaces):
    question = "Ekmek hamuru kaç saat dinlendirilir?"
    steep, flat = (calibration(weight) for weight in (12.0, 2.0))
    with_cosines, by_words, typical = bonuses(spaces["turkish"], question, steep)
    assert typical > 0.2
    assert 0 <= with_cosines < bonuses(spaces["turkish"], question, flat)[0]
    assert 0 < by_words


@pytest.mark.parametrize(
    ("curve", "question"),
    [
        (calibration(0.0), "Ekmek hamuru kaç saat dinlendirilir?"),
        (calibration(12.0, unrelated=0.7), "Ekmek hamuru kaç saat?"),
        (calibration(12.0), "how long does the dough rest before it is in the oven?"),
    ],
)
def test_others_have_the_bonus_of_words(spaces, curve, question):
    bonus, by_words, _ = bonuses(spaces["turkish"], question, curve)
    assert bonus == by_words


def test_the_typical_cosine_is_the_mean_of_all_where_they_are_few(spaces):
    space = spaces["german"]
    snapshot = space.snapshot()
    (query,) = parse("Wie lange ruht der Brotteig?", snapshot, space.embedder)
    found = find_candidates(query, snapshot=snapshot, embedder=space.embedder)
    every = snapshot.cosines(found.vector, np.arange(len(snapshot)))
    assert typical_cosine(found) == pytest.approx(float(every.mean()))
