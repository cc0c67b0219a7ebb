"""What a chunk defines, tests and vendored code, and prose that is left as it is."""

from __future__ import annotations

import numpy as np
import pytest

from ragloom.retrieval.code_order import DEFINED, code_scores, is_aside, is_code, names_defined
from ragloom.retrieval.parsed_query import parse

DEFINITIONS = [
    ("class Vault:\n    def open_door(self, key):\n", ["Vault", "open_door"]),
    ("    async def fetch(self) -> bytes:\n", ["fetch"]),
    ("export default async function* readAll(it) {\n", ["readAll"]),
    ("export async function readAll(it) {\n", ["readAll"]),
    ("export const splitItem = (left, right) => {\n", ["splitItem"]),
    ("const limit = 3\nlet total = count(items)\n", []),
    ("  private onData(event: Event): void {\n", ["onData"]),
    ("  if (ready) {\n  } else if (late) {\n  for (;;) {\n  while (true) {\n", []),
    ("pub(crate) unsafe fn raw_parts<T>(&self) -> T {\n", ["raw_parts"]),
    ("pub struct Reader<R> {\nimpl<R> Reader<R> {\n", ["Reader"]),
    ("func (r *Reader) Next() (int, error) {\n", ["Next"]),
    ("type Option func(*Reader)\n", ["Option"]),
    ("std::string Store::Load(const Key& key) const {\n", ["Load"]),
    ("int *find(struct list *head) {\n", ["find"]),
    ("protected abstract class Shape extends Base {\n", ["Shape"]),
    ("    value = compute(a, b)\n    return compute(a)\n", []),
    ("# the class of the object, and the type of it\n// function that returns\n", []),
]


@pytest.mark.parametrize(("text", "names"), DEFINITIONS)
def test_the_names_that_a_text_defines(text, names):
    assert names == list(names_defined(text))


def test_a_part_of_a_definition_has_its_name():
    assert ["load"] == list(names_defined("    return path.read()\n", ("Store", "load")))


@pytest.mark.parametrize(
    "uri",
    [
        "tests/test_app.py",
        "src/__tests__/app.ts",
        "src/app.spec.ts",
        "pkg/reader_test.go",
        "src/ReaderTest.java",
        "examples/hello.rs",
        "vendor/github.com/x/y.go",
        "third_party/zlib/inflate.c",
        "node_modules/left-pad/index.js",
        "conftest.py",
    ],
)
def test_tests_examples_and_vendored_code_are_aside(uri):
    assert is_aside(uri)


@pytest.mark.parametrize(
    "uri", ["src/testament.py", "lib/contest.go", "attest/key.rs", "src/latest.js", "specimen.py"]
)
def test_names_that_only_hold_such_letters_are_not(uri):
    assert not is_aside(uri)


def test_prose_and_settings_are_no_code():
    assert [True, True, False, False, False] == [
        is_code(uri) for uri in ("a/b.py", "B.TS", "tests/notes.md", "vendor/a.json", "Makefile")
    ]


def order_of(space, query, **options):
    hits = space.search(query, **{"min_relevance": 0.0, "top_k": 10, **options}).hits
    return [hit.chunk.uri for hit in hits]


def write(files, **texts):
    for name, text in texts.items():
        path = files / name.replace("__", "/").replace("_dot_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")


@pytest.mark.parametrize("mode", ["hybrid", "lexical"])
def test_the_definition_comes_before_its_uses(files, make_space, mode):
    write(
        files,
        a_dot_py="rotate_keys(old)\nrotate_keys(new)\n",
        b_dot_py="def rotate_keys(ring):\n    ring.turn()\n    ring.save()\n    ring.log('done')\n",
        c_dot_py="from b import rotate_keys\n\nrotate_keys(ring)\n",
        **{f"d{n}_dot_py": f"def part_{n}(ring):\n    return ring.take({n})\n" for n in range(20)},
    )
    space = make_space()
    space.index()

    assert "b.py" == order_of(space, "rotate_keys", mode=mode)[0]
    assert "b.py" == order_of(space, "rotate the keys of a ring", mode=mode)[0]


def test_a_test_comes_after_the_code_unless_it_is_asked_for(files, make_space):
    body = "def close_valve(pump):\n    pump.close({})\n"
    write(files, tests__valve_dot_py=body.format(1), src__valve_dot_py=body.format(2))
    space = make_space()
    space.index()

    assert ["src/valve.py", "tests/valve.py"] == order_of(space, "close valve")
    snapshot, both = space.snapshot(), np.arange(2)
    for text, alike in (("close valve", False), ("tests of close valve", True)):
        (query,) = parse(text, snapshot, None)
        first, second = code_scores(query, snapshot, both, np.ones(2))
        assert alike == (first == second)


def test_prose_beside_code_keeps_its_order_and_alone_its_scores(files, make_space):
    for number in range(12):
        text = f"# Valve {number}\n\nclass Valve: close {'valve ' * number}\n"
        (files / f"{number}.md").write_text(text, "utf-8")
    space = make_space()
    space.index()
    snapshot, scores = space.snapshot(), np.linspace(1, 0, 12)
    (query,) = parse("class Valve", snapshot, None)
    assert code_scores(query, snapshot, np.arange(12), scores) is None

    write(files, y_dot_py="class Valve:\n    open = True\n")
    space.index()
    snapshot, scores = space.snapshot(), np.linspace(1, 0, 13)
    weighed = code_scores(query, snapshot, np.arange(13), scores)
    prose = [not is_code(snapshot.uris[number]) for number in snapshot.file_of_row]
    assert np.allclose((1 - DEFINED) * scores[prose], weighed[prose])
