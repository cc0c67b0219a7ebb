"""Templates as prompts, and the tool ``find_template``, where the plugin ``templates`` is there."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, cast

import anyio
import mcp.types as protocol
from anyio import to_thread
from mcp import MCPError

from ragloom import RagloomError, Workspace
from ragloom_mcp.tools import Tool, without_shelf

if TYPE_CHECKING:
    from mcp.server import Server, ServerRequestContext

T = TypeVar("T")

_OFFERED = "ragloom_templates.serving:serve"
_TIMEOUT = 30.0


class ServedPrompt(Protocol):
    """A template as a prompt."""

    @property
    def name(self) -> str:
        """Its id."""

    @property
    def title(self) -> str:
        """Its name."""

    @property
    def description(self) -> str:
        """What it is for."""

    @property
    def arguments(self) -> Sequence[str]:
        """Its placeholders."""


class ServedTemplates(Protocol):
    """A library, as the plugin ``templates`` offers it."""

    def prompts(self) -> Sequence[ServedPrompt]:
        """One a template."""

    def prompt(self, name: str, arguments: Mapping[str, str]) -> tuple[str, str]:
        """A description and a text; a ConfigError where there is no such prompt or argument."""

    def tools(self) -> Sequence[Any]:
        """The tools."""


def served_templates(workspace: Workspace) -> ServedTemplates | None:
    """The workspace's library; None where there is none, or the plugin is not loaded.

    Raises:
        RagloomError: A setting of the section ``templates`` is wrong, or asks for more than is trusted.
    """
    loaded = {one.name for one in workspace.host.plugins() if one.status == "loaded"}
    if "templates" not in loaded:
        return None
    serve = cast("Callable[[Workspace], ServedTemplates | None]", resolve_name(_OFFERED))
    return serve(workspace)


def template_tools(templates: ServedTemplates | None) -> Mapping[str, Tool]:
    """``find_template``, or nothing."""
    return {
        tool.name: Tool(
            name=tool.name,
            description=tool.description,
            schema=tool.schema,
            gives=tool.gives,
            run=without_shelf(tool.run),
        )
        for tool in (templates.tools() if templates else ())
    }


def serve_prompts(server: Server[dict[str, object]], templates: ServedTemplates) -> None:
    """Let ``server`` list and fill the prompts."""

    async def list_prompts(
        _context: ServerRequestContext[dict[str, object]],
        _params: protocol.PaginatedRequestParams | None,
    ) -> protocol.ListPromptsResult:
        found = await _within(templates.prompts)
        return protocol.ListPromptsResult(
            prompts=[
                protocol.Prompt(
                    name=one.name,
                    title=one.title,
                    description=one.description or None,
                    arguments=[
                        protocol.PromptArgument(name=name, required=False) for name in one.arguments
                    ],
                )
                for one in found
            ]
        )

    async def get_prompt(
        _context: ServerRequestContext[dict[str, object]],
        params: protocol.GetPromptRequestParams,
    ) -> protocol.GetPromptResult:
        arguments = params.arguments or {}
        description, text = await _within(lambda: templates.prompt(params.name, arguments))
        content = protocol.TextContent(type="text", text=text)
        return protocol.GetPromptResult(
            description=description or None,
            messages=[protocol.PromptMessage(role="user", content=content)],
        )

    server.add_request_handler("prompts/list", protocol.PaginatedRequestParams, list_prompts)
    server.add_request_handler("prompts/get", protocol.GetPromptRequestParams, get_prompt)


async def _within(call: Callable[[], T]) -> T:
    """What a call returns; the protocol's error where it fails or takes too long."""
    try:
        with anyio.fail_after(_TIMEOUT):
            return await to_thread.run_sync(call, abandon_on_cancel=True)
    except TimeoutError as error:
        message = f"the templates gave no answer within {_TIMEOUT:g} s"
        raise MCPError(protocol.INTERNAL_ERROR, message) from error
    except RagloomError as error:
        raise MCPError(protocol.INVALID_PARAMS, str(error)) from error
