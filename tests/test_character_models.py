"""Models whose pieces start as characters beside tokenizers: unknowns, fallback, affixes."""

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
import tokenizers
from hypothesis import given
from hypothesis import strategies as st

import bpe_compat as bc

LETTERS = "abcé▁"
BYTES = [f"<0x{byte:02X}>" for byte in range(256)]
MODELS: list[dict[str, Any]] = [
    {},
    {"unk_token": "<unk>"},
    {"unk_token": "<unk>", "fuse_unk": True},
    {"byte_fallback": True},
    {"byte_fallback": True, "unk_token": "<unk>", "fuse_unk": True, "ignore_merges": True},
    {"end_of_word_suffix": "</w>", "unk_token": "<unk>"},
    {"continuing_subword_prefix": "##", "unk_token": "<unk>"},
    {"continuing_subword_prefix": "##", "byte_fallback": True},
    {"end_of_word_suffix": "</w>", "byte_fallback": True},
]


def spelled(token: str, is_first: bool, is_last: bool, model: dict[str, Any]) -> str:
    prefix = "" if is_first else model.get("continuing_subword_prefix", "")
    return prefix + token + (model.get("end_of_word_suffix", "") if is_last else "")


def tokenizer_json(model: dict[str, Any], choices: list[tuple[int, int]]) -> str:
    """A tokenizer with a merge for each choice of two tokens."""
    prefix = model.get("continuing_subword_prefix", "")
    tokens = [
        spelled(letter, is_first, is_last, model)
        for letter in LETTERS
        for is_first in (True, False)
        for is_last in (True, False)
    ]
    tokens = list(dict.fromkeys(tokens))
    merges: list[list[str]] = []
    for a, b in choices:
        left, right = tokens[a % len(tokens)], tokens[b % len(tokens)]
        if left.endswith("</w>") or (prefix and not right.startswith(prefix)):
            continue
        if [left, right] not in merges:
            merges.append([left, right])
            tokens.append(left + right.removeprefix(prefix))
    tokens = list(dict.fromkeys([*tokens, "<unk>", *BYTES]))
    vocab = {token: i for i, token in enumerate(tokens)}
    return json.dumps(
        {
            "version": "1.0", "truncation": None, "padding": None, "added_tokens": [],
            "normalizer": None, "pre_tokenizer": {"type": "WhitespaceSplit"},
            "post_processor": None, "decoder": None,
            "model": {"type": "BPE", "dropout": None, "vocab": vocab, "merges": merges, **model},
        }
    )  # fmt: skip


@pytest.mark.parametrize("model", MODELS)
@given(
    st.lists(st.tuples(st.integers(0, 99), st.integers(0, 99)), max_size=30),
    st.lists(st.text(LETTERS + "xñ語  ", max_size=90), min_size=1, max_size=5),
)
def test_ids_are_those_of_tokenizers(
    model: dict[str, Any], choices: list[tuple[int, int]], texts: list[str]
) -> None:
    data = tokenizer_json(model, choices)
    expected = [e.ids for e in tokenizers.Tokenizer.from_str(data).encode_batch(texts)]
    with TemporaryDirectory() as folder:
        path = Path(folder, "tokenizer.json")
        path.write_text(data)
        tokenizer = bc.load(path)
    for _ in range(2):  # new words, and known ones
        assert tokenizer.encode_batch(texts) == expected
    assert [tokenizer.encode(text) for text in texts] == expected
