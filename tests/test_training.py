"""The trainer against the textbook and the worked examples of the literature."""

import random
from collections import Counter
from typing import Any

import pytest
import reference
from hypothesis import given
from hypothesis import strategies as st
from training_helpers import HUGGING_FACE, PRESETS, joined, merges_of, train

import bpe_compat as bc
from bpe_compat.bytelevel import BYTE_ORDER
from bpe_compat.patterns import PATTERNS

# The textbook

# Counts far apart, too: then rare pairs are listed only when the frequent ones are used up.
words = st.dictionaries(
    st.text("abc", min_size=1, max_size=12).map(str.encode),
    st.one_of(st.integers(1, 6), st.integers(0, 40).map(lambda power: 1 << power)),
    max_size=12,
)


@pytest.mark.filterwarnings("ignore:the text has only")
@pytest.mark.parametrize("tie_break", ["bytes", "ids", "first"])
@given(
    words, st.integers(1, 3), st.one_of(st.none(), st.integers(1, 5)), st.sampled_from([1, 5, 30])
)
def test_equals_a_full_recount_after_every_merge(
    tie_break: str, counts: dict[bytes, int], min_frequency: int, max_length: int | None, size: int
) -> None:
    options: dict[str, Any] = {"min_frequency": min_frequency, "max_token_length": max_length}
    expected = reference.train(counts, size, tie_break, **options)
    assert train(counts, size, tie_break=tie_break, **options) == expected


@pytest.mark.filterwarnings("ignore:the text has only")
@pytest.mark.parametrize("preset", PRESETS)
def test_equals_the_textbook_on_text(preset: str) -> None:
    rng = random.Random(5)
    text = " ".join("".join(rng.choices("aabcé中 ", k=rng.randrange(1, 9))) for _ in range(400))
    options = PRESETS[preset]
    pieces = reference.pieces(PATTERNS["gpt2"].text, text)
    order = BYTE_ORDER if options.get("byte_order") == "gpt2" else bytes(range(256))
    expected = reference.train(
        reference.count_pieces(p.encode() for p in pieces),
        120,
        options.get("tie_break", "bytes"),
        order,
    )
    assert train([text], 120, **options) == expected


@pytest.mark.parametrize("word", ["aaa", "aaaa", "aaaaa", "ababab", "abaab", "aabaabaa", "abababa"])
@pytest.mark.parametrize("tie_break", ["bytes", "ids", "first"])
@pytest.mark.filterwarnings("ignore:the text has only")
def test_runs_and_alternations(word: str, tie_break: str) -> None:
    counts = {word.encode(): 3, b"b" + word.encode(): 2, word.encode() + b"a": 1}
    assert train(counts, 9, tie_break=tie_break) == reference.train(counts, 9, tie_break)


# Worked examples


def test_the_cat_then_the_hat() -> None:
    text = " the" * 5 + " then" * 2 + " cat" * 3 + " hat"
    tok = bc.train([text], 262, special_tokens=())
    assert joined(merges_of(tok)) == ["th", "the", " the", "at", "cat", " cat"]
    assert [tok.decode([id]) for id in tok.encode(" then")] == [" the", "n"]


def test_the_example_of_the_encyclopedia() -> None:
    tok = bc.train(["aaabdaaabac"], 259, special_tokens=(), tie_break="ids")
    assert joined(merges_of(tok)) == ["aa", "ab", "aaab"]
    expected = ["aaab", "d", "aaab", "a", "c"]
    assert [tok.decode([id]) for id in tok.encode("aaabdaaabac")] == expected


@pytest.mark.parametrize(
    ("preset", "expected"),
    [
        ("hugging_face", ["bc", "mn", "zy", " a"]),
        ("raw_ids", [" a", "bc", "mn", "zy"]),
        ("default", ["zy", "mn", "bc", " a"]),
        ("minbpe", ["mn", "zy", "bc", " a"]),
    ],
)
def test_ties_of_bytes(preset: str, expected: list[str]) -> None:
    """Four pairs that occur once each, in the four presets."""
    assert joined(train(["mn\nzy\nbc\n a"], 4, **PRESETS[preset])) == expected


@pytest.mark.parametrize(
    ("preset", "expected"),
    [
        ("hugging_face", ["ab", "az", "abq", "abr"]),
        ("raw_ids", ["ab", "az", "abq", "abr"]),
        ("default", ["ab", "abq", "az", "abr"]),
        ("minbpe", ["ab", "abq", "az", "abr"]),
    ],
)
def test_ties_of_merged_tokens(preset: str, expected: list[str]) -> None:
    counts = {"abq": 2, "az": 2, "abr": 1}
    assert joined(train(counts, 4, **PRESETS[preset])) == expected


def test_first_occurrence_depends_on_the_order_of_the_text() -> None:
    counts = {"az": 2, "abq": 2, "abr": 1}
    assert joined(train(counts, 4, tie_break="first")) == ["ab", "az", "abq", "abr"]


# Ids


def test_ids_of_the_presets() -> None:
    last = bc.train(["ab ab"], 258, special_tokens=["<s>"]).spec
    assert (last.tokens[97], last.tokens[256], last.tokens[257]) == (b"a", b"ab", b"<s>")
    after = bc.train(["ab ab"], 258, special_tokens=["<s>"], special_ids="after_bytes").spec
    assert (after.tokens[256], after.tokens[257], after.merges) == (b"<s>", b"ab", ((97, 98),))
    first = bc.train(["ab ab"], 258, special_tokens=["<s>"], **HUGGING_FACE).spec
    assert (first.tokens[0], first.tokens[1], first.tokens[257]) == (b"<s>", b"!", b"ab")
    assert first.merges == ((65, 66),)


def test_specials_cut_the_text_and_take_part_in_no_merge() -> None:
    tok = bc.train(["ABCD<sep>EFGH"] * 50, 263, special_tokens=["<sep>"], tie_break="ids")
    assert joined(merges_of(tok)) == ["AB", "CD", "EF", "GH", "ABCD", "EFGH"]
    assert tok.encode("AB<sep>", allowed_special="all")[-1] == tok.spec.special_tokens["<sep>"]


def test_the_longest_special_is_cut_first() -> None:
    options = {"special_tokens": ["<a>", "<a>b"], "pattern": None}
    assert joined(train(["x<a>bx<a>xx"], 1, **options)) == ["xx"]


def test_number_of_merges() -> None:
    text = " ".join(f"w{i:05}" for i in range(4000))
    tok = bc.train([text], 1000)
    assert len(tok.spec.merges) == 1000 - 256 - 1
    assert tok.n_vocab == 1000


# Options


def test_max_token_length_is_exact() -> None:
    for limit in (1, 2, 3, 4, 5, 8):
        with pytest.warns(UserWarning, match="the text has only"):
            merges = train({"abcdefgh": 5}, 50, max_token_length=limit)
        assert max([len(token) for token in joined(merges)], default=1) == limit


def test_max_token_length_counts_bytes() -> None:
    with pytest.warns(UserWarning, match="the text has only"):
        merges = train({"中中": 5}, 50, max_token_length=4)
    assert max(len(left + right) for left, right in merges) <= 4


def test_min_frequency_is_inclusive() -> None:
    with pytest.warns(UserWarning, match="the text has only 1 pairs"):
        assert joined(train({"ab": 3, "cd": 2}, 10, min_frequency=3)) == ["ab"]


def test_unit_line_splits_after_newlines_only() -> None:
    text = "a\n\nb\rc\u2028d\n\n"
    pieces = Counter[bytes]()
    for line in ("a\n", "\n", "b\rc\u2028d\n", "\n"):
        pieces.update(p.encode() for p in reference.pieces(PATTERNS["gpt2"].text, line))
    with pytest.warns(UserWarning, match="the text has only"):
        assert train([text], 50, unit="line") == reference.train(pieces, 50, "bytes")
    with pytest.warns(UserWarning, match="the text has only"):
        assert (b"\n", b"\n") in train([text], 50, unit="document")


@pytest.mark.filterwarnings("ignore:the text has only")
@pytest.mark.parametrize("threads", [1, 2, 3, 7])
@pytest.mark.parametrize("tie_break", ["bytes", "ids", "first"])
def test_the_number_of_threads_changes_nothing(threads: int, tie_break: str) -> None:
    rng = random.Random(6)
    texts = ["".join(rng.choices("abcd ", k=50)) for _ in range(300)]
    assert train(texts, 200, tie_break=tie_break, threads=threads) == train(
        texts, 200, tie_break=tie_break, threads=1
    )


@pytest.mark.filterwarnings("ignore:the text has only")
def test_any_regex_is_trained_with() -> None:
    text = "ab12cd34 ab12-cd34\n" * 3
    pattern = r"[a-z]+|\d{2,3}+"
    pieces = ["ab", "12", "cd", "34", " ", "ab", "12", "-", "cd", "34", "\n"] * 3
    expected = reference.train(reference.count_pieces(p.encode() for p in pieces), 20, "first")
    assert train([text], 20, pattern=pattern, tie_break="first") == expected
    by_line = train([text], 20, pattern=pattern, tie_break="first", unit="line")
    assert by_line == expected
    cut = train([text.replace(" ", "<x>")], 20, pattern=pattern, special_tokens=["<x>"])
    assert sorted(cut) == sorted(expected)


def test_counts_do_not_overflow_32_bits() -> None:
    """A pair that occurs 2^31 times and more stays the most frequent one."""
    merges = train({"aaaa": 3 << 40, "xy": 1 << 33, "yx": (1 << 33) + 1}, 3)
    assert joined(merges) == ["aa", "aaaa", "yx"]
