"""Headings of AsciiDoc, Org and LaTeX: those that the format's own parser finds."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragloom import Loader, Section, Source
from ragloom_text import asciidoc, latex, org


def load(loader: Loader, text: str):
    return loader.load(Source(uri="a", path=Path("a")), text.encode())


def found(sections: tuple[Section, ...]) -> list[tuple[int, str]]:
    return [(one.level, one.title) for one in sections]


# What Asciidoctor 4.1 (npm @asciidoctor/core) makes of each.
ASCIIDOC = {
    "= Doc\nAn Author <a@b.c>\nv1.0, 2020\n:toc:\n\n== One ==\n\n=== Two\n": [
        (1, "Doc"), (2, "One"), (3, "Two"),
    ],
    "// note\n:a: b\n\nDoc\n===\n\nOne\n---\n\nTwo\n~~~~\n": [(1, "Doc"), (2, "One"), (3, "Two")],
    "# Doc\n\n## One\n": [(1, "Doc"), (2, "One")],
    "text\n== no section\n\n== One\n": [(2, "One")],
    "text\n[[id]]\n== One\n": [(2, "One")],
    "* item\n[[id]]\n== no section\n\n== One\n": [(2, "One")],
    "----\n== no\n----\n\n....\n== no\n....\n\n////\n== no\n////\n\n```sh\n# no\n```\n\n"
    "== One\n": [(2, "One")],
    "====\n== no\n\n[discrete]\n== Yes\n====\n\n|===\n| a\n\n== no\n|===\n": [(2, "Yes")],
    "[float]\n=== Loose\n\n==Tight\n\n ==  Indented\n": [(3, "Loose")],
    ":leveloffset: +1\n\n== Deeper\n\n:leveloffset: 0\n\n== One\n": [(3, "Deeper"), (2, "One")],
    "Title\n---\n\nTitle\n----\n\nTitles\n----\n== no\n----\n": [(2, "Title")],
    "== The `code` of *it*, <<x,that>> and link:a[b] [[id]]\n": [(2, "The code of it, that and b")],
    "ifdef::x[]\n== One\nendif::[]\n": [(2, "One")],
    "image::a.png[]\n== One\n\n'''\n== Two\n": [(2, "One"), (2, "Two")],
    "": [], "=": [], "== \n": [],
}  # fmt: skip


@pytest.mark.parametrize("text", ASCIIDOC)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_asciidoc(text, end):
    document = load(asciidoc.AsciiDocLoader(), text.replace("\n", end))
    assert ASCIIDOC[text] == found(document.sections)
    assert ("title" in document.metadata) == any(level == 1 for level, _ in ASCIIDOC[text])


_ORG = """\
* Top
** TODO Second :a:b:
*** DONE [#A] Third level
**Bold** text
* [#B] With priority
* WAITING for others
** Title with :tags: inside
*  Two  spaces
 * indented
*
- item
text
#+BEGIN_SRC sh
#+END_SRC
:PROPERTIES:
:END:
* =code= and [[a][link]]
******** Deep"""
ORG_LINES = _ORG.split("\n")


@settings(deadline=None)
@given(st.lists(st.sampled_from(["", *ORG_LINES]), max_size=12).map("\n".join))
def test_org_has_the_headlines_of_orgparse(text):
    orgparse = pytest.importorskip("orgparse")
    known = [
        (node.level, " ".join(node.heading.replace("=", "").split()))
        for node in orgparse.loads(text)[1:]
        if node.heading.strip()
    ]
    assert known == found(org.headlines(text))


def test_org_keywords_are_metadata():
    text = "#+TITLE: The deck\n#+author: A. B.\n#+FILETAGS: :sea:port:\n"
    text += "#+TODO: WAIT | GONE(g)\n* WAIT Paint\n"
    document = load(org.OrgLoader(), text)
    assert [(1, "Paint")] == found(document.sections)
    assert {"title": "The deck", "author": "A. B.", "tags": ["sea", "port"]} == document.metadata


LATEX = {
    "\\section{One}\n\\subsection*{Two}\n\\paragraph{Three} text": [(1, "One"), (2, "Two"), (4, "Three")],
    "\\chapter[Short]{Long \\emph{and} \\textbf{so {on}}}\n\\section {A~B -- C}": [
        (1, "Long and so on"), (2, "A B -- C"),
    ],
    "% \\section{no}\nx \\% \\section{One}\n\\verb|\\section{no}|\n\\section%\n{Two}": [
        (1, "One"), (1, "Two"),
    ],
    "\\begin{verbatim}\n\\section{no}\n\\end{verbatim}\n"
    "\\begin{lstlisting}\n\\section{no}\n\\end{lstlisting}": [],
    "\\newcommand{\\s}{\\section{no}}\n\\begin{document}\n\\section{One\\label{a}\\footnote{b {c}}}\n"
    "\\end{document}\n\\section{no}": [(1, "One")],
    "\\section{Na\\\"{\\i}ve caf\\'e, \\c{c}a, \\o re, Stra\\ss e and $\\tau_b$}": [
        (1, "Naïve café, ça, øre, Straße and $ tau_b$"),
    ],
    "\\sectionmark{no} \\section{unclosed": [],
    "\\subsection{A \\& B: 50\\% of \\LaTeX{} \\texorpdfstring{$x$}{x}}": [(1, "A & B: 50% of LaTeX x")],
    "\\section{\\textcolor{red}{Red} \\includegraphics[width=1cm]{a.png}}": [(1, "Red")],
}  # fmt: skip


@pytest.mark.parametrize("text", LATEX)
def test_latex(text):
    document = load(latex.LatexLoader(), text)
    assert LATEX[text] == found(document.sections)
    for one in document.sections:
        assert text[one.span.start] == "\\"
        assert text[one.span.end - 1] == "}"


def test_the_title_of_latex_is_metadata():
    text = "% \\title{no}\n\\title[Short]{The \\emph{sea}}\n\\begin{document}\\section{One}\\end{document}"
    assert {"title": "The sea"} == load(latex.LatexLoader(), text).metadata


@pytest.mark.parametrize("read", [asciidoc.titles, org.headlines, latex.titles])
@given(st.text(alphabet="=*#-[]{}\\ \n\r\tabs:%~`|+._^é"))
def test_any_text_gives_headings_in_order(read, text):
    edges = [edge for one in read(text) for edge in one.span]
    assert edges == sorted(edges)
    assert all(0 <= edge <= len(text) for edge in edges)
    assert all(one.title == " ".join(one.title.split()) for one in read(text))
