"""What a user may impose on training: seeds, forbidden tokens, an old vocabulary, threads."""

import hashlib
import random
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from training_helpers import HUGGING_FACE, PRESETS, merges_of

import bpe_compat as bc

TEXT = "the cat sat on the mat, the hat sat on the cat; 12 3 12 33\n" * 5 + (
    "Once upon a time there was a little girl who loved her grandmother's old house very much.\n"
)


def corpus(size: int) -> str:
    rng = random.Random(9)
    words = ["".join(rng.choices("abcdefgé中", k=rng.randrange(1, 9))) for _ in range(3000)]
    return " ".join(rng.choices(words, k=size))


# Seed tokens


def test_seed_tokens_get_the_first_ids() -> None:
    tokenizer = bc.train([TEXT], 280, special_tokens=(), seed_tokens=["    ", b" hat", "mat"])
    made = [tokenizer.spec.tokens[id] for id in range(256, 264)]
    assert made == [b"  ", b"    ", b" h", b" ha", b" hat", b"ma", b"mat", made[-1]]
    for text in ("    ", " hat", "mat"):
        assert len(tokenizer.encode(text)) == 1
    assert tokenizer.decode(tokenizer.encode(TEXT)) == TEXT


def test_no_token_is_made_twice() -> None:
    """Text made only of the seeds' insides would spell them by another pair."""
    for seeds in (["abc"], ["bc", "abc"], ["abcabc", "cab"], ["aa", "aaa"]):
        for tie_break in ("bytes", "ids", "first"):
            counts = {"abc": 5, "bc": 9, "ab": 2, "cabc": 3, "aaaa": 4, "abcabc": 2}
            with pytest.warns(UserWarning, match="pairs to merge"):
                tokenizer = bc.train(
                    counts, 300, special_tokens=(), seed_tokens=seeds, tie_break=tie_break
                )
            assert len(set(tokenizer.spec.tokens)) == tokenizer.n_vocab


@given(st.lists(st.text("abc", min_size=1, max_size=6), max_size=5), st.text("abc", max_size=60))
@pytest.mark.filterwarnings("ignore:the text has only")
def test_encoding_makes_each_seed_one_token(seeds: list[str], text: str) -> None:
    tokenizer = bc.train([text], 290, special_tokens=(), pattern=None, seed_tokens=seeds)
    for seed in seeds:
        assert tokenizer.encode(seed) == [tokenizer.encode_single_token(seed)]


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"seed_tokens": "abc"}, TypeError, "must be a collection of tokens"),
        ({"seed_tokens": [""]}, ValueError, "not empty"),
        ({"seed_tokens": [1]}, ValueError, "must be str or bytes"),
        ({"seed_tokens": ["abcdef"] , "vocab_size": 260}, ValueError, "5 merges of seed tokens"),
        ({"forbid": "("}, ValueError, "no regular expression"),
        ({"forbid": b"ab"}, TypeError, "must be a collection of tokens"),
        ({"extend": "gpt2"}, TypeError, "extend must be a Tokenizer"),
    ],
)  # fmt: skip
def test_bad_control_is_named(
    options: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        bc.train(["abc"], options.pop("vocab_size", 300), special_tokens=(), **options)


# Forbidden tokens


def test_forbidden_tokens_are_never_made() -> None:
    free = bc.train([TEXT], 290, special_tokens=())
    assert {b"12", b"the"} <= set(free.spec.tokens)
    no_digits = bc.train([TEXT], 290, special_tokens=(), forbid=r".*[0-9].*")
    assert not [t for t in no_digits.spec.tokens if re.search(rb"[0-9]", t) and len(t) > 1]
    listed = bc.train([TEXT], 290, special_tokens=(), forbid=["the", b"12"])
    assert not {b"12", b"the"} & set(listed.spec.tokens)
    assert bc.train([TEXT], 290, special_tokens=(), forbid=[]).spec == free.spec
    compiled = bc.train([TEXT], 290, special_tokens=(), forbid=re.compile(r".*[0-9].*", re.DOTALL))
    assert compiled.spec == no_digits.spec


# An old vocabulary


@pytest.mark.parametrize("preset", PRESETS)
def test_extending_on_the_same_text_goes_on_as_if_never_stopped(preset: str) -> None:
    text = corpus(4000)
    options = PRESETS[preset]
    whole = bc.train([text], 900, special_tokens=(), **options)
    part = bc.train([text], 500, special_tokens=(), **options)
    more = bc.train([text], 900, extend=part, tie_break=options.get("tie_break", "bytes"))
    assert merges_of(more) == merges_of(whole)
    assert more.encode(text) == whole.encode(text)


def test_extending_keeps_ids_and_special_tokens() -> None:
    old = bc.train([TEXT], 280, special_tokens=["<a>", "<b>"], **HUGGING_FACE)
    new = bc.train([corpus(2000) + "<a>"], 400, extend=old)
    assert new.spec.tokens[:280] == old.spec.tokens
    assert new.spec.merges[: len(old.spec.merges)] == old.spec.merges
    assert new.special_tokens_set == {"<a>", "<b>"}
    assert new.n_vocab == 400
    assert len(set(new.spec.tokens)) == 400
    assert not [token for token in new.spec.tokens if b"<a" in token and token != b"<a>"]


def test_extending_ranks() -> None:
    ranks = {bytes([byte]): byte for byte in range(256)} | {b"th": 256, b"the": 257}
    old = bc.Tokenizer.from_ranks(ranks, pattern="cl100k", special_tokens={"<e>": 300})
    new = bc.train([TEXT], 320, extend=old)
    assert new.spec.tokens[:301] == old.spec.tokens
    assert new.encode("the<e>", allowed_special="all")[-1] == 300
    assert len(new.encode(TEXT)) < len(old.encode(TEXT))
    assert new.decode(new.encode(TEXT)) == TEXT


def test_what_cannot_be_extended_is_refused() -> None:
    old = bc.train([TEXT], 280, special_tokens=())
    with pytest.raises(ValueError, match="there are 280 ids already"):
        bc.train([TEXT], 270, extend=old)
    with pytest.raises(ValueError, match="extend keeps"):
        bc.train([TEXT], 300, extend=old, special_tokens=["<x>"])


# Threads


@pytest.mark.parametrize("preset", PRESETS)
def test_threads_and_runs_change_nothing(preset: str) -> None:
    text = corpus(150_000)
    digests = set()
    for threads in (1, 2, 4, 1, 2):
        merges = merges_of(
            bc.train([text], 3000, special_tokens=(), threads=threads, **PRESETS[preset])
        )
        digests.add(hashlib.sha256(repr(merges).encode()).hexdigest())
    assert len(digests) == 1


def test_a_long_word_shared_by_threads() -> None:
    rng = random.Random(6)
    word = "".join(rng.choices("abcd", k=200_000))
    texts = [word, word[::-1], word[5:] + "a"]
    for tie_break in ("bytes", "ids", "first"):
        options: dict[str, Any] = {"pattern": None, "special_tokens": (), "tie_break": tie_break}
        one = bc.train(texts, 600, threads=1, **options)
        assert bc.train(texts, 600, threads=3, **options).spec == one.spec


# Progress


def test_progress_may_be_a_function() -> None:
    told: list[tuple[str, int, int | None]] = []
    bc.train([TEXT], 270, special_tokens=(), progress=lambda *report: told.append(report))
    assert ("counting", len(TEXT), None) in told
    assert told[-1] == ("merging", 14, 14)
