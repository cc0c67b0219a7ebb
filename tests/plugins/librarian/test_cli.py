"""``ragloom librarian``, in processes of its own."""

import json
import os
import re
import shutil
import subprocess
import sys

import pytest

QUESTION = "How do I log errors?"


def ragloom(folder, *arguments, **variables):
    return subprocess.run(
        [sys.executable, "-m", "ragloom", *arguments],
        cwd=folder,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=False,
        encoding="utf-8",
    )


def test_a_rebuild_says_what_it_did(bare):
    first = ragloom(bare, "librarian", "rebuild")
    assert re.fullmatch(
        r"12 files indexed, 0 skipped, 0 removed, 75 chunks created \(75 embedded\), \d+\.\d s\n",
        first.stdout,
    )
    # Every ten seconds a line says how far the run is.
    assert [] == [line for line in first.stderr.splitlines() if " of " not in line]

    (bare / "docs" / "standards" / "logging.md").unlink()
    file = bare / "docs" / "LLDs" / "done" / "0021-invoice-export.md"
    file.write_text(file.read_text("utf-8") + "\n## New\n\nText.\n", "utf-8")
    second = ragloom(bare, "librarian", "rebuild", "--incremental")

    assert second.stdout.startswith(
        "1 file indexed, 10 skipped, 1 removed, 4 chunks created (1 embedded)"
    )


def test_a_full_rebuild_reads_every_file_again(project):
    done = ragloom(project, "librarian", "rebuild", "--full", "--json")

    report = json.loads(done.stdout)
    assert {"indexed": 12, "skipped": 0, "removed": 0, "failed": []} == report["files"]
    assert {"created": 75, "embedded": 0, "total": 75} == report["chunks"]


def test_full_and_incremental_exclude_each_other(project):
    done = ragloom(project, "librarian", "rebuild", "--full", "--incremental")

    assert 2 == done.returncode
    assert "exclude each other" in done.stderr


def test_without_folders_it_fails_with_one_line(tmp_path):
    done = ragloom(tmp_path, "librarian", "rebuild")

    assert (1, "") == (done.returncode, done.stdout)
    assert 1 == len(done.stderr.splitlines())
    assert "librarian.sources of ragloom.yaml" in done.stderr


def test_folders_can_be_named(bare):
    done = ragloom(bare, "librarian", "rebuild", "--source", "docs/standards")

    assert done.stdout.startswith("5 files indexed")


def test_a_query_shows_score_place_and_section(project):
    done = ragloom(project, "librarian", "query", QUESTION)

    rows = [line.split("\t") for line in done.stdout.splitlines()]
    assert 3 == len(rows)
    assert all(re.fullmatch(r"docs/\S+\.md:\d+-\d+", place) for _, place, _ in rows)
    assert all(float(score) >= 0.7 for score, _, _ in rows)


@pytest.mark.parametrize(
    ("arguments", "variables", "count"),
    [
        ((), {}, 3),
        (("--top-n", "1"), {}, 1),
        (("--threshold", "1"), {}, 0),
        ((), {"RAGLOOM_LIBRARIAN_TOP_N": "2"}, 2),
        (("--top-n", "3"), {"RAGLOOM_LIBRARIAN_TOP_N": "2"}, 3),
    ],
)
def test_options_are_above_the_environment(project, arguments, variables, count):
    done = ragloom(project, "librarian", "query", QUESTION, "--json", *arguments, **variables)

    assert count == len(json.loads(done.stdout))


def test_nothing_relevant_is_said_on_stderr(project):
    done = ragloom(project, "librarian", "query", "Klingon localization")

    assert (0, "") == (done.returncode, done.stdout)
    assert re.search(
        r"no document: no relevant match \(best 0\.\d\d, minimum 0\.70\); closest: docs/.*:\d+ .*; "
        "show it with --threshold 0",
        done.stderr,
    )


def test_an_option_out_of_range_is_one_line(project):
    done = ragloom(project, "librarian", "query", QUESTION, "--threshold", "2")

    assert 2 == done.returncode
    assert done.stderr.startswith("error: Invalid value for '--threshold': 2.0 is not in the range")
    assert 1 == len(done.stderr.splitlines())


def test_without_a_command_it_shows_its_help(project):
    done = ragloom(project, "librarian")

    assert 2 == done.returncode
    assert "ragloom librarian query" in done.stderr


# A bar is there a second after the beginning, which may be before or after the files were read.
SHOWN_AT_ONCE = """
from ragloom.cli import _progress, main
_progress._PATIENCE = 3600
told = _progress._Bar.__call__
def tell(self, *arguments):
    told(self, *arguments)
    if self._bar is None:
        self._show()
_progress._Bar.__call__ = tell
main()
"""


def test_the_progress_bar_counts_bytes_and_chunks_with_their_rate(bare):
    pty = pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", SHOWN_AT_ONCE, "librarian", "rebuild"],
        cwd=bare,
        stdout=subprocess.DEVNULL,
        stderr=theirs,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "100"},
    )
    os.close(theirs)
    written = b""
    while True:
        try:
            some = os.read(ours, 65536)
        except OSError:
            break
        if not some:
            break
        written += some
    os.close(ours)
    assert 0 == process.wait(120)

    shown = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", written.decode())
    assert re.search(r"reading files .*kB.* left", shown)
    assert re.search(r"embedding chunks .*75/75", shown)


def test_the_knowledge_base_is_served_with_the_other_spaces(project, host):
    from ragloom import Workspace
    from ragloom_librarian.knowledge_base import named_spaces

    spaces = named_spaces(Workspace.open(project, host=host))
    assert 75 == len(spaces["librarian"].snapshot())


@pytest.mark.parametrize("folder", ["empty", "docs/LLDs/done", "notes"])
def test_a_folder_named_once_does_not_empty_the_knowledge_base(project, folder):
    target = project / folder
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir()
    (target / "page.txt").write_text("No Markdown.\n")

    done = ragloom(project, "librarian", "rebuild", "--source", folder)

    assert (1, "") == (done.returncode, done.stdout)
    expected = f"error: {folder}: there is no Markdown file; the knowledge base stays as it is\n"
    assert expected == done.stderr
    assert 3 == len(ragloom(project, "librarian", "query", QUESTION).stdout.splitlines())


def test_the_folders_of_the_settings_may_be_empty(project):
    for page in (project / "docs").rglob("*.md"):
        page.unlink()

    done = ragloom(project, "librarian", "rebuild")

    assert done.stdout.startswith("0 files indexed, 0 skipped, 12 removed")


def test_the_context_is_what_the_node_writes(project):
    (project / "brief.md").write_text("# Brief\n\nExport invoices.\n")
    from ragloom_librarian import make_librarian_node

    update = make_librarian_node(workspace=project)(
        {"issue_brief": QUESTION, "manual_context": ["brief.md"]}
    )
    command = ("librarian", "query", QUESTION, "--context", "--manual", "brief.md")
    shown = ragloom(project, *command)
    assert (0, update["combined_context"]) == (shown.returncode, shown.stdout.rstrip("\n"))
    assert update == json.loads(ragloom(project, *command, "--json").stdout)


def test_files_by_hand_need_the_context(project):
    done = ragloom(project, "librarian", "query", QUESTION, "--manual", "brief.md")
    assert 2 == done.returncode
    assert "--manual goes with --context" in done.stderr


def test_a_context_without_documents_is_empty_and_says_why(project):
    done = ragloom(project, "librarian", "query", "Klingon localization", "--context")
    assert (0, "") == (done.returncode, done.stdout)
    assert "no document" in done.stderr
