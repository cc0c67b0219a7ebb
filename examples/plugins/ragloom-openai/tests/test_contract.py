"""The embedder, held to the contract of ragloom.testing against a server on this machine."""

import pytest
from ragloom import ConfigError, ModelError, PluginHost
from ragloom.testing import EmbedderContract, PluginContract

import ragloom_openai
from ragloom_openai import OpenAIOptions
from ragloom_openai.embedder import OpenAIEmbedder
from ragloom_openai.requests import Service


def options(service, **more):
    return OpenAIOptions(**{"url": service.url, "model": "tests", "batch": 4, **more})


class TestPlugin(PluginContract):
    @pytest.fixture
    def plugin(self):
        return "ragloom_openai"


class TestEmbedder(EmbedderContract):
    @pytest.fixture
    def embedder(self, service):
        return OpenAIEmbedder(options(service))

    @pytest.fixture
    def variants(self, service):
        return [
            OpenAIEmbedder(options(service, dimensions=32)),
            OpenAIEmbedder(options(service, passage_prefix="passage: ")),
            OpenAIEmbedder(options(service, max_tokens=4)),
        ]


def test_nothing_is_sent_without_an_address():
    with pytest.raises(ConfigError, match="set 'url'"):
        PluginHost({"openai": ragloom_openai}).embedder("openai")


def test_making_one_sends_nothing(service):
    assert OpenAIEmbedder(options(service)).fingerprint
    assert service.requests == []


def test_batches_keep_to_their_limits(service):
    embedder = OpenAIEmbedder(options(service, batch=3, batch_characters=20))
    embedder.embed_passages(["a", "b", "c", "d", "e" * 15, "f" * 15, "g"])
    assert [len(request["input"]) for request in service.requests] == [3, 2, 2]


def test_a_busy_server_is_asked_again_and_later_each_time(service):
    waited = []
    service.failures[:] = [(503, {}), (429, {"Retry-After": "7"}), (500, {}), (502, {})]
    sender = Service(options(service), sleep=waited.append)
    answer = sender.post("embeddings", {"model": "tests", "input": ["a"]})

    assert len(answer["data"]) == 1
    assert len(service.requests) == 5
    assert waited[1] == 7
    assert 0.5 <= waited[0] < waited[2] < waited[3] <= 5


def test_it_gives_up(service):
    service.failures[:] = [(503, {})] * 3
    sender = Service(options(service, retries=2), sleep=lambda _: None)
    with pytest.raises(ModelError, match="did not answer 3 times: 503"):
        sender.post("embeddings", {"model": "tests", "input": ["a"]})


def test_what_will_never_work_is_not_tried_again(service, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "secret and wrong")
    with pytest.raises(ModelError, match="401") as caught:
        OpenAIEmbedder(options(service)).embed_query("a")
    assert len(service.requests) == 1
    assert "secret" not in str(caught.value)
