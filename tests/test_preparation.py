"""Texts that are rewritten and cut before the scanner, beside the same steps in Python."""

import dataclasses
import random
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from samples import trained

import bpe_compat as bc
from bpe_compat.engine import PreparedEngine, PythonEngine, make_engine
from bpe_compat.errors import FormatError
from bpe_compat.spec import AddedToken, Normalizer, Split, TokenizerSpec

TOKENIZER = trained(330)
SPACES = (Normalizer("prepend", content="▁"), Normalizer("replace", " ", "▁"))
TOKENS = (
    AddedToken("<a>", 327),
    AddedToken("é ", 328, normalized=True),
    AddedToken("<b>", 329, lstrip=True, rstrip=True),
)
CUTS = (Split(r"\d", "isolated"), Split(r"[aeiou]", "removed"), *TOKENIZER.spec.splits)
CHANGES: dict[str, dict[str, Any]] = {
    "nfc": {"normalizers": (Normalizer("nfc"),)},
    "nfd and added": {"normalizers": (Normalizer("nfd"),), "added_tokens": TOKENS},
    "nfkc, prefix, added": {
        "normalizers": (Normalizer("nfkc"),), "prefix_space": True, "added_tokens": TOKENS,
    },
    "spaces": {"normalizers": SPACES, "splits": (), "added_tokens": TOKENS},
    "longer": {"normalizers": (Normalizer("replace", "a", "once upon a time " * 20),)},
    "cuts": {"splits": CUTS, "prefix_space": True},
}  # fmt: skip
UNITS = [
    "é", "e\u0301", "a", "the cat", " ", " ", "\n", "\u0958", "\u0958\n", "x\u0301 ", "ﬁ",
    "½ ", "1", "é <a>", "<a>", " <b> ", "가\u11a8", "中文", "😀", "\u0301", "'s", "Lily",
]  # fmt: skip


def spec_of(name: str) -> TokenizerSpec:
    spec: TokenizerSpec = dataclasses.replace(TOKENIZER.spec, **CHANGES[name])
    return spec


def random_texts(seed: int, count: int, units: int) -> list[str]:
    rng = random.Random(seed)
    return ["".join(rng.choices(UNITS, k=rng.randrange(units))) for _ in range(count)]


@pytest.mark.parametrize("name", CHANGES)
def test_ids_are_those_of_the_steps_in_python(name: str) -> None:
    spec = spec_of(name)
    engine, slow = make_engine(spec), PythonEngine(spec)
    assert isinstance(engine, PreparedEngine)
    enabled = bytes([1] * len(spec.added_tokens))
    texts = ["", " ", *random_texts(1, 300, 120)]
    expected = [slow.encode(text, enabled) for text in texts]
    assert [engine.encode(text, enabled) for text in texts] == expected
    for batch in (texts, [text.encode() for text in texts]):
        assert engine.encode_lists(batch, enabled, 1) == expected
        assert engine.count_batch(batch, enabled, 2).tolist() == [len(ids) for ids in expected]
    data = "".join(texts).encode()
    offsets = np.cumsum([0, *(len(text.encode()) for text in texts)])
    ids, ends = engine.encode_column(data, offsets, enabled, 1)
    assert [ids[a:b].tolist() for a, b in pairwise(ends.tolist())] == expected


@pytest.mark.parametrize("name", CHANGES)
def test_any_number_of_threads_gives_the_same(name: str) -> None:
    spec = spec_of(name)
    engine = make_engine(spec)
    enabled = bytes([1] * len(spec.added_tokens))
    few = [*random_texts(2, 3, 400_000), *random_texts(3, 500, 500)]
    alone = [engine.encode_array(text, enabled) for text in few]
    for threads in (1, 4):
        ids, ends = engine.encode_batch(few, enabled, threads)
        for i, expected in enumerate(alone):
            assert np.array_equal(ids[ends[i] : ends[i + 1]], expected)


def test_bytes_that_are_no_text_are_named() -> None:
    tokenizer = bc.Tokenizer(spec_of("nfc"))
    texts: list[Any] = ["fine", b"abc\xff"]
    for call in (tokenizer.encode_batch, tokenizer.count_batch):
        with pytest.raises(FormatError, match="byte 3 of the text is not UTF-8"):
            call(texts)
    texts = [b"a word " * 300_000 + b"\xff"]  # in several parts
    with pytest.raises(FormatError, match="byte 2100000 of the text is not UTF-8"):
        tokenizer.encode_batch(texts, num_threads=2)
