"""What was tried and what came of it: a table, JSON, and how to repeat what failed."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field

from checks import Verdict

_COLUMNS = ("tried", "lost", "ghosts", "failed next runs", "unclear", "quarantined")


@dataclass(slots=True, kw_only=True)
class Row:
    """A line of the table.

    Attributes:
        part: Of the torture, such as ``kills``.
        what: What was tortured.
        tried: Cases.
        lost: Cases in which an answer was lost.
        ghosts: Cases in which something came back.
        failed: Cases whose next run failed, or left what a fresh index does not say.
        unclear: Cases in which a process hung, crashed, or took its own fault for a bug.
        quarantined: Cases in which something was renamed as damaged.
        skipped: Why nothing was tried.
    """

    part: str
    what: str
    tried: int = 0
    lost: int = 0
    ghosts: int = 0
    failed: int = 0
    unclear: int = 0
    quarantined: int = 0
    skipped: str = ""


@dataclass(slots=True, kw_only=True)
class Tally:
    """All rows, and each failure with the case that shows it.

    Attributes:
        seed: Repeats everything.
        deadline: Of the monotonic clock: no case is begun after it.
        only: The number of the one case to play; None for all.
    """

    seed: int
    deadline: float
    only: int | None = None
    rows: list[Row] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    _lines: dict[tuple[str, str], Row] = field(default_factory=dict)

    def cases(self, count: int) -> Iterator[int]:
        """The numbers of the cases to play, until the time is up."""
        for number in range(count) if self.only is None else (self.only,):
            if time.monotonic() > self.deadline:
                return
            yield number

    def add(
        self, part: str, what: str, number: int, verdict: Verdict, *, damage: bool = False
    ) -> None:
        """Count a case; what was quarantined is a failure unless it was damaged."""
        row = self.row(part, what)
        row.tried += 1
        row.lost += bool(verdict.lost)
        row.ghosts += bool(verdict.ghosts)
        row.failed += bool(verdict.failed)
        row.unclear += bool(verdict.unclear)
        row.quarantined += bool(verdict.quarantined)
        harmless = {"quarantined"} if damage else set()
        said = [
            f"{kind}: {', '.join(texts[:3])}"
            for kind, texts in asdict(verdict).items()
            if texts and kind not in harmless
        ]
        if said:
            again = f"--seed {self.seed} --only {part} --case {number}"
            self.failures.append(f"{part} {number} ({what}): {'; '.join(said)} [{again}]")

    def skip(self, part: str, why: str) -> None:
        """Say why a part is not tried."""
        self.rows.append(Row(part=part, what="all", skipped=why))

    def row(self, part: str, what: str) -> Row:
        """The row of what is tortured, made when it is first needed."""
        if (part, what) not in self._lines:
            self._lines[part, what] = Row(part=part, what=what)
            self.rows.append(self._lines[part, what])
        return self._lines[part, what]

    def table(self) -> str:
        """All rows, and a sum for each part."""
        lines: list[tuple[str, ...]] = [("", "what", *_COLUMNS)]
        for part in dict.fromkeys(row.part for row in self.rows):
            rows = [row for row in self.rows if row.part == part]
            lines += [_cells(row) for row in rows]
            if len(rows) > 1:
                lines.append(_cells(_sum(part, rows)))
        widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
        return "\n".join(
            "  ".join(
                cell.ljust(width) if column < 2 else cell.rjust(width)
                for column, (cell, width) in enumerate(zip(line, widths, strict=True))
            ).rstrip()
            for line in lines
        )

    def as_json(self) -> dict[str, object]:
        """The same for programs."""
        rows = [asdict(row) for row in self.rows]
        return {"seed": self.seed, "rows": rows, "failures": self.failures}


def _sum(part: str, rows: Sequence[Row]) -> Row:
    total = Row(part=part, what="together")
    for name in ("tried", "lost", "ghosts", "failed", "unclear", "quarantined"):
        setattr(total, name, sum(getattr(row, name) for row in rows))
    return total


def _cells(row: Row) -> tuple[str, ...]:
    if row.skipped:
        return (row.part, f"skipped: {row.skipped}", *("" for _ in _COLUMNS))
    numbers = (row.tried, row.lost, row.ghosts, row.failed, row.unclear, row.quarantined)
    return (row.part, row.what, *map(str, numbers))
