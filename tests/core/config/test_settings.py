"""Settings: where each value comes from, and what is said of a wrong one."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from ragloom import ConfigError, RagloomError, Workspace
from ragloom.config.settings import Component, SpaceSettings, load_settings


def write(folder: Path, text: str) -> Path:
    """Write ``ragloom.yaml``."""
    path = folder / "ragloom.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_without_a_file_there_are_defaults(tmp_path: Path) -> None:
    settings = load_settings(tmp_path, environment={})

    assert settings.space("anything") == SpaceSettings()
    assert settings.origin("top_k") == "default"


def test_the_file_a_space_and_the_environment_override_in_this_order(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        "top_k: 7\nmode: dense\nchunker: {name: heading, levels: [1]}\n"
        "spaces:\n  docs:\n    sources: [docs]\n    top_k: 9\n    store: {name: sqlite, path: a.db}\n",
    )

    settings = load_settings(tmp_path, environment={})
    docs = settings.space("docs")
    assert (docs.top_k, docs.mode, docs.sources) == (9, "dense", ("docs",))
    assert docs.chunker == Component(name="heading", options={"levels": [1]})
    assert settings.space("other").top_k == 7
    assert settings.origin("spaces.docs.top_k") == f"{path}:7"

    variables = {"RAGLOOM_TOP_K": "11", "RAGLOOM_STORE_PATH": "/x.db", "RAGLOOM_SOURCES": "a, b"}
    settings = load_settings(tmp_path, environment=variables)
    docs = settings.space("docs")
    assert (docs.top_k, docs.sources) == (11, ("a", "b"))
    assert docs.store == Component(name="sqlite", options={"path": "/x.db"})
    assert settings.origin("top_k") == "RAGLOOM_TOP_K"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("top_k: 5\ntopk: 3\n", "ragloom.yaml:2: unknown setting 'topk'; did you mean 'top_k'?"),
        ("\ntop_k: many\n", "ragloom.yaml:2: top_k: expected a whole number from 1, found 'many'"),
        ("top_k: 0\n", "expected a whole number from 1, found 0"),
        ("top_k: true\n", "expected a whole number from 1, found True"),
        ("min_relevance: 1.5\n", "expected a number from 0 to 1, found 1.5"),
        ("rerank_depth: 0\n", "expected a whole number from 1, found 0"),
        ("reranker: {model: x}\n", "expected a component's name, or a mapping with 'name'"),
        ("\nexclude: [a.md, '!']\n", "ragloom.yaml:2: exclude: expected a list of patterns"),
        ("include: '[z-a].md'\n", "include: expected a list of patterns as .gitignore has them"),
        (
            "mode: fuzzy\n",
            "mode: expected one of 'hybrid', 'rrf', 'dense', 'lexical', found 'fuzzy'",
        ),
        ("sources: {a: b}\n", "sources: expected a list of str, found"),
        ("store: {path: x}\n", "expected a component's name, or a mapping with 'name'"),
        ("spaces:\n  a/b: {}\n", "ragloom.yaml:2: 'a/b' cannot name a space"),
        ("spaces:\n  docs: [x]\n", "ragloom.yaml:2: spaces.docs: expected a mapping"),
        ("spaces:\n  docs:\n    storr: x\n", "ragloom.yaml:3: unknown setting 'storr'"),
        ("spaces:\n  docs:\n    spaces: x\n", "ragloom.yaml:3: unknown setting 'spaces'"),
        ("a: [\n", "not valid YAML"),
        ("- a\n", "expected a mapping of settings"),
        ("top_k: 1\ntop_k: 2\n", "ragloom.yaml:2: 'top_k' is given twice"),
        ("top_k: !!python/object:os.system x\n", "ragloom.yaml:1"),
    ],
)
def test_a_wrong_setting_is_one_line_with_its_place(
    tmp_path: Path, text: str, message: str
) -> None:
    write(tmp_path, text)

    with pytest.raises(ConfigError) as caught:
        load_settings(tmp_path, environment={})

    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("nothing", ["none", "null", "off", "'none'"])
def test_there_is_no_reranker_unless_one_is_named(tmp_path: Path, nothing: str) -> None:
    assert SpaceSettings().reranker == Component(name="none")
    write(
        tmp_path, f"reranker: {{name: onnx, model: x}}\nspaces: {{docs: {{reranker: {nothing}}}}}\n"
    )

    settings = load_settings(tmp_path, environment={})
    assert settings.space("other").reranker == Component(name="onnx", options={"model": "x"})
    assert settings.space("docs").reranker == Component(name="none")

    variables = {"RAGLOOM_RERANKER": "none", "RAGLOOM_RERANK_DEPTH": "9"}
    settings = load_settings(tmp_path, environment=variables)
    assert settings.space("other").reranker == Component(name="none")
    assert settings.space("other").rerank_depth == 9


def test_the_options_of_a_reranker_may_come_before_its_name(tmp_path: Path) -> None:
    settings = load_settings(tmp_path, environment={"RAGLOOM_RERANKER_MODEL": "x"})

    assert settings.space("docs").reranker == Component(name="none", options={"model": "x"})


def test_a_wrong_variable_is_named(tmp_path: Path) -> None:
    with pytest.raises(
        ConfigError, match="RAGLOOM_TOP_K: top_k: expected a whole number from 1, found 'x'"
    ):
        load_settings(tmp_path, environment={"RAGLOOM_TOP_K": "x"})


def test_a_file_that_was_asked_for_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"missing\.yaml: cannot be read"):
        load_settings(tmp_path, config=tmp_path / "missing.yaml", environment={})


@pytest.mark.parametrize("name", ["ragloom.yaml", "ragloom.yml"])
@pytest.mark.parametrize(
    ("make", "what"),
    [
        (Path.mkdir, "a folder"),
        (lambda path: path.symlink_to("nowhere"), "a link that leads nowhere"),
        (lambda path: path.symlink_to(path.parent), "a folder"),
        (os.mkfifo, "no regular file"),
    ],
)
def test_what_is_no_file_where_settings_are_read_from_is_named(
    tmp_path: Path, name: str, make: Callable[[Path], None], what: str
) -> None:
    make(tmp_path / name)

    with pytest.raises(ConfigError, match=rf"{name}: {what}, where settings are read from"):
        load_settings(tmp_path, environment={})
    assert load_settings(tmp_path, config=write_elsewhere(tmp_path), environment={}).file


def write_elsewhere(folder: Path) -> Path:
    """Write settings under a name of their own."""
    path = folder / "other.yaml"
    path.write_text("top_k: 3\n", "utf-8")
    return path


@pytest.mark.usefixtures("trusted")
@pytest.mark.parametrize("value", ["~nosuchuser", "~nosuchuser/x.db"])
def test_a_path_of_no_user_is_refused(tmp_path: Path, value: str) -> None:
    (tmp_path / "ragloom.yaml").write_text(f"store: {{name: sqlite, path: {value}}}", "utf-8")
    with pytest.raises(ConfigError, match=f"store 'sqlite'.*'path' must be .*, not '{value}'"):
        Workspace.open(tmp_path).space().new_store()


@pytest.mark.usefixtures("trusted")
@pytest.mark.parametrize(
    ("text", "part", "message"),
    [
        (
            "top_k: 3\nchunker: {name: heading, levels: [one]}",
            "chunkers",
            "ragloom.yaml:2: chunker 'heading': option 'levels' must be a list of int, not ['one']",
        ),
        (
            "chunker:\n  name: heading\n  levels: [9]",
            "chunkers",
            "ragloom.yaml:3: heading: levels must be some of 1 to 6, not [9]",
        ),
        (
            "chunker:\n  name: sentence\n  size: 9\n  overlp: 3",
            "chunkers",
            "ragloom.yaml:4: chunker 'sentence': unknown option 'overlp'; did you mean 'overlap'?",
        ),
        ("\nstore: sqlit", "store", "ragloom.yaml:2: unknown store 'sqlit'; did you mean"),
        (
            "embedder:\n  threads: -1\n  name: onnx",
            "embedder",
            "ragloom.yaml:2: embedder 'onnx': max_tokens and threads must be 0 or more",
        ),
        (
            "embedder:\n  name: onnx\n  model: no-such-folder",
            "embedder",
            "ragloom.yaml:3: model 'no-such-folder': no such folder",
        ),
        (
            "reranker: onnx",
            "reranker",
            "ragloom.yaml:1: reranker 'onnx': option 'model' is missing",
        ),
        ("formatter: {name: text, x: 1}", "formatter", "ragloom.yaml:1: formatter 'text': unknown"),
        ("chunkers:\n  md: headin", "chunkers", "ragloom.yaml:2: unknown chunker 'headin'"),
        ("loaders:\n  md: markdwn", "loaders", "ragloom.yaml:2: unknown loader 'markdwn'"),
        (
            "spaces:\n  default:\n    chunker: {name: heading}\nchunker: heading",
            "chunkers",
            "RAGLOOM_CHUNKER_LEVELS: chunker 'heading': option 'levels' must be a list of int, not 'x'",
        ),
        (
            "chunker: {name: heading, levels: x}",
            "chunkers",
            "RAGLOOM_CHUNKER: unknown chunker 'headin'; did you mean 'heading'?",
        ),
    ],
)
def test_what_is_wrong_with_a_part_is_one_line_with_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, part: str, message: str
) -> None:
    pytest.importorskip("pyromark")
    pytest.importorskip("onnxruntime")
    write(tmp_path, text)
    variable = message.partition(":")[0]
    if variable.startswith("RAGLOOM_"):
        monkeypatch.setenv(variable, "x" if variable.endswith("LEVELS") else "headin")
    space = Workspace.open(tmp_path).space()

    with pytest.raises(RagloomError) as caught:
        getattr(space, part)

    said = str(caught.value).removeprefix(f"{tmp_path.resolve()}{os.sep}")
    assert message == said[: len(message)]
    assert "\n" not in said


def test_where_a_part_was_set_makes_no_other_part_of_it() -> None:
    assert Component(name="heading") == Component(name="heading", places={"": "ragloom.yaml:1"})


@pytest.mark.parametrize("key", ["top_k", "rerank_depth", "min_relevance"])
def test_a_number_that_no_machine_counts_to_is_refused(tmp_path: Path, key: str) -> None:
    for number in ("1" + "0" * 400, "-1" + "0" * 30, ".nan", ".inf"):
        (tmp_path / "ragloom.yaml").write_text(f"{key}: {number}", "utf-8")
        with pytest.raises(ConfigError, match=r"ragloom\.yaml:1: "):
            load_settings(tmp_path)
        variable = f"RAGLOOM_{key.upper()}"
        with pytest.raises(ConfigError, match=variable):
            load_settings(tmp_path / "none", environment={variable: number.lstrip(".")})
