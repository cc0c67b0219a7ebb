"""Collections in BEIR's format: what is read, and what is refused by file and line."""

from __future__ import annotations

import gzip

import pytest

from ragloom import SourceError
from ragloom.evaluation import read_collection

CORPUS = '{"_id": "d1", "title": "A", "text": "one"}\n{"_id": "d2", "text": "two"}\n'
QUERIES = '{"_id": "q1", "text": "one?"}\n{"_id": "q2", "text": "unjudged"}\n'
JUDGED = "query-id\tcorpus-id\tscore\nq1\td1\t1\nq1\td2\t0\n"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "corpus.jsonl").write_text(CORPUS, "utf-8")
    (tmp_path / "queries.jsonl").write_text(QUERIES, "utf-8")
    (tmp_path / "qrels").mkdir()
    (tmp_path / "qrels" / "test.tsv").write_text(JUDGED, "utf-8")
    return tmp_path


def test_documents_queries_and_judgments_are_read(folder):
    collection = read_collection(folder)
    assert [("d1", "A", "one"), ("d2", "", "two")] == [
        (document.id, document.title, document.text) for document in collection.documents
    ]
    assert {"q1": "one?"} == collection.queries
    assert {"q1": {"d1": 1}} == collection.judgments


def test_a_compressed_corpus_comes_first(folder):
    (folder / "corpus.jsonl.gz").write_bytes(gzip.compress(b'{"_id": "d9", "text": "nine"}\n'))
    assert ["d9"] == [document.id for document in read_collection(folder).documents]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("corpus.jsonl", CORPUS + "{\n", "corpus.jsonl:3: not JSON"),
        (
            "corpus.jsonl",
            '{"_id": "d1"}\n',
            "corpus.jsonl:1: expected a JSON object with _id and text",
        ),
        ("corpus.jsonl", CORPUS + CORPUS, "corpus.jsonl:3: there is another _id 'd1' above"),
        ("queries.jsonl", "", "queries.jsonl: none of its queries is judged in "),
        ("queries.jsonl", "[]\n", "queries.jsonl:1: expected"),
        ("qrels/test.tsv", JUDGED + "q1 d1 1\n", "test.tsv:4: expected query, document and grade"),
        (
            "qrels/test.tsv",
            "query\tdoc\tscore\n",
            "queries.jsonl: none of its queries is judged in ",
        ),
    ],
)
def test_what_is_wrong_is_named_by_file_and_line(folder, name, text, message):
    (folder / name).write_text(text, "utf-8")
    with pytest.raises(SourceError) as error:
        read_collection(folder)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_an_unknown_split_names_those_that_there_are(folder):
    with pytest.raises(SourceError, match=r"unknown split 'dev' \(available: test\)"):
        read_collection(folder, split="dev")
