"""The section `post_processor`: what is put around the ids, and how offsets are reported."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ...spec import Template, TemplateItem, TokenizerSpec
from ..json_tree import Node

__all__ = ["PostProcessor", "read", "write"]


@dataclass(frozen=True, slots=True)
class PostProcessor:
    """What the section says; `trim_offsets` is None if nothing in it speaks of offsets.

    `prefix_space` says that trimming leaves one space at the beginning of a text alone;
    `typed_overflow` that what truncation cuts off has the template's types, too.
    """

    template: Template | None = None
    trim_offsets: bool | None = None
    prefix_space: bool = False
    typed_overflow: bool = False


def read(node: Node | None) -> PostProcessor:
    """What a post-processor does."""
    if node is None:
        return PostProcessor()
    kind = node.get("type", str)
    match kind:
        case "Sequence":
            node.only("type", "processors")
            whole = PostProcessor()
            for child in node.children("processors"):
                part = read(child)
                if part.template and whole.template:
                    raise child.unsupported("more than one template")
                trims = whole if part.trim_offsets is None else part
                template = part.template or whole.template
                typed = part.typed_overflow or whole.typed_overflow
                whole = PostProcessor(template, trims.trim_offsets, trims.prefix_space, typed)
            return whole
        case "ByteLevel":
            node.only("type", "add_prefix_space", "trim_offsets", "use_regex")
            return PostProcessor(
                trim_offsets=node.get("trim_offsets", bool, True),
                prefix_space=node.get("add_prefix_space", bool, True),
            )
        case "RobertaProcessing":
            node.only("type", "sep", "cls", "trim_offsets", "add_prefix_space")
            template = _around(_id(node, "cls"), _id(node, "sep"), double=True)
            trim = node.get("trim_offsets", bool, True)
            return PostProcessor(
                template, trim, node.get("add_prefix_space", bool, True), typed_overflow=True
            )
        case "BertProcessing":
            node.only("type", "sep", "cls")
            return PostProcessor(_around(_id(node, "cls"), _id(node, "sep"), double=False))
        case "TemplateProcessing":
            node.only("type", "single", "pair", "special_tokens")
            return PostProcessor(Template(_items(node, "single"), _items(node, "pair")))
    raise node.unsupported(f"the post-processor {kind}")


def _id(node: Node, key: str) -> int:
    """The id in a `["<s>", 0]`."""
    value = node.get(key, list)
    if len(value) != 2 or not isinstance(value[1], int) or isinstance(value[1], bool):
        raise node.error(f"{key!r} must be a token and its id, not {value!r}")
    return value[1]


def _around(cls: int, sep: int, *, double: bool) -> Template:
    """The templates of RoBERTa (two separators between the texts, one type) and BERT."""
    first, end = TemplateItem(cls), TemplateItem(sep)
    single = (first, TemplateItem("A"), end)
    if double:
        return Template(single, (*single, end, TemplateItem("B"), end))
    return Template(single, (*single, TemplateItem("B", 1), TemplateItem(sep, 1)))


def _items(node: Node, key: str) -> tuple[TemplateItem, ...]:
    specials = node.optional("special_tokens")
    items: list[TemplateItem] = []
    for child in node.children(key):
        child.only("Sequence", "SpecialToken")
        name = next(iter(child.value), "")
        part = child.child(name)
        type_id = part.get("type_id", int, 0)
        text = part.get("id", str)
        if name == "Sequence":
            if text not in ("A", "B"):
                raise part.error(f"the sequence must be A or B, not {text!r}")
            items.append(TemplateItem("A" if text == "A" else "B", type_id))
            continue
        if specials is None or text not in specials.value:
            raise part.error(f"{text!r} is not in special_tokens")
        items += [TemplateItem(id, type_id) for id in specials.child(text).items("ids", int)]
    return tuple(items)


def write(spec: TokenizerSpec, metadata: Mapping[str, Any]) -> dict[str, Any] | None:
    """The section for a spec."""
    steps: list[dict[str, Any]] = []
    if spec.byte_level:
        steps.append({
            "type": "ByteLevel",
            "add_prefix_space": bool(metadata.get("trim_prefix_space", spec.prefix_space)),
            "trim_offsets": bool(metadata.get("trim_offsets", False)),
            "use_regex": True,
        })  # fmt: skip
    if spec.template:
        steps.append(_write_template(spec, spec.template))
    if not steps:
        return None
    return steps[0] if len(steps) == 1 else {"type": "Sequence", "processors": steps}


def _write_template(spec: TokenizerSpec, template: Template) -> dict[str, Any]:
    names = {token.id: token.content for token in reversed(spec.added_tokens)}
    used: dict[str, int] = {}

    def written(item: TemplateItem) -> dict[str, Any]:
        if isinstance(item.value, str):
            return {"Sequence": {"id": item.value, "type_id": item.type_id}}
        name = names.get(item.value) or spec.tokens[item.value].decode("utf-8", "replace")
        used[name] = item.value
        return {"SpecialToken": {"id": name, "type_id": item.type_id}}

    return {
        "type": "TemplateProcessing",
        "single": [written(item) for item in template.single],
        "pair": [written(item) for item in template.pair],
        "special_tokens": {
            name: {"id": name, "ids": [id], "tokens": [name]} for name, id in used.items()
        },
    }
