"""LangChain's own standard tests for retrievers."""

import pytest

pytest.importorskip("langchain_tests", reason="needs the dependency group 'frameworks'")

from langchain_tests.integration_tests import RetrieversIntegrationTests

from ragloom_langchain import RagloomRetriever


@pytest.mark.slow
class TestRetriever(RetrieversIntegrationTests):
    @pytest.fixture(autouse=True)
    def _indexed(self, space):
        self.space = space

    @property
    def retriever_constructor(self):
        return RagloomRetriever

    @property
    def retriever_constructor_params(self):
        return {"space": self.space, "min_relevance": 0.0}

    @property
    def retriever_query_example(self):
        return "How do I log errors?"


@pytest.mark.slow
class TestRetrieverByTheNameTopK(TestRetriever):
    @property
    def num_results_arg_name(self):
        return "top_k"
