"""`TokenizerSpec` and the small modules around it."""

import dataclasses
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import bpe_compat as bc
from bpe_compat import bytelevel, patterns, ranks
from bpe_compat.spec import AddedToken, Split, TokenizerSpec, TokenKind

NORMAL, CONTROL, UNUSED = TokenKind.NORMAL, TokenKind.CONTROL, TokenKind.UNUSED
BYTES = tuple(bytes([byte]) for byte in range(256))


def test_default_kinds_and_sizes() -> None:
    spec = TokenizerSpec((b"a", b"", b"<s>"), added_tokens=(AddedToken("<s>", 2),))
    assert spec.kinds == (NORMAL, UNUSED, CONTROL)
    assert (spec.vocab_size, spec.token_count, spec.base_count) == (3, 2, 1)
    assert spec.special_tokens == {"<s>": 2}
    assert spec.normal_ids() == {b"a": 0}


def test_a_spec_cannot_be_changed() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        TokenizerSpec((b"a",)).tokens = ()  # type: ignore[misc]


def test_metadata_is_compared_by_nobody() -> None:
    assert TokenizerSpec((b"a",), metadata={"name": "x"}) == TokenizerSpec((b"a",))


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"tokens": (b"a",), "kinds": (NORMAL, NORMAL)}, "1 tokens but 2 kinds"),
        ({"tokens": (b"a", b"a")}, "ids 0 and 1 are the same token b'a'"),
        ({"tokens": (b"",), "kinds": (NORMAL,)}, "token 0 is b'' but its kind is normal"),
        ({"tokens": (b"a",), "kinds": (UNUSED,)}, "token 0 is b'a' but its kind is unused"),
        ({"tokens": (b"a",), "merges": ((0, 1),)}, r"merge 0 \(0, 1\) names an id"),
        ({"tokens": (b"a",), "merges": ((0, 0),)}, "merge 0 makes b'aa', which is no token"),
        ({"tokens": (b"a",), "unknown": 7}, "the unknown token's id 7"),
        ({"tokens": (b"a", b"aa"), "merges": ((0, 0),), "merge_rule": "ranks"}, "without merges"),
        ({"tokens": (b"a",), "added_tokens": (AddedToken("", 0),)}, "id 0 is empty"),
        ({"tokens": (b"a",), "added_tokens": (AddedToken("x", 4),)}, "'x' has id 4: no token"),
        ({"tokens": (b"a",), "added_tokens": (AddedToken("a", 0),) * 2}, "'a' is listed twice"),
    ],
)
def test_contradictions_are_named(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(bc.errors.FormatError, match=message):
        TokenizerSpec(**fields)


# Bytes and characters


@given(st.binary())
def test_bytes_come_back_from_their_characters(token: bytes) -> None:
    assert bytelevel.from_characters(bytelevel.to_characters(token)) == token


def test_the_alphabet_is_that_of_tokenizers() -> None:
    from tokenizers.pre_tokenizers import ByteLevel

    assert set(bytelevel.CHARACTERS) == set(ByteLevel.alphabet())
    assert "".join(sorted(bytelevel.CHARACTERS)) == bytelevel.to_characters(bytelevel.BYTE_ORDER)


@pytest.mark.parametrize("character", ["\x00", " ", "\x7f", "\xad", "\u0144", "中"])
def test_characters_that_stand_for_no_byte(character: str) -> None:
    assert bytelevel.from_characters(f"a{character}") is None


# Patterns


@pytest.mark.parametrize("name", sorted(patterns.PATTERNS))
def test_patterns_are_known_in_every_spelling(name: str) -> None:
    pattern = patterns.PATTERNS[name]
    for text in (pattern.text, pattern.oniguruma, *pattern.aliases):
        assert patterns.resolve(text) == patterns.resolve(name) == (Split(pattern.text),)
    for text in (pattern.oniguruma, *pattern.aliases):
        assert patterns.named(text, "oniguruma") is pattern


def test_no_spelling_has_two_names() -> None:
    spellings = [
        spelling
        for p in patterns.PATTERNS.values()
        for spelling in {p.text, p.oniguruma, *p.aliases}
    ]
    assert len(spellings) == len(set(spellings))


def test_scanners_are_used_only_where_they_are_the_same() -> None:
    text = patterns.PATTERNS["gpt2"].text
    assert patterns.scanner_of((Split(text, "removed", invert=True),)) == "gpt2"
    for split in (Split(text, "removed"), Split(text, "contiguous"), Split(text, mapped=True)):
        assert patterns.scanner_of((split,)) is None
    assert patterns.scanner_of((Split(text), Split(text))) is None


# Ranks and merges

EXAMPLE = {b"a": 0, b"b": 1, b"c": 2, b"d": 3, b"bc": 4, b"ab": 5, b"bcd": 6, b"abc": 7, b"abcd": 8}


def by_ranks(table: dict[bytes, int]) -> TokenizerSpec:
    return bc.Tokenizer.from_ranks(table, pattern=None, special_tokens={}).spec


def test_merges_are_what_is_left_of_a_token_under_lower_ranks() -> None:
    spec = by_ranks(EXAMPLE)
    recovered = ranks.recover_merges(spec)
    pairs = [(spec.tokens[a], spec.tokens[b]) for a, b in recovered.merges]
    assert pairs == [(b"b", b"c"), (b"a", b"b"), (b"bc", b"d"), (b"a", b"bc"), (b"a", b"bcd")]
    assert (recovered.ignore_merges, recovered.odd) == (False, ())


def test_tokens_out_of_reach_need_all_splits() -> None:
    table = {b"a": 0, b"b": 1, b"c": 2, b"bc": 3, b"abc": 4, b"abcab": 5}
    recovered = ranks.recover_merges(by_ranks(table))
    assert recovered.odd == (5,)
    assert recovered.ignore_merges
    assert recovered.merges == ((1, 2), (0, 3))


def test_the_ids_of_training_are_ranks() -> None:
    for options in (
        {},
        {"tie_break": "ids"},
        {"special_ids": "first"},
        {"special_ids": "after_bytes"},
    ):
        tok = bc.train(["the cat the hat aaa aaaa naïve naïve"] * 2, 270, **options)  # type: ignore[arg-type]
        assert ranks.differences(tok.spec) == []


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda s: {"merges": s.merges[::-1]}, "merge 0 is not the one that the ids imply"),
        (lambda s: {"merges": s.merges[:-1]}, "1 merges where the ids imply 2"),
        (
            lambda s: {"tokens": (*s.tokens, b"xyzzy"), "kinds": (*s.kinds, NORMAL)},
            "token 258 b'xyzzy'",
        ),
        (lambda s: {"byte_level": False}, "pieces do not start as bytes"),
        (lambda s: {"kinds": (CONTROL, *s.kinds[1:])}, "no token for byte 0x00|lack of a token"),
    ],
)
def test_why_a_spec_has_no_ranks(change: Any, message: str) -> None:
    spec = TokenizerSpec((*BYTES, b"ab", b"cd"), merges=((97, 98), (99, 100)))
    found = ranks.differences(dataclasses.replace(spec, **change(spec)))
    assert len(found) == 1
    with pytest.raises(AssertionError, match=message):
        raise AssertionError(found[0])
