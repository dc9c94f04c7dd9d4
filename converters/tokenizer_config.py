"""tokenizer_config.json: the roles of special tokens, and added tokens that no other file lists."""

import json
import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..spec import AddedToken, TokenizerSpec
from . import added_tokens
from .added_tokens import Numbered
from .base import read_text
from .json_tree import Node, load

__all__ = ["ROLES", "files", "metadata", "read", "with_tokens"]

_CONFIG, _TEMPLATE = "tokenizer_config.json", "chat_template.jinja"
ROLES = (
    "bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token",
)  # fmt: skip
"""Names of special tokens, in the order in which transformers adds them."""

# Fields that speak of files or classes, not of the tokenizer.
_NOT_KEPT = {"tokenizer_class", "auto_map", "tokenizer_file", "name_or_path"}


def read(folder: Path) -> Node | None:
    """The tokenizer_config.json of a folder, if there is one.

    Files from before 2024 are merged into it: special_tokens_map.json with the roles of special
    tokens, and added_tokens.json with the ids of added ones; transformers reads them where the
    config lists no `added_tokens_decoder`.
    """
    names = (_CONFIG, "special_tokens_map.json", "added_tokens.json")
    config, roles, ids = (load(p) if (p := folder / n).is_file() else None for n in names)
    merged = Node(dict(config.value) if config else {}, names[0])
    if "added_tokens_decoder" not in merged.value:
        merged.value.update({key: _as_tokens(v) for key, v in roles.value.items()} if roles else {})
        if ids:
            merged.value["added_tokens_decoder"] = {
                str(id): {"content": content, "special": False} for content, id in ids.value.items()
            }
    return merged if config or roles or ids else None


def _as_tokens(value: Any) -> Any:
    """Tokens that are objects, marked as transformers wants them in tokenizer_config.json."""
    if isinstance(value, list):
        return [_as_tokens(item) for item in value]
    token = isinstance(value, dict) and "content" in value
    return {**value, "special": True, "__type": "AddedToken"} if token else value


def with_tokens(
    added: Iterable[AddedToken], vocab: Mapping[str, int], config: Node
) -> list[AddedToken]:
    """These tokens and those that a tokenizer_config.json adds, as AutoTokenizer has them.

    Those of `added_tokens_decoder` come first, by their keys, and replace the flags of what is
    there; then come the roles. Measured on transformers 4.57 to 5.24, which agree.
    """
    numbered = Numbered(vocab)
    for token in added:
        numbered.add(token)
    listed = config.optional("added_tokens_decoder")
    for key in sorted(listed.value, key=lambda key: _number(listed, key)) if listed else ():
        node = listed.child(key)  # type: ignore[union-attr]
        token = added_tokens.read(node, _number(node, key))
        if not token.content:
            continue
        if (id := numbered.add(token).id) != token.id:
            warnings.warn(
                f"{node.path}: {token.content!r} has the id {id}, as AutoTokenizer reads it, and "
                f"not {token.id}",
                stacklevel=2,
            )
    for token in _with_roles(config):
        known = numbered.tokens.get(token.content, token)
        numbered.add(replace(known, special=True))
    return list(numbered.tokens.values())


def _number(node: Node, key: str) -> int:
    if not key.isascii() or not key.isdigit() or len(key) > 9:
        raise node.error(f"the key {key!r} is no id")
    return int(key)


def _with_roles(config: Node) -> Iterator[AddedToken]:
    """The tokens that a tokenizer_config.json names, without ids."""
    more = [key for key in config.value if key.endswith("_token") and key not in ROLES]
    for key in (*ROLES, *more):
        yield from _named(config, key, config.value.get(key), dicts=key in ROLES)
    for key in ("additional_special_tokens", "extra_special_tokens"):
        value = config.value.get(key)
        items = list(value.items()) if isinstance(value, dict) else enumerate(value or ())
        for place, item in items:
            yield from _named(config, f"{key}[{place}]", item, dicts=True)


def _named(config: Node, key: str, value: Any, *, dicts: bool) -> Iterator[AddedToken]:
    if isinstance(value, dict) and dicts:
        token = added_tokens.read(Node(value, f"{config.path}.{key}"), 0, special=True)
    elif isinstance(value, str):
        token = AddedToken(value, 0)
    elif value is None or not dicts:
        return
    else:
        raise config.error(f"{key} must be a string or an object, not {value!r}")
    if token.content:
        yield token


def metadata(folder: Path, config: Node | None) -> dict[str, Any]:
    """What a spec carries along of such a folder."""
    found: dict[str, Any] = {} if config is None else {"tokenizer_config": config.value}
    template = folder / _TEMPLATE
    return found | ({"chat_template": read_text(template)} if template.is_file() else {})


def files(
    spec: TokenizerSpec, folder: Path, tokenizer_class: str, **defaults: Any
) -> dict[Path, bytes]:
    """The tokenizer_config.json and the chat template of a folder that this class loads.

    `defaults` are for what the spec does not carry.
    """
    original = spec.metadata.get("tokenizer_config", {})
    config = {key: value for key, value in original.items() if key not in _NOT_KEPT}
    if not original:
        config |= _roles(spec)
    config["tokenizer_class"] = tokenizer_class
    config["clean_up_tokenization_spaces"] = False  # decoding must not alter text
    if spec.byte_level:  # transformers 4 takes its default for the last word, and changes ids
        config["add_prefix_space"] = spec.prefix_space
    # With it, transformers looks at no special_tokens_map.json or added_tokens.json that an older
    # tokenizer may have left in the folder.
    config["added_tokens_decoder"] = {
        str(token.id): added_tokens.write(token) for token in spec.added_tokens
    }
    config.setdefault("model_input_names", ["input_ids", "attention_mask"])
    text = json.dumps(defaults | config, ensure_ascii=False, indent=2, sort_keys=True)
    made = {folder / _CONFIG: text.encode() + b"\n"}
    if "chat_template" in spec.metadata:
        made[folder / _TEMPLATE] = spec.metadata["chat_template"].encode()
    return made


def _roles(spec: TokenizerSpec) -> dict[str, Any]:
    """Names of special tokens that come from a format without roles.

    Only `<|endoftext|>` has a role by its name; the others are listed under the name that both
    transformers 4 and 5 read.
    """
    special = list(spec.special_tokens)
    if not special:
        return {}
    end = "<|endoftext|>"
    roles: dict[str, Any] = {"bos_token": end, "eos_token": end} if end in special else {}
    others = [token for token in special if token != end]
    return roles | ({"additional_special_tokens": others} if others else {})
