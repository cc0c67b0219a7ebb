"""Request bodies, each checked against the types of the provider's own SDK."""

from pathlib import Path

import pytest

from ragloom import Citation, ConfigError, Context, Lines, PluginHost
from ragloom.context.prompt import RequestFormatter, build_augmented_prompt

PROVIDERS = ("anthropic", "gemini", "ollama", "openai")
OPTIONS = [{}, {"stream": True, "max_output_tokens": 300}]


@pytest.fixture(scope="module")
def host():
    return PluginHost.discover()


def prompt(host, name, *, found=True, system="You are terse."):
    citation = Citation(
        path="docs/a.md",
        file=Path("/") / "x",
        lines=Lines(3, 9),
        relevance=0.5,
        text='Log "errors" once & only once.\n',
    )
    context = Context(citations=(citation,) if found else ())
    text = host.formatter(name).render(context)
    shown = Context(text=text, citations=context.citations, tokens=20)
    return build_augmented_prompt("How do I log errors?", shown, system)


@pytest.mark.parametrize("name", PROVIDERS)
def test_each_writes_passages_and_requests(host, name):
    formatter = host.formatter(name)
    assert isinstance(formatter, RequestFormatter)
    twin = "xml" if name in {"anthropic", "gemini"} else "markdown"
    citation = prompt(host, name).sources[0]
    context = Context(citations=(citation,))
    assert host.formatter(twin).render(context) == formatter.render(context)
    assert not isinstance(host.formatter("text"), RequestFormatter)


@pytest.mark.parametrize("name", PROVIDERS)
def test_a_negative_limit_is_refused(host, name):
    with pytest.raises(ConfigError, match="max_output_tokens must be at least 0"):
        host.formatter(name, {"max_output_tokens": -1})


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("system", ["", "You are terse."])
@pytest.mark.parametrize("found", [True, False])
def test_anthropic(host, options, system, found):
    pytest.importorskip("anthropic")
    from anthropic.types import message_create_params as params
    from pydantic import TypeAdapter

    asked = prompt(host, "anthropic", found=found, system=system)
    body = host.formatter("anthropic", options).request_body(asked, "claude-sonnet-4-5")
    kind = (
        params.MessageCreateParamsStreaming
        if body["stream"]
        else params.MessageCreateParamsNonStreaming
    )
    known = {**params.MessageCreateParamsBase.__annotations__, **kind.__annotations__}
    assert set() == set(body) - set(known)
    checked = TypeAdapter(kind).validate_python(body)
    assert [{"role": "user", "content": "How do I log errors?"}] == list(checked["messages"])
    assert options.get("max_output_tokens", 4096) == body["max_tokens"]
    assert ({"system": asked.system_prompt} if asked.system_prompt else {}) == {
        key: value for key, value in body.items() if key == "system"
    }


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("system", ["", "You are terse."])
@pytest.mark.parametrize("found", [True, False])
def test_openai(host, options, system, found):
    pytest.importorskip("openai")
    from openai.types.chat import ChatCompletionMessageParam
    from openai.types.chat import completion_create_params as params
    from pydantic import TypeAdapter

    asked = prompt(host, "openai", found=found, system=system)
    body = host.formatter("openai", options).request_body(asked, "gpt-4.1-mini")
    kind = (
        params.CompletionCreateParamsStreaming
        if body["stream"]
        else params.CompletionCreateParamsNonStreaming
    )
    known = {**params.CompletionCreateParamsBase.__annotations__, **kind.__annotations__}
    assert set() == set(body) - set(known)
    TypeAdapter(list[ChatCompletionMessageParam]).validate_python(body["messages"])
    TypeAdapter(kind).validate_python(body)
    first = [{"role": "system", "content": asked.system_prompt}] if asked.system_prompt else []
    assert [*first, {"role": "user", "content": "How do I log errors?"}] == body["messages"]
    assert options.get("max_output_tokens") == body.get("max_completion_tokens")


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("system", ["", "You are terse."])
@pytest.mark.parametrize("found", [True, False])
def test_gemini(host, options, system, found):
    pytest.importorskip("google.genai")
    from google.genai import types
    from pydantic import TypeAdapter

    asked = prompt(host, "gemini", found=found, system=system)
    body = dict(host.formatter("gemini", options).request_body(asked, "gemini-2.5-flash"))
    (content,) = TypeAdapter(list[types.Content]).validate_python(body.pop("contents"))
    assert ("user", "How do I log errors?") == (content.role, content.parts[0].text)
    if asked.system_prompt:
        instruction = types.Content.model_validate(body.pop("systemInstruction"))
        assert asked.system_prompt == instruction.parts[0].text
    config = types.GenerationConfig.model_validate(body.pop("generationConfig", {}))
    assert options.get("max_output_tokens") == config.max_output_tokens
    assert {} == body


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("system", ["", "You are terse."])
@pytest.mark.parametrize("found", [True, False])
def test_ollama(host, options, system, found):
    ollama = pytest.importorskip("ollama")

    asked = prompt(host, "ollama", found=found, system=system)
    body = host.formatter("ollama", options).request_body(asked, "llama3.2")
    request = ollama._types.ChatRequest.model_validate(body)
    assert set() == set(body) - set(ollama._types.ChatRequest.model_fields)
    first = [("system", asked.system_prompt)] if asked.system_prompt else []
    expected = [*first, ("user", "How do I log errors?")]
    messages = [ollama.Message.model_validate(one) for one in request.messages]
    assert expected == [(one.role, one.content) for one in messages]
    limits = ollama.Options.model_validate(body.get("options", {}))
    assert options.get("max_output_tokens") == limits.num_predict
    assert options.get("stream", False) == request.stream
