"""Code points in contexts that show how a scanner classifies them, beside regexes and peers.

By default those where properties change, and a sample. With BPE_COMPAT_EXAMPLES set, all: each in
one context that shows every class, and those outside of long ranges of one class in every context.
"""

import os
import random
from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise, zip_longest

import numpy as np
import pytest
import tiktoken
from scanning import NAMES, SEQUENCES, by_regex, scan
from tokenizers import Regex, pre_tokenizers

from bpe_compat import _core, patterns
from bpe_compat.dialects import codepoints

ALL = "BPE_COMPAT_EXAMPLES" in os.environ
CONTEXTS = [
    "{}", "{}+r", "a{}b", "a {}", "1{}2", " {}1", "!{}!", "\n{}\n", "'{}", "a'{}", "'{}s", "A{}b",
    "{}{}{}{}", " {}{} ", "中{}中",
]  # fmt: skip
# One context that shows every class at once, for the code points that are many and alike.
PROBE = "a{}b{}1 A{}! {}"
ALIKE = [
    (0x3400, 0xA48D), (0xAC00, 0xD7A4), (0xE000, 0xF900), (0x17000, 0x18D09), (0x1B170, 0x1B2FC),
    (0x20000, 0x32400), (0x33480, 0xE0000), (0xE01F0, 0x110000),
]  # fmt: skip

# Numbers to the Digits of tokenizers, which asks Rust and with it Unicode 17; unassigned in 16.
LATER_NUMBERS = {*range(0x11DE0, 0x11DEA), *range(0x16FF4, 0x16FF7)}


def every() -> list[int]:
    return [c for c in range(0x110000) if not 0xD800 <= c < 0xE000]


def edges() -> list[int]:
    """The first and the last code point of every run with one category and script, and a sample."""
    category = np.frombuffer(_core.categories(), np.uint8).astype(int)
    for name in ("White_Space", "Han", "Alphabetic"):
        category = category * 2 + codepoints.property_mask(name)
    changes = np.flatnonzero(np.diff(category)).tolist()
    found = {c for change in changes for c in (change, change + 1)}
    found |= set(range(0x250)) | set(random.Random(5).sample(every(), 2000)) | {0x9FA5, 0x9FA6}
    return sorted(found - set(range(0xD800, 0xE000)))


def varied() -> list[int]:
    found = [c for c in every() if not any(a <= c < b for a, b in ALIKE)]
    return found + [c for a, b in ALIKE for c in (a, a + 1, (a + b) // 2, b - 1)]


def texts() -> Iterator[str]:
    """Probes, many in a text, which a line end and a letter part without hiding their edges."""
    for context in (PROBE, *CONTEXTS):
        code_points = edges() if not ALL else every() if context == PROBE else varied()
        for start in range(0, len(code_points), 4096):
            some = code_points[start : start + 4096]
            yield "\nq".join(context.replace("{}", chr(c)) for c in some)


@pytest.fixture
def versions() -> Iterator[list[str]]:
    """The versions of the scanners that this processor can run; afterwards the first is in use."""
    found = _core.scanner_versions()
    yield found
    _core.use_scanner_version(found[0])


def check(name: str, text: str, ends: Sequence[int], versions: list[str]) -> None:
    """All versions end their pieces at these bytes."""
    data = text.encode()
    for version in versions:
        _core.use_scanner_version(version)
        ours = _core.piece_ends(data, name).tolist()
        if ours != list(ends):
            at = next(i for i, (a, b) in enumerate(zip_longest(ours, ends)) if a != b)
            begin = ours[at - 1] if at else 0
            pytest.fail(f"{version}: another piece begins {data[begin : begin + 20]!r}")


@pytest.mark.parametrize("name", NAMES)
def test_code_points_by_regex(name: str, versions: list[str]) -> None:
    """Wherever a code point is classified wrongly, one of these probes is cut elsewhere."""
    for text in texts():
        check(name, text, list(accumulate(map(len, by_regex(name, text)))), versions)


@pytest.mark.parametrize("name", sorted(patterns.PATTERNS))
def test_code_points_in_tokenizers(name: str, versions: list[str]) -> None:
    split = pre_tokenizers.Split(Regex(patterns.PATTERNS[name].oniguruma), "isolated")
    for text in texts():
        starts = list(accumulate((len(c.encode()) for c in text), initial=0))
        ends = [starts[end] for _, (_, end) in split.pre_tokenize_str(text)]
        check(name, text, ends, versions)


@pytest.mark.parametrize("name", sorted(SEQUENCES))
def test_code_points_in_sequences_of_tokenizers(name: str, versions: list[str]) -> None:
    steps = pre_tokenizers.Sequence(SEQUENCES[name])
    for whole in texts():
        text = whole.translate(dict.fromkeys(LATER_NUMBERS, "1"))
        # All of them end with ByteLevel, which has one character for each byte.
        ends = accumulate(len(piece) for piece, _ in steps.pre_tokenize_str(text))
        check(name, text, list(ends), versions)


@pytest.mark.parametrize("name", sorted(patterns.PATTERNS))
def test_code_points_in_tiktoken(name: str, versions: list[str]) -> None:
    """Seen through a vocabulary of our pieces and of every two neighbours among them.

    Then other pieces have other ids. A shorter one has no token as long as ours; a longer one can
    only be spelled with ours if it is several of them, and the first two of those would merge.
    """
    for text in texts():
        pieces = scan(name, text)
        ranks = {bytes([byte]): byte for byte in range(256)}
        for token in (*pieces, *map(b"".join, pairwise(pieces))):
            ranks.setdefault(token, len(ranks))
        judge = tiktoken.Encoding(
            "judge",
            pat_str=patterns.PATTERNS[name].text,
            mergeable_ranks=ranks,
            special_tokens={},
        )
        assert judge.encode_ordinary(text) == [ranks[piece] for piece in pieces]
        check(name, text, list(accumulate(map(len, pieces))), versions)
