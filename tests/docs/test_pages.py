"""What the pages show can be typed, and what can be typed is on a page."""

import ast
import re
import shlex
from itertools import takewhile

import click
import pytest

pytest.importorskip("onnxruntime", reason="needs the extra [standard]")

from ragloom.cli import cli

_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.DOTALL | re.MULTILINE)


@pytest.fixture(scope="module")
def pages(root):
    found = [
        root / "README.md",
        root / "CONTRIBUTING.md",
        *root.glob("docs/*.md"),
        *root.glob("examples/**/README.md"),
    ]
    documents = root / "examples" / "docs"  # theirs, not ours
    return {
        path.relative_to(root).as_posix(): path.read_text("utf-8")
        for path in sorted(found)
        if documents not in path.parents
    }


def commands_of(page):
    """The arguments of each ``ragloom …`` in a page's blocks and text."""
    for language, block in _BLOCK.findall(page):
        if language in {"console", "sh"}:
            for line in block.replace("\\\n", " ").splitlines():
                if shown := re.search(r"(?:^|^\$ |&& \S*|-- )ragloom (?!\[)(.*)", line):
                    words = shlex.split(shown[1], comments=True)
                    yield [*takewhile(lambda word: word not in ("|", "||", "&&", ">"), words)]
    for shown in re.findall(r"`ragloom ([^`]*)`", _BLOCK.sub("", page)):
        yield shlex.split(shown)


def typed(words):
    """The command that words lead to. Whatever it does not take is an error of click's."""
    command, context = cli, click.Context(cli, info_name="ragloom", **cli.context_settings)
    while True:
        _, rest, _ = command.make_parser(context).parse_args(list(words))
        if not isinstance(command, click.Group) or not rest or rest[0] == "NAME":
            return command
        found = command.get_command(context, rest[0])
        assert found is not None, f"unknown command {rest[0]!r}"
        command, words = found, rest[1:]
        context = click.Context(command, info_name=command.name, parent=context)


def test_every_command_that_a_page_shows_can_be_typed(pages):
    shown = 0
    wrong = []
    for name, page in pages.items():
        for words in commands_of(page):
            shown += 1
            try:
                typed([word for word in words if word != "…"])
            except (AssertionError, click.UsageError) as error:
                wrong.append((name, words, str(error)))
    assert [] == wrong
    assert shown > 50


def leaves(command, context, words=()):
    if not isinstance(command, click.Group):
        yield words, command
        return
    for name in command.list_commands(context):
        found = command.get_command(context, name)
        yield from leaves(found, click.Context(found, parent=context), (*words, name))


def test_every_option_is_on_the_page_of_its_command(pages):
    everywhere = {option for parameter in cli.params for option in parameter.opts}
    sections = {
        title.split()[0]: text
        for title, text in re.findall(
            r"^## ragloom (.*?)\n(.*?)(?=^## |\Z)",
            pages["docs/command-line.md"],
            re.DOTALL | re.MULTILINE,
        )
    }
    missing = []
    for words, command in leaves(cli, click.Context(cli, **cli.context_settings)):
        said = sections.get(words[0], "")
        said += "".join(pages[f"docs/{name}"] for name in re.findall(r"\((\w+\.md)\)", said))
        for option in command.params:
            known = {*option.opts, *option.secondary_opts}
            if isinstance(option, click.Option) and not known & everywhere:
                long = [one for one in known if one.startswith("--")]
                if long and not any(re.search(rf"{one}(?![\w-])", said) for one in long):
                    missing.append((" ".join(words), max(long)))
    assert [] == missing


def test_every_block_of_python_compiles(pages):
    for name, page in pages.items():
        for language, block in _BLOCK.findall(page):
            if language == "python" and name != "docs/hooks.md":  # which shows signatures
                ast.parse(block, name)


def test_every_link_between_pages_leads_somewhere(pages, root):
    dead = [
        (name, link)
        for name, page in pages.items()
        for link in re.findall(r"\]\((?!\w+:)([^)#]+)[^)]*\)", _BLOCK.sub("", page))
        if not (root / name).parent.joinpath(link).exists()
        # Pages that are made with the manual: tests/docs/test_site.py follows their links.
        and not (name.startswith("docs/") and re.match(r"(\.\./)?reference/|glossary\.md", link))
    ]
    assert [] == dead


def test_the_readme_leads_to_every_page(pages):
    known, new = set(), {"README.md"}
    while new:
        known |= new
        links = {
            link if name == "README.md" else f"docs/{link}"
            for name in new
            for link in re.findall(r"\]\(([\w/-]+\.md)", pages[name])
        }
        new = (links & pages.keys()) - known
    assert set() == {name for name in pages if name.startswith("docs/")} - known
