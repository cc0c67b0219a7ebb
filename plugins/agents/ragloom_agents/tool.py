"""The tool ``rag_search``: its definition for each kind of model, and the call itself."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

from ragloom import Json, RagloomError, SearchResult
from ragloom.text import parse_json
from ragloom_agents.index import AgentIndex
from ragloom_agents.results import rendered

HINT = (
    "You have a tool, rag_search, that searches the documentation. Before you answer anything that the "
    "documentation may cover, call it with a short question or with key words, and call it again in "
    "other words if the results do not help. Rely on what it returns and name the source of each fact; "
    "if it finds nothing, say so instead of guessing."
)
"""What an agent with the tool is told at the end of its system prompt."""

_LOG = logging.getLogger("ragloom")
_MOST = 50
_TIMEOUT = 30.0
_SHOWN = 60  # characters of a wrong argument
_ADDITIONAL = "additionalProperties"


class ToolError(RagloomError):
    """A call has wrong arguments, or took too long."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """What goes back to the model.

    Attributes:
        text: Results, or what went wrong.
        is_error: Which of the two.
    """

    text: str
    is_error: bool = False


class RagSearch:
    """``rag_search`` for one agent: read-only, needs no confirmation, answers within 30 seconds."""

    name = "rag_search"
    description = (
        "Search this agent's documentation by meaning and by words. Returns the passages that answer, "
        "best first, each with its score (0 to 1) and source file."
    )
    read_only = True
    needs_confirmation = False

    def __init__(self, index: AgentIndex, agent_id: str, *, timeout: float = _TIMEOUT) -> None:
        index.settings.usable(agent_id)
        self.timeout = timeout
        self._index = index
        self._agent_id = agent_id
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="rag_search")
        self._late: Future[SearchResult] | None = None  # was given up and may still be running

    @property
    def parameters(self) -> Mapping[str, Json]:
        """The JSON schema of the arguments."""
        top_k = self._index.settings.agent(self._agent_id).docs.top_k
        return {
            "type": "object",
            "properties": {
                "query": {
                    "type": "string",
                    "description": "What to look for: a question or key words.",
                },
                "top_k": {
                    "type": "integer",
                    "minimum": 1,
                    "maximum": _MOST,
                    "description": f"Maximum number of passages; {min(top_k, _MOST)} by default.",
                },
            },
            "required": ["query"],
            _ADDITIONAL: False,
        }

    def __call__(self, query: str, top_k: int | None = None) -> str:
        """The text for the model.

        Raises:
            ToolError: An argument is wrong, it took longer than ``timeout``, or an earlier call that did
                has still not ended.
            RagloomError: The index does not answer.
        """
        query, top_k = _checked({"query": query, "top_k": top_k})
        if self._late is not None and not self._late.done():
            raise ToolError("an earlier search has not ended yet: try again later")
        answer = self._worker.submit(self._index.search, self._agent_id, query, top_k)
        try:
            result = answer.result(timeout=self.timeout)
        except TimeoutError as error:
            if not answer.cancel():
                self._late = answer
            raise ToolError(f"rag_search gave no answer within {self.timeout:g} s") from error
        root = self._index.spaces.space(self._agent_id).workspace.root
        return rendered(result, root)

    def call(self, arguments: Mapping[str, object] | str) -> ToolResult:
        """Answer a model's call; what goes wrong is told to the model and never raised.

        Args:
            arguments: As the model gave them, as JSON text or as a mapping.
        """
        try:
            query, top_k = _checked(_decoded(arguments))
            return ToolResult(text=self(query, top_k))
        except RagloomError as error:
            return ToolResult(text=f"rag_search failed: {error}", is_error=True)
        except Exception as error:  # noqa: BLE001 - the edge: a program's loop must go on
            reason = " ".join(f"{type(error).__name__}: {error}".split())
            failed = ToolResult(text=f"rag_search failed: {reason}", is_error=True)
            _LOG.error(failed.text)
            return failed

    def openai(self) -> dict[str, Json]:
        """The definition for ``tools`` of the OpenAI chat completions API, and of Ollama."""
        return {"type": "function", "function": self._definition("parameters", self.parameters)}

    def anthropic(self) -> dict[str, Json]:
        """The definition for ``tools`` of the Anthropic messages API."""
        return self._definition("input_schema", self.parameters)

    def gemini(self) -> dict[str, Json]:
        """The function declaration for Gemini, whose schemas are a subset of OpenAPI's."""
        schema = json.loads(json.dumps(self.parameters), object_hook=_openapi)
        return self._definition("parameters", schema)

    def _definition(self, key: str, schema: Json) -> dict[str, Json]:
        return {"name": self.name, "description": self.description, key: schema}


def _openapi(schema: dict[str, Json]) -> dict[str, Json]:
    """An object of a JSON schema as Gemini has it: types in capitals, no ``additionalProperties``."""
    kind = schema.get("type")
    changed: dict[str, Json] = {"type": kind.upper()} if isinstance(kind, str) else {}
    return {key: value for key, value in {**schema, **changed}.items() if key != _ADDITIONAL}


def _decoded(arguments: object) -> Mapping[object, object]:
    if isinstance(arguments, str):
        try:
            arguments = parse_json(arguments)
        except json.JSONDecodeError as error:
            raise ToolError(f"the arguments are not JSON: {error}") from error
        except ValueError:  # a number or a nesting that Python does not read
            arguments = None
    if isinstance(arguments, Mapping):
        return arguments
    raise ToolError('the arguments must be a JSON object such as {"query": "…"}')


def _checked(arguments: Mapping[object, object]) -> tuple[str, int | None]:
    """The arguments, if they are as the schema says."""
    unknown = [key for key in arguments if key not in ("query", "top_k")]
    if unknown:
        raise ToolError(f"unknown argument {_short(unknown[0])} (available: query, top_k)")
    query, top_k = arguments.get("query"), arguments.get("top_k")
    if not isinstance(query, str) or not query.strip():
        raise ToolError(f"query must be a string that is not empty, not {_short(query)}")
    if top_k is None:
        return query, None
    whole = isinstance(top_k, int) or (isinstance(top_k, float) and top_k.is_integer())
    if not isinstance(top_k, int | float) or isinstance(top_k, bool) or not whole:
        raise ToolError(f"top_k must be a whole number, not {_short(top_k)}")
    if not 1 <= top_k <= _MOST:
        raise ToolError(f"top_k must be from 1 to {_MOST}, not {_short(top_k)}")
    return query, int(top_k)


def _short(value: object) -> str:
    """What was given, as far as it helps to see it."""
    try:
        shown = repr(value)
    except (ValueError, RecursionError):  # more digits or a deeper nesting than Python shows
        return "something too large to show"
    return shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}…"
