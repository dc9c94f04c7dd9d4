"""Offsets beside those of tokenizers, through normalizers, splits and added tokens."""

import json
import unicodedata
from pathlib import Path
from typing import Any

import pytest
import shared_data
import tokenizers
from hypothesis import given
from hypothesis import strategies as st

import bpe_compat as bc
from bpe_compat.alignment import Aligned, aligner
from bpe_compat.pipeline import normalizer
from bpe_compat.spec import Normalizer

TEXTS = [
    "", " ", "  a", "naïve café", "a  b\n\n c\t", "Ǆ ſ ﬁ İ ½", "x<s>y  <m>  z", "  leading",
    "😀a ⭢ j", "中文 字", "don't 12345", "a<s><m>", "\u00a0x\u2003y",
]  # fmt: skip
COMPOSED = [
    "cafe\u0301 x",
    unicodedata.normalize("NFD", "마실까해요 naïve"),
    "q\u0323\u0307 a\u0328",
]
STEPS = {
    "lowercase": {"type": "Lowercase"},
    "strip": {"type": "Strip", "strip_left": True, "strip_right": True},
    "strip_accents": {"type": "StripAccents"},
    "prepend": {"type": "Prepend", "prepend": "▁▁"},
    "replace": {"type": "Replace", "pattern": {"String": " "}, "content": "▁+"},
    "nfc": {"type": "NFC"},
    "nfd": {"type": "NFD"},
    "nfkc": {"type": "NFKC"},
    "nfkd": {"type": "NFKD"},
}


def pair(tmp_path: Path, **sections: Any) -> tuple[bc.Tokenizer, tokenizers.Tokenizer]:
    tok = bc.train(TEXTS * 3, 300, special_tokens=["<s>", "<m>"])
    tree = json.loads(tok.to_tokenizers().to_str())
    tree["added_tokens"][1] |= {"lstrip": True, "rstrip": True}
    tree |= sections
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(tree))
    return bc.load(path), tokenizers.Tokenizer.from_file(str(path))


def same(ours: bc.Tokenizer, theirs: tokenizers.Tokenizer, text: str) -> None:
    located = ours.engine.locate(text, bytes([1]) * len(ours.spec.added_tokens))
    expected = theirs.encode(text, add_special_tokens=False)
    assert located.ids == expected.ids
    assert located.offsets == expected.offsets
    assert located.words == expected.word_ids
    assert ours.encode_with_offsets(text, specials="encode") == (located.ids, located.offsets)


def untrimmed(theirs: tokenizers.Tokenizer) -> tokenizers.Tokenizer:
    theirs.post_processor = tokenizers.processors.ByteLevel(trim_offsets=False)
    return theirs


@pytest.mark.parametrize("name", list(STEPS))
def test_through_a_normalizer(name: str, tmp_path: Path) -> None:
    ours, theirs = pair(tmp_path, normalizer=STEPS[name])
    for text in TEXTS + ([] if name.endswith("c") else COMPOSED):
        same(ours, untrimmed(theirs), text)


def test_through_several(tmp_path: Path) -> None:
    several = {
        "type": "Sequence",
        "normalizers": [
            STEPS[n] for n in ("nfkd", "strip_accents", "lowercase", "prepend", "replace")
        ],
    }
    ours, theirs = pair(tmp_path, normalizer=several)
    for text in TEXTS + COMPOSED:
        same(ours, untrimmed(theirs), text)


@pytest.mark.parametrize("prefix", [True, False])
@pytest.mark.parametrize("invert", [True, False])
@pytest.mark.parametrize("behavior", ["Isolated", "Removed", "MergedWithNext", "Contiguous"])
def test_through_splits(prefix: bool, invert: bool, behavior: str, tmp_path: Path) -> None:
    split = {
        "type": "Split",
        "pattern": {"Regex": "[a-zé]+"},
        "behavior": behavior,
        "invert": invert,
    }
    byte_level = {"type": "ByteLevel", "add_prefix_space": prefix, "trim_offsets": True}
    after = {"type": "Split", "pattern": {"String": "Ã"}, "behavior": behavior, "invert": invert}
    steps = [byte_level, after] if prefix else [split, byte_level | {"use_regex": False}, after]
    ours, theirs = pair(tmp_path, pre_tokenizer={"type": "Sequence", "pretokenizers": steps})
    for text in TEXTS + COMPOSED:
        same(ours, untrimmed(theirs), text)


def test_a_composed_character_stands_for_all_it_is_made_of(tmp_path: Path) -> None:
    ours, _ = pair(tmp_path, normalizer=STEPS["nfc"])
    _, offsets = ours.encode_with_offsets("e\u0301!")
    assert (offsets[0], offsets[-1]) == ((0, 2), (2, 3))
    for text in COMPOSED:
        _, offsets = ours.encode_with_offsets(text)
        assert {i for start, end in offsets for i in range(start, end)} == set(range(len(text)))


def test_bytes() -> None:
    tok = bc.Tokenizer.from_ranks(
        {bytes([i]): i for i in range(256)}, pattern=None, special_tokens={}
    )
    assert tok.encode_with_offsets("é!", unit="bytes")[1] == [(0, 2), (0, 2), (2, 3)]
    assert tok.encode_with_offsets("a!", unit="bytes")[1] == [(0, 1), (1, 2)]
    with pytest.raises(ValueError, match="unit must be"):
        tok.encode_with_offsets("a", unit="utf16")  # type: ignore[arg-type]


@pytest.mark.usefixtures("shared")
@pytest.mark.parametrize(
    "name",
    ["gpt2", "llama3", "qwen3", "roberta", "gemma3", "mistral_7b_hf", "deepseek_v3", "claude"],
)
def test_real_files(name: str) -> None:
    path = shared_data.unpacked(f"tokenizers/{name}/tokenizer.json")
    ours, theirs = bc.load(path), tokenizers.Tokenizer.from_file(str(path))
    theirs.no_truncation()
    for corpus in ("english_web", "code", "multilingual"):
        for text in shared_data.documents(corpus, 20_000, length=900):
            same(ours, untrimmed(theirs), unicodedata.normalize("NFKC", text))


kinds: list[Any] = ["nfc", "nfd", "nfkc", "nfkd", "lowercase", "strip", "strip_accents", "prepend"]
step = st.one_of(
    st.sampled_from([Normalizer(kind, content="ab") for kind in kinds]),
    st.sampled_from([Normalizer("replace", pattern="[a-f]+|$", content=c) for c in ("", "xyz")]),
)
awkward = st.text(
    st.sampled_from("aeA \u0301\u0323\u0327ᄒ\u1161\u11abﬁ½İ가中\u0344\u1100"), max_size=12
)


@given(st.lists(step, max_size=3).map(tuple), awkward)
def test_aligned_text_is_the_normalized_text(steps: tuple[Normalizer, ...], text: str) -> None:
    aligned = aligner(steps)(Aligned.of(text))
    assert aligned.text == normalizer(steps)(text)
    assert len(aligned.starts) == len(aligned.ends) == len(aligned.text)
    assert all(0 <= s <= e <= len(text) for s, e in zip(aligned.starts, aligned.ends, strict=True))
