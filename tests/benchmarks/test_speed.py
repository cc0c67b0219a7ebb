"""What the speed benchmarks write, count and compare, and by which names they are run."""

from __future__ import annotations

import re
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
README = (BENCHMARKS / "README.md").read_text("utf-8")


@pytest.fixture
def script(monkeypatch):
    """Imports a script by name, as it imports its neighbours."""
    monkeypatch.syspath_prepend(BENCHMARKS / "speed")
    monkeypatch.syspath_prepend(BENCHMARKS)
    for name in ("conftest", "run", "processes"):  # other folders have modules of these names
        monkeypatch.delitem(sys.modules, name, raising=False)
    return import_module


def test_every_script_is_run_by_its_name(script):
    run = script("run")
    reached = set(run.scripts().values())
    speed = set((BENCHMARKS / "speed").glob("*.py"))
    assert {"processes.py", "scale_embedder.py"} == {path.name for path in speed - reached}
    assert run.scripts()["templates"].parent.name == "speed"
    assert run.scripts()["quality-templates"].parent.name == "quality"


def test_names_are_in_the_readme(script):
    assert [] == [name for name in script("run").scripts() if f"`{name}`" not in README]


@pytest.mark.parametrize(
    ("arguments", "ends"),
    [
        ([], ["-k", "product or search"]),
        (["rivals"], ["-k", "rivals"]),
        (["collections"], ["-k", "collections"]),
        (["rivals", "--repeat", "1"], ["--repeat", "1"]),
        (["first-answer"], ["first_answer.py"]),
        (["first_answer", "--alone"], ["--alone"]),
        (["scale", "--sizes", "1000,2000"], ["--sizes", "1000,2000"]),
    ],
)
def test_a_name_is_run_by_pytest_or_as_a_script(script, arguments, ends):
    command = script("run").command(arguments)
    words = [Path(word).name for word in command if not word.startswith("--benchmark")]
    assert ends == words[-len(ends) :]
    assert ("pytest" in command) == ("-k" in ends)


def test_an_unknown_name_is_one_line_with_those_there_are(script):
    with pytest.raises(SystemExit, match=r"unknown benchmark 'scales' \(available: .*scale.*\)"):
        script("run").command(["scales"])


def test_a_mark_is_read_wherever_it_stands(script):
    embedder = script("scale_embedder")
    numbers = [0, 25, 26, 676, 999_999, 26**6 - 1]
    assert numbers == [embedder.number_of(f"a [b] {embedder.mark(n)} [ab cd]") for n in numbers]
    assert embedder.number_of("a [link](ab cd ef)") is None


def test_vectors_are_told_by_the_mark_alone_and_differ(script):
    embedder = script("scale_embedder")
    first, second = embedder.embed([f"Title\n{embedder.mark(7)} one.", f"{embedder.mark(7)} two."])
    np.testing.assert_array_equal(first, second)
    vectors = embedder.vectors_of(np.arange(3000))
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, rtol=1e-5)
    assert 3000 == len({row.tobytes() for row in vectors})


def test_a_corpus_has_as_many_sections_as_were_requested(script, tmp_path):
    scale = script("scale")
    scale.write_corpus(tmp_path, 1003, 20)
    texts = [path.read_text("ascii") for path in sorted(tmp_path.rglob("*.md"))]
    assert 20 == len(texts)
    marked = [scale.number_of(part) for text in texts for part in re.split("(?m)^## ", text)[1:]]
    assert list(range(1003)) == sorted(marked)


def test_one_wrong_neighbour_is_noticed(script):
    scale = script("scale")
    size, asked = 5000, scale.questions(4)
    vectors = scale.vectors_of(np.arange(size))
    right = np.argsort(-(scale.embed(asked) @ vectors.T), axis=1)[:, :10].tolist()
    assert 4 == scale.exact(right, size)
    right[2][9] = next(number for number in range(size) if number not in right[2])
    right[3] = right[3][:9]
    assert 2 == scale.exact(right, size)


def test_exponents_are_slopes_of_logarithms(script):
    exponent = script("scale").exponent
    sizes = [1000, 5000, 10_000]
    assert "1.00" == exponent(sizes, [3.0, 15.0, 30.0])
    assert "0.00" == exponent(sizes, [3.0, 3.0, 3.0])
    assert "2.00" == exponent(sizes, [1.0, 25.0, 100.0])
    assert "" == exponent([1000], [3.0])


def test_what_is_written_counts_new_and_changed_files_once(script, tmp_path):
    scale = script("scale")
    (tmp_path / "store").mkdir()
    (tmp_path / "kept").write_bytes(bytes(2**20))
    (tmp_path / "grown").write_bytes(bytes(2**19))
    before = scale.stored(tmp_path)
    (tmp_path / "linked").hardlink_to(tmp_path / "kept")
    (tmp_path / "grown").write_bytes(bytes(2**20))
    (tmp_path / "new").write_bytes(bytes(2**21))
    (tmp_path / "store" / "rows").write_bytes(bytes(2**22))  # of which a part may be written
    assert 3.0 == scale.written(before, scale.stored(tmp_path))


def test_documents_of_several_sources_do_not_replace_each_other(script, tmp_path):
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "README.md").write_text(name, "ascii")
    texts = script("first_answer").read([tmp_path / "one", tmp_path / "two"])
    assert {"one/README.md": "one", "two/README.md": "two"} == texts
