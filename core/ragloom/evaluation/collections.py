"""Reading a collection in the format of BEIR (Thakur et al., 2021).

A folder with ``corpus.jsonl`` or ``corpus.jsonl.gz`` (``_id``, ``title``, ``text``), ``queries.jsonl``
(``_id``, ``text``) and ``qrels/<split>.tsv`` (query, document, grade; a first line of names may be there).
"""

from __future__ import annotations

import gzip
import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from ragloom.config.spelling import unknown
from ragloom.errors import SourceError
from ragloom.text.parsing import parse_json

_LOG = logging.getLogger("ragloom")

_COLUMNS = 3  # of judgments: query, document, grade


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedDocument:
    """A document of a collection."""

    id: str
    title: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Collection:
    """Documents, the queries of one split, and which documents answer them.

    Attributes:
        name: The folder's.
        documents: In the order of the file.
        queries: Text by id; those of the split only.
        judgments: Grades, 1 or more, by document id, by query id.
    """

    name: str
    documents: Sequence[JudgedDocument]
    queries: Mapping[str, str]
    judgments: Mapping[str, Mapping[str, int]]


def read_collection(folder: Path, *, split: str = "test") -> Collection:
    """Read a collection; a warning tells how many judged queries and documents are missing.

    Raises:
        SourceError: A file is missing or has a line that is not of the format; both are named. No query, or
            no document, is judged.
    """
    corpus = next(
        (path for name in ("corpus.jsonl.gz", "corpus.jsonl") if (path := folder / name).exists()),
        folder / "corpus.jsonl",
    )
    documents = [
        JudgedDocument(id=str(row["_id"]), title=str(row.get("title") or ""), text=str(row["text"]))
        for row in _rows(corpus, ("_id", "text"))
    ]
    judged = folder / "qrels" / f"{split}.tsv"
    judgments = _judgments(judged)
    queries = {
        str(row["_id"]): str(row["text"])
        for row in _rows(folder / "queries.jsonl", ("_id", "text"))
        if str(row["_id"]) in judgments
    }
    if not queries:
        raise SourceError(f"{folder / 'queries.jsonl'}: none of its queries is judged in {judged}")
    answers = [document for query in queries for document in judgments[query]]
    found = {document.id for document in documents}
    if found.isdisjoint(answers):
        raise SourceError(f"{corpus}: none of its documents is judged in {judged}")
    _warn_of_missing("query", [one for one in judgments if one not in queries], judged)
    _warn_of_missing(
        "document", [one for one in dict.fromkeys(answers) if one not in found], judged
    )
    return Collection(
        name=folder.resolve().name,
        documents=documents,
        queries=queries,
        judgments={query: judgments[query] for query in queries},
    )


def _warn_of_missing(noun: str, missing: Sequence[str], judged: Path) -> None:
    if missing:
        several = "queries" if noun == "query" else f"{noun}s"
        count = f"1 {noun} is" if len(missing) == 1 else f"{len(missing)} {several} are"
        _LOG.warning("%s: %s judged and missing, such as %r", judged, count, missing[0])


def everyday_questions() -> Sequence[str]:
    """Two hundred questions about cooking, gardens, games and travel: off topic for most projects."""
    text = files("ragloom.evaluation").joinpath("everyday_questions.txt").read_text("utf-8")
    return text.splitlines()


def questions_in(path: Path) -> Sequence[str]:
    """The questions of a file, one a line.

    Raises:
        SourceError: It cannot be read, is not UTF-8, or holds none.
    """
    try:
        text = path.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise SourceError(f"{path}: cannot be read: {error}") from error
    if not (questions := [line for line in text.splitlines() if line.strip()]):
        raise SourceError(f"{path}: holds no question; write one a line")
    return questions


def _rows(path: Path, needed: Sequence[str]) -> Iterator[Mapping[str, object]]:
    seen: set[str] = set()
    opened = gzip.open if path.suffix == ".gz" else open
    try:
        with opened(path, "rt", encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                if not line.strip():
                    continue
                row = parse_json(line)
                if not isinstance(row, dict) or any(key not in row for key in needed):
                    message = f"{path}:{number}: expected a JSON object with {' and '.join(needed)}"
                    raise SourceError(message)
                if str(row["_id"]) in seen:
                    raise SourceError(f"{path}:{number}: there is another _id {row['_id']!r} above")
                seen.add(str(row["_id"]))
                yield row
    except FileNotFoundError as error:
        message = f"{path}: there is no such file; a collection needs it (BEIR's format)"
        raise SourceError(message) from error
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise SourceError(f"{path}: cannot be read: {error}") from error
    except ValueError as error:
        raise SourceError(f"{path}:{number}: not JSON: {error}") from error


def _judgments(path: Path) -> Mapping[str, Mapping[str, int]]:
    judged: dict[str, dict[str, int]] = {}
    try:
        lines = path.read_text("utf-8").splitlines()
    except FileNotFoundError as error:
        splits = sorted(other.stem for other in path.parent.glob("*.tsv"))
        raise SourceError(f"{path}: {unknown('split', path.stem, splits)}") from error
    for number, line in enumerate(lines, 1):
        parts = line.split("\t")
        if len(parts) != _COLUMNS or not parts[2].lstrip("-").isdigit():
            if number == 1 and not line[-1:].isdigit():  # the names of the columns
                continue
            message = f"{path}:{number}: expected query, document and grade, separated by tabs"
            raise SourceError(message)
        if int(parts[2]) > 0:
            judged.setdefault(parts[0], {})[parts[1]] = int(parts[2])
    return judged


def write_documents(collection: Collection, folder: Path) -> None:
    """Write the documents as Markdown files, titles as headings; files that say so already stay."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, document in enumerate(collection.documents):
        path = folder / f"{number:07}.md"
        title = " ".join(document.title.split())
        text = f"# {title}\n\n{document.text}\n" if title else f"{document.text}\n"
        if not path.exists() or path.read_bytes() != text.encode():
            path.write_bytes(text.encode())
    for path in folder.glob("*.md"):
        if int(path.stem) >= len(collection.documents):
            path.unlink()
