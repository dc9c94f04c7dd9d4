"""What `Tokenizer` has beyond tiktoken's methods."""

import os
import pickle
import random
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tiktoken
from hypothesis import given
from samples import BYTES, TRAINING_TEXT, texts, trained

import bpe_compat as bc
from bpe_compat.patterns import PATTERNS
from bpe_compat.spec import AddedToken, Split, TokenizerSpec

# Beyond tiktoken


def test_encode_arrays_is_encode_for_each_text() -> None:
    tok = trained(special_tokens=["<s>"])
    batch = ["the <s>cat", "", "naïve", b"\xff<s>\xfe bytes", "x" * 1000]
    for specials in ("text", "encode"):
        ids, offsets = tok.encode_arrays(batch, specials=specials, threads=2)  # type: ignore[arg-type]
        assert (ids.dtype.name, offsets.dtype.name, len(offsets)) == ("uint32", "int64", 6)
        for number, text in enumerate(batch):
            got = ids[offsets[number] : offsets[number + 1]].tolist()
            if isinstance(text, str):
                allowed: Any = "all" if specials == "encode" else set()
                assert got == tok.encode(text, allowed_special=allowed, disallowed_special=())
            assert tok.decode_bytes(got) == (text.encode() if isinstance(text, str) else text)
    assert tok.encode_arrays([]).offsets.tolist() == [0]


@pytest.mark.parametrize("threads", [1, 2, 5, 16])
def test_the_number_of_threads_changes_nothing(threads: int) -> None:
    tok = trained()
    rng = random.Random(8)
    batch = ["".join(rng.choices("the cat naïve 😀", k=rng.randrange(20_000))) for _ in range(120)]
    one = tok.encode_arrays(batch, threads=1)
    many = tok.encode_arrays(batch, threads=threads)
    assert np.array_equal(one.ids, many.ids)
    assert np.array_equal(one.offsets, many.offsets)


@pytest.mark.parametrize("letters", ["abx", "ab \n", "a", "aé中"])
def test_what_was_encoded_before_changes_nothing(letters: str) -> None:
    """Many words, of which some become nothing, and pieces of all lengths beside them."""
    tokens = (b"a", b"b", b" ", b"\n", b"ab", b"aba", b"aa", b"aaaa", b"\xe4\xb8", b"\xe4", b"\xb8")
    merges = ((0, 1), (4, 0), (0, 0), (6, 6), (9, 10))
    tok = bc.Tokenizer(TokenizerSpec(tokens, merges=merges, splits=PATTERNS["gpt2"].splits))
    rng = random.Random(3)

    def piece() -> str:
        longest = rng.choice((3, 12, 40, 300, 5000, 13_000) if rng.random() < 0.1 else (3, 12))
        return "".join(rng.choices(letters, k=rng.randrange(longest)))

    batch = [" ".join(piece() for _ in range(300)) for _ in range(40)]
    expected = [tok.encode_with_offsets(text)[0] for text in batch]
    for threads in (1, 2, 1):
        ids, offsets = tok.encode_arrays(batch, threads=threads)
        assert [ids[a:b].tolist() for a, b in pairwise(offsets.tolist())] == expected


def test_offsets_are_characters_and_cover_the_text() -> None:
    tok = trained(special_tokens=["<s>"])
    text = "i ⭢ j naïve 😀<s> the cat"
    ids, offsets = tok.encode_with_offsets(text, specials="encode")
    assert ids == tok.encode(text, allowed_special="all")
    for id, (start, end) in zip(ids, offsets, strict=True):
        assert tok.decode([id]).strip("\ufffd") in text[start:end]
    assert offsets[0][0] == 0
    assert offsets[-1][1] == len(text)


def test_a_regex_of_ones_own_has_offsets_too() -> None:
    spec = trained(300, pattern=r"\w+", special_tokens=["<s>"]).spec
    tok = bc.Tokenizer(spec)
    text = "naïve 😀<s>, the 中文"
    ids, offsets = tok.encode_with_offsets(text, specials="encode")
    assert ids == tok.encode(text, allowed_special="all")
    covered = {i for start, end in offsets for i in range(start, end)}
    assert covered == set(range(len(text)))


def test_a_regex_drops_in_tiktoken_what_it_does_not_match() -> None:
    options: Any = {"pattern": r"\w+", "special_tokens": {}}
    ours = bc.Tokenizer.from_ranks(BYTES, **options)
    theirs = tiktoken.Encoding("x", pat_str=r"\w+", mergeable_ranks=BYTES, special_tokens={})
    assert ours.encode("ab, cd") == theirs.encode("ab, cd") == list(b"abcd")


@pytest.mark.parametrize(
    ("behavior", "invert", "expected"),
    [
        ("isolated", False, ["a", "1", "2", "b", "3"]),
        ("isolated", True, ["a", "1", "2", "b", "3"]),
        ("removed", False, ["a", "b"]),
        ("removed", True, ["1", "2", "3"]),
        ("merged_with_previous", False, ["a1", "2", "b3"]),
        ("merged_with_previous", True, ["a", "1", "2b", "3"]),
        ("merged_with_next", False, ["a", "1", "2b", "3"]),
        ("merged_with_next", True, ["a1", "2", "b3"]),
        ("contiguous", False, ["a", "12", "b", "3"]),
        ("contiguous", True, ["a", "12", "b", "3"]),
    ],
)
def test_split_behaviors(behavior: Any, invert: bool, expected: list[str]) -> None:
    spec = TokenizerSpec(tuple(BYTES), splits=(Split(r"\d", behavior, invert),))
    assert bc.Tokenizer(spec).pieces("a12b3") == [piece.encode() for piece in expected]


def test_pieces() -> None:
    assert trained().pieces("the cat's  hat") == [b"the", b" cat", b"'s", b" ", b" hat"]
    assert trained(pattern=None).pieces("a b") == [b"a b"]
    assert trained().pieces("") == []


def test_count_and_truncate() -> None:
    tok = trained()
    text = "the cat and the 😀 hat"
    ids = tok.encode(text)
    assert tok.count(text) == len(ids)
    for n in range(len(ids) + 2):
        kept = tok.truncate(text, n)
        assert text.startswith(kept)
        assert kept == tok.decode(ids[:n], errors="ignore")
    assert tok.truncate(text, 0) == ""
    assert tok.truncate(text, 10**9) == text


@given(texts)
def test_stream_gives_the_text_in_whole_characters(text: str) -> None:
    tok = trained(special_tokens=["<s>"])
    ids = tok.encode(text, disallowed_special=())
    stream = tok.stream(prompt_ids=tok.encode("the cat"))
    parts = [stream.step(id) for id in ids]
    assert "".join(parts) + stream.finish() == text
    assert all("\ufffd" not in part for part in parts) or "\ufffd" in text


def test_stream_of_an_unfinished_character() -> None:
    stream = trained().stream()
    assert [stream.step(byte) for byte in "é😀".encode()[:4]] == ["", "é", "", ""]
    assert stream.finish() == "\ufffd"


def test_added_tokens_that_are_not_special_always_match() -> None:
    spec = TokenizerSpec(
        (*BYTES, b"<x>", b"<s>"),
        added_tokens=(AddedToken("<x>", 256, special=False), AddedToken("<s>", 257)),
    )
    tok = bc.Tokenizer(spec)
    assert tok.encode_ordinary("a<x><s>") == [97, 256, *b"<s>"]
    assert tok.encode("a<x><s>", allowed_special="all") == [97, 256, 257]
    assert tok.special_tokens_set == {"<s>"}


# Sharing


def test_pickle_and_repr() -> None:
    tok = trained()
    again = pickle.loads(pickle.dumps(tok))
    assert again.spec == tok.spec
    assert again.encode("the cat") == tok.encode("the cat")
    assert pickle.dumps(again) == pickle.dumps(tok)
    tok.encode("something else")
    assert pickle.dumps(again) == pickle.dumps(tok)
    assert repr(tok) == "<Tokenizer 'bpe_compat': 330 ids>"


def test_many_threads_share_one_tokenizer() -> None:
    tok = trained()
    batch = TRAINING_TEXT * 20
    expected = [tok.encode(text) for text in batch]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(tok.encode, batch)) == expected


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_encodes_too() -> None:
    tok = trained()
    batch = TRAINING_TEXT * 50
    expected = tok.encode_arrays(batch, threads=4).ids.tolist()
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        ids = tok.encode_arrays(batch, threads=4).ids.tolist()
        os.write(write, b"same" if ids == expected else b"different")
        os._exit(0)
    os.waitpid(child, 0)
    assert os.read(read, 20) == b"same"


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="needs /proc")
def test_no_thread_outlives_a_call() -> None:
    tok = trained()
    before = len(list(Path("/proc/self/task").iterdir()))
    tok.encode_arrays(TRAINING_TEXT * 2000, threads=4)
    assert len(list(Path("/proc/self/task").iterdir())) == before


def test_the_environment_turns_threads_off(monkeypatch: pytest.MonkeyPatch) -> None:
    from bpe_compat.threads import thread_count

    monkeypatch.setenv("TOKENIZERS_PARALLELISM", "false")
    assert thread_count(None) == 1
    assert thread_count(3) == 3
    monkeypatch.setenv("TOKENIZERS_PARALLELISM", "true")
    assert thread_count(None) >= 1
