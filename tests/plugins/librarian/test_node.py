"""Whatever is given to the node, and whatever fails below it, the workflow goes on."""

import asyncio
import logging
import os
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ragloom import ConfigError, SourceError
from ragloom_librarian import (
    LibrarianNode,
    LibrarianSettings,
    check_rag_available,
    make_librarian_node,
)


class PanicException(BaseException):
    pass


BRIEF = "How do I log errors?"
PAGE = "docs/standards/logging.md"
KEYS = {"retrieved_context", "combined_context", "degraded_reason"}


def ask(node, mode, state):
    return node(state) if mode == "sync" else asyncio.run(node.acall(state))


modes = pytest.mark.parametrize("mode", ["sync", "coroutine"])


@modes
@pytest.mark.parametrize(
    "error",
    [
        RecursionError("too deep"),
        OverflowError("too large"),
        OSError(2, "gone"),
        SystemExit(3),
        PanicException("no entry found for key"),
    ],
    ids=lambda error: type(error).__name__,
)
@pytest.mark.parametrize("step", ["open", "limited query", "query"])
def test_any_failure_of_any_step_is_a_reason(error, step, mode, caplog):
    def fail(*_):
        raise error

    def open_base():
        timeout = 0 if step == "query" else 60
        return SimpleNamespace(
            workspace=SimpleNamespace(root=Path()),
            settings=LibrarianSettings(timeout=timeout),
            query=fail,
        )

    node = LibrarianNode(fail if step == "open" else open_base)

    update = ask(
        node, mode, {"issue_brief": BRIEF, "manual_context": ["none.md"][: step == "open"]}
    )

    assert {"degraded_reason"} == set(update)
    assert type(error).__name__ in update["degraded_reason"]
    (line,) = [r.getMessage() for r in caplog.records if r.levelno == logging.WARNING]
    assert update["degraded_reason"] in line


@pytest.mark.parametrize(
    "content",
    [
        "x: &a [*a]\n",
        f"librarian: {{threshold: {10**400}}}\n",
        f"librarian: {{timeout: {10**400}}}\n",
        "librarian: {sources: {a: b}}\n",
        "librarian: [1]\n",
        "\0",
    ],
    ids=lambda content: content[:22],
)
@modes
def test_no_settings_file_breaks_the_workflow(project, host, content, mode):
    (project / "ragloom.yaml").write_text(content)

    update = ask(make_librarian_node(workspace=project, host=host), mode, {"issue_brief": BRIEF})

    assert {"degraded_reason"} == set(update)
    assert "ragloom.yaml" in update["degraded_reason"]


@modes
def test_a_current_folder_that_is_gone(tmp_path, monkeypatch, host, mode):
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()

    update = ask(make_librarian_node(host=host), mode, {"issue_brief": BRIEF})

    assert "there is no such folder" in update["degraded_reason"]


@pytest.mark.parametrize("wrap", [str, Path, lambda given: [given], lambda given: (Path(given),)])
@modes
def test_one_file_by_hand_is_a_list_of_one(built, host, wrap, mode):
    node = make_librarian_node(workspace=built, host=host)

    update = ask(node, mode, {"issue_brief": BRIEF, "manual_context": wrap(PAGE)})

    assert f'source="{PAGE}"' in update["combined_context"].splitlines()[0]


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        ({"manual_context": [5]}, "manual context: expected a list of paths"),
        ({"manual_context": 5}, "manual context: expected a list of paths"),
        ({"issue_brief": 5}, "issue_brief: expected text, found int"),
    ],
)
@modes
def test_what_is_no_text_is_named(built, host, wrong, reason, mode):
    node = make_librarian_node(workspace=built, host=host)

    update = ask(node, mode, {"issue_brief": BRIEF, **wrong})

    assert {"degraded_reason"} == set(update)
    assert update["degraded_reason"].startswith(reason)


@modes
def test_any_time_limit_is_kept_to(built, host, mode):
    node = make_librarian_node(LibrarianSettings(timeout=1e300), workspace=built, host=host)

    assert 3 == len(ask(node, mode, {"issue_brief": BRIEF})["retrieved_context"])


def test_the_state_may_be_an_object(built, host):
    state = SimpleNamespace(issue_brief=BRIEF, manual_context=[PAGE])

    update = make_librarian_node(workspace=built, host=host)(state)

    assert 3 <= update["combined_context"].count("source=")


odd = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)
states = odd | st.dictionaries(
    st.sampled_from(["issue_brief", "manual_context", "degraded_reason", "retrieved_context"]), odd
)


@modes
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=150)
@given(state=states)
def test_no_state_breaks_the_workflow(built, host, mode, state):
    try:
        update = ask(make_librarian_node(workspace=built, host=host), mode, state)
    except SourceError as error:  # the caller's to know
        assert str(error).startswith("manual context: ")  # noqa: PT017
    else:
        assert set(update) <= KEYS
        assert update


def test_paths_that_no_file_can_have_are_missing(built, host):
    node = make_librarian_node(workspace=built, host=host)
    (built / "loop.md").symlink_to("loop.md")
    try:
        for name in ("x" * 5000, "a\0b", "\ud800", "loop.md", os.fsdecode(b"\xff")):
            with pytest.raises(SourceError, match="there is no file"):
                node({"issue_brief": BRIEF, "manual_context": [name]})
    finally:
        (built / "loop.md").unlink()


def test_in_a_folder_that_is_gone_nothing_is_available(tmp_path, monkeypatch, host):
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()

    available, message = check_rag_available(host=host)

    assert (False, ".: there is no such folder") == (available, message.rpartition(": ")[0])


@modes
def test_files_by_hand_are_relative_to_the_project_where_nothing_opens(bare, host, mode):
    (bare / "brief.md").write_text("Export invoices.\n")
    (bare / ".env").write_text("TOKEN=abc\n")
    (bare / "ragloom.yaml").write_text("librarian: {threshold: 9}\n")
    node = make_librarian_node(workspace=bare, host=host)

    update = ask(node, mode, {"manual_context": ["brief.md", "none.md", ".env"]})

    assert "Export invoices." in update["combined_context"]
    assert "TOKEN" not in update["combined_context"]
    said = update["degraded_reason"]
    assert "ragloom.yaml:1" in said
    assert "there is no file none.md" in said
    assert ".env looks like a secret" in said


@modes
@pytest.mark.parametrize("step", ["open", "query"])
def test_the_time_limit_holds_for_every_step(step, mode):
    over = threading.Event()

    def hang(*_):
        over.wait(60)

    base = SimpleNamespace(
        workspace=SimpleNamespace(root=Path()), settings=LibrarianSettings(), query=hang
    )
    node = LibrarianNode(hang if step == "open" else lambda: base, timeout=0.2)

    try:
        update = ask(node, mode, {"issue_brief": BRIEF})
    finally:
        over.set()

    assert {"degraded_reason": "no answer within 0.2 s; timeout= gives more time"} == update


@modes
@pytest.mark.parametrize("given", [[], [PAGE]])
def test_nothing_of_an_earlier_round_is_taken_for_an_answer(bare, host, mode, given):
    earlier = {
        "retrieved_context": [{"file_path": "docs/old.md"}],
        "combined_context": "<document>old</document>",
    }
    node = make_librarian_node(workspace=bare, host=host)

    update = ask(node, mode, {"issue_brief": BRIEF, "manual_context": given, **earlier})

    assert KEYS == set(update)
    assert [] == update["retrieved_context"]
    assert "old" not in update["combined_context"]
    assert len(given) == update["combined_context"].count("source=")


@modes
def test_the_time_limit_of_the_node_comes_before_that_of_the_settings(built, host, mode):
    settings = LibrarianSettings(timeout=1e-9)
    node = make_librarian_node(settings, workspace=built, host=host)
    update = ask(node, mode, {"issue_brief": BRIEF, "manual_context": [PAGE]})
    assert "the setting librarian.timeout gives more time" in update["degraded_reason"]
    assert f'source="{PAGE}"' in update["combined_context"]

    for timeout in (60, 0):
        patient = make_librarian_node(settings, workspace=built, host=host, timeout=timeout)
        assert 3 == len(ask(patient, mode, {"issue_brief": BRIEF})["retrieved_context"])

    hasty = make_librarian_node(workspace=built, host=host, timeout=1e-9)
    assert "timeout= gives more time" in ask(hasty, mode, {"issue_brief": BRIEF})["degraded_reason"]


@pytest.mark.parametrize("timeout", [-1, float("nan")])
def test_a_time_limit_that_is_none_is_refused(timeout):
    with pytest.raises(ConfigError, match="timeout: expected seconds"):
        make_librarian_node(timeout=timeout)


def test_the_time_limit_is_a_variable_too(built, host, monkeypatch):
    monkeypatch.setenv("RAGLOOM_LIBRARIAN_TIMEOUT", "0.000000001")
    update = make_librarian_node(workspace=built, host=host)({"issue_brief": BRIEF})
    assert "no answer within 1e-09 s" in update["degraded_reason"]
