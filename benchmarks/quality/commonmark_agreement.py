"""Whether our sections are markdown-it-py's, on the examples of a CommonMark or GFM specification.

    python benchmarks/quality/commonmark_agreement.py SPEC.json…

SPEC.json is a list of objects with ``markdown``, as in the spec.json of the specification, which is
under CC BY-SA and therefore not part of this repository. Prints how many of how many agree.
"""

from __future__ import annotations

import argparse
import json
from bisect import bisect_right
from pathlib import Path

from markdown_it import MarkdownIt

from ragloom_markdown.blocks import parse


def main() -> int:
    """Read the arguments and print the figures."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("specifications", type=Path, nargs="+")
    faults = 0
    for path in arguments.parse_args().specifications:
        examples = json.loads(path.read_text(encoding="utf-8"))
        agree = sum(
            ours(example["markdown"]) == theirs(example["markdown"]) for example in examples
        )
        print(f"{path.name}: {agree} of {len(examples)} examples have the same sections")
        faults += len(examples) - agree
    return int(bool(faults))


def theirs(text: str) -> list[tuple[int, str, int]]:
    """Level, title and line of every heading at the outermost level."""
    tokens = MarkdownIt("commonmark").parse(text)
    return [
        (int(token.tag[1]), " ".join(tokens[index + 1].content.split()), token.map[0])
        for index, token in enumerate(tokens)
        if token.type == "heading_open" and token.level == 0 and token.map
    ]


def ours(text: str) -> list[tuple[int, str, int]]:
    """The same, as the chunker sees it."""
    parsed = parse(text)
    return [
        (block.level, block.title, bisect_right(parsed.lines, block.start) - 1)
        for block in parsed.blocks
        if block.kind == "heading"
    ]


if __name__ == "__main__":
    raise SystemExit(main())
