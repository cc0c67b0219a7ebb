"""Documents whose every section holds a word that stands nowhere else, in versions that differ a little."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import blake2b
from pathlib import Path
from random import Random

Documents = Mapping[str, tuple[str, ...]]
"""The marker of each section of each file, by path."""

_SECTIONS = 4
_TOPICS = ("harvest and weather", "rotating the keys", "a slow migration", "the nightly backup")

_WORDS = (
    *("after", "because", "before", "every", "field", "grows", "harvest", "keys", "later", "lists"),
    *(
        "moves",
        "nightly",
        "older",
        "plans",
        "queue",
        "rain",
        "rotates",
        "server",
        "slowly",
        "stores",
    ),
    *("table", "tape", "turns", "under", "upon", "wait", "weather", "while", "window", "year"),
)


def marker(*parts: object) -> str:
    """A word of fourteen letters that nobody else writes."""
    digest = blake2b("/".join(map(str, parts)).encode(), digest_size=14).digest()
    return "".join(chr(ord("a") + byte % 26) for byte in digest)


def documents(version: int, *, files: int = 8, removing: bool = True) -> Documents:
    """The documents of a version: each changes two sections of one file, and adds and removes a file."""
    first = version if removing else 0
    made: dict[str, tuple[str, ...]] = {}
    for number in range(first, files + version):
        changed_in = number - files // 2  # the version in which this one is edited
        edited = changed_in if 0 < changed_in <= version else 0
        made[f"docs/{number:02}.md"] = tuple(
            marker(number, section, edited if section < _SECTIONS // 2 else 0)
            for section in range(_SECTIONS)
        )
    return made


def text_of(path: str, markers: tuple[str, ...]) -> str:
    """The file; no two of its sections, and no two files, are equally good for a query."""
    parts = [f"# About {path}\n"]
    for number, word in enumerate(markers):
        random = Random(f"{path}/{number}")
        topic = _TOPICS[number % len(_TOPICS)]
        told = (
            " ".join(random.choices(_WORDS, k=random.randint(6, 12))).capitalize() + f" {topic}."
            for _ in range(random.randint(6, 16))
        )
        parts.append(
            f"## Part {number}: {topic}\n\nThe word {word} belongs to {topic}, and to {path} alone.\n\n"
            + " ".join(told)
            + "\n"
        )
    return "\n".join(parts)


def write(folder: Path, wanted: Documents) -> None:
    """Make ``docs`` hold these documents and nothing else."""
    (folder / "docs").mkdir(parents=True, exist_ok=True)
    for path in (folder / "docs").iterdir():
        if f"docs/{path.name}" not in wanted:
            path.unlink()
    for name, markers in wanted.items():
        path, text = folder / name, text_of(name, markers)
        if not path.exists() or path.read_text("utf-8") != text:
            path.write_text(text, "utf-8")


def words(held: Documents) -> set[str]:
    """All markers."""
    return {word for markers in held.values() for word in markers}
