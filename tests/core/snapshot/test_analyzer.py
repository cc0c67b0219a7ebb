import unicodedata
from itertools import chain

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ragloom.snapshot import lexical
from ragloom.snapshot.analyzer import analyze, terms_of, tokens, words
from ragloom.snapshot.languages import LANGUAGES, language_of, query_language, stemmer
from ragloom.snapshot.letters import fold_accents
from ragloom.snapshot.lexical import LexicalIndex, stemmed
from ragloom.snapshot.lexical_writer import LexicalDocument

# Letters, marks and signs of many scripts, mixed more than any text mixes them.
CHARACTERS = st.sampled_from(
    "aZé9_-#+. '\u2010\u0301\u0327\u00ad\u200d\u200cßİıжйёαάσςבּשׁ\u05b8كَُأקकिक़्मাপতமிท่เ้ำကို"
    "ខ្មែរ한글ᄒ漢字かがカ゛ー①ﬁ²ǆ😀"
)
TEXTS = st.one_of(st.text(), st.text(CHARACTERS), st.text(CHARACTERS, max_size=6))


def _terms_of(text):
    found = [terms_of(token) for token in tokens(text)]
    return [[*chain.from_iterable(one)] for one in zip(*found, strict=True)] or [[], []]


@given(TEXTS)
@example("İ\u0323\u0307")
@example("क़\u0301")
def test_analysis_is_the_same_composed_and_decomposed(text):
    analysed = [_terms_of(unicodedata.normalize(form, text)) for form in ("NFC", "NFD", "NFKC")]
    assert analysed[0] == analysed[1] == analysed[2]


@given(TEXTS)
def test_terms_have_no_space_and_are_never_empty(text):
    terms, variants = _terms_of(text)
    for term in (*terms, *(variant for _, variant in variants)):
        assert [term] == term.split()


@given(TEXTS)
def test_the_terms_of_a_text_are_those_of_its_words(text):
    found = words(text)
    assert analyze(text) == [term for word in found for term in word.terms]
    terms = {term for word in found for term in word.all_terms()}
    assert terms.issuperset(term for word in found for form in word.forms for term in form)


@given(TEXTS)
def test_a_stemmer_gives_a_stem_for_every_term(text):
    terms = analyze(text)
    for language in LANGUAGES:
        assert len(terms) == len(stemmer(language).analyze(" ".join(terms)))


@pytest.mark.parametrize("language", ["english", "other", "german"])
def test_the_stems_of_a_text_are_those_of_its_terms_together(language, monkeypatch):
    monkeypatch.setattr(lexical, "_MOST_KEPT", 8)  # so that they are learnt again and again
    monkeypatch.setattr(lexical, "_LONGEST_KEPT", 12)

    @given(TEXTS)
    def hold(text):
        terms = analyze(text)
        assert stemmed(text, language)[0] == stemmer(language).analyze(" ".join(terms))

    hold()


@given(st.text(CHARACTERS, max_size=20))
def test_accents_are_folded_once(word):
    folded = fold_accents(word.casefold())
    assert folded == fold_accents(folded)


@pytest.fixture(scope="module")
def make_index(tmp_path_factory, write_lexical):
    def make(*texts):
        directory = tmp_path_factory.mktemp("index") / "lexical"
        documents = [
            LexicalDocument(number, f"{number}.md", text, "", language_of([text]))
            for number, text in enumerate(texts)
        ]
        write_lexical(directory, documents)
        return LexicalIndex(directory)

    return make


@given(text=TEXTS)
@example("Δ")
def test_every_word_of_a_text_finds_the_text(make_index, text):
    index = make_index(text, "Die Boote liegen im Hafen, und das Wasser ist im Winter sehr kalt.")
    held = set(index.stems(text))
    for word in index.query_words(text):
        assert any(held.issuperset(form) for form in word.forms)
        serials, _ = index.search(dict(word.weights), limit=5)
        assert 0 in serials


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["Run the server with the option and look at the log."], "english"),
        (["def main(): return latency_ms", "x = 1"], "english"),
        ([""], "english"),
        (["Der Server wird mit der Option gestartet und schreibt ein Protokoll."], "german"),
        (["Le serveur est lancé avec cette option, puis il écrit dans le journal."], "french"),
        (["Il server viene avviato con questa opzione e scrive nel registro."], "italian"),
        (["Сервер запускается с этой опцией и пишет журнал."], "russian"),
        (["Сервер запускається з цією опцією та пише журнал подій."], "other"),
        (["サーバーはこのオプションで起動します。"], "other"),
        (["Máy chủ được khởi động với tùy chọn này và ghi nhật ký."], "other"),
        (["Ο διακομιστής ξεκινά με αυτή την επιλογή."], "greek"),
        (["The café", "The naïve résumé is in the folder of the server"], "english"),
    ],
)
def test_the_language_of_a_document(texts, expected):
    assert expected == language_of(texts)


@pytest.mark.parametrize(
    ("query", "held", "expected"),
    [
        ("what is the limit", ["english"], "english"),
        ("what is the limit", ["english", "german"], "english"),
        ("was ist die Grenze", ["english", "german"], "german"),
        ("what is the limit", ["other"], "english"),
        ("was ist die Grenze", ["german"], "german"),
        ("limit", ["german", "other"], "german"),
        ("giới hạn do ai đặt", ["other"], "other"),
    ],
)
def test_the_language_of_a_query(query, held, expected):
    assert expected == query_language(query.lower().split(), held)


def test_stop_words_are_those_of_the_query(make_index):
    german = "Die Boote liegen im Hafen, und das Wasser ist im Winter sehr kalt."
    english = "The boats are in the harbour, and the water is very cold in winter."
    index = make_index(german, english)
    assert ("english", "german") == index.languages
    assert {"boot", "hafen", "haf"} == set(index.query_terms("wo sind die Boote im Hafen"))
    assert {"boat", "harbour"} == set(index.query_terms("where are the boats in the harbour"))
    assert ["die", "boote"] == [word.text for word in index.query_words("die Boote")]


@pytest.mark.parametrize(
    ("text", "query", "content"),
    [
        (
            "Ankara'nın kütüphanesi bu yıl da açıktır.",
            "Ankara'nın kütüphanesi",
            "ankara kütüphanesi",
        ),
        ("Ankara\u2019da bir kütüphane vardır.", "NATO\u2019nun Ankara\u2019daki", "nato ankara"),
        ("Bu un ve su bir ekmek için yeterlidir.", "ekmek için un", "ekmek un"),
        ("Der Hafen wurde im Winter gebaut, und er ist groß.", "wann wurde der Hafen", "hafen"),
    ],
)
def test_endings_of_names_and_auxiliaries_are_stop_words(make_index, text, query, content):
    words = make_index(text).query_words(query)
    assert content.split() == [word.text for word in words if not word.stop]


@pytest.mark.parametrize("query", ["café", "cafés", "port", "déjà"])
def test_variants_do_not_add_up(make_index, query):
    index = make_index("Les cafés du port sont fermés, et le capitaine est déjà à la maison.")
    (word,) = index.query_words(query)
    assert sum(weight for _, weight in word.weights) == pytest.approx(1.0)
