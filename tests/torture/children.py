"""Work in processes of its own, forked from one that has imported everything and opened nothing."""

from __future__ import annotations

import importlib
import json
import os
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ragloom import PluginHost, hookimpl
from ragloom.cli import Session, cli
from ragloom.testing.fakes import hashing_provider

BUG = 70  # the exit code for what no user can act on
PATIENCE = 60.0  # seconds after which a process hangs
_POLL = 0.002


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How a process ended.

    Attributes:
        code: Its exit code; minus the signal that killed it.
        value: What its work returned, as JSON has it; None where it did not end by itself.
        said: Its output, stderr and stdout as they came.
        hung: It was killed for taking too long.
    """

    code: int
    value: Any
    said: str
    hung: bool

    @property
    def clear(self) -> bool:
        """Whether it did its work, or ended with an error that a user can act on."""
        return self.code in (0, 1) and not self.hung

    @property
    def last_line(self) -> str:
        """The last line of what it said."""
        lines = self.said.strip().splitlines()
        return lines[-1] if lines else f"exit code {self.code}"


@dataclass(slots=True)
class Child:
    """A process that was started."""

    process: int
    pipe: int
    log: Path
    deadline: float


def start(work: Callable[[], object], *, patience: float = PATIENCE) -> Child:
    """Start ``work`` in a process; what it returns is JSON."""
    reading, writing = os.pipe()
    handle, name = tempfile.mkstemp(prefix="said-")
    process = os.fork()
    if process == 0:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        os.dup2(handle, 1)
        os.dup2(handle, 2)
        _run(work, writing)
    os.close(writing)
    os.close(handle)
    return Child(process, reading, Path(name), time.monotonic() + patience)


def finish(child: Child, *, kill_at: float | None = None) -> Ended:
    """Wait for a process to end, or kill it at a moment of the monotonic clock."""
    hung = False
    with os.fdopen(child.pipe, "rb") as pipe:
        os.set_blocking(pipe.fileno(), False)
        content = b""
        while True:
            content += pipe.read() or b""
            ended, status = os.waitpid(child.process, os.WNOHANG)
            if ended:
                break
            now = time.monotonic()
            hung = now > child.deadline
            if hung or (kill_at is not None and now > kill_at):
                os.kill(child.process, signal.SIGKILL)
            time.sleep(_POLL)
        content += pipe.read() or b""
    said = child.log.read_text("utf-8", "replace")
    child.log.unlink()
    code = os.waitstatus_to_exitcode(status)
    value = json.loads(content) if code == 0 and content else None
    return Ended(code=code, value=value, said=said, hung=hung)


def in_child(work: Callable[[], object], *, patience: float = PATIENCE) -> Ended:
    """Do ``work`` in a process of its own, and wait for it."""
    return finish(start(work, patience=patience))


def ragloom(folder: Path, *arguments: str) -> None:
    """Run a command of ragloom as a user would in ``folder``; ends the process."""
    os.chdir(folder)
    cli.main([*arguments], prog_name="ragloom", obj=Session(plugins=host()))


class _Hashing:
    @staticmethod
    @hookimpl
    def ragloom_embedders() -> list[object]:
        return [hashing_provider()]


def host() -> PluginHost:
    """The bundled plugins, and the embedder ``hashing``, which costs nothing."""
    import ragloom.audit
    import ragloom_agents
    import ragloom_knowledge
    import ragloom_local
    import ragloom_markdown
    import ragloom_milvus
    import ragloom_onnx
    import ragloom_templates
    import ragloom_text

    return PluginHost(
        {
            "agents": ragloom_agents,
            "audit": ragloom.audit,
            "hashing": _Hashing(),
            "knowledge": ragloom_knowledge,
            "local": ragloom_local,
            "markdown": ragloom_markdown,
            "milvus": ragloom_milvus,
            "onnx": ragloom_onnx,
            "templates": ragloom_templates,
            "text": ragloom_text,
        }
    )


def warm(work: Callable[[], object]) -> None:
    """Import here what ``work`` imports in a process of its own, so that no later one has to."""

    def learnt() -> list[str]:
        with suppress(SystemExit):
            work()
        return sorted(sys.modules)

    for name in in_child(learnt).value or ():
        # Some names are lent, such as those of six; others refuse to be imported by themselves.
        with suppress(Exception):
            importlib.import_module(name)


def _run(work: Callable[[], object], pipe: int) -> None:
    code = 0
    try:
        value = work()
        with os.fdopen(pipe, "wb") as stream:
            stream.write(json.dumps(value).encode())
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:  # noqa: BLE001 - told by the exit code
        traceback.print_exc()
        code = BUG
    finally:
        os._exit(code)
