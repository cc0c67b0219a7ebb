"""How well the templates of an index fit a problem."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ragloom.chunking import embedded_text
from ragloom.filters import matches
from ragloom.protocols import Embeddings
from ragloom.relevance import WordEvidence, relevance, word_evidence
from ragloom.snapshot import Snapshot
from ragloom.types import Calibration, Condition
from ragloom_templates.chunker import is_lead

__all__ = ["CALIBRATION", "Fit", "Index"]

CALIBRATION = Calibration(
    bias=-3.10,
    cosine_weight=10.90,
    coverage_weight=2.67,
    matched_weight=0.0,
    source="fitted on 262 problems and 238 everyday questions with 1,053 public templates by "
    "benchmarks/quality/templates.py; 0.65 is passed by 1 in 20 of the everyday questions",
)
"""What makes the score of a template from its cosine and its words; see :class:`Fit`."""

_EXAMINED = 40
"""Templates, best cosine first, whose words are compared: coverage moves none further than that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """How well a template fits.

    Attributes:
        uri: The template's file.
        score: 0 to 1, :data:`CALIBRATION` of the two below.
        cosine: The mean of two: of the head alone, and of the best part with its head.
        evidence: The problem's words that the head holds.
    """

    uri: str
    score: float
    cosine: float
    evidence: WordEvidence


class Index:
    """One generation of a library, ready to be asked.

    Args:
        snapshot: The generation.
    """

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot
        self._stems: dict[int, Sequence[str]] = {}

    def fits(
        self,
        problem: str,
        vector: Embeddings,
        *,
        where: Sequence[Condition] = (),
        calibration: Calibration = CALIBRATION,
    ) -> list[Fit]:
        """The templates that come first, best first; ties in the order of their files.

        Args:
            problem: In words.
            vector: ``(d,)`` float32: the problem, embedded.
            where: Conditions that every template passes.
            calibration: What makes a score.
        """
        snapshot = self.snapshot
        files = [
            number
            for number, (uri, entry) in enumerate(snapshot.files.items())
            if entry.chunks and matches(uri, entry.metadata, where)
        ]
        if not files or not problem.strip():
            return []
        cosine = self._cosines(snapshot.cosines(vector))
        order = sorted(files, key=lambda number: (-cosine[number], number))[:_EXAMINED]
        lexical = snapshot.lexical
        weights = {
            term: lexical.inverse_document_frequency(term) for term in lexical.query_terms(problem)
        }
        found: list[Fit] = []
        for number in order:
            evidence = word_evidence(weights, lambda _text, of=number: self._head_stems(of), "")
            score = relevance(calibration, cosine=float(cosine[number]), evidence=evidence)
            found.append(
                Fit(
                    uri=snapshot.uris[number],
                    score=score,
                    cosine=float(cosine[number]),
                    evidence=evidence,
                )
            )
        return sorted(found, key=lambda fit: (-fit.score, fit.uri))

    def _cosines(self, rows: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """``(files,)`` from ``(chunks,)``: the mean of a template's best lead and its best part."""
        files = self.snapshot.file_of_row
        lead = np.full(len(self.snapshot.uris), -1, np.float32)
        part = lead.copy()
        leads = self._is_lead
        np.maximum.at(lead, files[leads], rows[leads])
        np.maximum.at(part, files[~leads], rows[~leads])
        part = np.maximum(part, np.where(part == -1, lead, part))  # a lead may be all there is
        mean: npt.NDArray[np.float32] = (lead + part) / 2
        return mean

    @cached_property
    def _is_lead(self) -> npt.NDArray[np.bool_]:
        """``(chunks,)``: which chunks are leads."""
        chunks = [self.snapshot.chunk(row) for row in range(len(self.snapshot))]
        first = {chunk.uri: chunk for chunk in chunks if chunk.ordinal == 0}
        return np.array([is_lead(chunk, first[chunk.uri]) for chunk in chunks], np.bool_)

    @cached_property
    def _leads_of(self) -> Mapping[int, Sequence[int]]:
        """The rows of each file's leads."""
        rows: dict[int, list[int]] = {}
        for row in np.flatnonzero(self._is_lead):
            rows.setdefault(int(self.snapshot.file_of_row[row]), []).append(int(row))
        return rows

    def _head_stems(self, file: int) -> Sequence[str]:
        if file not in self._stems:
            leads = (self.snapshot.chunk(row) for row in self._leads_of.get(file, ()))
            self._stems[file] = self.snapshot.lexical.stems("\n".join(map(embedded_text, leads)))
        return self._stems[file]
