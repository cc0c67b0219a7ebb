"""Words, most of them English, that decide whether two pieces of advice say the same."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Final


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _axes(table: str) -> Mapping[str, tuple[tuple[int, int], ...]]:
    """Of each word the lines that it stands in, and on which side of them."""
    axes: dict[str, tuple[tuple[int, int], ...]] = {}
    for axis, line in enumerate(table.strip().splitlines()):
        for side, words in enumerate(line.split("|")):
            for word in words.split():
                axes[word] = (*axes.get(word, ()), (axis, side))
    return axes


def _units(table: str) -> Mapping[str, Mapping[str, Fraction]]:
    units: dict[str, dict[str, Fraction]] = {}
    for line in table.strip().splitlines():
        dimension, size, *names = line.split()
        for name in names:
            units.setdefault(name, {})["" if dimension == "-" else dimension] = Fraction(size)
    return units


AXES: Final = _axes(
    """
raise increase enlarge grow widen extend lengthen up higher larger bigger more longer expand maximum \
maximise maximize boost most above over greater double plus \
| lower decrease reduce shrink narrow shorten down smaller less fewer shorter minimum \
minimise minimize drop least below under halve minus cut
enable on activate allow permit accept grant | disable off deactivate deny disallow forbid \
prohibit refuse revoke
add insert create include install append attach keep | remove delete drop exclude uninstall detach
start open begin connect acquire lock | stop close end disconnect release unlock
upgrade update | downgrade
always | never
first | last
true yes | false no
async asynchronous asynchronously | sync synchronous synchronously
public | private
early earlier | late later
fast faster | slow slower
parallel parallelise parallelize concurrent concurrently \
| serial serialise serialize sequential sequentially
encrypt | decrypt
compress | decompress
eager eagerly | lazy lazily
ascending | descending
inside within | outside
push | pull
client | server
mount | unmount
strict | lenient
split | merge join
commit | rollback
show | hide
high | low
left | right
old | new
> >= ≥ | < <= ≤
== === | != !== ≠
"""
)
"""Of a word that has an opposite: on which axes it stands, and on which side."""

NEGATIONS: Final = _words(
    """
    not no never without avoid dont cannot neither nor stop except unless instead rather forbid skip
    nicht nie niemals kein keine keinen keiner ohne ne pas jamais sans nunca jamás sin evitar não sem
    non mai senza не никогда без
    """
)
"""English, and what negates in German, French, Spanish, Portuguese, Italian and Russian."""

ORDERED: Final = _words(
    """before after then from to into onto by with over than until behind above below against for"""
)
"""Connectives whose sides cannot change places."""

SWAPPED: Final = {"after": "before", "behind": "before", "below": "above"}
"""Connectives that are others with their sides changed."""

PLACES: Final = {
    **dict.fromkeys(("to", "into", "onto", "toward", "towards"), "to"),
    **dict.fromkeys(("in", "on", "at", "inside", "within"), "in"),
    **dict.fromkeys(("from",), "from"),
    **dict.fromkeys(("out", "off", "away", "outside"), "out"),
}
"""Prepositions, and on which side of a thing they put something."""

DETERMINERS: Final = _words(
    "a an the each every our your their its this that these those all any one of"
)
"""Words between a preposition and its noun."""

ALIASES: Final = {"afterwards": "then", "afterward": "then", "subsequently": "then"}
"""Connectives that are others."""

STOP: Final = _words(
    """
    a an and are as at be been but can do does each every has have if in is it its must of on or our out
    should so that the their them there these this those was we were when which while will you your also
    all any only one
    """
)

NUMBERS: Final = {
    word: str(number)
    for number, word in enumerate(
        """once twice three four five six seven eight nine ten eleven twelve""".split(),  # noqa: SIM905
        1,
    )
} | {"zero": "0", "two": "2"}
"""``one`` is no number here: it often stands for a thing."""

UNITS: Final[Mapping[str, Mapping[str, Fraction]]] = _units(
    """
time 1 s sec secs second seconds
time 1/1000 ms msec millisecond milliseconds
time 1/1000000 us µs usec microsecond microseconds
time 1/1000000000 ns nanosecond nanoseconds
time 60 m min mins minute minutes
time 3600 h hour hours
time 86400 d day days
bytes 1024 k kb kib ki
bytes 1048576 m mb mib mi
bytes 1073741824 g gb gib gi
bytes 1099511627776 tb tib ti
decimal-bytes 1000 k kb
decimal-bytes 1000000 m mb
decimal-bytes 1000000000 g gb
decimal-bytes 1000000000000 tb
- 1000 k
share 1 % percent
frequency 1 hz
frequency 1000 khz
frequency 1000000 mhz
frequency 1000000000 ghz
"""
)
"""Of each unit what it may measure, and how much of it; ``-`` is a number alone."""
