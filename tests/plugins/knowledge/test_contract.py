import pytest

from ragloom import Document
from ragloom.testing import ChunkerContract, PluginContract
from ragloom.testing.fakes import HashingEmbedder
from ragloom_knowledge.capturing import new_lesson
from ragloom_knowledge.chunker import LessonChunker
from ragloom_knowledge.files import indexed_text


class TestPlugin(PluginContract):
    @pytest.fixture
    def plugin(self):
        return "ragloom_knowledge"


class TestChunker(ChunkerContract):
    @pytest.fixture
    def chunker(self):
        return LessonChunker()


def test_a_lesson_is_its_problem_its_whole_and_its_tasks():
    texts = {
        "project": "p",
        "agent_type": "a",
        "technology": "Kafka",
        "failure_description": "It stops\n\nat night",
        "error_message": "Timeout!",
        "solution_steps": "Wait",
        "applies_to": "Read the stream",
    }
    text = indexed_text(new_lesson("failure_solution", texts, verified=True))
    front, _, body = text.partition("---\n\n")
    assert "parts:\n- technology\n- problem\n- error\n- advice\n- tasks\n" in front
    assert "Kafka.\n\nIt stops\nat night.\n\nTimeout!\n\nWait.\n\nRead the stream.\n" == body
    parts = ["technology", "problem", "error", "advice", "tasks"]
    document = Document(uri="x.md", text=body, metadata={"parts": parts})
    pieces = list(LessonChunker().split(document, counter=HashingEmbedder().counter, max_tokens=99))
    assert [
        ("", body.strip()),
        ("Kafka:", "It stops\nat night."),
        ("Kafka:", "Read the stream."),
    ] == [(piece.context, body[slice(*piece.span)]) for piece in pieces]
