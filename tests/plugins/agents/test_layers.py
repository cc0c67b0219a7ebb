"""Three layers and the environment: which of them counts, and what each refuses."""

from pathlib import Path
from textwrap import dedent
from typing import get_args, get_type_hints

import pytest

from ragloom import ConfigError
from ragloom.config.settings import load_settings
from ragloom.text.tokens import COUNTERS
from ragloom_agents.layers import load_agents, user_file
from ragloom_agents.settings import SECTIONS, DocsSettings, RagSettings

STORES = ("file", "memory", "milvus", "sqlite")
SETTINGS = {
    # variable: its value, the agent's value then; YAML key, the values of project and user
    "RAGLOOM_RAG_STORE": ("sqlite", "sqlite", "rag.store", "file", "milvus"),
    "RAGLOOM_RAG_STORE_PATH": ("e.db", "e.db", "rag.path", "p.db", "u.db"),
    "RAGLOOM_RAG_CHUNK_SIZE": ("300", 300, "rag.chunk_size", 500, 400),
    "RAGLOOM_RAG_CHUNK_OVERLAP": ("30", 30, "rag.chunk_overlap", 50, 40),
    "RAGLOOM_TOOLS_RAG": ("true", True, "defaults.tools.rag", True, False),
    "RAGLOOM_DOCS_BASE_DIR": ("env", "env", "defaults.docs.base_dir", "one", "two"),
}
BUILT_IN = {
    "rag.store": "memory",
    "rag.path": "",
    "rag.chunk_size": 2000,
    "rag.chunk_overlap": 200,
    "defaults.tools.rag": False,
    "defaults.docs.base_dir": ".",
}


@pytest.fixture
def user(environment):
    return user_file(environment)


@pytest.fixture
def load(project, environment):
    def load_with(**variables):
        variables = environment | variables
        settings = load_settings(project, environment=variables, sections=SECTIONS)
        return load_agents(project, settings, environment=variables, stores=STORES)

    return load_with


def put(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(dedent(text), "utf-8")
    return path


def nested(key: str, value: object) -> str:
    """``rag.store`` as YAML, with an agent called ``a``."""
    lines = []
    for depth, name in enumerate(key.split(".")):
        lines.append(f"{'  ' * depth}{name}:")
    shown = str(value).lower() if isinstance(value, bool) else value
    return "\n".join(lines) + f" {shown}\nagents: [{{id: a}}]\n"


def effective(settings, key: str) -> object:
    agent = settings.agents["a"]
    section, name = key.removeprefix("defaults.").split(".")
    if section == "tools":
        return agent.tools.rag
    return getattr(getattr(agent, section), name)


@pytest.mark.parametrize("variable", SETTINGS)
def test_built_in_is_below_project_is_below_user_is_below_environment(
    variable, project, user, load
):
    text, from_environment, key, from_project, from_user = SETTINGS[variable]
    origin = f"agents.a.{key.removeprefix('defaults.')}"

    put(project / "agents.yaml", "agents: [{id: a}]\n")
    assert (effective(load(), key), load().origin(origin)) == (BUILT_IN[key], "default")

    put(project / "ragloom.yaml", nested(key, from_user))
    put(project / "agents.yaml", nested(key, from_project))
    line = 1 + key.count(".")
    assert effective(load(), key) == from_project
    assert load().origin(origin) == f"{project / 'agents.yaml'}:{line}"

    put(user, nested(key, from_user))
    assert (effective(load(), key), load().origin(origin)) == (from_user, f"{user}:{line}")

    settings = load(**{variable: text})
    assert (effective(settings, key), settings.origin(origin)) == (from_environment, variable)


@pytest.mark.parametrize("variable", SETTINGS)
def test_the_environment_is_above_what_one_agent_says(variable, project, load):
    text, from_environment, key, from_project, _ = SETTINGS[variable]
    own = key.removeprefix("defaults.").split(".")
    shown = str(from_project).lower() if isinstance(from_project, bool) else from_project
    put(project / "agents.yaml", f"agents: [{{id: a, {own[0]}: {{{own[1]}: {shown}}}}}]\n")

    assert effective(load(), key) == from_project
    assert effective(load(**{variable: text}), key) == from_environment
    assert effective(load(**{variable: ""}), key) == from_project


def test_ragloom_yaml_is_below_agents_yaml(project, load):
    put(project / "ragloom.yaml", "rag: {store: file, chunk_size: 900}\nagents: [{id: one}]\n")
    put(project / "agents.yaml", "rag: {store: sqlite}\nagents: [{id: two}]\n")

    settings = load()

    assert settings.rag == RagSettings(store="sqlite", chunk_size=900)
    assert list(settings.agents) == ["one", "two"]


def test_one_agent_in_two_layers_is_merged_key_by_key(project, user, load):
    put(
        project / "agents.yaml",
        """
        defaults: {docs: {top_k: 7, budget: 9}}
        agents:
          - id: a
            system_prompt: Project.
            docs: {strategy: rag, sources: ["docs/*.md"]}
        """,
    )
    put(user, "agents: [{id: a, system_prompt: User., docs: {budget: 8}}]\n")

    agent = load().agent("a")

    assert agent.system_prompt == "User."
    assert agent.docs == DocsSettings(strategy="rag", sources=("docs/*.md",), top_k=7, budget=8)


def test_an_agent_may_have_an_index_of_its_own_kind(project, load):
    put(
        project / "agents.yaml",
        "rag: {store: sqlite, chunk_size: 900}\nagents: [{id: a, rag: {store: file}}, {id: b}]\n",
    )

    agents = load().agents

    assert agents["a"].rag == RagSettings(store="file", chunk_size=900)
    assert agents["b"].rag == RagSettings(store="sqlite", chunk_size=900)


WRONG = {
    "rag:\n  stor: file\n": "2: rag: unknown option 'stor'; did you mean 'store'? "
    "(legal: store, path, chunk_size, chunk_overlap)",
    "rag:\n  store: sqllite\n": "2: rag.store must be one of file, memory, milvus, sqlite, "
    "not 'sqllite'",
    "rag:\n  chunk_size: big\n": "2: rag: option 'chunk_size' must be int, not 'big'",
    "rag:\n  chunk_size: 0\n": "2: rag: chunk_size must be a whole number from 1, not 0",
    "rag: {chunk_overlap: -1}\n": "1: rag: chunk_overlap must be a whole number from 0, not -1",
    "rag:\n  chunk_size: 100\n  chunk_overlap: 100\n": "3: rag.chunk_overlap must be less than "
    "rag.chunk_size, not 100 of 100",
    "rag: [sqlite]\n": "1: rag: expected a mapping with store, path, chunk_size, chunk_overlap, "
    "found ['sqlite']",
    "agent: []\n": "1: unknown setting 'agent'; did you mean 'agents'? (legal: rag, defaults, agents)",
    "defaults:\n  doc: {}\n": "2: defaults: unknown option 'doc'; did you mean 'docs'? "
    "(legal: docs, tools)",
    "agents: {a: {}}\n": "1: agents: expected a list of a mapping with id, description, ",
    "agents:\n  - docs: {}\n": "2: agents[0]: option 'id' is missing; it must be str",
    "agents:\n  - id: 7\n": "2: agents[0]: option 'id' must be str, not 7",
    "agents:\n  - id: ''\n": "2: agents[0]: id must not be empty",
    "agents:\n  - id: a\n  - id: a\n": "3: the agent 'a' is there twice",
    "agents:\n  - id: a\n    docs:\n      strategy: prelod\n": "4: agents[0].docs: option 'strategy' "
    "must be one of 'preload', 'rag', not 'prelod'",
    "agents:\n  - id: a\n    docs:\n      sources: {docs: 1}\n": "4: agents[0].docs: option 'sources' "
    "must be a list of str, not {'docs': 1}",
    "agents:\n  - id: a\n    docs:\n      top_k: true\n": "4: agents[0].docs: option 'top_k' "
    "must be int, not True",
    "agents:\n  - id: a\n    docs:\n      strategy: rag\n": "4: agent 'a': the strategy 'rag' "
    "needs docs.sources, a list of paths or globs",
    "agents:\n  - id: a\n    tools: {rag: maybe}\n": "3: agents[0].tools: option 'rag' must be true or "
    "false, not 'maybe'",
    "rag:\n  store: [\n": "3: not valid YAML: ",
}


@pytest.mark.parametrize("text", WRONG)
def test_a_wrong_file_is_one_line_with_its_line_number(text, project, load):
    path = put(project / "agents.yaml", text)

    with pytest.raises(ConfigError) as caught:
        load()

    message = str(caught.value)
    assert message.startswith(f"{path}:{WRONG[text]}")
    assert "\n" not in message


def test_a_folder_that_has_the_name_of_the_file_is_no_absence(project, user, load):
    for path in (project / "agents.yaml", user):
        path.mkdir(parents=True)
        with pytest.raises(ConfigError, match=rf"{path}: a folder, where settings are read from"):
            load()
        path.rmdir()


def test_the_keys_in_ragloom_yaml_are_judged_alike(project, load):
    path = put(project / "ragloom.yaml", "top_k: 3\nrag:\n  chunk_size: big\n")

    with pytest.raises(ConfigError) as caught:
        load()

    assert str(caught.value).startswith(f"{path}:3: rag: option 'chunk_size' must be int")


def test_the_users_file_is_judged_alike(user, load):
    put(user, "rag: {stor: file}\n")

    with pytest.raises(ConfigError, match=r"agents\.yaml:1: rag: unknown option 'stor'"):
        load()


@pytest.mark.parametrize(
    ("variable", "value", "expected"),
    [
        (
            "RAGLOOM_RAG_STORE",
            "sqllite",
            "rag.store must be one of file, memory, milvus, sqlite, not ",
        ),
        ("RAGLOOM_RAG_CHUNK_SIZE", "big", "rag: option 'chunk_size' must be int, not "),
        (
            "RAGLOOM_RAG_CHUNK_OVERLAP",
            "-3",
            "rag: chunk_overlap must be a whole number from 0, not ",
        ),
        (
            "RAGLOOM_TOOLS_RAG",
            "perhaps",
            "defaults.tools: option 'rag' must be true or false, not ",
        ),
    ],
)
def test_a_wrong_variable_is_named(variable, value, expected, load):
    with pytest.raises(ConfigError) as caught:
        load(**{variable: value})

    shown = value if value == "-3" else repr(value)
    assert str(caught.value) == f"{variable}: {expected}{shown}"


def test_a_string_is_a_number_or_a_list_as_in_all_settings(project, load):
    put(
        project / "agents.yaml",
        "rag: {chunk_size: '900'}\nagents: [{id: a, docs: {sources: docs}}]\n",
    )

    assert load().agent("a").rag.chunk_size == 900
    assert load().agent("a").docs.sources == ("docs",)


def test_every_counter_can_be_named():
    assert get_args(get_type_hints(DocsSettings)["counter"]) == COUNTERS


@pytest.mark.parametrize("key", ["rag.path", "defaults.docs.base_dir"])
def test_a_path_of_no_user_is_refused(key, project, load):
    put(project / "agents.yaml", nested(key, "~nosuchuser/x"))
    with pytest.raises(ConfigError, match=r"agents\.yaml:[23]: .* not '~nosuchuser/x'"):
        load()
    (project / "agents.yaml").unlink()
    variable = "RAGLOOM_RAG_STORE_PATH" if key == "rag.path" else "RAGLOOM_DOCS_BASE_DIR"
    with pytest.raises(ConfigError, match=f"{variable}: .* not '~nosuchuser/x'"):
        load(**{variable: "~nosuchuser/x"})


@pytest.mark.parametrize("variable", SETTINGS)
def test_a_long_variable_is_cut_in_the_message(variable, load):
    if variable in ("RAGLOOM_RAG_STORE_PATH", "RAGLOOM_DOCS_BASE_DIR"):
        return  # any text is legal
    for value in ("9" * 5000, "9" * 500, "x" * 500):
        with pytest.raises(ConfigError, match=r"must be (int|one of|true or false)") as caught:
            load(**{variable: value})
        assert str(caught.value).startswith(f"{variable}: ")
        assert f"not '{value[:50]}" in str(caught.value)
        assert len(str(caught.value)) < 200


def test_an_unknown_agent_suggests_the_nearest(project, load):
    put(project / "agents.yaml", "agents: [{id: awscli}, {id: kubectl}]\n")

    with pytest.raises(ConfigError, match="unknown agent 'awcli'; did you mean 'awscli'"):
        load().agent("awcli")
    with pytest.raises(ConfigError, match="\\(available: awscli, kubectl\\)"):
        load().agent("zzz")


def test_no_file_is_no_agents(load):
    assert load().agents == {}
    with pytest.raises(ConfigError, match="names any"):
        load().agent("a")


def test_without_any_home_folder_there_is_no_user_file(monkeypatch):
    import pwd

    monkeypatch.setattr(pwd, "getpwuid", lambda uid: {}[uid])
    monkeypatch.delenv("HOME", raising=False)

    assert not user_file({}).exists()


def test_the_folder_of_the_users_file(tmp_path):
    home = str(tmp_path)
    elsewhere = str(tmp_path / "x")

    assert user_file({"HOME": home, "XDG_CONFIG_HOME": elsewhere}) == (
        tmp_path / "x" / "ragloom" / "agents.yaml"
    )
    # A relative path there is ignored, as the specification says.
    assert user_file({"HOME": home, "XDG_CONFIG_HOME": "x"}) == user_file({"HOME": home})
    assert user_file({"HOME": home}).parts[-2:] == ("ragloom", "agents.yaml")
