import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragloom import ConfigError, Document, PluginHost
from ragloom.testing.fakes import RegexCounter
from ragloom.text.chunks import embedded_text, make_chunks
from ragloom_templates import HeadOptions
from ragloom_templates.chunker import TemplateChunker, head_lines, is_lead

METADATA = {
    "name": "create_npc",
    "domain": "games",
    "complexity": "moderate",
    "methodology": "exploratory",
    "keywords": ["character", "D&D"],
    "description": "Makes a character.",
}


def cut(text, metadata=METADATA, *, max_tokens=40, options=None):
    document = Document(uri="a.md", text=text, metadata=metadata)
    counter = RegexCounter()
    pieces = TemplateChunker(options).split(document, counter=counter, max_tokens=max_tokens)
    return make_chunks(document, pieces, counter)


def test_every_field_is_labelled():
    assert [
        "Name: create npc",
        "Description: Makes a character.",
        "Keywords: character, D&D",
        "Methodology: exploratory",
    ] == head_lines(METADATA, HeadOptions())


def test_weights_say_a_field_again_or_not_at_all():
    options = HeadOptions(name=2, description=0, keywords=1, methodology=0, domain=1)
    assert [
        "Name: create npc",
        "Name: create npc",
        "Keywords: character, D&D",
        "Domain: games",
    ] == head_lines(METADATA, options)


def test_a_wrong_weight_is_named():
    import ragloom_templates

    host = PluginHost({"templates": ragloom_templates})
    with pytest.raises(ConfigError, match="'keywords' must be 0 to 5"):
        host.chunker("template", {"keywords": 6})
    with pytest.raises(ConfigError, match="unknown option 'keyword'; did you mean 'keywords'"):
        host.chunker("template", {"keyword": 1})


def test_defaults_say_nothing_of_a_template():
    metadata = {**METADATA, "methodology": "sequential", "keywords": [], "description": ""}
    assert ["Name: create npc"] == head_lines(metadata, HeadOptions())


def test_long_content_is_split_into_parts_that_share_the_head():
    text = "\n\n".join(f"Step {number}. Do the thing, and then check it." for number in range(30))
    chunks = cut(text)
    head = "\n".join(head_lines(METADATA, HeadOptions()))
    assert {head} == {chunk.context for chunk in chunks}
    assert len(chunks) > 10
    assert max(chunk.tokens for chunk in chunks) <= 40
    for number in range(30):
        assert any(f"Step {number}." in chunk.text for chunk in chunks)


def test_the_head_stands_once_with_hardly_any_content():
    chunks = cut("# Steps\n\n" + "One more step. " * 40)
    assert [True] + [False] * (len(chunks) - 1) == [is_lead(chunk) for chunk in chunks]
    assert "# Steps" == chunks[0].text


def test_nothing_of_a_long_head_is_lost():
    words = [f"word{number}" for number in range(100)]
    metadata = {**METADATA, "description": " ".join(words)}
    chunks = cut("Some content, a few words.\n\nAnd more of it.", metadata)
    assert max(chunk.tokens for chunk in chunks) <= 40
    embedded = " ".join(embedded_text(chunk) for chunk in chunks)
    assert [] == [word for word in words if word not in embedded.split()]
    assert all(chunk.context.startswith("Name: create npc\n") for chunk in chunks)


@given(
    text=st.text(alphabet=st.sampled_from("ab .\n\r#-\u00e9\U0001f9f5"), max_size=300),
    description=st.text(alphabet="ab ", max_size=300),
    max_tokens=st.integers(8, 60),
)
def test_all_of_any_template_is_embedded(text, description, max_tokens):
    metadata = {**METADATA, "description": " ".join(description.split())}
    left = list(text)
    for chunk in cut(text, metadata, max_tokens=max_tokens):
        assert chunk.tokens <= max_tokens
        left[chunk.span.start : chunk.span.end] = " " * len(chunk.text)
    assert [] == "".join(left).split()
