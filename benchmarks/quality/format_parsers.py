"""The headings that the formats' own parsers find, for ``formats.py``."""

from __future__ import annotations

import json
import re
import subprocess
import warnings
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

from markdown_it import MarkdownIt

from ragloom import Source
from ragloom_markdown.flavours import plain_title
from ragloom_markdown.loader import MarkdownLoader
from ragloom_text.rst import plain_title as plain_rst

Headings: TypeAlias = list[tuple[int, str]]
"""Level, 1 for the outermost, and title."""

_CELL = re.compile(r"^(\s*`{3,})\s*\{=?(\w+)[^}\n]*\}", re.MULTILINE)
_CONDITION = re.compile(r"^(?:ifdef|ifndef|ifeval|endif)::\S*\[.*\]\s*$\n?", re.MULTILINE)
_INCLUDE = re.compile(r"^include::.*$", re.MULTILINE)

_ASCIIDOC = """
import * as adoc from '@asciidoctor/core'; import fs from 'fs';
const read = {};
for (const [file, text] of Object.entries(JSON.parse(fs.readFileSync(0, 'utf8')))) {
  const found = [];
  const walk = (block) => { for (const one of block.getBlocks ? block.getBlocks() : []) {
    if (Array.isArray(one)) { one.flat().filter((item) => item?.getBlocks).forEach(walk); continue; }
    const kind = one.getContext();
    if (kind === 'section' || kind === 'floating_title') found.push([one.getLevel() + 1, one.title]);
    walk(one);
  } };
  const document = await adoc.load(text, { safe: 'secure', attributes: { doctype: 'book' } });
  if (document.hasHeader()) found.push([1, document.getDocumentTitle()]);
  walk(document);
  read[file] = found.map(([level, title]) => [level, String(title).replace(/<[^>]+>/g, '')]);
}
console.log(JSON.stringify(read));
"""
_MDX = """
import { unified } from 'unified'; import parse from 'remark-parse'; import mdx from 'remark-mdx';
import matter from 'remark-frontmatter'; import gfm from 'remark-gfm'; import fs from 'fs';
const read = {};
const said = (node) => node.type === 'mdxTextExpression' ? ''
  : node.value !== undefined ? node.value : (node.children || []).map(said).join('');
for (const [file, text] of Object.entries(JSON.parse(fs.readFileSync(0, 'utf8')))) {
  const found = [];
  const walk = (node) => { for (const one of node.children || []) {
    if (one.type === 'heading') found.push([one.depth, said(one)]);
    else if (one.type === 'mdxJsxFlowElement') walk(one);
  } };
  try {
    walk(unified().use(parse).use(matter).use(gfm).use(mdx).parse(text)); read[file] = found;
  } catch { read[file] = null; }
}
console.log(JSON.stringify(read));
"""


def headings_of(
    files: Sequence[tuple[str, Path]], node: Path | None
) -> dict[Path, Headings | None]:
    """The headings of each file, by the parser of its format; None where that refuses it."""
    found: dict[Path, Headings | None] = {}
    for kind, path in files:
        if (parser := _PARSERS.get(kind)) is not None:
            try:
                found[path] = parser(path)
            except Exception as error:  # noqa: BLE001 - whatever it is, it is said
                print(f"{kind}: {path.name}: its parser fails: {type(error).__name__}")
    for kind, program in (("AsciiDoc", _ASCIIDOC), ("MDX", _MDX)) if node else ():
        texts = {str(path): _readable(path) for other, path in files if other == kind}
        script = Path(str(node)) / "headings.mjs"
        script.write_text(program, encoding="utf-8")
        done = subprocess.run(
            ["node", script],  # noqa: S607 - whose place differs
            input=json.dumps(texts),
            capture_output=True,
            text=True,
            check=True,
        )
        found.update({Path(file): one for file, one in json.loads(done.stdout).items()})
    return found


def _readable(path: Path) -> str:
    """The text, with both branches of AsciiDoc's conditions, and without what it includes."""
    text = path.read_text("utf-8")
    if path.suffix == ".mdx":
        return text
    return _INCLUDE.sub("//", _CONDITION.sub("", text))


def _docutils(path: Path) -> Headings:
    from docutils import nodes
    from docutils.core import publish_doctree

    overrides = {
        "doctitle_xform": False,
        "file_insertion_enabled": False,
        "report_level": 5,
        "halt_level": 6,
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = publish_doctree(path.read_text("utf-8"), settings_overrides=overrides)
    found: Headings = []
    for section in tree.findall(nodes.section):
        level, above = 1, section.parent
        while above is not tree:
            level += isinstance(above, nodes.section)
            above = above.parent
        found.append((level, plain_rst(section[0].rawsource)))  # no unknown role is a problem
    return found


def _orgparse(path: Path) -> Headings:
    import orgparse

    nodes = orgparse.load(str(path))[1:]
    return [(node.level, node.heading) for node in nodes if node.heading.strip()]


def _latex(path: Path) -> Headings:
    found = _pandoc(path, "latex")
    outermost = min((level for level, _ in found), default=1)
    return [(level - outermost + 1, title) for level, title in found]


def _quarto(path: Path) -> Headings:
    """Pandoc reads a cell as a fence only without its braces: Quarto runs it before."""
    source = Source(uri=path.name, path=path)
    text = MarkdownLoader().load(source, path.read_bytes()).text
    return _pandoc(None, "markdown", _CELL.sub(r"\1\2", text))


def _commonmark(path: Path) -> Headings:
    source = Source(uri=path.name, path=path)
    return _in_markdown(MarkdownLoader().load(source, path.read_bytes()).text)


def _notebook(path: Path) -> Headings:
    """Each cell by itself, as it is rendered."""
    found: Headings = []
    for cell in json.loads(path.read_text("utf-8"))["cells"]:
        if cell["cell_type"] == "markdown":
            found += _in_markdown("".join(cell["source"]))
    return found


def _in_markdown(text: str) -> Headings:
    tokens = MarkdownIt("commonmark").parse(text)
    return [
        (int(token.tag[1]), plain_title(" ".join(tokens[number + 1].content.split())))
        for number, token in enumerate(tokens)
        if token.type == "heading_open" and token.level == 0
    ]


def _pandoc(path: Path | None, kind: str, text: str = "") -> Headings:
    command = [_pandoc_path(), "-f", kind, "-t", "json", *([str(path)] if path else [])]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
    return list(_headers(json.loads(done.stdout)["blocks"]))


@cache
def _pandoc_path() -> str:
    import pypandoc

    return str(pypandoc.get_pandoc_path())


def _headers(blocks: list[dict[str, Any]]) -> Headings:
    found: Headings = []
    for block in blocks:
        if block["t"] == "Header":
            found.append((block["c"][0], _said(block["c"][2])))
        elif block["t"] == "Div":
            found += _headers(block["c"][1])
    return found


def _said(inline: Any) -> str:  # noqa: ANN401 - JSON
    if isinstance(inline, list):
        return "".join(map(_said, inline))
    if not isinstance(inline, dict):
        return ""
    kind, content = inline["t"], inline.get("c")
    if kind == "Str":
        return str(content)
    if kind in {"Code", "Math", "RawInline"}:
        return str(content[1])
    if kind in {"Link", "Image", "Span", "Quoted", "Cite"}:
        return _said(content[1])
    return "" if kind == "Note" else _said(content) if content else " "


_PARSERS = {
    "DOCX": lambda path: _pandoc(path, "docx"),
    "EPUB": lambda path: _pandoc(path, "epub"),
    "LaTeX": _latex,
    "Markdown": _commonmark,
    "notebooks": _notebook,
    "Org": _orgparse,
    "Quarto, R Markdown": _quarto,
    "reStructuredText": _docutils,
}
