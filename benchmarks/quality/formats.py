"""Whether real files of many formats are indexed without loss, with the headings of their own parser.

    python benchmarks/quality/formats.py FOLDER… [--parsers NODE] [--most 60] [--listed] [--json FILE]

FOLDER is unpacked source distributions, or any other files. Of each format at most ``--most`` files are
taken, spread evenly over the sorted paths. Archives (``.zip``) are unpacked, and each example of a
specification of Markdown (``*-examples.json``) is a file. They are indexed together, by words, and counted:

- lost: characters of a file, blanks and embedded data aside, that are in no chunk;
- exact: chunks that ``verify`` proves;
- found: headings of the format's own parser that we have, too, at the same level and in the same order.

The parsers: docutils for reStructuredText, orgparse for Org, Pandoc (``pypandoc-binary``) for LaTeX,
Quarto, R Markdown, DOCX and EPUB, markdown-it-py for Markdown and notebooks; and Asciidoctor and remark-mdx
of the folder NODE, in which somebody ran ``npm install @asciidoctor/core unified remark-parse
remark-mdx remark-frontmatter remark-gfm``. Where a parser refuses a file, its headings are not compared.
"""

from __future__ import annotations

import argparse
import difflib
import html
import json
import re
import shutil
import tempfile
import unicodedata
import zipfile
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TypeAlias

from format_parsers import Headings, headings_of

from ragloom import Document, Span, Workspace
from ragloom.text import without_data
from ragloom_markdown.blocks import parse
from ragloom_markdown.flavours import with_plain_titles
from ragloom_text.openapi import is_api

Figures: TypeAlias = dict[str, int]

FORMATS = {
    "AsciiDoc": (".adoc", ".asciidoc"),
    "DOCX": (".docx",),
    "EPUB": (".epub",),
    "LaTeX": (".tex",),
    "Markdown": (".md", ".markdown", ".mdc"),
    "MDX": (".mdx",),
    "notebooks": (".ipynb",),
    "OpenAPI": (".yaml", ".yml", ".json"),
    "Org": (".org",),
    "Quarto, R Markdown": (".qmd", ".rmd"),
    "reStructuredText": (".rst",),
    "text": (".txt", ".log", ".html"),
}


FIGURES = (
    *("files", "failed", "skipped", "chunks", "exact", "lost"),
    *("compared", "headings", "found", "ours"),
)


def main() -> int:
    """Read the arguments and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--parsers", type=Path, help="the folder with node_modules")
    parser.add_argument("--most", type=int, default=60, help="files of a format")
    parser.add_argument("--listed", action="store_true", help="name the files")
    parser.add_argument("--json", type=Path, help="where the figures are written")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        files = gathered(given.folders, root, given.most)
        total = measured(root, files, given.parsers)
    print("format", *FIGURES, sep="\t")
    for name, figures in total.items():
        print(name, *figures.values(), sep="\t")
    whole = {name: sum(figures[name] for figures in total.values()) for name in FIGURES}
    print("all", *whole.values(), sep="\t")
    if given.listed:
        print(*(f"{kind}\t{origin}" for kind, _, origin in files), sep="\n")
    if given.json:
        given.json.write_text(json.dumps(total, indent=1), encoding="utf-8")
    return 0


def gathered(folders: Iterable[Path], root: Path, most: int) -> list[tuple[str, Path, str]]:
    """The files taken, copied below ``root``: format, copy, and where it is from."""
    found: dict[str, list[tuple[Path, str]]] = defaultdict(list)
    for number, folder in enumerate(folders):
        for archive in sorted(folder.rglob("*.zip")):
            with zipfile.ZipFile(archive) as packed:
                packed.extractall(root / f"unpacked-{number}" / archive.stem)
        for examples in sorted(folder.rglob("*-examples.json")):
            written = root / f"unpacked-{number}" / examples.stem
            read = json.loads(examples.read_text("utf-8"))
            if not isinstance(read, list) or "markdown" not in read[0]:
                continue
            written.mkdir(parents=True, exist_ok=True)
            for place, example in enumerate(read):
                file = written / f"{place:03}.md"
                file.write_bytes(example["markdown"].encode())
        for base in (folder, root / f"unpacked-{number}"):
            for path in sorted(base.rglob("*")):
                kind = kind_of(path)
                if kind and path.is_file() and not path.is_symlink():
                    found[kind].append((path, path.relative_to(base).as_posix()))
    taken: list[tuple[str, Path, str]] = []
    for kind, files in sorted(found.items()):
        step = max(len(files) / most, 1)
        chosen = [files[int(step * number)] for number in range(min(most, len(files)))]
        for number, (path, origin) in enumerate(chosen):
            copy = root / "files" / re.sub(r"\W+", "-", kind) / f"{number:03}-{path.name}"
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, copy)
            taken.append((kind, copy, origin))
    return taken


def kind_of(path: Path) -> str:
    """The format of a file; empty for one that is not measured."""
    ending = path.suffix.lower()
    kind = next((name for name, endings in FORMATS.items() if ending in endings), "")
    if kind == "OpenAPI":
        is_one = path.is_file() and is_api(path.read_text("utf-8", "replace"))
        return kind if is_one else "settings, data"
    return kind


def measured(
    root: Path, files: Sequence[tuple[str, Path, str]], parsers: Path | None
) -> dict[str, Figures]:
    """The figures of each format."""
    total: dict[str, Figures] = {}
    base = root / "files"
    with Workspace.open(base).space() as space:
        report = space.index(seconds=0)
        proven = space.verify()
        snapshot = space.snapshot()
        spans: dict[str, list[Span]] = defaultdict(list)
        for number in range(len(snapshot)):
            chunk = snapshot.chunk(number)
            spans[chunk.uri].append(chunk.span)
        theirs = headings_of([(kind, copy) for kind, copy, _ in files], parsers)
        failed = {one.path: one.error for one in report.failed}
        stale = [one.path for one in proven.stale]
        for kind, copy, origin in files:
            figures = total.setdefault(kind, dict.fromkeys(FIGURES, 0))
            uri = copy.relative_to(base).as_posix()
            figures["files"] += 1
            figures["chunks"] += len(spans[uri])
            figures["exact"] += len(spans[uri]) - stale.count(uri)
            if uri in failed:
                figures["failed"] += 1
                print(f"{kind}: {origin}: {failed[uri]}")
                continue
            if uri not in snapshot.files:
                figures["skipped"] += 1  # as a secret, or as data
                continue
            document = space.read(uri)
            figures["lost"] += lost(document, spans[uri])
            if (known := theirs.get(copy)) is not None:
                compare(figures, known, ours(document), f"{kind}: {origin}")
    return total


def lost(document: Document, spans: Iterable[Span]) -> int:
    """Characters of a document, blanks and embedded data aside, that are in no chunk."""
    whole = document.prefix + document.text
    position = len(document.prefix)
    count = 0
    for start, end in [*sorted(spans), Span(len(whole), len(whole))]:
        count += len("".join(whole[position:start].split()))
        position = max(position, end)
    return max(count - (len(document.text) - len(without_data(document.text))), 0)


def ours(document: Document) -> Headings:
    """The headings that the chunker ``heading`` splits a document at."""
    if document.sections or document.media_type != "text/markdown":
        return [(one.level, one.title) for one in document.sections]
    blocks = with_plain_titles(parse(document.text)).blocks
    return [(one.level, one.title) for one in blocks if one.kind == "heading"]


def compare(figures: Figures, theirs: Headings, ours: Headings, place: str) -> None:
    """Count the headings that agree, and print those that do not."""
    left, right = ([f"{level} {letters(title)}" for level, title in one] for one in (theirs, ours))
    same = difflib.SequenceMatcher(None, left, right, autojunk=False).get_matching_blocks()
    figures["compared"] += 1
    figures["headings"] += len(left)
    figures["found"] += sum(block.size for block in same)
    figures["ours"] += len(right)
    if left != right:
        difference = [*difflib.unified_diff(left, right, lineterm="", n=0)][3:9]
        print(place, *(f"    {line[:100]}" for line in difference), sep="\n")


def letters(title: str) -> str:
    """The letters and digits of a title: parsers differ in quotes, dashes and what they make of markup."""
    without = re.sub(r"\]\([^)]*\)", "", html.unescape(title))
    return "".join(re.findall(r"\w+", unicodedata.normalize("NFKC", without).lower()))


if __name__ == "__main__":
    raise SystemExit(main())
