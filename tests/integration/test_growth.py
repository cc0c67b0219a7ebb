"""No text makes work grow out of proportion to its length: patterns, loaders and chunkers.

CPU time at one length is compared with that at a shorter one, and only where it can be measured.
"""

from __future__ import annotations

import re
import time
from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from importlib import import_module
from importlib.util import find_spec
from inspect import getsource
from itertools import pairwise, product
from pathlib import Path
from pkgutil import iter_modules, walk_packages
from types import ModuleType

import pytest

from ragloom import PluginHost, RagloomError, SourceError
from ragloom.secrets.redaction import hide, redact
from ragloom.sources.loading import load_document, split_document
from ragloom.testing.fakes import HashingEmbedder, HashingOptions
from ragloom.types import Document, Source

pytestmark = pytest.mark.slow

BEGINNINGS = ("", "---\n", "a: ", "|" * 20 + "\n", "path under x")
UNITS = (
    *" \n\r\taA_-=#`~|.!*/0'\"<>{[(:漢ก，。…\u0301",
    *("\r\n", "\n ", "|-", "a.", "0.", ".)", " ก", "#\n", "a\n", "> ", "{{", "${a:", "a: b\n"),
)
BOUNDED = {"_LAST_WORD"}  # is shown 24 characters
ENDS = ("", "\0", "\r\0")
LENGTHS = (16, 24, 512, 4096)
PROPORTION = 3  # times as much work as text; a square does 8 times as much at the last length
MEASURABLE = 0.01  # seconds


def seconds(work: Callable[[], object]) -> float:
    """CPU time; the least of three where it counts."""
    taken: list[float] = []
    while not taken or (len(taken) < 3 and MEASURABLE < min(taken) < 1):
        started = time.process_time()
        work()
        taken.append(time.process_time() - started)
    return min(taken)


def outgrown(
    work: Callable[[str], object], text: Callable[[int], str], lengths: tuple[int, ...] = LENGTHS
) -> int | None:
    """The length at which work has outgrown the text; None where it never does."""

    def grown(shorter: int, length: int) -> bool:
        less, more = text(shorter), text(length)
        taken = seconds(lambda: work(more))
        if taken < MEASURABLE:
            return False
        before = max(seconds(lambda: work(less)), MEASURABLE / 100)
        return taken > before * PROPORTION * length / shorter

    for shorter, length in pairwise(lengths):
        if all(grown(shorter, length) for _ in range(3)):  # once may be the machine's other work
            return length
    return None


def modules() -> Iterator[ModuleType]:
    """Those of core and of the plugins that can be imported here."""
    packages = {found.name for found in iter_modules() if found.name.startswith("ragloom")}
    for package in sorted(packages):
        found = find_spec(package)
        folders = (found and found.submodule_search_locations) or ()
        names = [one.name for one in walk_packages(folders, f"{package}.")]
        for name in (package, *names):
            if ".testing" not in name and "__main__" not in name:
                with suppress(ImportError):
                    yield import_module(name)


def patterns(value: object) -> Iterator[re.Pattern[str]]:
    """Those that a module's variable holds."""
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, tuple):
        for item in value:
            yield from patterns(item)


def used(pattern: re.Pattern[str], name: str, source: str) -> Callable[[str], object]:
    """What a module does with its pattern: search from every place, or from one."""
    if f"{name}.fullmatch(" in source:
        return pattern.fullmatch
    if f"{name}.match(" in source:
        return pattern.match
    return lambda text: deque(pattern.finditer(text), 0)


def test_patterns() -> None:
    grown: list[str] = []
    seen: set[str] = set()
    for module in modules():
        for name, value in vars(module).items():
            for pattern in patterns(value):
                if name in BOUNDED or isinstance(pattern.pattern, bytes) or pattern.pattern in seen:
                    continue
                seen.add(pattern.pattern)
                work = used(pattern, name, getsource(module))
                for begin, unit, end in product(BEGINNINGS, UNITS, ENDS):
                    found = outgrown(work, lambda n: begin + unit * n + end)  # noqa: B023
                    if found is not None:
                        grown.append(
                            f"{module.__name__}.{name}: {begin!r} {unit!r} {end!r} {found}"
                        )
                        break
    assert len(seen) > 40
    assert grown == []


@pytest.mark.parametrize("ending", [".html", ".ipynb", ".md", ".py", ".rst", ".txt"])
def test_loaders(ending: str) -> None:
    loaders = PluginHost.discover(disabled=()).loaders()
    (loader, *_) = [loader for loader in loaders.values() if ending in loader.suffixes] or [None]
    if loader is None:
        pytest.skip(f"no loader for {ending} is installed")

    def load(text: str) -> None:
        with suppress(RagloomError):
            load_document(Source(uri=f"a{ending}", path=Path(f"a{ending}")), text.encode(), loader)

    assert [] == growing(load, BEGINNINGS[:3])


NEARLY_SECRET = (
    *(
        "-----BEGIN PRIVATE KEY-----",
        "-----BEGIN ",
        "-----END ",
        "PuTTY-User-Key-File-2: ",
        "Private-Lines: 1\n",
    ),
    *(
        "://",
        "a://a:",
        "://a:b@",
        "@",
        "?token=",
        "password=",
        "password: a1",
        "secret_key",
        "key=",
        "=:a1",
    ),
    *(
        "eyJ-",
        "-eyJa.eyJ",
        "ghp_",
        "sk-ant-",
        "SG.a-",
        "$2a$",
        "$6$",
        "s.a",
        "-us1",
        "a1b2c3d4",
        "a1b2c3d4 ",
    ),
    *(
        "Authorization: Basic ",
        "AccountKey=",
        "\n" + "A" * 64,
        "aws_secret",
        "REDACTED ",
        "gitleaks:allow\n",
    ),
    *(
        "_authToken=a1",
        " -u a:b1",
        "api_key: a1b2c3d4e5f6g7h8i9j0 # gitleaks:allow ",
        "api_key: a1b2c3d4e5f6g7h8 ",
    ),
)


@pytest.mark.parametrize("unit", NEARLY_SECRET)
def test_redaction(unit: str) -> None:
    for end, work in product(("", "@"), (redact, hide)):

        def text(length: int, end: str = end) -> str:
            return unit * (length // len(unit)) + end

        assert outgrown(work, text, (1500, 12_000, 48_000)) is None


@pytest.mark.parametrize("unit", ["\n", "#\n", " \r\n", "a: b  ", "a:  \r"])
@pytest.mark.parametrize("name", ["markdown", "template"])
def test_front_matter_that_is_no_yaml(name: str, unit: str) -> None:
    loaders = PluginHost.discover(disabled=()).loaders()
    if name not in loaders:
        pytest.skip(f"the loader {name!r} is not installed")

    def load(text: str) -> None:
        with suppress(SourceError):
            load_document(Source(uri="a.md", path=Path("a.md")), text.encode(), loaders[name])

    assert outgrown(load, lambda n: f"---\n{unit * n}(a:(\nb: c: [\n---\nhello\n") is None


@pytest.mark.parametrize("name", ["code", "heading", "sentence", "token"])
def test_chunkers(name: str) -> None:
    if name not in (host := PluginHost.discover(disabled=())).providers("chunkers"):
        pytest.skip(f"the chunker {name!r} is not installed")
    # Chunks are so short that all lengths make many.
    chunker, embedder = host.chunker(name), HashingEmbedder(HashingOptions(max_tokens=16))
    media_type = "text/x-python" if name == "code" else "text/markdown"

    def cut(text: str) -> None:
        split_document(Document(uri="a", text=text, media_type=media_type), chunker, embedder)

    # tree-sitter itself takes the square of the time over some texts that are no code.
    assert [] == growing(cut, ("",), () if name != "code" else ("|-",))


def growing(
    work: Callable[[str], object], beginnings: Sequence[str], without: Collection[str] = ()
) -> list[str]:
    """The texts on which ``work`` outgrows them."""
    grown: list[str] = []
    # A NUL among a text's first 1,024 characters may end the work at once: the last two have it later.
    lengths = (16, 32, 2000, 8000)
    for begin, unit in product(beginnings, [unit for unit in UNITS if unit not in without]):
        found = outgrown(work, lambda n: begin + unit * n + "\n---\n\0", lengths)  # noqa: B023
        if found is not None:
            grown.append(f"{begin!r} {unit!r} {found}")
    return grown
