"""Find the spans in a document of chunks that another library made of it."""

from __future__ import annotations

from ragloom import Span


class SpanFinder:
    """Finds texts in a document, one after the other; only white space may differ.

    A splitter strips its chunks, joins lines with blanks or has them overlap; it does not, if spans
    are to be had, change a letter. So documents and chunks are compared without their white space, and
    a span reaches from the first to the last character that is not blank: what stands between is the
    document's own.
    """

    def __init__(self, text: str) -> None:
        self._places = [at for at, character in enumerate(text) if not character.isspace()]
        self._letters = "".join(text[at] for at in self._places)
        self._start = 0  # of the chunk before, in letters
        self._end = 0

    def find(self, chunk: str) -> Span | None:
        """The span of the next chunk; None where the document does not say it.

        Of several places, the one that continues or overlaps the chunk before, the later the better,
        then the first one after it, then any.
        """
        wanted = "".join(chunk.split())
        if not wanted:
            return None
        # The last that begins no later than where the chunk before ended: nothing is skipped.
        at = self._letters.rfind(wanted, self._start, self._end + len(wanted))
        if at < 0:
            at = self._letters.find(wanted, self._end)
        if at < 0:
            at = self._letters.find(wanted)
        if at < 0:
            return None
        self._start, self._end = at, at + len(wanted)
        return Span(self._places[at], self._places[at + len(wanted) - 1] + 1)
