"""A file of lines to which any number of processes append, and which is rotated by its size."""

from __future__ import annotations

import errno
import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import pairwise
from pathlib import Path

_CREATE = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
_APPEND = _CREATE | os.O_APPEND | getattr(os, "O_BINARY", 0)  # the last on Windows
_READ = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)
_BY_FOLDER = os.open in os.supports_dir_fd  # not on Windows
_WAIT = 0.05
"""Seconds to wait for another writer, which holds the lock for microseconds unless it was stopped."""


class LogFile:
    """Appends lines to a file; what others wrote is neither written to, moved nor removed.

    Args:
        path: The file; its older ones end in ``.1``, ``.2`` and so on.
        root: Below it no link is followed.
        begins: What every line begins with, by which a file is known as one of these.
        max_bytes: A file that would grow beyond this is moved to ``.1``.
        keep: How many older files are kept.
    """

    def __init__(self, path: Path, *, root: Path, begins: bytes, max_bytes: int, keep: int) -> None:
        self._path = path
        self._root = root
        self._begins = begins
        self._max_bytes = max_bytes
        self._keep = keep

    def append(self, line: bytes) -> None:
        """Append one line.

        Raises:
            OSError: It cannot be written, or the file is a link or another program's; or it was appended
                and the files are not rotated, because one of them is.
        """
        unmoved: OSError | None = None
        with self._opened_folder() as folder, self._alone(folder) as alone:
            # Without the lock another process may be rotating: a line is appended, nothing is moved.
            if alone and 0 < self._size(folder) > self._max_bytes - len(line):
                try:
                    self._rotate(folder)
                except OSError as error:
                    unmoved = error
            descriptor = os.open(self._at(self._path.name, folder), _APPEND, 0o600, dir_fd=folder)
            try:
                self._refuse_foreign(descriptor, self._path.name)
                if os.lseek(descriptor, 0, os.SEEK_END):
                    os.lseek(descriptor, -1, os.SEEK_END)
                    if os.read(descriptor, 1) != b"\n":  # a full disk, or a writer that was killed
                        line = b"\n" + line
                # One call: O_APPEND keeps lines of several writers whole.
                os.write(descriptor, line)
            finally:
                os.close(descriptor)
        if unmoved is not None:
            raise unmoved

    def _rotate(self, folder: int | None) -> None:
        """Move the file to ``.1``, ``.1`` to ``.2``, and so on; the oldest is removed."""
        name = self._path.name
        names = [name, *(f"{name}.{number}" for number in range(1, self._keep + 1))]
        for one in names:
            with suppress(FileNotFoundError):
                descriptor = os.open(self._at(one, folder), _READ, dir_fd=folder)
                try:
                    self._refuse_foreign(descriptor, one)
                finally:
                    os.close(descriptor)
        with suppress(FileNotFoundError):
            os.unlink(self._at(names[-1], folder), dir_fd=folder)
        for newer, older in reversed(list(pairwise(names))):
            with suppress(FileNotFoundError):
                places = self._at(newer, folder), self._at(older, folder)
                os.replace(*places, src_dir_fd=folder, dst_dir_fd=folder)

    def _refuse_foreign(self, descriptor: int, name: str) -> None:
        status = os.fstat(descriptor)
        place = str(self._path.with_name(name))
        if not stat.S_ISREG(status.st_mode) or status.st_nlink > 1:
            raise OSError(errno.EINVAL, "it is no file of its own", place)
        os.lseek(descriptor, 0, os.SEEK_SET)
        first, _, _ = os.read(descriptor, len(self._begins)).partition(b"\n")
        if not self._begins.startswith(first):  # a first line that is torn may be shorter
            raise OSError(errno.EINVAL, "another program wrote it", place)

    def _size(self, folder: int | None) -> int:
        try:
            place = self._at(self._path.name, folder)
            return os.stat(place, dir_fd=folder, follow_symlinks=False).st_size
        except FileNotFoundError:
            return 0

    def _at(self, name: str, folder: int | None) -> str:
        return str(self._path.with_name(name)) if folder is None else name

    @contextmanager
    def _opened_folder(self) -> Iterator[int | None]:
        """The folder of the file, created where it is missing; None where it has only a path."""
        parent = self._path.parent
        below = parent.is_relative_to(self._root) and ".." not in parent.parts
        if not below or not _BY_FOLDER:
            parent.mkdir(parents=True, exist_ok=True)
        if not _BY_FOLDER:
            yield None
            return
        start = self._root if below else parent
        folder = os.open(start, os.O_RDONLY | os.O_DIRECTORY)
        try:
            for part in parent.relative_to(start).parts:
                with suppress(FileExistsError):
                    os.mkdir(part, dir_fd=folder)
                inner = os.open(part, _FOLDER, dir_fd=folder)
                os.close(folder)
                folder = inner
            yield folder
        finally:
            os.close(folder)

    @contextmanager
    def _alone(self, folder: int | None) -> Iterator[bool]:
        """Try to hold the lock beside the file, and say whether it is held; nobody waits long."""
        name = f"{self._path.name}.lock"
        try:
            import fcntl
        except ImportError:  # Windows
            from filelock import FileLock, Timeout

            lock = FileLock(self._path.with_name(name))
            with suppress(Timeout):
                lock.acquire(timeout=_WAIT, poll_interval=_WAIT / 10)
            try:
                yield lock.is_locked
            finally:
                lock.release()
            return
        descriptor = os.open(name, _CREATE, 0o600, dir_fd=folder)
        held = False
        until = time.monotonic() + _WAIT
        try:
            while not held and time.monotonic() < until:
                try:
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    held = True
                except BlockingIOError:
                    time.sleep(_WAIT / 50)
            yield held
        finally:
            os.close(descriptor)  # which lets the lock go
