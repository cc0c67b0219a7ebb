"""A word is found by its other forms in languages that have no stemmer."""

from __future__ import annotations

import pytest

from ragloom import Workspace

NOTES = {
    "he.md": "# נהלים\n\nהעותקים המוצפנים נשמרים בשרת נפרד, וכל עובד מקבל חשבון.\n",
    "bn.md": "# নিয়ম\n\nপ্রতি রাতে ডাটাবেসের অনুলিপি নেওয়া হয়, আর প্রত্যেক কর্মচারী ছুটি পান।\n",
    "hi.md": "# नियम\n\nहर विभाग अपनी समीक्षा लिखता है और भाषाओं का चयन करता है।\n",
    "pl.md": "# Poczta\n\nWiadomości są odrzucane, a zwierzęta są dozwolone za zgodą właściciela.\n",
    "uk.md": "# Мережа\n\nПароль змінюють щомісяця, доступ видає адміністратор будинку.\n",
    "de.md": "# Dienst\n\nDas Prüfsummenverzeichnis wird geladen, und der Dienst startet neu.\n",
    "cs.md": "# Knihovna\n\nČtenářský průkaz je nepřenosný; půjčujeme časopisy i mapy.\n",
}


@pytest.fixture(scope="module")
def space(tmp_path_factory):
    folder = tmp_path_factory.mktemp("notes")
    for name, text in NOTES.items():
        (folder / name).write_text(text, "utf-8")
    with Workspace.open(folder).space("default") as opened:
        opened.index()
        yield opened


@pytest.fixture(params=["hybrid", "lexical"])
def found(space, request):
    def search(query):
        hits = space.search(query, mode=request.param, top_k=1).hits
        return [hit.chunk.uri for hit in hits]

    return search


@pytest.mark.parametrize(
    ("query", "path"),
    [
        ("שרת", "he.md"),  # in a server
        ("השרת", "he.md"),
        ("לשרת", "he.md"),
        ("מוצפנים", "he.md"),
        ("מוצפן", "he.md"),
        ("עובדים", "he.md"),
        ("עותק", "he.md"),
        ("ডাটাবেস", "bn.md"),
        ("ডাটাবেসে", "bn.md"),
        ("কর্মচারীদের", "bn.md"),
        ("ছুটির", "bn.md"),
        ("विभागों", "hi.md"),
        ("wiadomość", "pl.md"),
        ("właścicielem", "pl.md"),
        ("wlasciciel", "pl.md"),
        ("паролі", "uk.md"),
        ("адміністратором", "uk.md"),
        ("čtenářského průkazu", "cs.md"),
        ("Prüfsumme", "de.md"),  # the head of a compound
    ],
)
def test_another_form_of_a_word_is_found(found, query, path):
    assert [path] == found(query)


@pytest.mark.parametrize(
    "query",
    [
        "שלג",
        "מטרייה",
        "ছাতা",
        "छाता",
        "wiatrak",
        "właśnie",
        "парасолька",
        "адмірал",
        "čtvrtek",
        "kubectl",
    ],
)
def test_a_word_that_only_begins_alike_is_not(found, query):
    assert [] == found(query)
