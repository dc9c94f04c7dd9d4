"""The tokenizers that the checks of the field cases ask for."""

import dataclasses
import functools
from typing import Any

import shared_data

import bpe_compat as bc
from bpe_compat.spec import AddedToken, Normalizer, TokenizerSpec, TokenKind

Check = dict[str, Any]
MISTRAL_FILES = {
    "mistral tokenizer.model.v1": "tokenizers/mistral/tokenizer.model.v1",
    "tekken_240911.json": "tokenizers/mistral/tekken_240911.json",
}


@functools.cache
def published(name: str) -> bc.Tokenizer:
    return bc.load(shared_data.rank_file(name))


def with_added(tok: bc.Tokenizer, added: list[AddedToken]) -> bc.Tokenizer:
    """The tokenizer with further added tokens behind its last id."""
    spec = tok.spec
    added = [dataclasses.replace(t, id=len(spec.tokens) + i) for i, t in enumerate(added)]
    spec = dataclasses.replace(
        spec,
        tokens=(*spec.tokens, *(token.content.encode() for token in added)),
        kinds=(*spec.kinds, *[TokenKind.CONTROL] * len(added)),
        added_tokens=(*spec.added_tokens, *added),
    )
    return bc.Tokenizer(spec)


def flags(token: dict[str, Any]) -> AddedToken:
    special = token.get("special", False)
    names = ("lstrip", "rstrip", "single_word")
    return AddedToken(
        token["content"],
        0,
        **{name: token.get(name, False) for name in names},
        normalized=token.get("normalized", not special),
        special=special,
    )


def rank_table(table: dict[str, int]) -> dict[bytes, int]:
    ranks_ = {bytes([b]): b for b in range(table.pop("bytes", 0))}
    return ranks_ | {token.encode(): rank for token, rank in table.items()}


def tokenizer_of(check: Check) -> bc.Tokenizer:
    if "ranks" in check:
        table = rank_table(dict(check["ranks"]))
        tok = bc.Tokenizer.from_ranks(table, pattern=check["pattern"], special_tokens={})
    else:
        tok = published(check["tokenizer"])
    if check.get("add_prefix_space"):
        tok = bc.Tokenizer(dataclasses.replace(tok.spec, prefix_space=True))
    if "normalizer" in check:
        kind: Any = check["normalizer"].lower()
        normalizers = (Normalizer(kind),)
        tok = bc.Tokenizer(dataclasses.replace(tok.spec, normalizers=normalizers))
    if "extra_special" in check:
        table = tok.spec.normal_ids()
        special = tok.spec.special_tokens | check["extra_special"]
        pattern = tok.spec.splits[0].pattern
        tok = bc.Tokenizer.from_ranks(table, pattern=pattern, special_tokens=special)
    special = [AddedToken(content, 0) for content in check.get("added_special", ())]
    added = check.get("added", [])
    added = [flags(token) for token in (added if isinstance(added, list) else [added])]
    return with_added(tok, [*special, *added]) if special or added else tok


def converted_spec(check: Check) -> TokenizerSpec:
    if check["src"] in MISTRAL_FILES:
        return bc.converters.read(shared_data.unpacked(MISTRAL_FILES[check["src"]]))
    assert check["src"].startswith("cl100k_base.tiktoken")
    return bc.converters.read(
        shared_data.rank_file("cl100k_base"),
        pattern=check.get("pattern"),
        special_tokens=published("cl100k_base").spec.special_tokens,
    )
