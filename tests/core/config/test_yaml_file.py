"""Whatever stands in a settings file, an error is one line that names the place."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest

from ragloom import ConfigError
from ragloom.config.yaml_file import read_yaml

LAUGHS = "\n".join(
    ["a0: &a0 [x, x]", *(f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}, *a{n - 1}]" for n in range(1, 40))]
)
HOSTILE = {
    "a list in itself": ("x: 1\ny: &a [*a]", 2),
    "a mapping in itself": ("x: &a\n  y: *a", 1),
    "a list in itself, further down": ("x: &a\n  - y:\n      - *a\n", None),
    "an alias grows": (LAUGHS, None),
    "deep brackets": ("x: 1\ny: " + "[" * 5000 + "]" * 5000, 2),
    "deep blocks": ("x:\n" + "\n".join(" " * n + "- " for n in range(1, 400)) + "\n", None),
    "brackets without end": ("x: " + "[" * 5000, 1),
    "no integer": ("x: !!int ''", 1),
    "no truth value": ("x: 1\ny: !!bool maybe", 2),
    "no time": ("x: !!timestamp noon", 1),
    "no day": ("x: 2024-02-31", 1),
    "no list": ("x: !!seq y", 1),
    "no null": ("x: !!set y", 1),
    "a number of 400 digits": ("x: 1\ny: 1" + "0" * 400, 2),
    "a number of 5000 digits": ("x: 1\ny: 1" + "0" * 5000, 2),
    "a character that ends a path": ('x: 1\ny: "a\\0b"', 2),
    "half a character": ('x: 1\ny: "\\ud800"', 2),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_what_cannot_be_a_setting_is_one_line_with_its_place(tmp_path: Path, name: str) -> None:
    text, line = HOSTILE[name]
    path = tmp_path / "settings.yaml"
    path.write_text(text, "utf-8")

    with pytest.raises(ConfigError) as caught:
        read_yaml(path)

    found = re.fullmatch(rf"{re.escape(str(path))}:(\d+): .{{5,300}}", str(caught.value))
    assert found is not None, str(caught.value)
    assert line in (None, int(found[1]))


def test_an_alias_is_what_its_anchor_is(tmp_path: Path) -> None:
    path = tmp_path / "settings.yaml"
    path.write_text("x: &a [1, {b: c}]\ny: *a\nz: {w: *a}\n", "utf-8")

    assert read_yaml(path).content == {
        "x": [1, {"b": "c"}],
        "y": [1, {"b": "c"}],
        "z": {"w": [1, {"b": "c"}]},
    }


def test_a_settings_file_has_a_maximum_size(tmp_path: Path) -> None:
    path = tmp_path / "ragloom.yaml"
    path.write_text("# " + "x" * 999_000 + "\ntop_k: 7\n")
    assert {"top_k": 7} == read_yaml(path).content
    path.write_text("a: 1\n" * 10_000_000)
    started = time.perf_counter()
    with pytest.raises(ConfigError) as raised:
        read_yaml(path)
    assert time.perf_counter() - started < 1
    message = f"{path}: larger than 1,000,000 bytes, the maximum of a settings file"
    assert message == str(raised.value)
