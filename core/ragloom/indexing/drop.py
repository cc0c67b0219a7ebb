"""Delete an index."""

from __future__ import annotations

import shutil
from pathlib import Path

from ragloom.errors import StoreDamagedError
from ragloom.indexing.lock import space_lock
from ragloom.protocols import Store


def drop(directory: Path, *, store: Store, dimension: int, aside: Path, timeout: float) -> None:
    """Empty the store of a space and remove its folder, which is never seen half removed.

    Args:
        directory: The space's folder.
        store: Closed; it is closed afterwards.
        dimension: Of its vectors.
        aside: Where the folder is moved to before it is removed, on the same disk.
        timeout: Seconds to wait for another run on the same space.

    Raises:
        StoreLockedError: Another run did not finish in time.
        StoreError: The store failed; the index is still there.
    """
    files = directory / "store"
    with space_lock(directory, timeout=timeout):
        files.mkdir(exist_ok=True)
        try:
            store.open(space=directory.name, dimension=dimension, directory=files)
            store.drop()
        except StoreDamagedError:
            if not any(files.iterdir()):  # it lies elsewhere
                raise
        finally:
            store.close()
        shutil.rmtree(aside, ignore_errors=True)  # what an interrupted removal left
        directory.rename(aside)
    shutil.rmtree(aside)
