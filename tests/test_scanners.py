"""Native scanners against the regexes they stand for."""

import random
import re
from collections.abc import Iterator

import pytest
import reference
import tiktoken
from hypothesis import given
from hypothesis import strategies as st
from scanning import NAMES, POOL, SEQUENCES, by_regex, scan
from tokenizers import Regex, pre_tokenizers

from bpe_compat import _core, patterns
from bpe_compat.bytelevel import from_characters


def test_every_pattern_has_a_scanner_of_its_name() -> None:
    assert set(_core.scanners()) == {"none", *NAMES}


@pytest.mark.parametrize("name", NAMES)
@given(st.lists(st.sampled_from(POOL), max_size=24).map("".join))
def test_equals_the_regex_on_mixed_characters(name: str, text: str) -> None:
    assert scan(name, text) == by_regex(name, text)


@pytest.mark.parametrize("name", NAMES)
@given(st.text(max_size=40))
def test_equals_the_regex_on_any_text(name: str, text: str) -> None:
    assert scan(name, text) == by_regex(name, text)


@pytest.fixture(params=_core.scanner_versions())
def version(request: pytest.FixtureRequest) -> Iterator[str]:
    """Each version of the scanners that this processor can run."""
    _core.use_scanner_version(request.param)
    yield request.param
    _core.use_scanner_version(_core.scanner_versions()[0])


@pytest.mark.parametrize("name", NAMES)
def test_equals_the_regex_on_long_random_text(name: str, version: str) -> None:
    """Few kinds of characters at a time: some make the scanner go on character by character."""
    rng = random.Random(0)
    for _ in range(300):
        pool = rng.sample(POOL, k=rng.choice([2, 4, 8, 16, len(POOL)]))
        text = "".join(rng.choices(pool, k=rng.randrange(1600)))
        assert scan(name, text) == by_regex(name, text), text


@pytest.mark.parametrize("name", NAMES)
def test_lines_are_texts_of_their_own(name: str, version: str) -> None:
    rng = random.Random(4)
    for _ in range(200):
        pool = ["\n", "\r\n", *rng.sample(POOL, k=rng.choice([2, 4, 8, len(POOL)]))]
        text = "".join(rng.choices(pool, k=rng.randrange(1200)))
        lines = re.findall(r"[^\n]*\n|[^\n]+", text)
        expected = [piece for line in lines for piece in by_regex(name, line)]
        assert scan(name, text, by_line=True) == expected, text


def test_an_unknown_version_is_refused() -> None:
    with pytest.raises(ValueError, match=r"no version .* named 'mmx'"):
        _core.use_scanner_version("mmx")


@pytest.mark.parametrize("name", NAMES)
def test_every_pair_of_characters_of_the_pool(name: str) -> None:
    for a in POOL:
        for b in POOL:
            for text in (a + b, f"x{a}{b}y", f" {a}{b}1", f"{a}{b}\n", f"'{a}{b}"):
                assert scan(name, text) == by_regex(name, text), text


RUNS = [
    "a", "A", "1", " ", "\n", "!", "'", "é", "中", "٣", "\u3000", "\u0301", "😀", "\t", "\r\n",
    "/",
]  # fmt: skip
LENGTHS = [1, 2, 3, 4, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257, 4097]


@pytest.mark.parametrize("name", NAMES)
def test_runs_of_one_class_with_neighbours(name: str, version: str) -> None:
    for run in RUNS:
        for length in LENGTHS:
            body = run * length
            for text in (
                body,
                f"x{body}",
                f" {body}",
                f"{body}  ",
                f"{body}\n",
                f"{body}'s",
                f"{body}x",
            ):
                assert scan(name, text) == by_regex(name, text), (run, length)


@pytest.mark.parametrize("name", NAMES)
def test_pieces_cover_any_bytes(name: str) -> None:
    """Bytes that are no UTF-8 are one "other" character each."""
    rng = random.Random(1)
    fragments = [c.encode() for c in POOL] + [bytes([b]) for b in range(0x80, 0x100)]
    for _ in range(500):
        data = b"".join(rng.choices(fragments, k=rng.randrange(60)))
        assert b"".join(scan(name, data)) == data
        cleaned = _core.first_invalid(data)
        assert (cleaned == len(data)) == _is_utf8(data)
    assert scan("gpt2", b"a\xff\xfe b") == [b"a", b"\xff\xfe", b" b"]


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def test_first_invalid_names_the_byte_that_python_names() -> None:
    rng = random.Random(2)
    for _ in range(3000):
        data = bytes(
            rng.choices(
                [
                    0x41,
                    0xC3,
                    0xA9,
                    0xE2,
                    0x82,
                    0xAC,
                    0xF0,
                    0x9F,
                    0xED,
                    0xA0,
                    0xF4,
                    0x90,
                    0xC0,
                    0xFF,
                ],
                k=8,
            )
        )
        try:
            data.decode()
            expected = len(data)
        except UnicodeDecodeError as error:
            expected = error.start
        assert _core.first_invalid(data) == expected, data


@pytest.mark.parametrize("name", sorted(patterns.PATTERNS))
def test_oniguruma_spelling_makes_the_same_pieces_in_tokenizers(name: str) -> None:
    """What is written to tokenizer.json is the same function in the engine that reads it."""
    split = pre_tokenizers.Split(Regex(patterns.PATTERNS[name].oniguruma), "isolated")
    rng = random.Random(3)
    for _ in range(400):
        text = "".join(rng.choices(POOL, k=rng.randrange(60)))
        assert scan(name, text) == [p.encode() for p, _ in split.pre_tokenize_str(text)], text


@pytest.mark.parametrize("name", sorted(patterns.PATTERNS))
def test_every_spelling_makes_the_same_pieces_in_tiktoken(name: str) -> None:
    """Seen through a vocabulary in which pieces matter: every pair of bytes is a token."""
    ranks = {bytes([b]): b for b in range(256)}
    alphabet = sorted({byte for c in POOL for byte in c.encode()})
    for a in alphabet:
        for b in alphabet:
            ranks[bytes([a, b])] = len(ranks)
    pattern = patterns.PATTERNS[name]
    rng = random.Random(4)
    texts = ["".join(rng.choices(POOL, k=rng.randrange(60))) for _ in range(300)]
    for spelling in (pattern.text, *pattern.aliases):
        encoding = tiktoken.Encoding(
            "x", pat_str=spelling, mergeable_ranks=ranks, special_tokens={}
        )
        for text in texts:
            expected = [
                ranks[token]
                for piece in scan(name, text)
                for token in reference.encode_by_ranks(piece, ranks)
            ]
            assert encoding.encode_ordinary(text) == expected, (spelling, text)


@pytest.mark.parametrize("text", ["a\n  ", "a \n\n ", "\n ", "a\r\n\t"])
def test_the_two_spellings_of_cl100k_differ_at_the_end(text: str) -> None:
    assert scan("cl100k", text) != scan("llama3", text)
    assert scan("cl100k", text + "x") == scan("llama3", text + "x")


def test_no_split_is_one_piece() -> None:
    assert scan("none", "a b") == [b"a b"]
    assert scan("none", "") == []


def test_a_million_spaces_are_scanned_at_once() -> None:
    for name in NAMES:
        assert [len(p) for p in scan(name, " " * 1_000_000 + "x")] == [999_999, 2]


def test_unknown_scanner_is_named() -> None:
    with pytest.raises(ValueError, match="'nope'"):
        _core.piece_ends("a", "nope")


@pytest.mark.parametrize("name", sorted(SEQUENCES))
def test_sequences_of_steps_in_tokenizers(name: str, version: str) -> None:
    steps = pre_tokenizers.Sequence(SEQUENCES[name])
    rng = random.Random(5)
    for _ in range(400):
        pool = rng.sample(POOL, k=rng.choice([3, 8, len(POOL)]))
        text = "".join(rng.choices(pool, k=rng.randrange(200)))
        pieces = [from_characters(piece) for piece, _ in steps.pre_tokenize_str(text)]
        assert scan(name, text) == pieces, text
