"""Is a Milvus Lite collection whole? Looked at before the engine opens it and tidies up.

On opening, the engine falls back to an older manifest when the newest is unreadable, unlinks the
data files which that one does not know, and skips data files that are missing. What was
damaged would then open, with chunks gone. So that is found first, from the outside, and nothing is
touched.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from ragloom import StoreDamagedError

MANIFEST: Final = "manifest.json"
SCHEMA: Final = "schema.json"

_PARQUET_MAGIC: Final = b"PAR1"
_SHORTEST_PARQUET: Final = 12


def check_collection(directory: Path, collection: str) -> None:
    """Raise a :class:`StoreDamagedError` where a file of a collection is missing or truncated.

    No rows are read; neither the directory nor the collection need exist.
    """
    if directory.exists() and not directory.is_dir():
        raise StoreDamagedError(
            f"the store {directory} is a file, and Milvus Lite 3 keeps a directory"
        )
    folder = directory / "collections" / collection
    if not folder.is_dir():
        return
    if not (folder / SCHEMA).exists():
        # Killed between making the folder and naming the schema; rmdir takes empty ones only.
        with contextlib.suppress(OSError):
            if [path.name for path in folder.iterdir()] == [f"{SCHEMA}.tmp"]:
                (folder / f"{SCHEMA}.tmp").unlink()
            folder.rmdir()
            return
        raise _damaged(folder / SCHEMA, "is missing")
    _read_json(folder / SCHEMA)
    manifest = folder / MANIFEST
    if manifest.exists():
        for path in _data_files(folder, _read_json(manifest)):
            _check_parquet(path)
    elif (folder / f"{MANIFEST}.prev").exists() or _has_rows_without_log(folder):
        raise _damaged(manifest, "is missing")


def _has_rows_without_log(folder: Path) -> bool:
    """There are data files, and no log from which a first manifest would be rebuilt."""
    data = any(folder.glob("partitions/*/data/*.parquet"))
    return data and not any(folder.glob("wal/*.arrow"))


def _data_files(folder: Path, manifest: dict[str, object]) -> Iterator[Path]:
    partitions = manifest.get("partitions")
    if not isinstance(partitions, dict):
        raise _damaged(folder / MANIFEST, "lists no files")
    for partition, files in partitions.items():
        if not isinstance(files, dict):
            raise _damaged(folder / MANIFEST, "lists no files")
        for kind in ("data_files", "delta_files"):
            for name in files.get(kind, ()):
                yield folder / "partitions" / str(partition) / str(name)


def _check_parquet(path: Path) -> None:
    try:
        with path.open("rb") as file:
            begin = file.read(len(_PARQUET_MAGIC))
            size = file.seek(0, 2)
            file.seek(max(0, size - len(_PARQUET_MAGIC)))
            end = file.read()
    except FileNotFoundError as error:
        raise _damaged(path, "is missing") from error
    if size < _SHORTEST_PARQUET or begin != _PARQUET_MAGIC or end != _PARQUET_MAGIC:
        raise _damaged(path, "is not a whole Parquet file")


def _read_json(path: Path) -> dict[str, object]:
    try:
        content = json.loads(path.read_bytes())
    except ValueError as error:
        raise _damaged(path, f"is not JSON ({error})") from error
    if not isinstance(content, dict):
        raise _damaged(path, "is not a JSON object")
    return content


def _damaged(path: Path, what: str) -> StoreDamagedError:
    return StoreDamagedError(f"the store is damaged: {path} {what}")
