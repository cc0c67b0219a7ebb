"""Ignore rules against git itself, over trees and rules that Hypothesis makes."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ragloom.sources.discovery import walk
from ragloom.sources.ignore_rules import IgnoreRules
from ragloom.sources.roots import resolve_roots

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")

FOLDERS = ["", "docs", "docs/deep", "sub", "Sub2", "build", "src/build", "a b", "keep", "é"]
NAMES = [
    *("a.md", "b.md", "foo.md", "README.md", "keep.md", "x.py", "aa.md", "a-b.md", "é.md"),
    *("#hash.md", "!bang.md", "trail .md", "br[1].md", "back\\slash.md", "star*.md", "K.MD"),
]
FILES = [f"{folder}/{name}".lstrip("/") for folder in FOLDERS for name in NAMES]

PIECES = st.sampled_from(
    [
        *("*", "**", "?", "/", "!", "#", "\\", " ", "\t", "[", "]", "^", "-", "\r", "***"),
        *("a", "b", "md", ".md", "*.md", "docs", "deep", "sub", "build", "src", "keep", "foo"),
        *("[a-c]", "[!a]", "[^b]", "[[:alpha:]]", "[[:upper:]", "[]-]", "[a\\]]", "[z-a]", "é"),
        *("/**", "**/", "/**/", "*/", "/*", "!*/", "!*.md", "\\!", "\\#", "\\ ", "[[:no:]]", "[1]"),
    ]
)
WHOLE = st.sampled_from(
    [
        *("*", "!*/", "!*.md", "*.md", "/*", "!/docs/", "docs/", "!docs/", "**/build", "build/**"),
        *("docs/*", "!docs/deep", "keep/", "!keep/keep.md", "**/*.*", "!**/*.md", "/docs/**/a.md"),
        *(
            "# comment",
            "",
            "a.md ",
            "trail .md",
            "\\#hash.md",
            "\\!bang.md",
            "br[[]1].md",
            "src/*/",
        ),
        *("docs/**/*.md", "**/deep/", "/a b/", "s?b/", "é/", "?.md", "sub", "!sub", "a*b", "**"),
    ]
)
LINES = WHOLE | st.lists(PIECES, min_size=1, max_size=5).map("".join)
RULES = st.builds(
    lambda bom, lines, ends: bom + ends.join(lines) + ends,
    st.sampled_from(["", "", "\ufeff"]),
    st.lists(LINES, min_size=1, max_size=6),
    st.sampled_from(["\n", "\n", "\r\n"]),
)
PLACES = st.sampled_from(
    [*(f"{folder}/.gitignore".lstrip("/") for folder in FOLDERS), ".git/info/exclude", "~/ignore"]
)
RULE_SETS = st.dictionaries(PLACES, RULES, min_size=1, max_size=4)
TREES = st.lists(st.sampled_from(FILES), min_size=10, max_size=60, unique=True)


class Repository:
    """A work tree that one example after another fills."""

    def __init__(self, folder: Path) -> None:
        self.top = folder / "repository"
        self.user = folder / "user"
        self.environment = {
            **{key: value for key, value in os.environ.items() if not key.startswith("GIT_")},
            "HOME": str(self.user),
            "XDG_CONFIG_HOME": str(self.user / "config"),
            "GIT_CONFIG_NOSYSTEM": "1",
        }
        self.ignore = self.user / "config" / "git" / "ignore"
        self.ignore.parent.mkdir(parents=True)
        self.top.mkdir()
        self.git("init", "--quiet")

    def git(self, *arguments: str) -> bytes:
        command = ["git", "-C", str(self.top), *arguments]
        return subprocess.run(command, env=self.environment, check=True, capture_output=True).stdout

    def fill(self, files: list[str], rules: Mapping[str, str]) -> None:
        for old in self.top.iterdir():
            if old.name == ".git":
                (old / "info" / "exclude").unlink(missing_ok=True)
            elif old.is_dir():
                shutil.rmtree(old)
            else:
                old.unlink()
        self.ignore.unlink(missing_ok=True)
        for name in files:
            path = self.top / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
        for place, content in rules.items():
            path = self.ignore if place == "~/ignore" else self.top / place
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.encode())

    def listed_by_git(self) -> list[str]:
        listed = self.git("ls-files", "-o", "--exclude-standard", "-z").decode().split("\0")
        return sorted(one for one in listed if one and not one.endswith(".gitignore"))

    def found(self) -> list[str]:
        with pytest.MonkeyPatch.context() as patch:
            for name in ("HOME", "XDG_CONFIG_HOME", "GIT_CONFIG_NOSYSTEM"):
                patch.setenv(name, self.environment[name])
            patch.delenv("GIT_CONFIG_GLOBAL", raising=False)
            roots = resolve_roots(["."], self.top)
            walked = walk(roots, base=self.top, endings={".md", ".py"})
            return sorted(one.source.uri for one in walked)


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    return Repository(tmp_path_factory.mktemp("ignored"))


def compare(repository: Repository, files: list[str], rules: Mapping[str, str]) -> None:
    repository.fill(files, rules)
    assert repository.listed_by_git() == repository.found()


ANY = settings(suppress_health_check=list(HealthCheck), deadline=None)


@needs_git
@settings(ANY, max_examples=60)
@given(files=TREES, rules=RULE_SETS)
def test_a_walk_finds_what_git_does_not_ignore(
    repository: Repository, files: list[str], rules: Mapping[str, str]
) -> None:
    compare(repository, files, rules)


@needs_git
@pytest.mark.slow
@settings(ANY, max_examples=2_000)
@given(files=TREES, rules=RULE_SETS)
def test_two_thousand_rule_sets_are_read_as_git_reads_them(
    repository: Repository, files: list[str], rules: Mapping[str, str]
) -> None:
    compare(repository, files, rules)


@needs_git
@settings(ANY, max_examples=60)
@given(files=TREES, line=LINES)
def test_a_line_alone_matches_what_git_says(
    repository: Repository, files: list[str], line: str
) -> None:
    compare(repository, files, {".gitignore": f"{line}\n"})


@needs_git
@pytest.mark.parametrize(
    "rules",
    [
        "*\n!*/\n!*.md\n",
        "*\n!sub\n!sub/*.md\n",
        "\ufeffa.md\n",
        "/*\n!/docs/\n",
        "keep/\n!keep/keep.md\n",
        "**/*.*\n!**/*.md\n",
        "docs/**\n!docs/**/\n!docs/**/a.md\n",
        "a.md\x0bb.md\n",
        "a.md\x85b.md\u2028foo.md\n",
        "a.md\rb.md\n",
        "docs/a**/b.md\nsub/**b.md\n",
    ],
)
def test_allow_lists_and_odd_ends_of_lines(repository: Repository, rules: str) -> None:
    compare(repository, FILES, {".gitignore": rules})


@needs_git
def test_case_is_ignored_where_the_repository_says_so(repository: Repository) -> None:
    repository.git("config", "core.ignoreCase", "true")
    try:
        compare(repository, FILES, {".gitignore": "DOCS/\nreadme.md\n[k].md\n/A.MD\n"})
        assert "README.md" not in repository.found()
    finally:
        repository.git("config", "core.ignoreCase", "false")


@needs_git
@pytest.mark.parametrize(
    ("settings_file", "content", "named"),
    [
        (".gitconfig", '[core]\n\texcludesFile = "~/my ignore" ; mine\n', "my ignore"),
        ("config/git/config", "[Core] ExcludesFile=~/mine\n", "mine"),
        (".gitconfig", "[include]\n\tpath = more\n", "mine"),
        (".gitconfig", "[core]\nexcludesfile = \\\n  ~/mine\n", "mine"),
    ],
)
def test_the_users_own_file_counts(
    tmp_path: Path, settings_file: str, content: str, named: str
) -> None:
    repository = Repository(tmp_path)
    (repository.user / settings_file).write_text(content, "utf-8")
    (repository.user / "more").write_text("[core]\nexcludesFile = ~/mine\n", "utf-8")
    (repository.user / named).write_text("/docs/\n", "utf-8")
    compare(repository, FILES, {"~/ignore": "*.md\n", ".git/info/exclude": "!a.md\n"})
    assert not [uri for uri in repository.found() if uri.startswith("docs/")]


@needs_git
def test_a_repository_names_no_file_outside_of_it(tmp_path: Path) -> None:
    repository = Repository(tmp_path)
    (tmp_path / "outside").write_text("*\n", "utf-8")
    repository.git("config", "core.excludesFile", str(tmp_path / "outside"))
    repository.fill(["a.md", "b.md"], {"mine": "b.md\n", "~/ignore": "a.md\n"})
    assert repository.found() == ["b.md"]

    repository.git("config", "core.excludesFile", str(repository.top / "mine"))
    assert repository.found() == ["a.md"]


@needs_git
def test_a_linked_work_tree_has_the_excludes_of_the_main_one(tmp_path: Path) -> None:
    repository = Repository(tmp_path)
    identity = ("-c", "user.name=x", "-c", "user.email=x@example.org")
    repository.git(*identity, "commit", "--quiet", "--allow-empty", "-m", "first")
    repository.git("worktree", "add", "--quiet", str(tmp_path / "linked"))
    (repository.top / ".git" / "info" / "exclude").write_text("a.md\n", "utf-8")
    repository.top = tmp_path / "linked"
    for name in ("a.md", "b.md"):
        (repository.top / name).touch()
    assert repository.listed_by_git() == repository.found() == ["b.md"]


def test_a_file_that_points_to_another_repository_brings_no_rules(tmp_path: Path) -> None:
    other, clone = tmp_path / "other", tmp_path / "clone"
    (other / "info").mkdir(parents=True)
    (other / "info" / "exclude").write_text("*\n", "utf-8")
    clone.mkdir()
    (clone / ".git").write_text(f"gitdir: {other}\n", "utf-8")
    (clone / "a.md").touch()
    walked = walk(resolve_roots(["."], clone), base=clone, endings={".md"})
    assert ["a.md"] == [one.source.uri for one in walked]


@given(st.binary(max_size=60), st.binary(min_size=1, max_size=12))
def test_any_bytes_are_rules(content: bytes, path: bytes) -> None:
    rules = IgnoreRules(content)
    assert rules.verdict(path, is_folder=False) in (None, True, False)
