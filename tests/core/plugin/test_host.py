"""The host, and the six ways in which a plugin can fail, each in a real distribution."""

import logging
import re
import subprocess
import sys
import textwrap
import tomllib
from dataclasses import dataclass, replace
from importlib.metadata import Distribution

import pytest

from ragloom import (
    CommandSpec,
    ConfigError,
    EvaluationSpec,
    IndexFinished,
    MissingDependencyError,
    MissingExtra,
    ModelError,
    Permission,
    PluginError,
    PluginHost,
    PluginInfo,
    Provider,
    SearchFinished,
    hookimpl,
)
from ragloom.testing.fakes import HashingEmbedder, hashing_provider

GOOD = """
    from ragloom import Provider, hookimpl
    from ragloom.testing.fakes import HashingEmbedder

    @hookimpl
    def ragloom_embedders():
        return [Provider(name="{name}", summary="fake", create=lambda _: HashingEmbedder())]
"""


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Put a distribution with one plugin on sys.path: a module and its metadata."""
    modules = []

    def install(name, source, *, entry_point=None, version="1.2"):
        module = f"ragloom_fake_{name.replace('-', '_')}"
        modules.append(module)
        (tmp_path / f"{module}.py").write_text(textwrap.dedent(source), "utf-8")
        metadata = tmp_path / f"{module}-{version}.dist-info"
        metadata.mkdir()
        (metadata / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: ragloom-fake-{name}\nVersion: {version}\n", "utf-8"
        )
        (metadata / "entry_points.txt").write_text(
            f"[ragloom]\n{entry_point or name} = {module}\n", "utf-8"
        )

    monkeypatch.syspath_prepend(tmp_path)
    yield install
    for module in modules:
        sys.modules.pop(module, None)


def info(host, name, distribution=None):
    (found,) = (
        plugin
        for plugin in host.plugins()
        if plugin.name == name and distribution in {None, plugin.distribution}
    )
    return found


def warnings_of(caplog, about=""):
    messages = [r.getMessage() for r in caplog.records if r.levelname == "WARNING"]
    return [message for message in messages if about in message]


def test_a_plugin_of_a_stranger_is_found(install):
    install("good", GOOD.format(name="good"))
    host = PluginHost.discover()

    assert info(host, "good") == PluginInfo(
        name="good",
        distribution="ragloom-fake-good",
        version="1.2",
        status="loaded",
        provides={"embedders": ("good",)},
    )
    assert isinstance(host.embedder("good"), HashingEmbedder)


def test_bundled_plugins_come_through_entry_points_and_load(root):
    project = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]
    host = PluginHost.discover(disabled=())
    bundled = [plugin for plugin in host.plugins() if plugin.distribution == "ragloom"]

    assert sorted(project["entry-points"]["ragloom"]) == [p.name for p in bundled]
    assert {p.name: "" for p in bundled} == {p.name: p.error for p in bundled}


def test_plugins_are_listed_by_name(install):
    install("zz", GOOD.format(name="zz"))
    install("aa", GOOD.format(name="aa"))
    names = [plugin.name for plugin in PluginHost.discover().plugins()]

    assert sorted(names) == names


# -- The six failures ----------------------------------------------------------------------------


def test_failure_1_a_module_that_raises_on_import(install, caplog):
    install("broken", "raise RuntimeError('no\\nluck')")
    install("good", GOOD.format(name="good"))
    host = PluginHost.discover()

    assert info(host, "broken").status == "failed"
    assert info(host, "broken").error == "RuntimeError: no luck"
    assert info(host, "good").status == "loaded"
    assert warnings_of(caplog, "ragloom-fake") == [
        "plugin 'broken' (ragloom-fake-broken 1.2) failed and is skipped: RuntimeError: no luck"
    ]


@pytest.mark.parametrize("statement", ["import sys; sys.exit(3)", "def f(:", "import not_there_x"])
def test_failure_1_whatever_an_import_does(install, statement):
    install("broken", statement)

    assert info(PluginHost.discover(), "broken").status == "failed"


def test_failure_1_an_entry_point_without_a_module(install):
    install("broken", "", entry_point="gone = not_there_x\nbroken")
    host = PluginHost.discover()

    assert info(host, "gone").error == "ModuleNotFoundError: No module named 'not_there_x'"


def test_failure_2_a_hook_that_raises(install, caplog):
    install(
        "broken",
        """
        from ragloom import hookimpl

        @hookimpl
        def ragloom_loaders():
            raise KeyError("suffix")
        """,
    )
    host = PluginHost.discover()

    assert info(host, "broken").error == "KeyError: 'suffix'"
    assert len(warnings_of(caplog, "ragloom-fake")) == 1


@pytest.mark.parametrize(
    ("returned", "error"),
    [
        ("None", "ragloom_loaders returned None, not an iterable of Providers"),
        ("[3]", "ragloom_loaders must return Providers, not int"),
        ("7", "TypeError: 'int' object is not iterable"),
        (
            "[Provider(name='x', summary='', create=str, options=dict)]",
            "the options of the loader 'x' must be a dataclass, not <class 'dict'>",
        ),
        (
            "[Provider(name='', summary='', create=str)]",
            "a Provider from ragloom_loaders has no name",
        ),
    ],
)
def test_failure_2_a_hook_that_returns_what_it_should_not(install, returned, error):
    install(
        "broken",
        f"""
        from ragloom import Provider, hookimpl

        @hookimpl
        def ragloom_loaders():
            return {returned}
        """,
    )

    assert info(PluginHost.discover(), "broken").error == error


def test_failure_3_a_misspelt_hook(install):
    install(
        "broken",
        """
        from ragloom import hookimpl

        @hookimpl
        def ragloom_loader():
            return []
        """,
    )
    install("good", GOOD.format(name="good"))
    host = PluginHost.discover()

    expected = "unknown hook 'ragloom_loader'; did you mean 'ragloom_loaders'?"
    assert info(host, "broken").error == expected
    assert info(host, "good").status == "loaded"


def test_failure_3_no_hook_at_all(install):
    install("broken", "def ragloom_loaders(): return []")

    expected = "it implements no hook; mark its functions with @ragloom.hookimpl"
    assert info(PluginHost.discover(), "broken").error == expected


def test_an_optional_hook_of_another_version_is_no_failure(install):
    install(
        "future",
        """
        from ragloom import hookimpl

        @hookimpl(optionalhook=True)
        def ragloom_hook_of_tomorrow():
            return []
        """,
    )

    assert info(PluginHost.discover(), "future").status == "loaded"


def test_failure_4_a_wrong_argument(install):
    install(
        "broken",
        """
        from ragloom import hookimpl

        @hookimpl
        def ragloom_loaders(config):
            return []
        """,
    )
    install("good", GOOD.format(name="good"))
    host = PluginHost.discover()

    assert "ragloom_loaders(config)" in info(host, "broken").error
    assert "'config'" in info(host, "broken").error
    assert "\n" not in info(host, "broken").error
    assert info(host, "good").status == "loaded"


def test_failure_5_a_name_that_two_plugins_provide(install):
    install("first", GOOD.format(name="same"))
    install("second", GOOD.format(name="same"))
    host = PluginHost.discover()

    assert info(host, "first").status == "loaded"
    assert info(host, "second").error == (
        "the embedder 'same' is provided twice, "
        "by plugin 'first' (ragloom-fake-first 1.2) "
        "and by plugin 'second' (ragloom-fake-second 1.2); disable one of them"
    )
    assert isinstance(host.embedder("same"), HashingEmbedder)


def test_failure_5_takes_none_of_the_plugin_s_parts(install):
    install("first", GOOD.format(name="same"))
    install(
        "second",
        GOOD.format(name="same")
        + """
    @hookimpl
    def ragloom_loaders():
        return [Provider(name="only", summary="", create=str)]
""",
    )
    host = PluginHost.discover()

    assert "only" not in host.providers("loaders")
    assert info(host, "second").provides == {}


def test_failure_5_two_entry_points_of_one_name(install):
    install("one", GOOD.format(name="one"), entry_point="twin")
    install("two", GOOD.format(name="two"), entry_point="twin")
    host = PluginHost.discover()

    assert info(host, "twin", "ragloom-fake-one").status == "loaded"
    assert info(host, "twin", "ragloom-fake-two").error == (
        "plugin 'twin' (ragloom-fake-one 1.2) has the same name"
    )


def test_failure_6_a_disabled_plugin_is_not_imported(install, monkeypatch, caplog):
    install("broken", "raise RuntimeError")
    install("other", "raise RuntimeError")
    monkeypatch.setenv("RAGLOOM_DISABLED_PLUGINS", "broken, other,")
    host = PluginHost.discover()

    assert info(host, "broken") == PluginInfo(
        name="broken", distribution="ragloom-fake-broken", version="1.2", status="disabled"
    )
    assert info(host, "other").status == "disabled"
    assert warnings_of(caplog, "broken") == warnings_of(caplog, "other") == []


def test_failure_6_an_argument_overrides_the_environment(install, monkeypatch):
    install("good", GOOD.format(name="good"))
    monkeypatch.setenv("RAGLOOM_DISABLED_PLUGINS", "good")

    assert info(PluginHost.discover(disabled=()), "good").status == "loaded"
    assert info(PluginHost.discover(disabled={"good"}), "good").status == "disabled"


def test_disabling_what_is_not_there_is_a_warning(caplog):
    PluginHost.discover(disabled={"onxx"})

    assert warnings_of(caplog, "onxx") == [
        "RAGLOOM_DISABLED_PLUGINS: unknown plugin 'onxx'; did you mean 'onnx'?"
    ]


def test_a_failed_plugin_leaves_no_hook_behind(install):
    install(
        "broken",
        """
        from ragloom import Provider, hookimpl
        calls = []

        @hookimpl
        def ragloom_chunkers():
            calls.append(1)
            return []

        @hookimpl
        def ragloom_loaders():
            raise ValueError
        """,
    )
    host = PluginHost.discover()

    assert host._pm.get_plugin("broken") is None
    assert sys.modules["ragloom_fake_broken"].calls == [1]


def test_a_warning_is_one_line_on_stderr_and_the_program_goes_on(install, tmp_path):
    install("broken", "raise RuntimeError('no\\nluck')")
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import ragloom; "
    code += "ragloom.PluginHost.discover(); print('on')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout == "on\n"
    assert len([line for line in done.stderr.splitlines() if "broken" in line]) == 1


# -- Every hook has a test (tests/docs/test_hooks_page.py looks for test_hook_<name>) -------------


def test_hook_ragloom_loaders(make_plugin):
    loader = Part(load=None, suffixes=None, fingerprint=None)
    host = PluginHost({"mine": make_plugin(loaders=[provide("rst", loader)])})

    assert host.loader("rst") is loader
    assert host.loaders() == {"rst": loader}


def test_hook_ragloom_chunkers(make_plugin):
    chunker = Part(split=None, fingerprint=None)
    host = PluginHost({"mine": make_plugin(chunkers=[provide("pages", chunker)])})

    assert host.chunker("pages") is chunker


def test_hook_ragloom_embedders(make_plugin):
    host = PluginHost({"mine": make_plugin(embedders=[hashing_provider()])})

    assert host.embedder("hashing", {"dimension": "8"}).dimension == 8


def test_hook_ragloom_stores(make_plugin):
    methods = ("open", "close", "upsert", "delete", "count", "scan", "search", "drop")
    store = Part(**dict.fromkeys((*methods, "read", "fingerprint")))
    host = PluginHost({"mine": make_plugin(stores=[provide("shelf", store)])})

    assert host.store("shelf") is store


def test_hook_ragloom_rerankers(make_plugin):
    reranker = Part(rerank=None, fingerprint=None, close=None)
    host = PluginHost({"mine": make_plugin(rerankers=[provide("cross", reranker)])})

    assert host.reranker("cross") is reranker
    assert host.plugins()[0].provides == {"rerankers": ("cross",)}


def test_hook_ragloom_runners(make_plugin):
    runner = Part(run=None, elsewhere=False, close=None)
    host = PluginHost({"mine": make_plugin(runners=[provide("cluster", runner)])})

    assert host.runner("cluster") is runner
    assert host.plugins()[0].provides == {"runners": ("cluster",)}


def test_hook_ragloom_formatters(make_plugin):
    formatter = Part(render=None)
    host = PluginHost({"mine": make_plugin(formatters=[provide("xml", formatter)])})

    assert host.formatter("xml") is formatter


class Part:
    """Has the attributes it is given, which is all that the host looks at."""

    def __init__(self, **attributes):
        vars(self).update(attributes)


def provide(name, part, **more):
    return Provider(name=name, summary="", create=lambda _: part, **more)


# -- Making parts --------------------------------------------------------------------------------


def test_an_unknown_name_gets_the_nearest_one(make_plugin):
    host = PluginHost({"mine": make_plugin(embedders=[hashing_provider()])})

    with pytest.raises(PluginError) as raised:
        host.embedder("hasing")
    assert str(raised.value) == "unknown embedder 'hasing'; did you mean 'hashing'?"


def test_an_unknown_name_gets_what_there_is(make_plugin):
    host = PluginHost({"mine": make_plugin(embedders=[hashing_provider()])})

    with pytest.raises(PluginError) as raised:
        host.embedder("onnx")
    assert str(raised.value) == "unknown embedder 'onnx' (available: hashing)"
    with pytest.raises(PluginError, match="available: none"):
        host.store("milvus")


def test_an_unknown_name_tells_of_the_plugin_that_failed(install):
    install("broken", "raise RuntimeError('no luck')")
    host = PluginHost.discover(disabled={"formats"})

    with pytest.raises(PluginError) as raised:
        host.embedder("broken")
    assert str(raised.value).endswith(
        "; plugin 'broken' (ragloom-fake-broken 1.2), which may provide it, "
        "failed: RuntimeError: no luck"
    )
    assert isinstance(raised.value.__cause__, RuntimeError)


def test_an_unknown_name_tells_of_the_plugin_that_is_disabled():
    host = PluginHost.discover(disabled={"formats"})

    with pytest.raises(PluginError, match=r"'formats' .*which may provide it, is disabled"):
        host.formatter("json")


def test_a_missing_extra_is_told_by_the_list_and_by_the_part(make_plugin):
    provider = provide(
        "big", HashingEmbedder(), requires=("json", "not_there_x"), extra="ragloom[onnx]"
    )
    host = PluginHost({"mine": make_plugin(embedders=[provider])})

    (plugin,) = host.plugins()
    assert plugin.status == "loaded"
    assert plugin.missing == (
        MissingExtra(part="embedder 'big'", modules=("not_there_x",), extra="ragloom[onnx]"),
    )
    with pytest.raises(MissingDependencyError) as raised:
        host.embedder("big")
    assert str(raised.value) == (
        "the embedder 'big' needs not_there_x, which is not installed: pip install 'ragloom[onnx]'"
    )


def test_a_missing_module_may_be_inside_a_missing_package(make_plugin):
    provider = provide("big", HashingEmbedder(), requires=("not_there_x.deep",))
    host = PluginHost({"mine": make_plugin(embedders=[provider])})

    assert host.plugins()[0].missing[0].modules == ("not_there_x.deep",)


def test_a_wrong_setting_is_a_config_error(make_plugin):
    host = PluginHost({"mine": make_plugin(embedders=[hashing_provider()])})

    with pytest.raises(ConfigError) as raised:
        host.embedder("hashing", {"dimensions": 3})
    assert str(raised.value) == (
        "embedder 'hashing': unknown option 'dimensions'; did you mean 'dimension'? "
        "(legal: dimension, max_tokens)"
    )


def test_a_part_that_cannot_be_made_names_its_plugin(make_plugin):
    def create(_):
        raise OSError("disk on fire")

    provider = Provider(name="hot", summary="", create=create)
    host = PluginHost({"mine": make_plugin(stores=[provider])})

    with pytest.raises(PluginError) as raised:
        host.store("hot")
    assert str(raised.value) == (
        "plugin 'mine' could not make the store 'hot': OSError: disk on fire"
    )
    assert isinstance(raised.value.__cause__, OSError)


def test_an_error_raised_on_purpose_passes_as_it_is(make_plugin):
    def create(_):
        raise ModelError("the file is damaged")

    provider = Provider(name="hot", summary="", create=create)
    host = PluginHost({"mine": make_plugin(embedders=[provider])})

    with pytest.raises(ModelError, match="damaged"):
        host.embedder("hot")


def test_a_part_without_a_method_is_named_where_it_is_made(make_plugin):
    host = PluginHost({"mine": make_plugin(loaders=[provide("rst", Part(load=None))])})

    with pytest.raises(PluginError) as raised:
        host.loader("rst")
    assert str(raised.value) == (
        "the loader 'rst' of plugin 'mine' lacks fingerprint, suffixes; see ragloom.Loader"
    )


def test_checking_a_part_runs_none_of_its_properties(make_plugin):
    class Lazy(HashingEmbedder):
        @property
        def dimension(self):
            raise AssertionError("this would load the model")

    host = PluginHost({"mine": make_plugin(embedders=[provide("lazy", Lazy())])})

    assert isinstance(host.embedder("lazy"), Lazy)


def test_a_part_may_answer_for_another(make_plugin):
    class Wrapper:
        def __getattr__(self, name):
            return getattr(HashingEmbedder(), name)

    host = PluginHost({"mine": make_plugin(embedders=[provide("wrapped", Wrapper())])})

    assert host.embedder("wrapped").dimension == 64


def test_loaders_leave_out_what_cannot_be_made(make_plugin, caplog):
    good = Part(load=None, suffixes=None, fingerprint=None)
    host = PluginHost(
        {
            "mine": make_plugin(
                loaders=[
                    provide("zip", good),
                    provide("pdf", good, requires=("not_there_x",)),
                    provide("bad", Part()),
                    provide("a", good),
                ]
            )
        }
    )

    assert list(host.loaders()) == ["a", "zip"]
    assert [line.partition(":")[0] for line in warnings_of(caplog)] == ["loader 'bad' skipped"]
    with pytest.raises(MissingDependencyError):
        host.loaders({"pdf": {}})
    with pytest.raises(PluginError, match="unknown loader 'none'"):
        host.loaders({"none": {}})


def test_loaders_take_options_by_name(make_plugin):
    @dataclass(frozen=True)
    class Options:
        strict: bool = False

    made = []

    def create(options):
        made.append(options)
        return Part(load=None, suffixes=None, fingerprint=None)

    provider = Provider(name="rst", summary="", create=create, options=Options)
    host = PluginHost({"mine": make_plugin(loaders=[provider])})
    host.loaders({"rst": {"strict": "yes"}})

    assert made == [Options(strict=True)]


def test_providers_are_listed_by_name(make_plugin):
    host = PluginHost(
        {"mine": make_plugin(embedders=[hashing_provider("b"), hashing_provider("a")])}
    )

    assert list(host.providers("embedders")) == ["a", "b"]
    assert host.plugins()[0].provides == {"embedders": ("a", "b")}


def test_hosts_share_nothing(make_plugin):
    PluginHost({"mine": make_plugin(embedders=[hashing_provider()])})

    assert PluginHost().plugins() == ()


def test_hook_calls_can_be_traced(make_plugin, caplog):
    caplog.set_level(logging.INFO, logger="ragloom.hooks")
    PluginHost({"mine": make_plugin(chunkers=[])}, trace_hooks=True)

    assert [r.getMessage() for r in caplog.records if r.name == "ragloom.hooks"] == [
        "ragloom_chunkers() -> mine",
        "ragloom_chunkers returned [[]]",
    ]


def test_a_traced_hook_that_raises_is_told(caplog):
    class Broken:
        @hookimpl
        def ragloom_stores(self):
            raise ValueError("no")

    caplog.set_level(logging.INFO, logger="ragloom.hooks")
    PluginHost({"mine": Broken()}, trace_hooks=True)

    assert "ragloom_stores raised ValueError: no" in caplog.text


def commands_plugin(**offered):
    @hookimpl
    def ragloom_commands(self):
        return offered

    return type("Commands", (), {"ragloom_commands": ragloom_commands})()


def test_hook_ragloom_commands():
    spec = CommandSpec(target="nowhere:nothing", summary="Greets.")
    host = PluginHost({"greet": commands_plugin(hello=spec)})
    assert {"hello": spec} == host.commands()
    assert {"commands": ("hello",)} == host.plugins()[0].provides


def test_a_command_has_one_owner():
    spec = CommandSpec(target="nowhere:nothing", summary="Greets.")
    host = PluginHost({"a": commands_plugin(hello=spec), "b": commands_plugin(hello=spec)})
    assert ["loaded", "failed"] == [plugin.status for plugin in host.plugins()]
    assert "the command 'hello' belongs to plugin 'a'" in host.plugins()[1].error


def test_a_command_must_be_a_spec():
    host = PluginHost({"a": commands_plugin(hello="nowhere:nothing")})
    assert "must map 'hello' to a CommandSpec" in host.plugins()[0].error
    assert {} == host.commands()


def evaluations_plugin(**offered):
    @hookimpl
    def ragloom_evaluations(self):
        return offered

    return type("Evaluations", (), {"ragloom_evaluations": ragloom_evaluations})()


def test_hook_ragloom_evaluations():
    spec = EvaluationSpec(target="nowhere:nothing", summary="problems")
    host = PluginHost(
        {"a": evaluations_plugin(problems=spec), "b": evaluations_plugin(problems=spec)}
    )
    assert {"problems": spec} == host.evaluations()
    assert {"evaluations": ("problems",)} == host.plugins()[0].provides
    assert "the evaluation 'problems' belongs to plugin 'a'" in host.plugins()[1].error


@dataclass(frozen=True, kw_only=True)
class Settings:
    dialect: str = "plain"


@dataclass(frozen=True, kw_only=True)
class Needs:
    uri: str


def plugin_of(**hooks):
    """A plugin of these hooks; an exception is raised, and anything else returned."""

    def implementing(name, result):
        def hook(self):
            if isinstance(result, Exception):
                raise result
            return result

        hook.__name__ = name
        return hookimpl(hook)

    named = {f"ragloom_{name}": implementing(f"ragloom_{name}", one) for name, one in hooks.items()}
    return type("Made", (), named)()


def test_hook_ragloom_settings():
    host = PluginHost(
        {
            "a": plugin_of(settings={"mine": Settings, "items": tuple[Needs, ...]}),
            "b": plugin_of(settings={"mine": Settings}),
        }
    )
    assert {"items": tuple[Needs, ...], "mine": Settings} == host.sections()
    assert {"settings": ("items", "mine")} == host.plugins()[0].provides
    assert "the section 'mine' belongs to plugin 'a'" in host.plugins()[1].error


@pytest.mark.parametrize(
    ("offered", "error"),
    [
        ({"mine": dict}, "ragloom_settings must map 'mine' to a dataclass, not <class 'dict'>"),
        (
            {"mine": tuple[int, ...]},
            "ragloom_settings must map 'mine' to a dataclass, not tuple[int",
        ),
        ({"mine": Needs}, "TypeError: .*'uri'"),
        ({"top_k": Settings}, "ragloom_settings: 'top_k' is a setting of ragloom itself"),
        ({"spaces": Settings}, "ragloom_settings: 'spaces' is a setting of ragloom itself"),
        (ValueError("no"), "ValueError: no"),
    ],
)
def test_a_section_must_be_a_dataclass_with_defaults(offered, error):
    host = PluginHost(
        {"a": plugin_of(settings=offered), "b": plugin_of(settings={"mine": Settings})}
    )
    assert re.match(error.replace("[", r"\["), host.plugins()[0].error)
    assert {"mine": Settings} == host.sections()


def test_hook_ragloom_spaces(caplog):
    workspace, space = object(), object()

    class Keeping:
        @hookimpl
        def ragloom_spaces(self, workspace):
            return {"notes": (space, workspace)}

    host = PluginHost(
        {
            "keeping": Keeping(),
            "broken": plugin_of(spaces=RuntimeError("no\nluck")),
            "nothing": plugin_of(spaces=None),
            "wrong": plugin_of(spaces=[1]),
        }
    )
    assert {"spaces": ("keeping",)} == host.plugins()[0].provides
    assert {"keeping": {"notes": (space, workspace)}} == host.spaces(workspace)
    assert warnings_of(caplog) == [
        "plugin 'broken': ragloom_spaces failed: RuntimeError: no luck",
        "plugin 'nothing': ragloom_spaces failed: plugin 'nothing' returned no mapping of spaces",
        "plugin 'wrong': ragloom_spaces failed: plugin 'wrong' returned no mapping of spaces",
    ]
    assert {"notes": (space, workspace)} == host.spaces_of("keeping", workspace)
    assert host.spaces_of("absent", workspace) is None
    with pytest.raises(PluginError, match="plugin 'broken': ragloom_spaces failed: RuntimeError"):
        host.spaces_of("broken", workspace)


def told(hook, tell, event, caplog):
    workspace, events = object(), []

    class Following:
        pass

    def follow(self, workspace, event):
        events.append((workspace, event))

    follow.__name__ = hook
    setattr(Following, hook, hookimpl(follow))
    name = hook.removeprefix("ragloom_")
    broken = plugin_of(**{name: RuntimeError("no luck")})
    host = PluginHost({"broken": broken, "following": Following()})
    tell(host)(workspace, event)

    assert [(workspace, event)] == events
    assert {"events": (name,)} == host.plugins()[1].provides
    assert warnings_of(caplog) == [f"plugin 'broken': {hook} failed: RuntimeError: no luck"]


def test_hook_ragloom_permissions(caplog):
    asked = Permission(key="k", value="../x", place="own.yaml:1", reason="a path outside")

    class Asking:
        @hookimpl
        def ragloom_permissions(self, workspace):
            return [replace(asked, value=workspace)]

    host = PluginHost(
        {"asking": Asking(), "broken": plugin_of(permissions=RuntimeError("no\nluck"))}
    )
    assert [replace(asked, value="w")] == host.permissions("w")
    assert warnings_of(caplog) == [
        "plugin 'broken': ragloom_permissions failed: RuntimeError: no luck"
    ]


def test_hook_ragloom_index_finished(caplog):
    event = IndexFinished(
        operation="repair", space="docs", generation=1, changed=True, seconds=0.5, report={}
    )
    told("ragloom_index_finished", lambda host: host.finished, event, caplog)


def test_hook_ragloom_search_finished(caplog):
    event = SearchFinished(
        operation="search", query="q", space="docs", generation=1, hits=(), seconds=0.5
    )
    told("ragloom_search_finished", lambda host: host.finished, event, caplog)


LOADER = """
    from ragloom import Provider, hookimpl

    class Loader:
        suffixes = frozenset({".txt"})
        fingerprint = "1"

        def load(self, source, content):
            raise AssertionError

    @hookimpl
    def ragloom_loaders():
        return [Provider(name="zz", summary="mine", create=lambda _: Loader())]
"""


def test_an_installed_loader_comes_before_a_bundled_one(install):
    install("zz", LOADER)

    first, *others = PluginHost.discover().loaders()

    assert first == "zz"
    assert sorted(others) == others


def test_the_metadata_of_a_package_is_read_for_its_own_plugins_only(monkeypatch):
    # It is parsed each time: for every plugin against every other it took half of `ragloom --help`.
    read = []
    metadata = Distribution.metadata.fget
    monkeypatch.setattr(
        Distribution, "metadata", property(lambda self: read.append(self) or metadata(self))
    )
    host = PluginHost.discover(disabled=())
    assert host.commands()
    assert len(read) <= 2 * len(host.plugins())  # name and version
