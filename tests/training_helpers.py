"""How the tests of the trainer call it."""

from collections.abc import Iterable
from typing import Any

import bpe_compat as bc

Pair = tuple[bytes, bytes]
HUGGING_FACE: dict[str, Any] = {"tie_break": "ids", "byte_order": "gpt2", "special_ids": "first"}
PRESETS: dict[str, dict[str, Any]] = {
    "default": {},
    "hugging_face": HUGGING_FACE,
    "raw_ids": {"tie_break": "ids"},
    "minbpe": {"tie_break": "first"},
}


def merges_of(tokenizer: bc.Tokenizer) -> list[Pair]:
    tokens = tokenizer.spec.tokens
    return [(tokens[left], tokens[right]) for left, right in tokenizer.spec.merges]


def train(sources: Any, merges: int, **options: Any) -> list[Pair]:
    options.setdefault("special_tokens", ())
    return merges_of(bc.train(sources, 256 + merges + len(options["special_tokens"]), **options))


def joined(merges: Iterable[Pair]) -> list[str]:
    return [(left + right).decode() for left, right in merges]
