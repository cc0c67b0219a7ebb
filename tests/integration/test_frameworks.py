"""The function of ``make_tool`` as a tool of every framework that the page names, under its own agent.

Each agent has a scripted model in place of one over the network: it calls the tool, and then repeats what
it was given.
"""

from __future__ import annotations

import asyncio
import json
import shutil
from pathlib import Path

import pytest

pytest.importorskip("onnxruntime", reason="needs the extra [standard]")

from ragloom import Workspace, make_tool

pytestmark = pytest.mark.slow

DATA = Path(__file__).parents[1] / "data" / "librarian" / "docs"
NAME = "search_docs"
QUERY = "How do I log errors?"
DESCRIBED = {
    "query": "What to look for: a question, or key words.",
    "top_k": "Maximum number of passages.",
}


@pytest.fixture(scope="module")
def tool(tmp_path_factory):
    folder = tmp_path_factory.mktemp("workspace")
    shutil.copytree(DATA, folder / "docs")
    (folder / "ragloom.yaml").write_text("sources: [docs]\nstore: sqlite\n")
    space = Workspace.open(folder).space()
    space.index()
    return make_tool(space, name=NAME)


@pytest.fixture
def expected(tool):
    text = tool(QUERY, top_k=2)
    assert "docs/standards/error-handling.md" in text
    return text


def test_smolagents(tool, expected):
    smolagents = pytest.importorskip("smolagents")
    from smolagents.models import (
        ChatMessage,
        ChatMessageToolCall,
        ChatMessageToolCallFunction,
        MessageRole,
    )

    made = smolagents.tool(tool)
    assert DESCRIBED == {name: one["description"] for name, one in made.inputs.items()}
    assert {"query": "string", "top_k": "integer"} == {n: i["type"] for n, i in made.inputs.items()}

    class Scripted(smolagents.Model):
        def generate(self, messages, **_more):
            answered = any(one.role == MessageRole.TOOL_RESPONSE for one in messages)
            name = "final_answer" if answered else NAME
            arguments = {"answer": "read"} if answered else {"query": QUERY, "top_k": 2}
            call = ChatMessageToolCallFunction(name=name, arguments=arguments)
            return ChatMessage(
                role=MessageRole.ASSISTANT,
                content="",
                tool_calls=[ChatMessageToolCall(id="1", type="function", function=call)],
            )

    agent = smolagents.ToolCallingAgent(tools=[made], model=Scripted(), verbosity_level=0)
    agent.run(QUERY)
    observations = [getattr(step, "observations", None) for step in agent.memory.steps]
    assert expected.strip() in [one for one in observations if one]


def test_openai_agents(tool, expected):
    agents = pytest.importorskip("agents")
    from openai.types.responses import (
        ResponseFunctionToolCall,
        ResponseOutputMessage,
        ResponseOutputText,
    )

    made = agents.function_tool(tool)
    assert NAME == made.name
    properties = made.params_json_schema["properties"]
    assert DESCRIBED == {name: one["description"] for name, one in properties.items()}

    class Scripted(agents.Model):
        async def get_response(self, **given):
            outputs = [
                item["output"]
                for item in given["input"]
                if isinstance(item, dict) and item.get("type") == "function_call_output"
            ]
            if outputs:
                text = ResponseOutputText(text=str(outputs[0]), type="output_text", annotations=[])
                answer = ResponseOutputMessage(
                    id="2", content=[text], role="assistant", status="completed", type="message"
                )
            else:
                arguments = json.dumps({"query": QUERY, "top_k": 2})
                answer = ResponseFunctionToolCall(
                    call_id="1", name=NAME, arguments=arguments, type="function_call"
                )
            return agents.ModelResponse(output=[answer], usage=agents.Usage(), response_id=None)

        def stream_response(self, *_given, **_more):
            raise NotImplementedError

    agents.set_tracing_disabled(disabled=True)
    agent = agents.Agent(name="reader", model=Scripted(), tools=[made])
    done = asyncio.run(agents.Runner.run(agent, QUERY))
    assert expected == done.final_output


def test_pydantic_ai(tool, expected):
    pydantic_ai = pytest.importorskip("pydantic_ai")
    from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
    from pydantic_ai.models.function import FunctionModel

    offered = []

    def scripted(messages, info):
        offered.extend(info.function_tools)
        returned = [p for p in messages[-1].parts if p.part_kind == "tool-return"]
        if returned:
            return ModelResponse(parts=[TextPart(returned[0].content)])
        return ModelResponse(parts=[ToolCallPart(NAME, {"query": QUERY, "top_k": 2})])

    agent = pydantic_ai.Agent(FunctionModel(scripted), tools=[tool])
    assert expected == agent.run_sync(QUERY).output
    assert NAME == offered[0].name
    properties = offered[0].parameters_json_schema["properties"]
    assert DESCRIBED == {name: one["description"] for name, one in properties.items()}


def test_dspy(tool, expected):
    dspy = pytest.importorskip("dspy")
    from dspy.utils import DummyLM

    made = dspy.Tool(tool)
    assert (NAME, {"query", "top_k"}) == (made.name, set(made.args))
    assert {"type": "integer", "default": 5}.items() <= made.args["top_k"].items()

    call = {"query": QUERY, "top_k": 2}
    script = [
        {"next_thought": "search", "next_tool_name": NAME, "next_tool_args": json.dumps(call)},
        {"next_thought": "done", "next_tool_name": "finish", "next_tool_args": "{}"},
        {"reasoning": "it is there", "answer": "as structured events"},
    ]
    agent = dspy.ReAct("question -> answer", tools=[tool])
    with dspy.context(lm=DummyLM(script)):
        done = agent(question=QUERY)
    assert "as structured events" == done.answer
    assert expected in done.trajectory.values()


def test_haystack(tool, expected):
    pytest.importorskip("haystack")
    from haystack import component
    from haystack.components.agents import Agent
    from haystack.dataclasses import ChatMessage, ToolCall
    from haystack.tools import create_tool_from_function

    made = create_tool_from_function(tool)
    assert NAME == made.name
    assert {"query", "top_k"} == set(made.parameters["properties"])

    @component
    class Scripted:
        @component.output_types(replies=list[ChatMessage])
        def run(self, messages: list[ChatMessage], tools: list | None = None):
            last = messages[-1]
            if last.tool_call_results:
                return {"replies": [ChatMessage.from_assistant(last.tool_call_results[0].result)]}
            call = ToolCall(tool_name=NAME, arguments={"query": QUERY, "top_k": 2})
            return {"replies": [ChatMessage.from_assistant(tool_calls=[call])]}

    agent = Agent(chat_generator=Scripted(), tools=[made])
    done = agent.run(messages=[ChatMessage.from_user(QUERY)])
    assert expected == done["messages"][-1].text


def test_langchain(tool, expected):
    pytest.importorskip("langchain_core")
    from langchain_core.tools import tool as langchain_tool

    made = langchain_tool(tool, parse_docstring=True)
    assert NAME == made.name
    properties = made.tool_call_schema.model_json_schema()["properties"]
    assert DESCRIBED == {name: one["description"] for name, one in properties.items()}
    call = {"name": NAME, "args": {"query": QUERY, "top_k": 2}, "id": "1", "type": "tool_call"}
    assert expected == made.invoke(call).content
    assert expected == asyncio.run(made.ainvoke(call)).content


def test_langgraph(tool, expected):
    pytest.importorskip("langgraph")
    from langchain_core.messages import AIMessage
    from langgraph.graph import END, START, MessagesState, StateGraph
    from langgraph.prebuilt import ToolNode

    graph = StateGraph(MessagesState)
    graph.add_node("tools", ToolNode([tool]))
    graph.add_edge(START, "tools")
    graph.add_edge("tools", END)
    call = {"name": NAME, "args": {"query": QUERY, "top_k": 2}, "id": "1", "type": "tool_call"}
    done = graph.compile().invoke({"messages": [AIMessage("", tool_calls=[call])]})
    assert expected == done["messages"][-1].content


def test_llama_index(tool, expected):
    pytest.importorskip("llama_index.core")
    from llama_index.core.tools import FunctionTool

    made = FunctionTool.from_defaults(tool)
    assert NAME == made.metadata.name
    assert expected == made.call(query=QUERY, top_k=2).content
