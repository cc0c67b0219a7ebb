"""The command as people run it: real processes, the real model and store, terminals and signals."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time

import pytest

pytest.importorskip("onnxruntime", reason="needs the extra [standard]")
pytest.importorskip("pymilvus", reason="needs the extra [standard]")

RAGLOOM = [sys.executable, "-m", "ragloom"]
ANSWER = "docs/observability/pillars/logging.md"


@pytest.fixture(scope="module")
def indexed(root, tmp_path_factory):
    """A workspace with the example docs, indexed once as a person would."""
    folder = tmp_path_factory.mktemp("workspace")
    shutil.copytree(root / "examples" / "docs", folder / "docs")
    ragloom("index", "docs", cwd=folder)
    return folder


@pytest.fixture
def workspace(indexed, tmp_path):
    """A copy of it that a test may change; the times of its files are kept."""
    return shutil.copytree(indexed, tmp_path / "workspace")


def ragloom(*arguments, cwd, code=0, **environment):
    done = subprocess.run(
        [*RAGLOOM, *arguments],
        cwd=cwd,
        env={**os.environ, **environment},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert code == done.returncode, done.stderr
    return done


def on_terminal(*arguments, cwd, **environment):
    """What a terminal of 100 columns shows."""
    pty = pytest.importorskip("pty", reason="no pseudo terminals here")
    ours, theirs = pty.openpty()
    given = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "100", **environment}
    with subprocess.Popen(
        [*RAGLOOM, *arguments], cwd=cwd, env=given, stdin=theirs, stdout=theirs, stderr=theirs
    ) as process:
        os.close(theirs)
        shown = b""
        while True:
            try:
                part = os.read(ours, 65536)
            except OSError:  # the other end is closed
                break
            if not part:
                break
            shown += part
        os.close(ours)
    assert 0 == process.returncode, shown
    return shown.decode().replace("\r\n", "\n")


def hear_sigint():
    """A shell starts what runs in the background deaf to SIGINT, and so its children."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def test_a_question_is_answered_with_file_and_lines(indexed):
    done = ragloom("search", "How do I log errors?", "docs", "--json", cwd=indexed)
    found = json.loads(done.stdout)
    assert ANSWER == found["hits"][0]["path"]
    for hit in found["hits"]:
        content = (indexed / hit["path"]).read_bytes()
        assert hit["text"] == content[hit["start_byte"] : hit["end_byte"]].decode()
        assert found["hits"][0]["relevance"] > 0.5
    assert "" == done.stderr


def test_in_a_pipe_lines_are_plain(indexed):
    done = ragloom("search", "How do I log errors?", "docs", cwd=indexed)
    for line in done.stdout.splitlines():
        assert re.match(r"docs/\S+\.md:\d+: [01]\.\d\d \S", line)
    assert "\x1b" not in done.stdout + done.stderr


def test_on_a_terminal_words_are_marked_and_lines_numbered(indexed):
    shown = on_terminal("search", "How do I log errors?", "docs", cwd=indexed)
    plain = re.sub("\x1b\\[[0-9;]*m|\x1b\\]8;[^\x1b]*\x1b\\\\", "", shown)  # colours and links
    assert re.search(rf"^[01]\.\d\d  {ANSWER}:\d+-\d+$", plain, re.MULTILINE)
    assert "\n      Logging > Best Practices\n" in plain
    assert re.search("\x1b\\[31m(\x1b\\[1m)?[Ll]ogg(ing|ed)\x1b\\[0m", shown)
    (number, line) = re.search(r"^ +(\d+) │ (- \S.{20})", plain, re.MULTILINE).groups()
    lines = (indexed / ANSWER).read_text("utf-8").splitlines()
    assert lines[int(number) - 1].startswith(line)


@pytest.mark.parametrize(
    ("arguments", "environment"),
    [((), {"NO_COLOR": "1"}), (("--no-color",), {}), ((), {"TERM": "dumb"})],
)
def test_colours_can_be_declined(indexed, arguments, environment):
    shown = on_terminal("search", "log errors", "docs", *arguments, cwd=indexed, **environment)
    assert "logging.md" in shown
    assert "\x1b[3" not in shown


def test_tables_on_a_terminal(indexed):
    shown = on_terminal("status", cwd=indexed, NO_COLOR="1")
    assert "up to date" in shown
    assert "changes" in shown


def test_nothing_found_is_no_error(indexed):
    done = ragloom("search", "How do I bake sourdough bread?", "docs", cwd=indexed)
    assert "" == done.stdout
    assert done.stderr.splitlines()[-1].startswith("no hits: no relevant match")


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("search", "x", "nosuch"), 1, "error: nosuch: there is no such file or folder"),
        (("search",), 2, "error: Missing argument 'QUERY'"),
        (("search", "x", "--mode", "fuzzy"), 2, "'hybrid', 'rrf', 'dense', 'lexical'"),
        (("-C", "nowhere", "status"), 1, "error: nowhere: there is no such folder"),
        (("serach",), 2, "did you mean 'search'?"),
    ],
)
def test_every_error_is_one_line(indexed, arguments, code, said):
    done = ragloom(*arguments, cwd=indexed, code=code)
    assert "" == done.stdout
    assert said in done.stderr
    assert 1 == done.stderr.count("\n")


def test_a_bug_is_one_line_and_a_code_of_its_own(tmp_path):
    program = (
        "import sys, ragloom.plugin.host\n"
        "ragloom.plugin.host.PluginHost.discover = lambda **_: 1 / 0\n"
        "sys.argv = ['ragloom', 'plugins']\n"
        "from ragloom.cli import main\nmain()"
    )
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert 70 == done.returncode
    assert "error: ZeroDivisionError: division by zero (this is a bug in ragloom" in done.stderr
    assert 1 == done.stderr.count("\n")


@pytest.mark.skipif(os.name == "nt", reason="pipes there end otherwise")
def test_a_reader_that_leaves_early_is_no_error(indexed):
    command = [*RAGLOOM, "search", "errors", "docs", "-k", "90", "--min-relevance", "0"]
    with subprocess.Popen(
        command, cwd=indexed, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        process.stdout.close()
        said = process.stderr.read()
    assert (0, b"") == (process.returncode, said)


def test_a_change_is_found_and_not_without_refresh(workspace):
    page = "# Zebra crossings\n\nZebra crossings are repainted by the night shift.\n"
    (workspace / "docs" / "Straße 道路.md").write_text(page, "utf-8")
    query = ("search", "who repaints zebra crossings?", "docs", "--json")
    before = json.loads(ragloom(*query, "--no-refresh", cwd=workspace).stdout)
    assert [] == before["hits"]
    done = ragloom(*query, cwd=workspace)
    assert "docs/Straße 道路.md" == json.loads(done.stdout)["hits"][0]["path"]
    assert re.search(r"^indexed docs: \d+ files \(1 added\)", done.stderr, re.MULTILINE)


def test_output_in_an_encoding_that_lacks_a_character(indexed):
    done = ragloom("search", "How do I log errors?", "docs", cwd=indexed, PYTHONIOENCODING="ascii")
    assert ANSWER in done.stdout
    done = ragloom(
        "search", "errors ’ 道路", "docs", "--json", cwd=indexed, PYTHONIOENCODING="ascii"
    )
    assert "errors ’ 道路" == json.loads(done.stdout)["query"]


INTERRUPTED = re.compile(
    r"interrupted: (?P<index>[a-z ]+)(; the next run resumes with (?P<kept>\d+) embedded chunks?)?\n"
)


@pytest.mark.skipif(os.name == "nt", reason="there is no SIGINT to send there")
def test_ctrl_c_says_what_is_kept_and_the_next_run_resumes_there(tmp_path, root):
    shutil.copytree(root / "examples" / "docs", tmp_path / "docs")
    with subprocess.Popen(
        [*RAGLOOM, "index", "docs"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=hear_sigint,  # noqa: PLW1509
    ) as process:
        journal = tmp_path / ".ragloom" / "spaces" / "docs" / "embeddings.journal"
        while not (journal.exists() and journal.stat().st_size) and process.poll() is None:
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=120)
    # Python ends by the signal itself where it came in Python that C runs; shells call both 130.
    assert (True, "") == (process.returncode in (130, -signal.SIGINT), out)
    said = INTERRUPTED.fullmatch(err.lstrip("\n"))
    assert said, err
    assert "nothing is indexed yet" == said["index"]
    kept = int(said["kept"])
    assert kept > 0

    chunks = json.loads(ragloom("index", "docs", "--json", cwd=tmp_path).stdout)["chunks"]
    assert (kept, chunks["total"]) == (chunks["reused"], chunks["embedded"] + kept)


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="there is no SIGINT to send there")
@pytest.mark.parametrize("delay", [0, 0.3])
def test_ctrl_c_leaves_the_last_index_answering(workspace, delay):
    for number in range(60):
        paragraphs = (
            f"Paragraph {n} of page {number} is on subject {n * number}." for n in range(50)
        )
        (workspace / "docs" / f"page{number}.md").write_text("\n\n".join(paragraphs))
    command = [*RAGLOOM, "index", "docs"]
    with subprocess.Popen(
        command,
        cwd=workspace,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=hear_sigint,  # noqa: PLW1509
    ) as process:
        holder = workspace / ".ragloom" / "spaces" / "docs" / "lock.holder"
        while not holder.exists() and process.poll() is None:
            time.sleep(0.01)
        time.sleep(delay)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=120)
    # Python ends by the signal itself where it came in Python that C runs; shells call both 130.
    assert (True, "") == (process.returncode in (130, -signal.SIGINT), out)
    kept = INTERRUPTED.fullmatch(err.lstrip("\n"))
    assert kept, err
    assert "the last index stays in use" == kept["index"]
    query = ("search", "How do I log errors?", "docs", "--json", "--no-refresh")
    assert ANSWER == json.loads(ragloom(*query, cwd=workspace).stdout)["hits"][0]["path"]
    assert not holder.exists()
    report = json.loads(ragloom("index", "docs", "--json", cwd=workspace).stdout)
    pages = sum(1 for _ in (workspace / "docs").rglob("*.md"))
    assert pages <= report["files"]["added"] + report["files"]["unchanged"]


def test_a_run_without_changes_opens_neither_store_nor_model(indexed):
    program = (
        "import sys\nsys.argv = ['ragloom', 'index', 'docs', '-q']\n"
        "from ragloom.cli import main\n"
        "try: main()\nfinally: print(*sorted(sys.modules))"
    )
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, cwd=indexed, capture_output=True, text=True, check=True)
    heavy = {"onnxruntime", "tokenizers", "pymilvus", "milvus_lite", "filelock", "rich"}
    assert set() == set(done.stdout.split()) & heavy


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash")
def test_completion_in_bash(indexed):
    done = ragloom(
        cwd=indexed,
        _RAGLOOM_COMPLETE="bash_complete",
        COMP_WORDS="ragloom search x --space ",
        COMP_CWORD="4",
    )
    assert "plain,docs\n" == done.stdout


@pytest.fixture
def held(workspace):
    """Runs a command in the workspace that is held to the modes of files, which root is not."""
    prefix = []
    if not hasattr(os, "geteuid"):
        pytest.skip("no modes of files here")
    if os.geteuid() == 0:
        if shutil.which("setpriv") is None:
            pytest.skip("root may do everything")
        prefix = ["setpriv", "--bounding-set", "-dac_override,-dac_read_search,-fowner"]

    def run(*arguments):
        command = [*prefix, *RAGLOOM, *arguments]
        return subprocess.run(
            command, check=False, cwd=workspace, capture_output=True, encoding="utf-8"
        )

    return run


@pytest.fixture
def read_only(held, workspace):
    """The same, with a workspace that may not be written to."""
    folders = [workspace, *(path for path in workspace.rglob("*") if path.is_dir())]
    for folder in folders:
        folder.chmod(0o555)
    yield held
    for folder in folders:
        folder.chmod(0o755)


def test_a_folder_that_may_not_be_listed_loses_nothing(held, workspace):
    folder = workspace / "docs" / "observability"
    folder.chmod(0)
    (workspace / "docs" / "new.md").write_text("# New\n\nText.\n", "utf-8")
    try:
        done = held("index", "docs")
    finally:
        folder.chmod(0o755)
    assert "docs/observability: not indexed: cannot be listed" in done.stderr
    assert "removed" not in done.stdout + done.stderr
    assert ANSWER in ragloom("search", "How do I log errors?", "docs", cwd=workspace).stdout


@pytest.mark.parametrize("command", ["search", "context"])
def test_an_index_that_cannot_be_written_answers(read_only, workspace, command):
    assert ANSWER in read_only(command, "How do I log errors?", "docs").stdout
    with (workspace / "docs" / "README.md").open("a", encoding="utf-8") as stream:
        stream.write("\nMore.\n")
    done = read_only(command, "How do I log errors?", "docs")
    assert ANSWER in done.stdout
    assert "Permission denied; searching the last index" in done.stderr
    assert 0 == read_only("status").returncode
    done = read_only("index", "docs")
    assert 1 == done.returncode
    assert 1 == len(done.stderr.strip().splitlines())


@pytest.mark.parametrize(
    ("settings", "paths", "said"),
    [
        ("", ("doks",), "error: doks: there is no such file or folder"),
        ("", ("doks", "nosuch.md"), "error: doks: there is no such file or folder"),
        ("sources: [doks]\n", (), "ragloom.yaml:1: doks: there is no such file or folder"),
        (
            "spaces:\n  a: {sources: [doks]}\n  b: {sources: ['nosuch/*.md']}\n",
            (),
            "ragloom.yaml:2: doks: there is no such file or folder",
        ),
    ],
)
def test_a_watch_of_nothing_that_exists_fails_at_once(tmp_path, settings, paths, said):
    (tmp_path / "docs").mkdir()
    if settings:
        (tmp_path / "ragloom.yaml").write_text(settings)
    done = subprocess.run(
        [*RAGLOOM, "watch", *paths],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (1, "", 1) == (done.returncode, done.stdout, done.stderr.count("\n"))
    assert said in done.stderr
    assert not (tmp_path / ".ragloom").exists()


@pytest.mark.skipif(os.name == "nt", reason="there is no SIGINT to send there")
def test_a_watch_says_once_what_is_odd_and_follows_a_folder_that_comes_later(tmp_path):
    (tmp_path / "ragloom.yaml").write_text(
        "spaces:\n  docs: {sources: [docs]}\n  later: {sources: [later]}\n"
    )
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "page.md").write_text("# Stripes\n\nZebras hide in them.\n")
    (docs / "link.md").symlink_to(tmp_path / "ragloom.yaml")
    (docs / "broken.md").write_bytes(b"\0\1\2" * 100)
    (docs / "drawing.xyz").write_text("Not read.\n")
    with subprocess.Popen(
        [*RAGLOOM, "watch"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=hear_sigint,  # noqa: PLW1509
    ) as process:
        lines = [process.stdout.readline()]
        (docs / "page.md").write_text("# Stripes\n\nOkapis hide in them, too.\n")
        lines.append(process.stdout.readline())
        (docs / "more.md").symlink_to(tmp_path / "ragloom.yaml")
        (tmp_path / "later").mkdir()
        (tmp_path / "later" / "page.md").write_text("# Later\n\nIt came.\n")
        lines.append(process.stdout.readline())
        (docs / "page.md").write_text("# Stripes\n\nQuaggas hid in them.\n")
        lines.append(process.stdout.readline())
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=120)
    told = [
        "docs: 1 file (1 add",
        "docs: 1 file (1 upd",
        "later: 1 file (1 ad",
        "docs: 1 file (1 upd",
    ]
    assert told == [line[:19] for line in lines]
    for once in (
        *("docs/link.md: a link to outside the roots", "docs/broken.md: not indexed"),
        *("docs: no loader reads .xyz", "1 file not indexed", "docs/more.md: a link to outside"),
        f"later: {tmp_path / 'ragloom.yaml'}:3: later: there is no such file or folder",
    ):
        assert 1 == errors.count(once), (once, errors)


@pytest.mark.skipif(os.name == "nt", reason="there is no SIGINT to send there")
def test_a_watch_says_what_changed_until_it_is_interrupted(tmp_path):
    (tmp_path / "docs").mkdir()
    page = tmp_path / "docs" / "page.md"
    page.write_text("# Stripes\n\nZebras hide in them.\n")
    with subprocess.Popen(
        [*RAGLOOM, "watch", "docs", "--json"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=hear_sigint,  # noqa: PLW1509
    ) as process:
        reports = [json.loads(process.stdout.readline())]
        page.write_text("# Stripes\n\nOkapis hide in them, too.\n")
        reports.append(json.loads(process.stdout.readline()))
        page.unlink()
        reports.append(json.loads(process.stdout.readline()))
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=120)
    assert [(1, 0, 0), (0, 1, 0), (0, 0, 1)] == [
        tuple(report["files"][key] for key in ("added", "updated", "removed")) for report in reports
    ]
    assert 130 == process.returncode, errors
    assert errors.startswith("watching docs; stop with Ctrl-C\n")
