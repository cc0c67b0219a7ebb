"""Collections in BEIR's format: what is read, and what is refused by file and line."""

from __future__ import annotations

import gzip

import pytest

from ragloom import SourceError
from ragloom.evaluation.collections import read_collection

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
    (folder / "corpus.jsonl.gz").write_bytes(gzip.compress(b'{"_id": "d1", "text": "zipped"}\n'))
    assert ["zipped"] == [document.text for document in read_collection(folder).documents]


@pytest.mark.parametrize("head", ["", "query-id\tcorpus-id\tscore\n"])
def test_judgments_need_no_names_of_columns(folder, head):
    (folder / "qrels" / "test.tsv").write_text(f"{head}q1\td1\t1\nq2\td2\t2\n", "utf-8")
    assert {"q1": {"d1": 1}, "q2": {"d2": 2}} == read_collection(folder).judgments


def test_judged_ids_that_are_missing_are_told(folder, caplog):
    judged = folder / "qrels" / "test.tsv"
    judged.write_text(f"{JUDGED}q1\td8\t1\nq1\td9\t1\nq7\td1\t1\n", "utf-8")
    assert {"q1": {"d1": 1, "d8": 1, "d9": 1}} == read_collection(folder).judgments
    assert [
        f"{judged}: 1 query is judged and missing, such as 'q7'",
        f"{judged}: 2 documents are judged and missing, such as 'd8'",
    ] == caplog.messages


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
        ("qrels/test.tsv", "q1 d1 1\n", "test.tsv:1: expected query, document and grade"),
        ("qrels/test.tsv", "q1\td9\t1\n", "corpus.jsonl: none of its documents is judged in "),
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
