"""What a query in another language is given before the curve of relevance, which is fitted on English.

Neither models nor stop words weigh other languages as the curve expects, those least whose letters the
model does not know: a query is given a bonus. A model that does not know a language finds all its texts
alike, too, so what a query has in common with any chunk is taken off. Measured in ``benchmarks/README.md``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from ragloom.types import Calibration

if TYPE_CHECKING:
    from ragloom.retrieval.parsed_query import ParsedQuery
    from ragloom.retrieval.ranking import Candidates

_BONUS: Final = 6.0  # of a logit, before what any chunk has is taken off
_OTHER_SCRIPT_BONUS: Final = 5.5  # where nothing is taken off
_LATIN_BONUS: Final = 4.4
_ENGLISH: Final = 0.03  # the mean cosine of English questions with any English paragraph
_SAMPLE: Final = 512  # chunks


def word_bonus(query: ParsedQuery) -> float:
    """What is added to the logit of words alone; 0 for an English query."""
    if query.other_script:
        return _OTHER_SCRIPT_BONUS
    return _LATIN_BONUS if query.foreign else 0.0


def foreign_bonus(query: ParsedQuery, found: Candidates, calibration: Calibration) -> float:
    """What is added to the logit of a query that is not English, 0 or more; 0 for an English one.

    A calibration that names the cosine of unrelated texts is fitted to several languages, and keeps it.
    """
    measured = found.vector is not None and calibration.cosine_weight > 0
    if not query.foreign or not measured or calibration.unrelated_cosine:
        return word_bonus(query)
    above = max(typical_cosine(found) - _ENGLISH, 0.0)
    return max(_BONUS - calibration.cosine_weight * above, 0.0)


def typical_cosine(found: Candidates) -> float:
    """The mean cosine of a query with chunks of the index, whatever they are about; 0 without vectors.

    Of an index that has given nothing but candidates, their lower quartile: half of them are the nearest.
    """
    snapshot, vector = found.snapshot, found.vector
    there = len(snapshot.serials)
    if vector is None or not there:
        return 0.0
    rows = np.unique(np.linspace(0, there - 1, min(there, _SAMPLE)).astype(np.intp))
    cosine = snapshot.cosines(vector, rows)
    cosine = cosine[~np.isnan(cosine)]
    if not len(cosine):
        return 0.0
    return float(cosine.mean() if there == len(snapshot) else np.quantile(cosine, 0.25))
