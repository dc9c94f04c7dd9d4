"""Training that starts from characters, with marks of word ends and insides."""

import random
from collections import Counter
from typing import Any

import pytest
import reference
from tokenizers import Tokenizer as HuggingFace

import bpe_compat as bc

PAPER = {"low": 5, "lower": 2, "newest": 6, "widest": 3}


def words_of(tokenizer: bc.Tokenizer) -> list[str]:
    tokens = tokenizer.spec.tokens
    return [(tokens[a] + b"+" + tokens[b]).decode() for a, b in tokenizer.spec.merges]


def trained(counts: dict[str, int], merges: int, **options: Any) -> bc.Tokenizer:
    options = {"special_tokens": (), "alphabet": "characters", **options}
    with pytest.warns(UserWarning, match="pairs to merge"):
        everything = bc.train(counts, 10_000, **options)
    symbols = everything.n_vocab - len(everything.spec.merges)
    return bc.train(counts, symbols + merges, **options)


def test_the_example_of_the_paper() -> None:
    """Sennrich, Haddow and Birch 2016, figure 1, with ties broken by first appearance."""
    tokenizer = trained(
        PAPER, 5, end_of_word_suffix="</w>", end_of_word="separate", tie_break="first"
    )
    assert words_of(tokenizer) == ["e+s", "es+t", "est+</w>", "l+o", "lo+w"]
    encoded = [tokenizer.spec.tokens[id].decode() for id in tokenizer.encode("lowest")]
    assert encoded == ["low", "est</w>"]


def test_a_separate_end_of_word_is_refused_by_tokenizer_json(tmp_path: Any) -> None:
    tokenizer = trained(PAPER, 5, end_of_word_suffix="</w>", end_of_word="separate")
    with pytest.raises(bc.errors.UnsupportedError, match="symbol of its own"):
        tokenizer.save(tmp_path / "x")


def spelled(word: str, prefix: str, suffix: str) -> list[bytes]:
    last = len(word) - 1
    return [
        ((prefix if i else "") + c + (suffix if i == last else "")).encode()
        for i, c in enumerate(word)
    ]


def textbook(counts: dict[str, int], merges: int, prefix: str, suffix: str) -> list[str]:
    """A recount after every merge; ties go to the greatest strings."""
    words = [(spelled(word, prefix, suffix), count) for word, count in counts.items()]
    done: list[str] = []
    known = {token for tokens, _ in words for token in tokens}
    cut = len(prefix.encode())
    while len(done) < merges:
        pairs = reference.pair_counts(words)
        pairs = Counter({p: n for p, n in pairs.items() if p[0] + p[1][cut:] not in known})
        if not pairs:
            break
        best = max(pairs, key=lambda pair: (pairs[pair], pair))
        joined = best[0] + best[1][cut:]
        known.add(joined)
        done.append((best[0] + b"+" + best[1]).decode())
        merged = []
        for tokens, count in words:
            tokens = reference.merged(tokens, best)
            merged.append(([joined if t == best[0] + best[1] else t for t in tokens], count))
        words = merged
    return done


@pytest.mark.parametrize(("prefix", "suffix"), [("", ""), ("", "</w>"), ("##", ""), ("##", "</w>")])
def test_equals_a_recount_after_every_merge(prefix: str, suffix: str) -> None:
    rng = random.Random(8)
    for _ in range(25):
        words = ["".join(rng.choices("abé中", k=rng.randrange(1, 8))) for _ in range(12)]
        counts = {word: rng.randrange(1, 5) for word in words}
        options = {"end_of_word_suffix": suffix, "continuing_subword_prefix": prefix}
        assert words_of(trained(counts, 12, **options)) == textbook(counts, 12, prefix, suffix)


@pytest.mark.parametrize(("prefix", "suffix"), [("", ""), ("", "</w>"), ("##", "")])
def test_exports_to_tokenizer_json(prefix: str, suffix: str, tmp_path: Any) -> None:
    text = "low lower lowest newest widest wide new newer news " * 3
    tokenizer = bc.train(
        [text], 60, pattern=r"\S+|\s", alphabet="characters", unknown_token="<unk>",
        special_tokens=["<s>"], end_of_word_suffix=suffix, continuing_subword_prefix=prefix,
    )  # fmt: skip
    tokenizer.save(tmp_path / "x")
    live = HuggingFace.from_file(str(tmp_path / "x" / "tokenizer.json"))
    for sample in (text, "lowish", "new  neé", "", "w"):
        expected = live.encode(sample, add_special_tokens=False).ids
        assert tokenizer.encode(sample) == expected, sample
    assert bc.load(tmp_path / "x").spec == tokenizer.spec


def test_ids_depend_on_nothing_but_the_text() -> None:
    tokenizer = trained(PAPER, 3, end_of_word_suffix="</w>", special_tokens=["<s>"])
    expected = ["d", "e", "i", "l", "n", "o", "r", "s", "t", "w", "r</w>", "t</w>", "w</w>"]
    assert [token.decode() for token in tokenizer.spec.tokens[: len(expected)]] == expected


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"end_of_word_suffix": "</w>"}, "go with alphabet='characters'"),
        ({"unknown_token": "<unk>"}, "go with alphabet='characters'"),
        ({"alphabet": "characters", "seed_tokens": ["ab"]}, "go with alphabet='bytes'"),
        ({"alphabet": "characters", "end_of_word": "separate"}, "needs an end_of_word_suffix"),
        ({"alphabet": "letters"}, "alphabet must be one of"),
        ({"alphabet": "characters", "vocab_size": 3}, "at least 5: 4 characters and 1 special"),
    ],
)
def test_contradictions_are_named(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        bc.train(["abcd"], options.pop("vocab_size", 300), **options)
