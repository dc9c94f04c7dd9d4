"""Which specs run natively, and that it makes no difference."""

import contextlib
import dataclasses
import random
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from samples import trained

from bpe_compat import _core, dialects
from bpe_compat.engine import PythonEngine, make_engine
from bpe_compat.errors import UnsupportedError
from bpe_compat.plan import native_plan
from bpe_compat.spec import AddedToken, Normalizer, Split, TokenizerSpec, TokenKind
from bpe_compat.summary import summary

WORDS = Split(r"\w+|[^\w\s]+", "removed", invert=True)
SPLITS: list[tuple[Split, ...]] = [
    (),
    (Split(r"\d"),),
    (Split(r"\s+", "removed"),),
    (Split(r"\s+", "merged_with_previous"),),
    (Split(r"\s", "merged_with_next"),),
    (Split(r"\d", "contiguous"), Split(r"(?i:[a-z]{2})", "merged_with_next", invert=True)),
    (WORDS,),
    (Split(r"\s", "removed"), Split(r"[^\w]", "isolated")),
    (Split(r" ?\p{L}+?|(?<=\d)x|\d+(?!\S)"),),
    (Split(r"(?>\s+)\S|[[:alpha:]]{1,2}+"), Split(r"\p{L}", "contiguous", mapped=True)),
]
NORMALIZERS: list[tuple[Normalizer, ...]] = [
    (),
    (Normalizer("nfkc"), Normalizer("lowercase")),
    (Normalizer("replace", r"\s+", " "), Normalizer("strip")),
    (Normalizer("prepend", content="_"), Normalizer("replace", " ", "_")),
]
texts = st.text(st.sampled_from("aAbxé日²ſ0123 \n\t.,-_<>é"), max_size=40)


def with_added(spec: TokenizerSpec) -> TokenizerSpec:
    n = len(spec.tokens)
    added = [
        AddedToken("<a>", n), AddedToken("B", n + 1, normalized=True, lstrip=True),
        AddedToken("x-", n + 2, single_word=True),
    ]  # fmt: skip
    tokens = (*spec.tokens, b"<a>", b"B", b"x-")
    kinds = (*spec.kinds, *[TokenKind.CONTROL] * 3)
    return dataclasses.replace(spec, tokens=tokens, kinds=kinds, added_tokens=tuple(added))


@pytest.mark.parametrize("splits", SPLITS)
@pytest.mark.parametrize("normalizers", NORMALIZERS)
@settings(max_examples=25)
@given(st.lists(texts, max_size=4), st.booleans(), st.lists(st.booleans(), min_size=3, max_size=3))
def test_native_engines_equal_the_python_engine(
    splits: tuple[Split, ...],
    normalizers: tuple[Normalizer, ...],
    samples: list[str],
    prefix: bool,
    enabled: list[bool],
) -> None:
    spec = with_added(trained(300).spec)
    spec = dataclasses.replace(spec, splits=splits, normalizers=normalizers, prefix_space=prefix)
    native, slow = make_engine(spec), PythonEngine(spec)
    assert not isinstance(native, PythonEngine)
    mask = bytes(enabled)
    expected = [slow.encode(text, mask) for text in samples]
    assert [native.encode(text, mask) for text in samples] == expected
    assert native.encode_lists(samples, mask, 2) == expected
    ids, offsets = native.encode_batch(samples, mask, 2)
    assert [ids[a:b].tolist() for a, b in pairwise(offsets)] == expected
    for text in samples:
        assert native.pieces(text) == slow.pieces(text)
        assert native.locate(text, mask) == slow.locate(text, mask)


def path(spec: TokenizerSpec) -> str:
    """What `bpe-compat inspect` says of the encoder."""
    rows = dict(line.split(maxsplit=1) for line in summary(spec).splitlines())
    return rows["encoder"]


def test_inspect_says_which_path_is_used() -> None:
    spec = trained(300).spec
    assert path(spec) == "native, scanner gpt2"
    assert path(dataclasses.replace(spec, splits=())) == "native, no split"
    generic = dataclasses.replace(spec, splits=(Split(r"\w+"),))
    assert path(generic) == "native, split by a generic matcher"
    nullable = dataclasses.replace(spec, splits=(Split(r"\w*"),))
    assert path(nullable) == "split in Python, merged natively"


def characters(*tokens: str, merges: list[tuple[str, str]], **options: object) -> TokenizerSpec:
    """A spec on characters."""
    ids = {token: id for id, token in enumerate(tokens)}
    return TokenizerSpec(
        tokens=tuple(token.encode() for token in tokens),
        merges=tuple((ids[a], ids[b]) for a, b in merges),
        byte_level=False,
        **options,  # type: ignore[arg-type]
    )


SPACES = (Normalizer("prepend", content="▁"), Normalizer("replace", " ", "▁"))
MERGES = [("▁", "a"), ("▁", "▁"), (">", "▁"), ("▁▁", "a"), ("b", "a"), ("▁▁", "▁▁")]
TOKENS = ["a", "b", "▁", ">", *(a + b for a, b in MERGES), "<unk>"]
UNKNOWN = len(TOKENS) - 1


BYTES = {
    "tokens": (*(token.encode() for token in TOKENS), *(bytes([byte]) for byte in range(256))),
    "kinds": (*[TokenKind.NORMAL] * UNKNOWN, TokenKind.UNKNOWN, *[TokenKind.BYTE] * 256),
    "byte_fallback": True,
}
OPTIONS: list[dict[str, Any]] = [
    {},
    {"fuse_unknown": True},
    {"ignore_merges": True},
    {"suffix": "</w>"},
    {"unknown": None, "kinds": ()},
    BYTES,
    {**BYTES, "fuse_unknown": True},
    {**BYTES, "unknown": None},
    {"merges": ((0, UNKNOWN),), "tokens": (*(t.encode() for t in TOKENS), b"a<unk>"), "kinds": ()},
]


@pytest.mark.parametrize("options", OPTIONS)
@given(st.text(st.sampled_from("ab >c▁é⁁"), max_size=40))
def test_text_without_a_split_is_cut_only_where_no_merge_crosses(
    options: dict[str, Any], text: str
) -> None:
    spec = characters(*TOKENS, merges=MERGES, normalizers=SPACES, unknown=UNKNOWN)
    spec = dataclasses.replace(spec, **options)
    engine = make_engine(spec)
    assert engine.encode(text, b"") == PythonEngine(spec).encode(text, b"")
    assert b"".join(engine.pieces(text)).decode() == ("▁" + text.replace(" ", "▁") if text else "")


def test_a_split_that_never_matches_is_left_out() -> None:
    spec = characters(*TOKENS, merges=MERGES, normalizers=SPACES, unknown=UNKNOWN)
    never = dataclasses.replace(spec, splits=(Split(" ", "merged_with_previous"),))
    plan = native_plan(never)
    assert plan is not None
    assert not plan.generic
    for normalizers in (
        SPACES[:1],
        (*SPACES, Normalizer("replace", "b", "a ")),
        (*SPACES, Normalizer("nfkc")),
    ):
        plan = native_plan(dataclasses.replace(never, normalizers=normalizers))
        assert plan is not None
        assert plan.generic


PATHOLOGICAL = [
    r"(?:a|aa)+b",
    r"(?:a+)+b",
    r"(?:a|a|b)*c",
    r"(?:a?){30}a{30}b",
    r"(?>(?:a|aa)+c|a)",
]


@pytest.mark.parametrize("pattern", PATHOLOGICAL)
def test_work_is_bounded(pattern: str) -> None:
    """Patterns that backtrack without end elsewhere match in time, or not at all."""
    regex = dialects.compiled(pattern.replace("(?:a?){30}", "(?:a|(?:a){2}){1,30}"))
    assert regex is not None
    text = "a" * 3000
    found = []
    with contextlib.suppress(UnsupportedError):
        found = regex.find_all(text)
    assert found in ([], [(i, i + 1) for i in range(3000)])


def test_what_is_remembered_changes_no_match() -> None:
    """Long texts make the matcher remember where it failed."""
    rng = random.Random(0)
    for pattern in (
        r"(?:a|b)+?c(?:a|b)*d",
        r"(?:(?:ab?)+c|b)+",
        r"(?>(?:a|ab)+?c)d?",
        "(?:a|ab)(?:c|bcd)",
    ):
        native, judge = dialects.compiled(pattern), dialects.matcher(pattern)
        assert native is not None
        for _ in range(20):
            text = "".join(rng.choices("ab" * 20 + "cd", k=rng.randrange(900)))
            assert native.find_all(text) == list(judge.spans(text)), (pattern, text)


def test_a_program_that_is_none_is_refused() -> None:
    for code in ([], [1, 7, 0], [3, 99, 0], [77], [1, 0]):
        with pytest.raises(ValueError, match="no program"):
            _core.Regex(np.array(code, np.int32), bytes(32), bytes(0x110000), 0)


def test_runs_in_vain_are_not_taken_again() -> None:
    for pattern in (r"a+b", r"a++b", r"[ab]+?c|x", r"\s+$", r"(?=a+b)a"):
        regex = dialects.compiled(pattern)
        assert regex is not None
        assert regex.find_all("a" * 200_000 + " " * 200_000 + "x") in ([], [(400_000, 400_001)])
