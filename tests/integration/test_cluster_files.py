"""The files of examples/cluster are what Kubernetes, Compose and ragloom read."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from ragloom import PluginHost
from ragloom.cli import cli
from ragloom.config.settings import load_settings

KINDS = {
    "ConfigMap": "V1ConfigMap",
    "Job": "V1Job",
    "Deployment": "V1Deployment",
    "Service": "V1Service",
}
MANIFESTS = ("job.yaml", "search.yaml")


@pytest.fixture
def cluster(root):
    return root / "examples" / "cluster"


def documents(path: Path) -> list[dict[str, object]]:
    return list(yaml.safe_load_all(path.read_text("utf-8")))


@pytest.mark.slow
@pytest.mark.parametrize("name", MANIFESTS)
def test_kubernetes_reads_every_key_of_a_manifest(cluster, name):
    """A key that its client does not know would not come back."""
    client = pytest.importorskip("kubernetes.client")
    api = client.ApiClient()
    for given in documents(cluster / name):
        made = api.deserialize(json.dumps(given), KINDS[given["kind"]], "application/json")
        assert given == api.sanitize_for_serialization(made)


@pytest.mark.slow
def test_a_key_that_kubernetes_does_not_know_is_found(cluster):
    client = pytest.importorskip("kubernetes.client")
    api = client.ApiClient()
    [given, _] = documents(cluster / "job.yaml")
    given["spec"]["completion"] = 3
    made = api.deserialize(json.dumps(given), "V1Job", "application/json")
    assert given != api.sanitize_for_serialization(made)


@pytest.mark.slow
def test_compose_reads_the_file(cluster):
    tool = shutil.which("check-jsonschema", path=str(Path(sys.executable).parent))
    if tool is None:
        pytest.skip("check-jsonschema is not installed")
    command = [tool, "--builtin-schema", "vendor.compose-spec", str(cluster / "compose.yaml")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert 0 == done.returncode, done.stdout + done.stderr


def test_ragloom_reads_the_settings(cluster, tmp_path):
    settings = load_settings(tmp_path, config=cluster / "ragloom.yaml", environment={})
    chosen = settings.space("docs")
    host = PluginHost.discover(disabled=())
    assert "ray" == chosen.runner.name
    assert host.runner(chosen.runner.name, chosen.runner.options).elsewhere
    assert host.store(chosen.store.name, chosen.store.options).fingerprint.endswith(":docs")


def test_ragloom_reads_the_settings_of_a_machine_that_has_the_address_alone(cluster, tmp_path):
    [config] = [one for one in documents(cluster / "search.yaml") if one["kind"] == "ConfigMap"]
    path = tmp_path / "ragloom.yaml"
    path.write_text(config["data"]["ragloom.yaml"], "utf-8")
    said = load_settings(tmp_path, environment={}).space("docs")
    beside = load_settings(tmp_path, config=cluster / "remote.yaml", environment={}).space("docs")
    assert said == beside
    assert ("remote", "milvus") == (said.read, said.store.name)


def commands(cluster: Path) -> list[list[str]]:
    """What the files run of ragloom."""
    found = [
        list(service["command"])
        for service in documents(cluster / "compose.yaml")[0]["services"].values()
    ]
    pods = [
        given["spec"]["template"]["spec"]
        for name in MANIFESTS
        for given in documents(cluster / name)
        if "template" in given.get("spec", {})
    ]
    found += [list(one.get("command") or one["args"]) for pod in pods for one in pod["containers"]]
    shell = [one[-1].removeprefix("exec ").split() for one in found if one[0] == "sh"]
    own = [one for one in found if one[0] in ("ragloom", "serve")] + shell
    return [one[1:] if one[0] == "ragloom" else one for one in own]


def test_ragloom_has_the_commands_and_options(cluster):
    found = commands(cluster)
    assert {"index", "commit", "serve"} == {one[0] for one in found}
    import click

    for name, *arguments in found:
        context = click.Context(cli)
        command = cli.get_command(context, name)
        known = {option for one in command.get_params(context) for option in one.opts}
        used = {one.partition("=")[0] for one in arguments if one.startswith("--")}
        assert used <= known, name


@pytest.mark.parametrize(
    "name", ["README.md", "compose.yaml", "job.yaml", "ragloom.yaml", "remote.yaml", "search.yaml"]
)
def test_the_first_line_says_what_was_not_run(cluster, name):
    first = (cluster / name).read_text("utf-8").splitlines()[0]
    assert first.lstrip("# ").startswith("Not run here")
