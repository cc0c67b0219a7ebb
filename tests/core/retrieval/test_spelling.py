"""Words that no document holds are corrected to those that some do; the answer says so."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("onnxruntime", reason="needs the extra [onnx]")

from ragloom import SpaceGroup, Workspace
from ragloom.cli import cli
from ragloom.retrieval.parsed_query import parse
from ragloom.retrieval.spelling import corrected

NOTES = {
    "prometheus.md": "# Prometheus\n\nThe configuration of Prometheus names each scrape target.\n",
    "bulkhead.md": "# Bulkhead\n\nThe bulkhead isolates a failing exporter from the others.\n",
    "exporter.md": "# Exporter\n\nAn exporter sends spans in batches; kubernetes restarts it.\n",
    "quay.md": "# Quays\n\nThe host kv-quay-eu3 writes latency_ms for every quay. Tracks OPS-4711.\n",
    "files.md": "# Files\n\nThe mast and the most; the lighthouse keeper and his lantern.\n",
    "mast.md": "# Masts\n\nOf the mast there is more to say: the mast is of wood.\n",
}


@pytest.fixture(scope="module")
def space(tmp_path_factory):
    root = tmp_path_factory.mktemp("notes")
    for path, text in NOTES.items():
        (root / path).write_text(text, "utf-8")
    with Workspace.open(root).space("default") as made:
        made.index()
        yield made


@pytest.fixture
def spelt(space):
    """Corrects a text by the vocabulary alone."""
    return lambda text: corrected(text, space.snapshot(), lambda _word: False)


@pytest.mark.parametrize(
    ("typed", "right"),
    [
        ("promethues", "prometheus"),  # two letters changed places
        ("promtheus", "prometheus"),  # one is missing
        ("bulkheead", "bulkhead"),  # one is too many
        ("bulkhaed", "bulkhead"),
        ("exporrter", "exporter"),
        ("confguration", "configuration"),
        ("kubernettes", "kubernetes"),
        ("lighthuose", "lighthouse"),
        ("configuartoin", "configuration"),  # two mistakes in a long word
    ],
)
def test_a_misspelt_word_is_the_nearest_that_a_document_holds(spelt, typed, right):
    assert (f"where is the {right}", frozenset({right})) == spelt(f"where is the {typed}")


@pytest.mark.parametrize(
    "text",
    [
        "exporter of spans",  # is there
        "exporters isolate",  # by its stem
        "mst",  # under four letters
        "OPS-4712",
        "OPS-4711",
        "latency_sm",
        "kv-quay-eu4",
        "exporterr.md",
        "./bulkhaed",
        "--exporrter",
        "#bulkhaed",
        "exporrter@host",
        "EXPORRTER",
        "expoRrter",
        "exporrter2",
        "xporter",  # another first letter
        "lanxxyyn",  # too far
        "eporxetr",
    ],
)
def test_what_is_no_misspelling_stays(spelt, text):
    assert (text, frozenset()) == spelt(text)


def test_of_two_neighbours_the_one_in_more_files_is_meant(spelt):
    assert ("the mast", frozenset({"mast"})) == spelt("the mist")


def test_a_word_that_the_model_knows_stays(space):
    found = corrected("bulkhaed mist", space.snapshot(), lambda word: word == "mist")
    assert ("bulkhead mist", frozenset({"bulkhead"})) == found


def test_a_short_word_is_known_by_its_inflections(space):
    """The model has no token for "bake", but has one for "baked"."""
    known = {"misting", "baked"}.__contains__
    assert ("the mist", frozenset()) == corrected("the mist", space.snapshot(), known)
    assert ("the mast", frozenset({"mast"})) == corrected("the masd", space.snapshot(), known)
    assert "" == space.search("How do I bake bread?").searched_for


def test_a_corrected_word_weighs_less_than_one_that_is_found_as_typed(space):
    (typed,) = parse("bulkhaed", space.snapshot(), space.embedder)
    (right,) = parse("bulkhead", space.snapshot(), space.embedder)
    assert typed.terms.keys() == right.terms.keys()
    assert all(weight < right.terms[term] for term, weight in typed.terms.items())


@pytest.mark.parametrize("mode", ["hybrid", "rrf", "dense", "lexical"])
def test_the_answer_says_what_was_searched_for(space, mode):
    found = space.search("Please, what does the bulkhaed isolate?", mode=mode, min_relevance=0.0)
    assert "what does the bulkhead isolate?" == found.searched_for
    assert "bulkhead.md" == found.hits[0].chunk.uri
    assert "Please, what does the bulkhaed isolate?" == found.query
    assert "" == space.search("Please, what does the bulkhead isolate?", mode=mode).searched_for


def test_a_group_says_it_too(space):
    with SpaceGroup([space, space]) as group:
        assert "bulkhead" == group.search("bulkhaed").searched_for


def test_the_command_line_says_it(space):
    def run(*arguments):
        return CliRunner().invoke(cli, ["-C", str(space.workspace.root), *arguments])

    result = run("search", "bulkhaed")
    assert 0 == result.exit_code, result.output
    assert "searched for: bulkhead" in result.stderr.splitlines()
    assert "bulkhead.md" in result.stdout
    assert "bulkhead" == json.loads(run("search", "bulkhaed", "--json").stdout)["searched_for"]
    right = run("search", "bulkhead")
    assert "searched for" not in right.stderr


@given(st.text(max_size=60))
def test_any_text_keeps_its_signs_and_most_of_its_words(space, text):
    made, found = corrected(text, space.snapshot(), lambda _word: False)
    if not found:
        assert text == made
    vocabulary = {word for word, _ in space.snapshot().file_lexical.vocabulary("")}
    assert found <= vocabulary
    assert corrected(made, space.snapshot(), lambda _word: False)[0] == made


SCRIPTS = {
    "russian": ("Сервер записывает журнал событий в каталог каждую ночь.", "журнлл", "журнал"),
    "greek": (
        "Ο διακομιστής γράφει το αρχείο στον κατάλογο κάθε βράδυ.",
        "διακομσιτής",
        "διακομιστής",
    ),
    "hebrew": ("השרת כותב את יומן האירועים לתיקייה בכל לילה.", "האירוועים", "האירועים"),
    "arabic": ("يكتب الخادم سجل الأحداث في المجلد كل ليلة.", "المجللد", "المجلد"),
    "hindi": ("सर्वर घटनाओं की फ़ाइल निर्देशिका में लिखता है।", "निरदेशिका", "निर्देशिका"),
    "bengali": ("সার্ভার ঘটনার লগ ফাইল ডিরেক্টরিতে লেখে।", "ডিরেকটরিতে", "ডিরেক্টরিতে"),
    "armenian": (
        "Սերվերը գրում է իրադարձությունների մատյանը պանակում։",
        "իրադարձությւնների",
        "իրադարձությունների",
    ),
    "georgian": ("სერვერი წერს მოვლენების ჟურნალს და სარეზერვო ასლს.", "სარეზრვო", "სარეზერვო"),
}


@pytest.fixture(scope="module")
def scripts(tmp_path_factory):
    """A space of each script, and what else is written in it."""
    made = {}
    for name, (text, *_) in SCRIPTS.items():
        root = tmp_path_factory.mktemp(name)
        (root / "note.md").write_text(text, "utf-8")
        made[name] = Workspace.open(root).space("default")
        made[name].index()
    yield made
    for one in made.values():
        one.close()


@pytest.mark.parametrize("name", SCRIPTS)
def test_in_every_script_that_has_words(scripts, name):
    _, typed, right = SCRIPTS[name]
    found = scripts[name].search(typed)
    assert right == found.searched_for
    assert ["note.md"] == [hit.chunk.uri for hit in found.hits]


@pytest.mark.parametrize("name", SCRIPTS)
def test_no_word_of_a_document_is_corrected_in_any_script(scripts, name):
    text, *_ = SCRIPTS[name]
    assert (text, frozenset()) == corrected(text, scripts[name].snapshot(), lambda _word: False)


@pytest.mark.parametrize(
    ("text", "typed"),
    [
        ("サーバーは毎晩バックアップを実行します。", "サーバーー"),
        ("服务器每天晚上运行备份程序。", "服务务器备份"),
        ("เซิร์ฟเวอร์เขียนบันทึกเหตุการณ์", "บันทีกเหตุ"),
        ("서버는 이벤트 로그를 디렉터리에 기록합니다.", "디렉토리에"),
        ("كتاب الكاتب في المجلد.", "كتابة"),  # short
        ("घटनाओं की सूची", "घटनाओ"),  # an inflected form
    ],
)
def test_what_has_no_words_or_many_neighbours_stays(make_space, files, text, typed):
    (files / "note.md").write_text(text, "utf-8")
    space = make_space()
    space.index()
    assert (typed, frozenset()) == corrected(typed, space.snapshot(), lambda _word: False)
