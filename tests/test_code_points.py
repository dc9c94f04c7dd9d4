"""All code points in contexts that show how a scanner classifies them.

A subset by default: where properties change, and a sample. With BPE_COMPAT_EXAMPLES set, all.
"""

import os
import random
from collections.abc import Iterator

import numpy as np
import pytest
import tiktoken
from scanning import NAMES, by_regex, scan
from tokenizers import Regex, pre_tokenizers

import bpe_compat as bc
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


def probes(code_points: list[int], context: str) -> Iterator[str]:
    """Texts of many probes, which a line end and a letter part without hiding their edges."""
    for start in range(0, len(code_points), 4096):
        some = code_points[start : start + 4096]
        yield "\nq".join(context.replace("{}", chr(c)) for c in some)


@pytest.fixture
def versions() -> Iterator[list[str]]:
    """The versions of the scanners that this processor can run; afterwards the first is in use."""
    found = _core.scanner_versions()
    yield found
    _core.use_scanner_version(found[0])


def check(name: str, text: str, pieces: list[bytes], versions: list[str]) -> None:
    for version in versions:
        _core.use_scanner_version(version)
        assert scan(name, text) == pieces, version


@pytest.mark.parametrize("name", NAMES)
def test_edges_of_properties(name: str) -> None:
    """Wherever a code point is classified wrongly, one of these probes is cut elsewhere."""
    code_points = edges()
    for context in (PROBE, *CONTEXTS):
        for text in probes(code_points, context):
            assert scan(name, text) == by_regex(name, text), context


@pytest.mark.skipif(not ALL, reason="every code point: BPE_COMPAT_EXAMPLES")
@pytest.mark.parametrize("name", NAMES)
def test_every_code_point(name: str, versions: list[str]) -> None:
    for context, code_points in ((PROBE, every()), *((c, varied()) for c in CONTEXTS)):
        for text in probes(code_points, context):
            check(name, text, by_regex(name, text), versions)


JUDGED = ["gpt2", "cl100k", "llama3", "o200k"]


@pytest.mark.parametrize("name", JUDGED)
def test_code_points_in_tokenizers(name: str, versions: list[str]) -> None:
    split = pre_tokenizers.Split(Regex(patterns.PATTERNS[name].oniguruma), "isolated")
    for context in CONTEXTS:
        for text in probes(every() if ALL else edges(), context):
            pieces = [piece.encode() for piece, _ in split.pre_tokenize_str(text)]
            check(name, text, pieces, versions)


@pytest.mark.parametrize("name", ["gpt2", "cl100k", "o200k"])
def test_code_points_in_tiktoken(name: str, versions: list[str]) -> None:
    """Seen through a vocabulary in which pieces matter: every pair of bytes is a token."""
    ranks = {bytes([b]): b for b in range(256)}
    ranks |= {bytes([a, b]): 256 + 256 * a + b for a in range(256) for b in range(256)}
    judge = tiktoken.Encoding(
        "judge",
        pat_str=patterns.PATTERNS[name].text,
        mergeable_ranks=ranks,
        special_tokens={},
    )
    tokens = sorted(ranks, key=lambda token: ranks[token])
    spec = bc.TokenizerSpec(tokens=tuple(tokens), merge_rule="ranks", splits=patterns.resolve(name))
    ours = bc.Tokenizer(spec)
    for context in CONTEXTS:
        for text in probes(every() if ALL else edges(), context):
            expected = judge.encode_ordinary(text)
            for version in versions:
                _core.use_scanner_version(version)
                assert ours.encode_ordinary(text) == expected, (context, version)
