"""What a query has in common with a text in any script, by searches of a whole space."""

import json
from pathlib import Path

import pytest

CASES = [
    json.loads(line)
    for line in (Path(__file__).parents[2] / "data/cases/words.jsonl").open(encoding="utf-8")
]
OTHERS = {
    "harbour.md": "The harbour closes in winter.",
    "hafen.md": "Der Hafen schließt im Winter, und die Boote liegen an Land.",
    "zh.md": "港口在冬天关闭。",
}
# A text and a query of one word; whether the word is in the text.
PAIRS = [
    # Combining marks belong to their word.
    ("নৌকায় পানি ঢুকেছে", "পানি", True),
    ("নৌকায় পান ছিল", "পানি", False),
    ("படகில் தண்ணீர் நுழைந்தது", "தண்ணீர்", True),
    ("ท่าเรือปิดในฤดูหนาว", "ท่าเรือ", True),
    ("ท่าเรือปิดในฤดูหนาว", "ม้า", False),
    ("ဆိပ်ကမ်းကို ပိတ်ထားသည်", "ဆိပ်ကမ်း", True),
    ("កំពង់ផែត្រូវបានបិទ", "កំពង់ផែ", True),
    ("می‌خواهم بروم", "میخواهم", True),  # a joiner that does not join
    # Accents are optional, on either side.
    ("Всё ещё там", "все", True),
    ("Мой чай", "чаи", False),  # short i is a letter
    ("Το λιμάνι κλείνει", "λιμανι", True),
    ("Thuyền trưởng đã đến", "truong", True),
    ("Łódź stoi w porcie", "lodz", True),
    ("Smørrebrød på kajen", "smorrebrod", True),
    ("IŞIK kulesi", "ışık", True),
    ("El nin\u0303o duerme", "niño", True),
    ("The resumé", "re\u0301sume\u0301", True),
    ("الإبحار ممنوع", "الابحار", True),
    ("שלום לך", "שָׁלוֹם", True),
    # Hyphens and compounds.
    ("A wi-fi antenna", "wifi", True),
    ("A wifi antenna", "wi-fi", True),
    ("Use the co\u2011operative lock", "cooperative", True),
    ("Re\u00adindexing", "reindexing", True),
    ("host kv-quay-eu3 is down", "kv-quay-eu3", True),
    ("host kv-quay-eu3 is down", "eu3", True),
    ("pages 10-20", "1020", False),
    ("call set-maxConnections", "connections", True),
    # Names of languages.
    ("We write C++ here", "C++", True),
    ("We write C++17 here", "c++", True),
    ("We write plain C here", "C++", False),
    ("We write C++ here", "C", False),
    ("We write C# here", "C++", False),
    ("We write F# here", "C#", False),
    ("We write f# here", "F#", True),
    ("Mend the net", ".NET", False),
    ("Runs on .NET 8", ".net", True),
    ("Runs on ASP.NET", ".NET", True),
    ("Runs on ASP.NET", "asp", True),
    ("Runs on asp.net", "ASP.NET", True),
    ("see example.net", "example", True),
    ("Objective-C++ is there", "C++", True),
    ("Open it in Notepad++", "notepad", True),
    ("Open it in Notepad++", "notepad++", True),
    ("compile with g++ -O2", "g++", True),
    ("gcc and other compilers", "g++", False),
    # Identifiers within other scripts, and with letters beyond ASCII.
    ("PluginHost를 연다", "plugin", True),
    ("调用getVectorStore函数", "getVectorStore", True),
    ("def hole_Übersicht():", "übersicht", True),
    ("let übersichtLaden = 1", "laden", True),
]


@pytest.fixture
def found(files, make_space):
    def found(text, query):
        for name, other in OTHERS.items():
            (files / name).write_text(f"{other}\n", "utf-8")
        (files / "here.md").write_text(f"{text}\n", "utf-8")
        space = make_space()
        space.index()
        hits = space.search(query, mode="lexical", min_relevance=0.0).hits
        return "here.md" in [hit.chunk.uri for hit in hits]

    return found


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_the_words_of_public_reports(found, case):
    assert case["found"] == found(case["text"], case["query"])


@pytest.mark.parametrize(("text", "query", "expected"), PAIRS)
def test_a_word_and_its_variants(found, text, query, expected):
    assert expected == found(text, query)


@pytest.mark.parametrize(
    ("text", "query"),
    [
        (
            "Die Häuser am Hafen werden im Herbst neu gestrichen, und die Boote liegen an Land.",
            "Haus",
        ),
        (
            "Les bateaux sont rentrés au port avant la tempête, et les marins dorment déjà.",
            "bateau",
        ),
        ("Los barcos llegaron al puerto antes de la tormenta y los marineros duermen.", "marinero"),
        ("Корабли вернулись в гавань до шторма, и моряки уже спят на берегу.", "корабль"),
        (
            "Τα πλοία επέστρεψαν στο λιμάνι πριν από την καταιγίδα και οι ναύτες κοιμούνται.",
            "πλοίο",
        ),
        ("Gemiler fırtınadan önce limana döndü ve denizciler şimdi evlerinde uyuyor.", "gemi"),
        (
            "Navele s-au întors în port înainte de furtună, iar marinarii dorm deja acasă.",
            "marinar",
        ),
    ],
)
def test_words_are_stemmed_in_the_language_of_their_document(found, text, query):
    assert found(text, query)


def test_a_document_is_in_one_language(files, make_space):
    german = "\n\n".join(
        f"# Titel {number}\n\nDie Häuser und Boote liegen am Hafen, und das Wasser ist kalt."
        for number in range(5)
    )
    (files / "de.md").write_text(
        f"{german}\n\n# API\n\nThe API of the server is in the docs.\n", "utf-8"
    )
    space = make_space()
    space.index()
    assert ("german",) == space.snapshot().lexical.languages


def test_languages_come_and_go(files, make_space):
    texts = {
        "en.md": "The boats are in the harbour and the water is cold in the winter.",
        "de.md": "Die Boote liegen im Hafen, und das Wasser ist im Winter sehr kalt.",
        "ru.md": "Лодки стоят в гавани, и вода зимой очень холодная.",
        "th.md": "เรืออยู่ในท่าเรือและน้ำเย็นมากในฤดูหนาว",
    }

    def languages():
        space = make_space()
        space.index()
        return space.snapshot().lexical.languages

    for name in ("en.md", "de.md", "ru.md", "th.md"):
        (files / name).write_text(f"{texts[name]}\n", "utf-8")
        seen = languages()
    assert ("english", "german", "other", "russian") == seen
    (files / "de.md").unlink()
    assert ("english", "other", "russian") == languages()
    (files / "ru.md").write_text(f"{texts['de.md']}\n", "utf-8")
    assert ("english", "german", "other") == languages()
    for name in ("en.md", "ru.md"):
        (files / name).unlink()
    assert ("other",) == languages()
    (files / "th.md").unlink()
    assert ("english",) == languages()
