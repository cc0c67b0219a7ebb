from pathlib import PurePosixPath
from textwrap import dedent

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragloom import Source, SourceError
from ragloom.text import FrontMatterError, split_front_matter
from ragloom_templates.loader import TemplateLoader
from ragloom_templates.parsing import first_paragraph, parse, path_without_ending


def parsed(text, path="templates/proof-by-contradiction.md"):
    return parse(dedent(text), PurePosixPath(path))


PROOF = """\
    ---
    name: "Proof by Contradiction"
    domain: mathematics
    complexity: complex
    methodology: deductive
    keywords: [proof, contradiction, QED]
    description: "Template for proving statements by assuming the opposite"
    ---

    ## Steps

    1. **State the Claim:** ...
    """


def test_yaml_front_matter_is_read():
    metadata = parsed(PROOF).metadata
    assert {
        "name": "Proof by Contradiction",
        "domain": "mathematics",
        "complexity": "complex",
        "methodology": "deductive",
        "keywords": ["proof", "contradiction", "QED"],
        "description": "Template for proving statements by assuming the opposite",
    } == metadata


def test_content_does_not_include_the_yaml():
    text = dedent(PROOF)
    content = text[parsed(PROOF).start :]
    assert "## Steps\n\n1. **State the Claim:** ..." == content.strip()


def test_missing_fields_have_defaults():
    metadata = parsed("---\nname: Only a name\n---\nText.\n").metadata
    assert {
        "name": "Only a name",
        "domain": "general",
        "complexity": "moderate",
        "methodology": "sequential",
        "keywords": [],
        "description": "",
    } == metadata


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("[proof, logic]", ["proof", "logic"]),
        ("proof, logic ,, QED", ["proof", "logic", "QED"]),
        ("proof", ["proof"]),
        ("", []),
        ("null", []),
        ("~", []),
        ("7", ["7"]),
        ("[1, 2.50, null, true]", ["1", "2.50", "true"]),
        ("\n  - proof\n  - two words", ["proof", "two words"]),
        ("[[a, b], c]", ["a, b", "c"]),
        ("{a: b}", []),
        ('""', []),
    ],
)
def test_keywords_become_a_list_of_strings(written, expected):
    text = f"---\nkeywords: {written}\n---\nText.\n"
    assert expected == parse(text, PurePosixPath("a.md")).metadata["keywords"]


@pytest.mark.parametrize(
    ("path", "name", "identity"),
    [
        ("t/proof-by-contradiction.md", "proof-by-contradiction", "t/proof-by-contradiction"),
        ("skills/mcp-builder/SKILL.md", "mcp-builder", "skills/mcp-builder"),
        ("patterns/create_npc/system.md", "create_npc", "patterns/create_npc"),
        ("prompts/review.prompt.md", "review", "prompts/review.prompt"),
        ("agents/planner.agent.md", "planner", "agents/planner.agent"),
        ("instructions/go.instructions.md", "go", "instructions/go.instructions"),
    ],
)
def test_the_path_names_what_gives_no_name(path, name, identity):
    assert name == parse("Text.\n", PurePosixPath(path)).metadata["name"]
    assert identity == path_without_ending(PurePosixPath(path)).as_posix()


def test_a_pattern_describes_itself_in_its_first_paragraph():
    text = "# IDENTITY and PURPOSE\n\n## GOAL\n\nYou make\ncharacters.\n\n# STEPS\n\n- One\n"
    assert "You make characters." == parsed(text, "patterns/npc/system.md").metadata["description"]
    assert "" == parsed(text, "npc.md").metadata["description"]


@pytest.mark.parametrize("text", ["", "# Title", "# Title\n\n\n", "\n\n"])
def test_there_may_be_no_first_paragraph(text):
    assert "" == first_paragraph(text)


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("---\nname: a\nkeywords: [a, b\n---\nText\n", 4, "expected ',' or ']'"),
        ("---\nname: a: b\n---\nText\n", 2, "mapping values are not allowed"),
        ("---\nname: a\nText\n", 1, "never closed"),
        ("---\n? [a]\n: b\nname: c\n---\nText\n", 2, "a key is not plain text"),
        ("---\nname: *nowhere\n---\nText\n", 2, "undefined alias"),
        ("---\nname: " + "[" * 5000 + "\n---\nText\n", 2, "nesting depth"),
        ("---\nname: " + "[" * 60 + "]" * 60 + "\n---\nText\n", 2, "more than 50 levels"),
        ("---\nname: x\nk: &a [*a]\n---\nText\n", 3, "an alias inside what it stands for"),
        ("---\nname: x\nk: &a\n  l: *a\n---\nText\n", 3, "an alias inside"),
    ],
    ids=["sequence", "colon", "open", "key", "alias", "depth", "levels", "itself", "own"],
)
def test_broken_front_matter_is_refused_with_its_line(text, line, problem):
    with pytest.raises(FrontMatterError) as caught:
        split_front_matter(text, strict=True)
    assert problem in caught.value.problem
    assert line == caught.value.line
    assert isinstance(caught.value, SourceError)


def test_aliases_cannot_grow_without_end():
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]
    with pytest.raises(FrontMatterError, match="more than 100000 values"):
        split_front_matter("---\n" + "\n".join(lines) + "\n---\nText\n", strict=True)


@pytest.mark.parametrize(
    "text",
    ["---\n\nTwo rules.\n\n---\n\nText\n", "---\n", "text\n---\na: b\n---\n", "--- a\n---\n"],
)
def test_rules_are_no_front_matter(text):
    assert split_front_matter(text, strict=True) is None


def test_values_stay_as_they_are_written():
    text = "---\nversion: 1.10\ndate: 2026-01-02\non: yes\n---\nText\n"
    front_matter = split_front_matter(text, strict=True)
    assert {"version": "1.10", "date": "2026-01-02", "on": "yes"} == front_matter.fields
    assert {"version": 2, "date": 3, "on": 4} == front_matter.lines


@pytest.mark.parametrize("text", ["", "---\nname: a\n---\n", "---\nname: a\n---\n  \n\n"])
def test_a_template_without_content_is_refused(text):
    with pytest.raises(SourceError, match="no content"):
        parse(text, PurePosixPath("a.md"))


def test_the_loader_keeps_the_file_whole(tmp_path):
    content = b"\xef\xbb\xbf---\r\nname: a\r\nname: b\r\n---\r\nText\r\n"
    source = Source(uri="a.md", path=tmp_path / "a.md")
    document = TemplateLoader().load(source, content)
    assert content == b"\xef\xbb\xbf" + (document.prefix + document.text).encode()
    assert "b" == document.metadata["name"]
    assert ("front matter: 'name' is given twice; the last counts",) == document.warnings


@given(st.text(alphabet=st.sampled_from("-ab:[]{}&*!|>'\"#,? \n\r\t\u00e9."), max_size=80))
def test_any_text_is_parsed_or_refused(text):
    for candidate in (text, f"---\n{text}\n---\nText\n"):
        try:
            made = parse(candidate, PurePosixPath("folder/name.md"))
        except SourceError:
            continue
        assert all(isinstance(word, str) for word in made.metadata["keywords"])
        assert made.metadata["name"]
        assert candidate[made.start :].strip()


def test_a_template_has_a_maximum_length():
    assert parsed("Step. " * 160_000).start == 0
    with pytest.raises(SourceError, match=r"1,200,000 characters are more than 1,000,000, the max"):
        parsed("Step. " * 200_000)
