"""OpenAI's own client asks a team's server."""

from __future__ import annotations

import numpy as np
import pytest

from ragloom import Workspace

openai = pytest.importorskip("openai")


@pytest.fixture(scope="module")
def client(url):
    return openai.OpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0)


def search(client, **options):
    return client.vector_stores.search("docs", query="aws with", **options).data


def test_a_space_is_searched_as_a_vector_store(client):
    page = client.vector_stores.search("docs", query="copy a bucket", max_num_results=1)
    (found,) = page.data
    assert ("docs/s3.md", ["copy a bucket"]) == (found.filename, page.search_query)
    assert 0.3 <= found.score <= 1
    assert "aws s3 cp" in found.content[0].text
    assert ("accepted", 2024) == (found.attributes["status"], found.attributes["year"])
    assert not page.has_next_page()


ANY = {"score_threshold": 0.0}


@pytest.mark.parametrize(
    ("given", "paths"),
    [
        ({"type": "eq", "key": "status", "value": "draft"}, {"docs/ec2.md"}),
        ({"type": "ne", "key": "status", "value": "draft"}, {"docs/s3.md"}),
        ({"type": "gte", "key": "year", "value": 2024}, {"docs/s3.md"}),
        ({"type": "gt", "key": "year", "value": 2024}, set()),
        ({"type": "in", "key": "status", "value": ["draft"]}, {"docs/ec2.md"}),
        ({"type": "nin", "key": "status", "value": ["draft", "accepted"]}, set()),
        (
            {
                "type": "and",
                "filters": [
                    {"type": "eq", "key": "status", "value": "accepted"},
                    {"type": "lte", "key": "year", "value": 2024},
                ],
            },
            {"docs/s3.md"},
        ),
    ],
)
def test_filters(client, given, paths):
    found = search(client, filters=given, ranking_options=ANY)
    assert paths == {one.filename for one in found}


@pytest.mark.parametrize(
    "given",
    [
        {"type": "or", "filters": []},
        {"type": "in", "key": "status", "value": ["a", "b"]},
        {"type": "and", "filters": ["x"]},
    ],
)
def test_a_filter_that_has_no_condition_is_refused(client, given):
    with pytest.raises(openai.BadRequestError, match="filters: "):
        search(client, filters=given)


@pytest.mark.parametrize("form", ["float", "base64"])
def test_embeddings_are_those_of_the_space(client, form, project):
    texts = [f"text number {n}" for n in range(20)]
    answer = client.embeddings.create(input=texts, model="docs", encoding_format=form)
    with Workspace.open(project).space("docs") as space:
        expected = space.embedder.embed_passages(texts)
    rows = [
        np.frombuffer(__import__("base64").b64decode(one.embedding), "<f4")
        if isinstance(one.embedding, str)
        else np.array(one.embedding, np.float32)
        for one in answer.data
    ]
    np.testing.assert_allclose(expected, np.stack(rows), atol=1e-5)
    assert answer.usage.total_tokens > 20


def test_a_dimension_that_the_model_has_not_is_refused(client):
    with pytest.raises(openai.BadRequestError, match="docs has 384 dimensions, not 256"):
        client.embeddings.create(input="a", model="docs", dimensions=256)
