"""Normalizers: native, in Python and in tokenizers."""

import os
import random
import unicodedata
from collections.abc import Callable

import pytest
from tokenizers import normalizers as theirs

from bpe_compat import pipeline
from bpe_compat.plan import native_plan
from bpe_compat.spec import Normalizer, TokenizerSpec

ALL = "BPE_COMPAT_EXAMPLES" in os.environ
EVERY = [c for c in range(0x110000) if not 0xD800 <= c < 0xE000]
PAIRS: list[tuple[Normalizer, theirs.Normalizer]] = [
    (Normalizer("nfc"), theirs.NFC()),
    (Normalizer("nfd"), theirs.NFD()),
    (Normalizer("nfkc"), theirs.NFKC()),
    (Normalizer("nfkd"), theirs.NFKD()),
    (Normalizer("lowercase"), theirs.Lowercase()),
    (Normalizer("strip_accents"), theirs.StripAccents()),
    (Normalizer("strip"), theirs.Strip()),
    (Normalizer("strip", right=False), theirs.Strip(right=False)),
    (Normalizer("prepend", content="▁"), theirs.Prepend("▁")),
    (Normalizer("replace", " ", "▁"), theirs.Replace(" ", "▁")),
    (Normalizer("replace", "a", ""), theirs.Replace("a", "")),
    (Normalizer("replace", "aa", "a"), theirs.Replace("aa", "a")),
]
IDS = [f"{ours.kind}{ours.pattern}{'' if ours.right else ' left'}" for ours, _ in PAIRS]
# What is composed, decomposed or sorted; Hangul letters; white space; letters.
SPECIAL = [
    chr(c) for c in EVERY if unicodedata.combining(chr(c)) or unicodedata.decomposition(chr(c))
]
SPECIAL += [chr(c) for c in range(0x1100, 0x1200)]
COMMON = [
    *"aeqA \n▁",
    "\u1161",
    "\u11a8",
    "\u0301",
    "\u0327",
    "\u0345",
    "가",
    "각",
    "α",
    "Σ",
    "İ",
    "é",
]


def native(*steps: Normalizer) -> Callable[[str], str]:
    spec = TokenizerSpec(tokens=(b"a",), normalizers=steps)
    plan = native_plan(spec)
    assert plan is not None
    preparation = plan.preparation
    assert preparation is not None
    return lambda text: preparation.normalize(text).decode()


@pytest.mark.parametrize(("ours", "judge"), PAIRS, ids=IDS)
def test_every_code_point(ours: Normalizer, judge: theirs.Normalizer) -> None:
    normalize = native(ours)
    code_points = EVERY if ALL else [*range(0x3000), *random.Random(0).sample(EVERY, 20_000)]
    code_points += [ord(c) for c in SPECIAL]
    wrong = [c for c in code_points if normalize(chr(c)) != judge.normalize_str(chr(c))]
    assert not wrong


@pytest.mark.parametrize(("ours", "judge"), PAIRS, ids=IDS)
def test_random_sequences(ours: Normalizer, judge: theirs.Normalizer) -> None:
    normalize = native(ours)
    rng = random.Random(1)
    for _ in range(200_000 if ALL else 4000):
        length = rng.randrange(200) if rng.random() < 0.05 else rng.randrange(9)
        text = "".join(rng.choice(rng.choice([SPECIAL, COMMON])) for _ in range(length))
        assert normalize(text) == judge.normalize_str(text), text


def test_marks_without_end_are_sorted_in_time() -> None:
    text = "a" + "\u0301\u0327" * 200_000
    assert native(Normalizer("nfd"))(text) == "a" + "\u0327" * 200_000 + "\u0301" * 200_000


def test_sequences_of_steps() -> None:
    steps = (Normalizer("nfd"), Normalizer("lowercase"), Normalizer("strip_accents"))
    judge = theirs.Sequence([theirs.NFD(), theirs.Lowercase(), theirs.StripAccents()])
    assert native(*steps)("ÀÉ İ ẞ") == judge.normalize_str("ÀÉ İ ẞ") == "ae i ß"


@pytest.mark.parametrize("pattern", [r"\s+", r"\d{2}", "(?i:ab)|c", r"[^\w]++", r"a(?=b)"])
def test_replacing_what_a_regex_matches(pattern: str) -> None:
    step = Normalizer("replace", pattern, "<>")
    ours, judge = native(step), pipeline.normalizer((step,))
    rng = random.Random(2)
    for _ in range(500):
        text = "".join(rng.choices("aABbcC 12\n\t\u3000é日", k=rng.randrange(30)))
        assert ours(text) == judge(text), text
