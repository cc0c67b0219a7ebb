"""Functions and classes of a source file, found by tree-sitter."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from tree_sitter import Node
    from tree_sitter_language_pack import SupportedLanguage

_DEFINITION = re.compile(
    r"(?:.*_)?(?:class|constructor|contract|enum|function|impl|interface|macro|method|mod|module|"
    r"namespace|object|package_object|protocol|record|struct|subroutine|trait|type_alias|union)"
    r"(?:_(?:body_)?(?:declaration|definition|item|signature|specifier|statement))?"
)
_NOT_A_DEFINITION = re.compile(
    r"arrow_function|(?:.*_)?(?:call|invocation|expression|literal|type|reference|access|parameter|import|modifier"
    r"|name|body|block|clause|pattern|pointer_declarator)(?:_.*)?"
)
_TYPE = frozenset({"type_alias", "type_alias_declaration", "type_item", "type_spec"})
_WITH_BODY = frozenset(
    {"class_specifier", "enum_specifier", "mod_item", "struct_specifier", "union_specifier"}
)
"""What only declares a name where it has no body."""
_WRAPPER = frozenset(
    {
        "ambient_declaration",
        "decorated_definition",
        "export_statement",
        "template_declaration",
        "type_declaration",
    }
)
_VALUE = frozenset({"lexical_declaration", "variable_declaration"})
_FUNCTION_VALUE = frozenset({"arrow_function", "class", "function", "function_expression"})
_BEFORE = re.compile(
    r".*comment|attribute(?:_item|_list)?|decorator|annotation|inner_attribute_item"
)
_CPP = re.compile(r"^[ \t]*(?:class|namespace|template|using)\b", re.MULTILINE)
_NAME_FIELDS = ("name", "declarator", "type")
_DEEPEST = 12
_LONGEST_NAME = 200


@dataclass(frozen=True, slots=True)
class Definition:
    """A named stretch of code, with the comments and decorators right before it.

    Attributes:
        start: Offset in characters.
        end: After its last character.
        name: As written.
        inner: Definitions inside it, in order.
    """

    start: int
    end: int
    name: str
    inner: tuple[Definition, ...] = ()


def find_definitions(text: str, language: str) -> list[Definition]:
    """The outermost definitions of ``text``, in order; none where there is no such grammar."""
    from tree_sitter_language_pack import get_parser

    if language == "c" and _CPP.search(text):  # in a header
        language = "cpp"
    try:
        parser = get_parser(cast("SupportedLanguage", language))
    except LookupError:
        return []
    encoded = text.encode("utf-8", "surrogatepass")
    tree = parser.parse(encoded)
    found = list(_definitions(tree.root_node, 0))
    offsets = _character_offsets(encoded, found, ascii_only=text.isascii())
    return [_located(definition, offsets) for definition in found]


def _definitions(parent: Node, depth: int) -> Iterator[Definition]:
    """Definitions among the children of ``parent`` and below, in bytes."""
    if depth > _DEEPEST:
        return
    position = parent.start_byte
    children = parent.named_children
    for index, node in enumerate(children):
        definition = _as_definition(node)
        if definition is not None:
            start = max(_begin(children, index), position)
            inner = tuple(
                inner
                for inner in _definitions(definition, depth + 1)
                if inner.start >= node.start_byte
            )
            yield Definition(start, node.end_byte, _name(definition), inner)
            position = node.end_byte
        elif node.named_child_count and "expression" not in node.type:
            for inner_definition in _definitions(node, depth + 1):
                yield inner_definition
                position = inner_definition.end


def _as_definition(node: Node) -> Node | None:
    """The definition that a node is or wraps."""
    kind = node.type
    if kind in _WRAPPER:
        for child in node.named_children:
            inner = _as_definition(child)
            if inner is not None:
                return inner
        return None
    if kind in _VALUE:
        for child in node.named_children:
            value = child.child_by_field_name("value")
            if value is not None and value.type in _FUNCTION_VALUE:
                return child
        return None
    named = _DEFINITION.fullmatch(kind) and not _NOT_A_DEFINITION.fullmatch(kind)
    if not named and kind not in _TYPE:
        return None
    if kind in _WITH_BODY and node.child_by_field_name("body") is None:
        return None
    return node if node.named_child_count and _name(node) else None


def _begin(children: Sequence[Node], index: int) -> int:
    """Where a definition begins, with the comments and attributes on the lines right above it."""
    start = children[index]
    for before in reversed(children[:index]):
        near = start.start_point[0] - before.end_point[0] <= 1
        if not near or _BEFORE.fullmatch(before.type) is None:
            break
        other = before.prev_sibling
        if other is not None and other.end_point[0] == before.start_point[0] and other.end_point[1]:
            break  # It ends a line of other code.
        start = before
    return start.start_byte


def _name(node: Node) -> str:
    """The name as written; empty where a definition has none."""
    named = next(filter(None, map(node.child_by_field_name, _NAME_FIELDS)), None)
    if named is None:
        words = (child for child in node.named_children if child.type.endswith("identifier"))
        named = next(words, None)
    if named is None:
        return ""
    while (inner := named.child_by_field_name("declarator")) is not None:
        named = inner
    return " ".join((named.text or b"").decode("utf-8", "replace").split())[:_LONGEST_NAME]


def _character_offsets(
    encoded: bytes, found: Sequence[Definition], *, ascii_only: bool
) -> dict[int, int] | None:
    """Characters before each byte offset; None where they are the same."""
    if ascii_only:
        return None
    wanted = sorted({edge for definition in found for edge in _edges(definition)})
    offsets: dict[int, int] = {}
    position = characters = 0
    for offset in wanted:
        characters += len(encoded[position:offset].decode("utf-8", "surrogatepass"))
        position = offset
        offsets[offset] = characters
    return offsets


def _edges(definition: Definition) -> Iterator[int]:
    yield definition.start
    yield definition.end
    for inner in definition.inner:
        yield from _edges(inner)


def _located(definition: Definition, offsets: dict[int, int] | None) -> Definition:
    """The same definition in characters."""
    if offsets is None:
        return definition
    return Definition(
        offsets[definition.start],
        offsets[definition.end],
        definition.name,
        tuple(_located(inner, offsets) for inner in definition.inner),
    )
