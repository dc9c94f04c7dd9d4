"""The keys `tokenizer.ggml.*` that both families of tokenizers share."""

from collections.abc import Mapping
from typing import Any, TypeVar

from ...errors import FormatError
from ...spec import AddedToken, Template, TemplateItem, TokenizerSpec, TokenKind
from ..pieces import CONTROL, NORMAL, UNKNOWN, UNUSED, USER_DEFINED
from .container import Value

__all__ = [
    "Fields", "added_tokens", "common", "template_losses", "template_of", "types_of",
]  # fmt: skip

T = TypeVar("T")
_PREFIX = "tokenizer.ggml."
_ROLES = {"bos_token": "bos_token_id", "eos_token": "eos_token_id", "unk_token": "unknown_token_id",
          "sep_token": "seperator_token_id", "pad_token": "padding_token_id",
          "mask_token": "mask_token_id"}  # fmt: skip
_MATCHED = (CONTROL, USER_DEFINED, UNKNOWN)


class Fields:
    """Metadata whose types are checked; `missing` is for keys that may be."""

    def __init__(self, values: Mapping[str, Any], name: str) -> None:
        self.values, self.name = values, name
        self.architecture: str = str(values.get("general.architecture", "llama"))

    def get(self, key: str, kind: type[T], missing: T | None = None) -> T:
        """The value of a key."""
        value = self.values.get(_PREFIX + key, missing)
        if value is None:
            raise FormatError(f"{self.name}: {_PREFIX}{key} is missing")
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            raise FormatError(f"{self.name}: {_PREFIX}{key} has another type than {kind.__name__}")
        return value

    def items(self, key: str, kind: type[T], count: int | None = None) -> list[T]:
        """An array of `count` items; empty if it is missing and no count is given."""
        values: list[T] = self.get(key, list, [] if count is None else None)
        if not all(isinstance(value, kind) for value in values[:1]):
            raise FormatError(f"{self.name}: {_PREFIX}{key} is no array of {kind.__name__}")
        if count is not None and len(values) != count:
            raise FormatError(f"{self.name}: {_PREFIX}{key} has {len(values)} items, not {count}")
        return values

    def tokens(self) -> tuple[list[str], list[int]]:
        """The strings of the ids, and their types."""
        strings = self.items("tokens", str)
        if not strings:
            raise FormatError(f"{self.name}: {_PREFIX}tokens is missing or empty")
        if _PREFIX + "token_type" not in self.values:
            return strings, [NORMAL] * len(strings)
        return strings, self.items("token_type", int, len(strings))

    def kept(self) -> dict[str, Any]:
        """What a spec carries along."""
        found: dict[str, Any] = {"gguf_architecture": self.architecture}
        if isinstance(template := self.values.get("tokenizer.chat_template"), str):
            found["chat_template"] = template
        return found


def added_tokens(strings: list[str], types: list[int]) -> tuple[AddedToken, ...]:
    """The tokens that are cut out of the text."""
    return tuple(
        AddedToken(strings[id], id, special=type != USER_DEFINED)
        for id, type in enumerate(types)
        if type in _MATCHED and strings[id]
    )


def template_of(fields: Fields, count: int, *, bos: bool) -> Template | None:
    """What `add_bos_token` and `add_eos_token` put around a text; `bos` if the first is missing."""
    before = _role_id(fields, "bos", count) if fields.get("add_bos_token", bool, bos) else None
    after = _role_id(fields, "eos", count) if fields.get("add_eos_token", bool, False) else None
    return _around(before, after)


def _around(before: int | None, after: int | None) -> Template | None:
    if before is None and after is None:
        return None
    first = (*_item(before, 0), TemplateItem("A"), *_item(after, 0))
    return Template(first, (*first, *_item(before, 1), TemplateItem("B", 1), *_item(after, 1)))


def _item(id: int | None, type_id: int) -> tuple[TemplateItem, ...]:
    return () if id is None else (TemplateItem(id, type_id),)


def _role_id(fields: Fields, role: str, count: int) -> int | None:
    if f"{_PREFIX}{role}_token_id" not in fields.values:
        return None
    id = fields.get(f"{role}_token_id", int)
    if not 0 <= id < count:
        raise FormatError(f"{fields.name}: {_PREFIX}{role}_token_id is {id}: no token")
    return id


def _ends(template: Template | None) -> tuple[int | None, int | None]:
    """What a template puts before and behind one text."""
    single = template.single if template else ()
    place = next((i for i, item in enumerate(single) if item.value == "A"), 0)
    before = [item.value for item in single[:place] if isinstance(item.value, int)]
    after = [item.value for item in single[place + 1 :] if isinstance(item.value, int)]
    return (before[-1] if before else None), (after[0] if after else None)


def template_losses(spec: TokenizerSpec) -> list[str]:
    """Whether two truth values can say what is put around a text; that around a pair is lost."""
    alone = (TemplateItem("A"),)
    made = _around(*_ends(spec.template))
    same = (made.single if made else alone) == (spec.template.single if spec.template else alone)
    return [] if same else ["the template around a text"]


def _roles_of(spec: TokenizerSpec) -> dict[str, int]:
    """The ids of the special tokens that have a role."""
    config = spec.metadata.get("tokenizer_config", {})
    special = spec.special_tokens
    found: dict[str, int] = {}
    for role, key in _ROLES.items():
        named = config.get(role)
        content = named.get("content") if isinstance(named, dict) else named
        if isinstance(content, str) and content in special:
            found[key] = special[content]
    if spec.unknown is not None:
        found["unknown_token_id"] = spec.unknown
    before, after = _ends(spec.template)
    if before is not None:
        found["bos_token_id"] = before
    if after is not None:
        found["eos_token_id"] = after
    if not config and "<|endoftext|>" in special:
        found = {"bos_token_id": special["<|endoftext|>"],
                 "eos_token_id": special["<|endoftext|>"], **found}  # fmt: skip
    return found


def common(spec: TokenizerSpec, model: str, pre: str) -> dict[str, Value]:
    """The keys that every file has."""
    before, after = _ends(spec.template)
    architecture = "gpt2" if model == "gpt2" else "llama"
    values: dict[str, Value] = {
        "general.architecture": spec.metadata.get("gguf_architecture", architecture),
        _PREFIX + "model": model,
        _PREFIX + "pre": pre,
        **{_PREFIX + key: id for key, id in _roles_of(spec).items()},
        _PREFIX + "add_bos_token": before is not None,
        _PREFIX + "add_eos_token": after is not None,
    }
    if "chat_template" in spec.metadata:
        values["tokenizer.chat_template"] = spec.metadata["chat_template"]
    return values


def types_of(spec: TokenizerSpec) -> list[int]:
    """The types of the ids of a spec whose tokens are bytes."""
    matched = {t.id: CONTROL if t.special else USER_DEFINED for t in spec.added_tokens}
    return [
        matched.get(id, UNUSED if kind is TokenKind.UNUSED else NORMAL)
        for id, kind in enumerate(spec.kinds)
    ]
