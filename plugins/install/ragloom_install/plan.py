"""Which files ``install`` and ``uninstall`` change for which agents."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from ragloom import Json
from ragloom_install import jsonc, sections, tables
from ragloom_install.changes import Change, Edit, Record, check_inside, planned, read, undone
from ragloom_install.clients import CLIENTS, SERVER, Client, Files
from ragloom_install.texts import SECTION, SKILL


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Where to install.

    Attributes:
        root: The project, or the user's home.
        user: Whether it is the home.
        record: The file of the record.
    """

    root: Path
    user: bool
    record: Path

    def files(self, client: Client) -> Files:
        """The agent's files there."""
        return client.user if self.user else client.project

    def loaded(self) -> Record:
        """What was installed there."""
        known = {name for client in CLIENTS.values() for name in _names(self.files(client))}
        return Record.load(self.record, known)


def own_command() -> Sequence[str]:
    """The words that start ``ragloom mcp``: by its name where that is found on the path."""
    if shutil.which("ragloom"):
        return ["ragloom", "mcp"]
    return [sys.executable, "-m", "ragloom", "mcp"]


def installing(
    target: Target, clients: Sequence[Client], command: Sequence[str]
) -> Sequence[Change]:
    """What attaches ragloom to some agents, files in their order.

    Raises:
        ChangeError: A file cannot be read or changed.
    """
    edits: dict[Path, list[Edit]] = {}
    for client in clients:
        files = target.files(client)
        server = target.root / _servers(target.root, files)
        edits.setdefault(server, []).append(
            partial(_put_server, server.suffix, client.key, client.entry(command))
        )
        skill = target.root / files.skills / SERVER / "SKILL.md"
        edits[skill] = [lambda _text: SKILL]
        if files.instructions:
            edits[target.root / files.instructions] = [partial(sections.put, content=SECTION)]
    if not target.user:
        for path in edits:
            check_inside(path, target.root)
    return planned(edits)


def uninstalling(target: Target, clients: Sequence[Client], record: Record) -> Sequence[Change]:
    """What takes ragloom away from some agents again.

    Files that others of the installed agents use, too, stay.

    Raises:
        ChangeError: A file cannot be read or changed.
    """
    removers: dict[str, Edit] = {}
    for client in clients:
        files = target.files(client)
        for name in files.servers:
            removers[name] = partial(_drop_server, Path(name).suffix, client.key)
        removers[f"{files.skills}/{SERVER}/SKILL.md"] = lambda text: text
        if files.instructions:
            removers[files.instructions] = sections.drop
    kept = {
        name
        for client in CLIENTS.values()
        if client not in clients and _is_installed(target, client, record)
        for name in _names(target.files(client))
    }
    mine = {name: steps for name, steps in record.steps.items() if name in removers.keys() - kept}
    changes = list(undone(target.root, Record(file=record.file, steps=mine), removers))
    # Where the record is gone, what is marked or named as ragloom's is taken out all the same.
    for name in removers.keys() - kept - record.steps.keys():
        text = read(target.root / name)
        if text is not None and not name.endswith("SKILL.md"):
            try:
                after = removers[name](text)
            except ValueError:
                continue  # it is not readable, so nothing of ours can be told
            if after != text:
                changes.append(Change(path=target.root / name, before=text, after=after))
    if not target.user:
        for change in changes:
            check_inside(change.path, target.root)
    return sorted(changes, key=lambda change: change.path)


def installed(target: Target, record: Record) -> Sequence[Client]:
    """The agents that a record says ragloom is attached to."""
    return [one for one in CLIENTS.values() if _is_installed(target, one, record)]


def _is_installed(target: Target, client: Client, record: Record) -> bool:
    return any(name in record.steps for name in target.files(client).servers)


def _names(files: Files) -> Sequence[str]:
    skill = f"{files.skills}/{SERVER}/SKILL.md"
    return [*files.servers, skill, *filter(None, [files.instructions])]


def _servers(root: Path, files: Files) -> str:
    return next((name for name in files.servers if (root / name).exists()), files.servers[0])


def _put_server(ending: str, key: Sequence[str], entry: Mapping[str, Json], text: str) -> str:
    if ending == ".toml":
        return tables.put(text, key, entry)  # type: ignore[arg-type]  # of strings and lists of them
    found: Json = jsonc.read(text)
    for part in key:
        found = found.get(part) if isinstance(found, Mapping) else None
    return text if found == entry else jsonc.put(text, key, dict(entry))


def _drop_server(ending: str, key: Sequence[str], text: str) -> str:
    return tables.drop(text, key) if ending == ".toml" else jsonc.drop(text, key)
