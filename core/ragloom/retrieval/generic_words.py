"""Words that say of an identifier only that somebody has to do with it: "X does not work in my project"."""

from __future__ import annotations

_WORDS = """
    add added adding app application applied applies apply argument arguments available behave
    behaves behavior behaviour bit break breaking breaks broke broken build call called calling
    calls case cause caused causes change changed changes changing check class code codebase command
    config configuration configure configured configuring correct correctly crash crashed crashes
    crashing default define defined defines definition describe description detail details
    difference different disable doc docs documentation documented enable encounter encountered
    error errors example examples exist exists expect expected explain fail failed failing fails
    failure field file files find fix flag function get gets getting give gives got handle handled
    handling happen happened happening happens help ignore ignored ignores info information instead
    issue issues keep keeps kind know line log logs look mean meaning means mention mentioned
    message method my never new not option options output param parameter parameters pass passed
    passing point possible problem problems program project property purpose receive received
    recommended reference remove repo repository require required result return returned returns
    right run running runs safe safely sample saw say says script see seeing seen set sets setting
    settings setup show showing shows something specify start stop stopped stuff support supported
    supports syntax team tell thing throw thrown throws time tried try trying turn type typical
    understand usage use used useful user uses using usual valid value values variable version
    versus want wanted warning way work worked working works wrong
"""
GENERIC = frozenset(_WORDS.split())
"""They are no topic: a passage that has the identifier answers without them."""
