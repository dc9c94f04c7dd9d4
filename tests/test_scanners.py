"""Native scanners against the regexes they stand for."""

import random
import re
from collections.abc import Iterator

import pytest
import reference
import tiktoken
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Regex, pre_tokenizers

from bpe_compat import _core, patterns

NAMES = sorted(patterns.PATTERNS)

# Characters that the patterns treat differently, or seem to: section 3.4 of most tokenizer bugs.
SPACES = [
    " ",
    "\t",
    "\n",
    "\r",
    "\x0b",
    "\x0c",
    "\x85",
    "\xa0",
    "\u1680",
    "\u2003",
    "\u2028",
    "\u3000",
]
LOOKALIKES = ["\x1c", "\x1f", "\u180e", "\u200b", "\ufeff", "\u2060"]
LETTERS = [
    "a",
    "B",
    "z",
    "é",
    "ſ",
    "ǅ",
    "ʰ",
    "ı",
    "İ",
    "ﬁ",
    "中",
    "가",
    "ไ",
    "ह",
    "א",
    "م",
    "𐐀",
    "K",
]
MARKS = ["\u0301", "\u0345", "\u093e", "\u20dd"]
NUMBERS = ["1", "23", "½", "²", "Ⅷ", "٣", "〇", "𝟘"]
OTHERS = [
    "'",
    "!",
    "/",
    "$",
    "_",
    "’",
    "™",
    "😀",
    "\u200d",
    "🏽",
    "\x00",
    "\x7f",
    "\ue000",
    "\uffff",
    "\U0010ffff",
    "\u0378",
]
CONTRACTIONS = ["'s", "'T", "'re", "'VE", "'ll", "'Ll", "'d", "'ſ", "''s", "'x"]
POOL = (
    SPACES + LOOKALIKES + LETTERS + MARKS + NUMBERS + OTHERS + CONTRACTIONS + ["\r\n", "  ", "ab"]
)


def scan(name: str, text: str | bytes, *, by_line: bool = False) -> list[bytes]:
    data = text.encode() if isinstance(text, str) else text
    ends = _core.piece_ends(data, name, by_line).tolist()
    return [data[a:b] for a, b in zip([0, *ends], ends, strict=False)]


def by_regex(name: str, text: str) -> list[bytes]:
    return [piece.encode() for piece in reference.pieces(patterns.PATTERNS[name].text, text)]


def test_every_pattern_has_a_scanner_of_its_name() -> None:
    assert set(_core.scanners()) == {"none", *patterns.PATTERNS}


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


CONTEXTS = [
    "{}",
    "{}+r",
    "a{}b",
    "a {}",
    "1{}2",
    "!{}!",
    "\n{}\n",
    "'{}",
    "A{}b",
    "{}{}{}{}",
    " {}{} ",
]
# One context that shows every class at once, for the code points that are many and alike.
PROBE = "a{}b{}1 A{}! {}"
ALIKE = [
    (0x3400, 0xA48D),
    (0xAC00, 0xD7A4),
    (0xE000, 0xF900),
    (0x17000, 0x18D09),
    (0x1B170, 0x1B2FC),
    (0x20000, 0x32400),
    (0x33480, 0xE0000),
    (0xE01F0, 0x110000),
]


def check_code_points(name: str, code_points: list[int], context: str) -> None:
    for start in range(0, len(code_points), 4096):
        # A line end and a letter part the probes without hiding the context's edges.
        text = "\nq".join(context.replace("{}", chr(c)) for c in code_points[start : start + 4096])
        assert scan(name, text) == by_regex(name, text), (hex(code_points[start]), context)


@pytest.mark.parametrize("name", NAMES)
def test_every_code_point(name: str) -> None:
    """Wherever a code point is classified wrongly, one of these probes is cut elsewhere."""
    every = [c for c in range(0x110000) if not 0xD800 <= c < 0xE000]
    check_code_points(name, every, PROBE)
    varied = [c for c in every if not any(a <= c < b for a, b in ALIKE)]
    edges = [c for a, b in ALIKE for c in (a, a + 1, (a + b) // 2, b - 1)]
    for context in CONTEXTS:
        check_code_points(name, varied + edges, context)


RUNS = [
    "a",
    "A",
    "1",
    " ",
    "\n",
    "!",
    "'",
    "é",
    "中",
    "٣",
    "\u3000",
    "\u0301",
    "😀",
    "\t",
    "\r\n",
    "/",
]
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


@pytest.mark.parametrize("name", NAMES)
def test_oniguruma_spelling_makes_the_same_pieces_in_tokenizers(name: str) -> None:
    """What is written to tokenizer.json is the same function in the engine that reads it."""
    split = pre_tokenizers.Split(Regex(patterns.PATTERNS[name].oniguruma), "isolated")
    rng = random.Random(3)
    for _ in range(400):
        text = "".join(rng.choices(POOL, k=rng.randrange(60)))
        assert scan(name, text) == [p.encode() for p, _ in split.pre_tokenize_str(text)], text


@pytest.mark.parametrize("name", NAMES)
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
