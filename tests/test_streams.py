"""`Tokenizer.stream`: whole characters, each once, whatever the prompt ends with."""

import json
from typing import Any

import pytest
import tokenizers
from hypothesis import given
from hypothesis import strategies as st
from samples import BYTES

import bpe_compat as bc
from bpe_compat.converters.json_tree import parse

_METASPACE = {"type": "Replace", "pattern": {"String": "▁"}, "content": " "}
_STRIP = {"type": "Strip", "content": " ", "start": 1, "stop": 0}
TREE: dict[str, Any] = {
    "normalizer": {"type": "Replace", "pattern": {"String": " "}, "content": "▁"},
    "decoder": {
        "type": "Sequence",
        "decoders": [_METASPACE, {"type": "ByteFallback"}, {"type": "Fuse"}, _STRIP],
    },
    "model": {
        "type": "BPE",
        "byte_fallback": True,
        "fuse_unk": True,
        "vocab": {
            **{f"<0x{byte:02X}>": byte for byte in range(256)},
            **{token: 256 + i for i, token in enumerate(["▁", "a", "b", "▁a", "ab", "é"])},
        },
        "merges": [["▁", "a"], ["a", "b"]],
    },
}


def by_bytes() -> bc.Tokenizer:
    ranks = {**BYTES, b" a": 256, b"ab": 257, "é".encode(): 258, "😀".encode()[:3]: 259}
    return bc.Tokenizer.from_ranks(ranks, pattern="gpt2", special_tokens={"<s>": 260})


def by_fallback() -> bc.Tokenizer:
    tok = bc.Tokenizer(bc.converters.huggingface.spec_of(parse(json.dumps(TREE).encode(), "x")))
    theirs = tokenizers.Tokenizer.from_str(json.dumps(TREE))
    for text in (" ab é😀 中中 a", "", "b"):
        ids = theirs.encode(text).ids
        assert tok.encode(text) == ids
        assert tok.decode(ids) == theirs.decode(ids)
    return tok


@pytest.fixture(scope="module", params=[by_bytes, by_fallback])
def tok(request: pytest.FixtureRequest) -> bc.Tokenizer:
    return request.param()  # type: ignore[no-any-return]


words = st.lists(st.sampled_from([" ", "a", "b", "ab", "é", "中", "😀", "😀😀"]), max_size=8)


@given(text=words.map("".join), data=st.data())
def test_what_follows_a_prompt_comes_once_in_whole_characters(
    tok: bc.Tokenizer, text: str, data: st.DataObject
) -> None:
    ids = tok.encode(text)
    cut = data.draw(st.integers(0, len(ids)))
    stream = tok.stream(ids[:cut])
    parts = [stream.step(id) for id in ids[cut:]]
    assert not any("\ufffd" in part for part in parts)
    # The prompt may end inside a character, which what follows completes.
    prompt = b"".join(tok.decode_tokens_bytes(ids[:cut])).decode("utf-8", "ignore")
    shown = len(prompt) - prompt.startswith("▁")
    assert "".join(parts) + stream.finish() == tok.decode(ids)[shown:]


@given(ids=st.lists(st.integers(0, 259), max_size=12), cut=st.integers(0, 12))
def test_any_ids_after_any_prompt(ids: list[int], cut: int) -> None:
    """What is no UTF-8 becomes U+FFFD as in `decode`; of the prompt nothing is left."""
    tok = by_bytes()
    stream = tok.stream(ids[:cut])
    streamed = "".join([stream.step(id) for id in ids[cut:]]) + stream.finish()
    # A character may begin in the prompt; its first bytes are dropped if nothing goes on with it.
    beginnings = {tok.decode(ids[start:]) for start in range(max(0, cut - 4), cut + 1)}
    assert any(beginning.endswith(streamed) for beginning in beginnings)
    if cut == 0:
        assert streamed == tok.decode(ids)


@pytest.mark.parametrize("text", ["😀", "中é😀"])
def test_runs_of_bytes_are_given_out_character_by_character(text: str) -> None:
    tok = by_fallback()
    stream = tok.stream([257])
    parts = [stream.step(byte) for byte in text.encode()]
    assert [part for part in parts if part] == list(text)
    assert stream.step(257) == "a"


def test_a_prompt_that_ends_inside_a_character(tok: bc.Tokenizer) -> None:
    stream = tok.stream(list("😀".encode()[:2]))
    assert [stream.step(byte) for byte in "😀".encode()[2:]] == ["", "😀"]
    left = tok.stream(list("😀".encode()[:2]))
    letter = tok.encode("b")[-1]
    assert (left.step(letter), left.finish()) == ("b", "")


def test_an_id_that_is_no_token_is_named(tok: bc.Tokenizer) -> None:
    with pytest.raises(KeyError, match="Invalid token for decoding: 99999"):
        tok.stream().step(99999)
    with pytest.raises(KeyError, match="Invalid token for decoding: 99999"):
        tok.stream([99999])
    with pytest.raises(KeyError, match="Invalid token for decoding: -1"):
        tok.stream([65]).step(-1)
