"""Whether everything that the librarian needs is installed."""

from __future__ import annotations

from ragloom import MissingDependencyError, PluginError, PluginHost, RagloomError, Workspace
from ragloom.config import SpaceSettings

_EXTRA = "ragloom[librarian]"


def check_rag_available(
    workspace: Workspace | None = None, *, host: PluginHost | None = None
) -> tuple[bool, str]:
    """Whether the components of the knowledge base are there; nothing heavy is imported.

    Args:
        workspace: Whose settings name the components; the current folder's by default.
        host: The plugins, where there is no workspace yet; those that are installed, by default.

    Returns:
        ``(True, "")``, or False and what is missing with the line that installs it.
    """
    try:
        opened = workspace or Workspace.open(host=host)
        problem = missing_components(opened.host, opened.settings.space("librarian"))
    except RagloomError as error:
        problem = error
    return problem is None, "" if problem is None else str(problem)


def missing_components(host: PluginHost, settings: SpaceSettings) -> RagloomError | None:
    """The error of a space whose components are not all there; None if they are."""
    wanted = {
        "loader": "markdown",
        "chunker": "heading",
        "embedder": settings.embedder.name,
        "store": settings.store.name,
    }
    labels = {f"{kind} {name!r}" for kind, name in wanted.items()}
    plugins = host.plugins()
    lacking = [one for plugin in plugins for one in plugin.missing if one.part in labels]
    if lacking:
        modules = sorted({module for one in lacking for module in one.modules})
        extras = sorted({one.extra for one in lacking})
        # The librarian's own extra brings all of ragloom's.
        own = all(extra.startswith("ragloom[") for extra in extras)
        return MissingDependencyError(
            ", ".join(modules), _EXTRA if own else "' '".join(extras), "the librarian"
        )
    offered = {
        f"{kind.removesuffix('s')} {name!r}"
        for plugin in plugins
        for kind, names in plugin.provides.items()
        for name in names
    }
    families = {f"{kind} {name.partition(':')[0]!r}" for kind, name in wanted.items()}
    if absent := sorted(families - offered):
        return PluginError(f"no plugin offers the {', '.join(absent)}: see 'ragloom plugins'")
    return None
