"""What is done to whole vocabularies at once, beside the same one by one."""

import base64
import binascii
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_compat import bytelevel, flat, spec
from bpe_compat.converters.vocabulary import merges_of_pairs, sound_merges
from bpe_compat.errors import FormatError
from bpe_compat.spec import TokenizerSpec, TokenKind

TOKENS = st.lists(st.sampled_from([b"", b"a", b"b", b"ab", b"ba", b"abab", b"\xff"]), max_size=6)
NUMBERS = st.integers(-2, 6) | st.sampled_from([1 << 31, 1 << 32, 1 << 70])
STRINGS = st.sampled_from(["a", "b", "ab", "é", "aé", "éab", "", " "])


def is_sound_one_by_one(checked: TokenizerSpec, cut: int) -> bool:
    try:
        spec._check_each_token(checked)
        spec._check_each_merge(checked, cut)
    except FormatError:
        return False
    return True


@given(TOKENS, st.data(), st.lists(st.tuples(NUMBERS, NUMBERS), max_size=3), st.integers(0, 2))
def test_specs_are_sound_if_each_part_is(
    tokens: list[bytes], data: Any, merges: list[tuple[int, int]], cut: int
) -> None:
    kind = st.sampled_from(TokenKind)
    kinds = data.draw(st.lists(kind, min_size=len(tokens), max_size=len(tokens)))
    checked = object.__new__(TokenizerSpec)
    for name, value in (("tokens", tokens), ("kinds", kinds), ("merges", merges)):
        object.__setattr__(checked, name, tuple(value))
    numbers = spec.kind_numbers(kinds)
    expected = is_sound_one_by_one(checked, cut)
    assert flat.is_sound(checked.tokens, numbers, checked.merges, cut) == expected


def test_what_is_no_plain_pair_is_left_to_a_closer_look() -> None:
    for merge in ([0, 1], (0, 1, 1), (True, 0), (0.0, 1), "ab", None):
        merges: Any = (merge,)
        assert not flat.is_sound((b"a", b"b", b"ab"), bytes(3), merges, 0)
    listed: Any = ([0, 1],)
    assert TokenizerSpec((b"a", b"b", b"ab"), merges=listed).merges == listed


@given(st.lists(STRINGS, unique=True), st.lists(st.tuples(STRINGS, STRINGS)), st.booleans())
def test_merges_of_strings_become_ids(
    strings: list[str], pairs: list[tuple[str, str]], spaced: bool
) -> None:
    vocab = {string: 2 * id for id, string in enumerate(strings)}
    found = sound_merges(vocab, [f"{a} {b}" for a, b in pairs] if spaced else pairs)
    sound = all(a and b and {a, b, a + b} <= vocab.keys() for a, b in pairs)
    if spaced:
        sound = sound and all(" " not in pair for pair in pairs)
    assert (found is not None) == sound
    if found is not None:
        assert found.pairs.tolist() == [[vocab[a], vocab[b]] for a, b in pairs]
        assert found.made.tolist() == [vocab[a + b] for a, b in pairs]
        assert flat.pairs(found.pairs) == tuple((vocab[a], vocab[b]) for a, b in pairs)


def test_merges_that_begin_with_a_prefix() -> None:
    vocab = {"a": 0, "##b": 1, "ab": 2, "b": 3}
    found = merges_of_pairs(vocab, [("a", "##b"), ("a", "b")], "##")
    assert found.pairs.tolist() == [[0, 1], [0, 3]]
    assert found.made.tolist() == [2]


def test_no_merges_are_sound() -> None:
    for merges in (sound_merges({"a": 0}, []), merges_of_pairs({"a": 0}, [])):
        assert merges is not None
        assert merges.pairs.shape == (0, 2)
    assert sound_merges({"a": 0}, ["a a", ["a", "a"]]) is None


@given(st.lists(st.text() | st.text(bytelevel.CHARACTERS)))
def test_characters_become_bytes(strings: list[str]) -> None:
    expected = list(map(bytelevel.from_characters, strings))
    assert bytelevel.all_from_characters(strings) == expected
    known = [token for token in expected if token is not None]
    assert bytelevel.all_to_characters(known) == list(map(bytelevel.to_characters, known))


@given(st.lists(st.tuples(st.integers(0, 1 << 31), st.integers(0, 9))))
def test_pairs_come_back_from_their_array(pairs: list[tuple[int, int]]) -> None:
    rows = flat.pair_array(tuple(pairs))
    assert rows.tolist() == list(map(list, pairs))
    assert flat.pairs(rows) == tuple(pairs)


BASE64 = st.binary(max_size=7).map(base64.b64encode) | st.text("AQZz+/= 9", max_size=6).map(
    str.encode
)
LINES = st.tuples(BASE64, st.sampled_from([b" ", b"", b"  "]), st.sampled_from([b"0", b"17", b""]))


@given(st.lists(LINES), st.sampled_from([b"\n", b"\r\n", b""]))
def test_lines_of_ranks_are_those_that_python_reads(lines: list[Any], end: bytes) -> None:
    expected: dict[bytes, int] | None = {}
    for encoded, space, rank in lines:
        try:
            token = base64.b64decode(encoded, validate=True)
        except binascii.Error:
            token = b""
        plain = token and base64.b64encode(token) == encoded and space == b" " and rank
        if not plain or end != b"\n" or expected is None or token in expected:
            expected = None
        else:
            expected[token] = int(rank)
    assert flat.rank_lines(b"".join(b"".join([*line, end]) for line in lines)) == expected


def test_ranks_of_ten_digits_are_left_to_a_closer_look() -> None:
    assert flat.rank_lines(b"YQ== 999999999\n") == {b"a": 999999999}
    assert flat.rank_lines(b"YQ== 1000000000\n") is None
    assert flat.rank_lines(b"YR== 0\n") is None


@given(st.lists(STRINGS, min_size=1), st.data(), st.sampled_from(["", " ", "é"]))
def test_pairs_of_strings_become_one_text(strings: list[str], data: Any, between: str) -> None:
    ids = st.integers(0, len(strings) - 1)
    pairs = tuple(data.draw(st.lists(st.tuples(ids, ids))))
    expected = "".join(f"{strings[a]}{between}{strings[b]}\n" for a, b in pairs)
    assert flat.joined_pairs(strings, pairs, between, "\n") == expected


def test_pairs_of_no_strings_are_refused() -> None:
    for pair in ((0, 1), (-1, 0), (0, 1 << 40), ("a", 0), None):
        pairs: Any = (pair,)
        with pytest.raises(IndexError):
            flat.joined_pairs(["a"], pairs, "", "")
    for strings in (["\ud800"], [b"a"], [1]):
        texts: Any = strings
        with pytest.raises(TypeError):
            flat.joined_pairs(texts, (), "", "")
