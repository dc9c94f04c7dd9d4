"""Mistral's tekken.json: a rank table behind a block of special tokens.

Ids 0 to n - 1 are special tokens, of which those that no list names are `<SPECIAL_i>`; a token's id
is its rank plus n. `config.default_vocab_size` says how many ids there are: the table may go on
behind them. Source: `tokens/tokenizers/tekken.py` of mistral-common 1.13, which encodes with
tiktoken and never looks for special tokens in a text.
"""

import base64
import binascii
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..errors import FormatError, UnsupportedError
from ..spec import TokenizerSpec, TokenKind
from . import tiktoken
from .base import Format, id_limit, write_files
from .json_tree import Node, load, looks_like

__all__ = ["FORMAT", "read", "write"]

_SECTIONS = (
    "audio", "config", "image", "model_settings_builder", "multimodal", "special_tokens", "type",
    "version", "vocab",
)  # fmt: skip
_CARRIED = ("audio", "image", "model_settings_builder", "multimodal", "type", "version")
# What files without a list mean: those of the versions up to v7.
_EARLY_VERSIONS = ("v1", "v2", "v3", "v7")
_EARLY_TOKENS = (
    "<unk>", "<s>", "</s>", "[INST]", "[/INST]", "[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]",
    "[TOOL_RESULTS]", "[/TOOL_RESULTS]", "[TOOL_CALLS]", "[IMG]", "<pad>", "[IMG_BREAK]",
    "[IMG_END]", "[PREFIX]", "[MIDDLE]", "[SUFFIX]", "[SYSTEM_PROMPT]", "[/SYSTEM_PROMPT]",
    "[TOOL_CONTENT]",
)  # fmt: skip
_HINT = rb'"(default_num_special_tokens|token_bytes)"\s*:'


def detect(path: Path) -> bool:
    """Whether a file looks like a tekken.json."""
    return looks_like(path, _HINT)


def read(
    path: Path, pattern: str | None, special_tokens: Mapping[str, int] | None
) -> TokenizerSpec:
    """Reads a tekken.json."""
    if pattern is not None or special_tokens is not None:
        raise FormatError(f"{path}: a tekken.json holds its own pattern and special tokens")
    tree = load(path)
    tree.only(*_SECTIONS)
    config = tree.child("config")
    size, count = (
        config.get("default_vocab_size", int),
        config.get("default_num_special_tokens", int),
    )
    tokens = tree.get("vocab", list)
    if not 0 <= count <= size <= count + len(tokens) or count > id_limit(len(tokens)):
        raise config.error(f"{size} ids with {count} special tokens and {len(tokens)} others")
    specials = _special_tokens(tree, config, count)
    ranks = _ranks(tree, tokens[: size - count], count)
    kept = {key: tree.value[key] for key in ("config", *_CARRIED) if key in tree.value}
    split = config.get("pattern", str)
    return tiktoken.spec_of(ranks, split, specials, path.stem, {"tekken": kept})


def _special_tokens(tree: Node, config: Node, count: int) -> dict[str, int]:
    if tree.value.get("special_tokens") is not None:
        named = [node.get("token_str", str) for node in tree.children("special_tokens")]
        for place, node in enumerate(tree.children("special_tokens")):
            if node.get("rank", int) != place:
                raise node.error(f"the rank is {node.value['rank']}, not {place}")
    else:
        version = config.get("version", str)
        if version not in _EARLY_VERSIONS:
            raise tree.error(f"'special_tokens' is missing, which version {version} must have")
        named = list(_EARLY_TOKENS)
    if len(named) > count:
        raise config.error(f"{len(named)} special tokens, but default_num_special_tokens={count}")
    named += [f"<SPECIAL_{id}>" for id in range(len(named), count)]
    specials = {content: id for id, content in enumerate(named)}
    if len(specials) != count:
        raise tree.error("a special token is listed twice")
    return specials


def _ranks(tree: Node, tokens: list[Any], first: int) -> dict[bytes, int]:
    ranks: dict[bytes, int] = {}
    for place, entry in enumerate(tokens):
        where = f"{tree.path}.vocab[{place}]"
        if not isinstance(entry, dict) or not isinstance(entry.get("token_bytes"), str):
            raise FormatError(f"{where}: must be an object with the string token_bytes")
        if entry.get("rank") != place or isinstance(entry["rank"], bool):
            raise FormatError(f"{where}.rank: must be {place}, not {entry.get('rank')!r}")
        try:
            token = base64.b64decode(entry["token_bytes"], validate=True)
        except (binascii.Error, ValueError) as error:
            raise FormatError(f"{where}.token_bytes: no base64: {error}") from None
        if not token or ranks.setdefault(token, first + place) != first + place:
            raise FormatError(f"{where}: the token {token!r} is empty or there already")
    return ranks


def losses(spec: TokenizerSpec) -> list[str]:
    """What a tekken.json cannot hold of a spec."""
    if not spec.byte_level:
        raise UnsupportedError("tekken.json holds tokens of bytes, and these start as characters")
    found = tiktoken.losses(spec)
    count = len(spec.special_tokens)
    if sorted(spec.special_tokens.values()) != list(range(count)):
        found.append("special tokens with other ids than the first ones")
    elif any(kind is not TokenKind.NORMAL for kind in spec.kinds[count:]):
        found.append("ids behind the special tokens that are no ordinary tokens")
    elif list(spec.tokens[count : count + 256]) != [bytes([byte]) for byte in range(256)]:
        found.append("bytes that are not the first 256 tokens, in their order")
    return found


def write(spec: TokenizerSpec, path: Path) -> list[Path]:
    """Writes a tekken.json; ids move if `losses` speaks of them."""
    kept = spec.metadata.get("tekken", {})
    specials = sorted(spec.special_tokens, key=spec.special_tokens.__getitem__)
    ordinary = list(tiktoken.ranks_of(spec))
    config = {
        "pattern": tiktoken.pattern_of(spec),
        "num_vocab_tokens": len(ordinary),
        "default_vocab_size": len(ordinary) + len(specials),
        "default_num_special_tokens": len(specials),
        "version": kept.get("config", {}).get("version", "v3"),
    }
    tree = {
        "config": config,
        "vocab": [_entry(rank, token) for rank, token in enumerate(ordinary)],
        "special_tokens": [
            {"rank": id, "token_str": content, "is_control": True}
            for id, content in enumerate(specials)
        ],
        **{key: value for key, value in kept.items() if key in _CARRIED},
    }
    return write_files({path: json.dumps(tree, ensure_ascii=False).encode() + b"\n"})


def _entry(rank: int, token: bytes) -> dict[str, Any]:
    try:
        text = token.decode()
    except UnicodeDecodeError:
        text = None
    return {"rank": rank, "token_bytes": base64.b64encode(token).decode(), "token_str": text}


FORMAT = Format("tekken", "Mistral's tekken.json", detect, read, losses, write)
