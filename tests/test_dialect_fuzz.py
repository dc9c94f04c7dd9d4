"""Random regexes: each is refused or means what tiktoken and tokenizers take it to mean.

The grammar is small, and full of what the two engines disagree on; so are the texts.
"""

from typing import get_args

import pytest
from engines import Cutter, RefusedError, in_tiktoken, in_tokenizers
from hypothesis import given
from hypothesis import strategies as st

from bpe_compat import dialects, pipeline
from bpe_compat.errors import BPECompatError
from bpe_compat.spec import Behavior, Split

CHARACTERS = [
    *"absktfiAéßſKİµŉ日²1 _-'.,#&~%=!]}", "\n",
    r"\n", r"\t", r"\.", r"\-", r"\/", r"\ ", r"\é", r"\m", r"\<", r"\e", r"\v", r"\x41", r"\xe9",
    r"\u0041", r"\x{41}", r"\x{110000}", r"\cA", r"\101", r"\1", r"\pL",
]  # fmt: skip
CLASSES = [
    ".", r"\s", r"\S", r"\d", r"\D", r"\w", r"\W", r"\h", r"\H", r"\p{L}", r"\P{L}", r"\p{^L}",
    r"\p{N}", r"\p{M}", r"\p{P}", r"\p{Cn}", r"\p{Lu}", r"\P{Lu}", r"\p{Ll}", r"\p{LC}", r"\p{Lt}",
    r"\p{letter}", r"\p{Han}", r"\p{Greek}", r"\p{Alphabetic}", r"\p{Lowercase}",
    r"\P{Uppercase}", r"\p{White_Space}", r"\p{Any}", r"\p{ASCII}",
]  # fmt: skip
MEMBERS = [
    *"absktéßſKµ日² _-'.+*?(){}|$^#~&]", "a-c", "0-9", "A-Z", "一-龥", "z-a", "--", "&&", "~~",
    "||",     r"\n", r"\-", r"\]", r"\[", r"\\", r"\x41", r"\x{e9}", r"\u0041-\u0043", r"\b", r"\e",
    "[a]", "[^b]", "[.]", "[=a=]", "[.-]", r"[a&&\w]", r"[\w--a]", *CLASSES[1:],
    "[:alpha:]", "[:digit:]", "[:space:]", "[:punct:]", "[:word:]", "[:upper:]", "[:lower:]",
    "[:graph:]", "[:print:]",
    "[:^alpha:]", "[:cntrl:]", "[:blank:]", "[:xdigit:]", "[:ascii:]", "[:alnum:]",
]  # fmt: skip
ANCHORS = ["^", "$", r"\b", r"\B", r"\A", r"\z", r"\Z", r"\G"]
SWITCHES = ["(?i)", "(?m)", "(?s)", "(?-i)", "(?x)"]
QUANTIFIERS = ["*", "+", "?", "{2}", "{1,3}", "{2,}", "{0,2}", "{,2}", "{1}"]
GROUPS = [
    "(?:", "(", "(?i:", "(?=", "(?!", "(?<=", "(?<!", "(?>", "(?<n>", "(?m:", "(?s:", "(?-i:",
    "(?i-m:", "(?x:",
]  # fmt: skip
TEXTS = [
    *"aabbkKsSA  \n\n\t12_-'.+()|$[]\\~&#ffitjéÉß日²½ſKΩǅİıﬆﬁµμΜẞŉαᾳ", "\r", "ss", "SS", "st", "ʼn",
    "\u0301", "\u200d", "\x0b", "\x1c", "\x85", "\u0378", "\u1c89", "i\u0307",
]  # fmt: skip


@st.composite
def _atom(draw: st.DrawFn) -> str:
    kind = draw(st.integers(0, 2))
    if kind == 0:
        return f"[{draw(st.sampled_from(['', '', '^']))}{''.join(draw(_SOME_MEMBERS))}]"
    atom: str = draw(_CHARACTER if kind == 1 else _CLASS)
    return atom


@st.composite
def regexes(draw: st.DrawFn, depth: int = 2) -> str:
    """Alternatives, each some items with or without a quantifier."""
    branches = []
    for _ in range(draw(st.sampled_from([1, 1, 2, 3]))):
        branch = ""
        for _ in range(draw(st.sampled_from([0, 1, 1, 2, 3]))):
            kind = draw(st.integers(0, 9))
            if kind < 6 or not depth:
                branch += draw(_atom())
            elif kind < 9:
                branch += draw(_GROUP) + draw(regexes(depth=depth - 1)) + ")"
            else:
                branch += draw(_ANCHOR)
            if draw(st.booleans()):
                branch += draw(_QUANTIFIER) + draw(_SUFFIX)
        branches.append(branch)
    return "|".join(branches)


_CHARACTER, _CLASS = st.sampled_from(CHARACTERS), st.sampled_from(CLASSES)
_SOME_MEMBERS = st.lists(st.sampled_from(MEMBERS), min_size=1, max_size=4)
_GROUP, _ANCHOR = st.sampled_from(GROUPS), st.sampled_from(ANCHORS + SWITCHES)
_QUANTIFIER = st.sampled_from(QUANTIFIERS)
_SUFFIX = st.sampled_from(["", "", "", "", "+", "+", "?", "++", "{2}"])
texts = st.lists(st.lists(st.sampled_from(TEXTS), max_size=8).map("".join), min_size=4, max_size=4)


def _agree(judge: Cutter, ours: Cutter, samples: list[str]) -> None:
    for sample in samples:
        assert ours(sample) == judge(sample)


def _matches(pattern: str) -> Cutter:
    matcher = dialects.matcher(pattern)
    return lambda text: [text[a:b] for a, b in matcher.spans(text) if a < b]


@given(regexes(), texts, st.sampled_from(get_args(Behavior)), st.booleans())
def test_oniguruma(pattern: str, samples: list[str], behavior: Behavior, invert: bool) -> None:
    try:
        translated = dialects.from_oniguruma(pattern)
    except BPECompatError:
        return
    try:
        judge = in_tokenizers(pattern, behavior, invert=invert)
    except RefusedError:
        return
    split = pipeline.splitter((Split(translated, behavior, invert=invert),))
    _agree(judge, lambda text: [piece for piece, _, _ in split(text)], samples)
    if not dialects.can_be_empty(translated):
        written = in_tiktoken(dialects.with_text_between(translated), samples)
        _agree(in_tokenizers(pattern, "isolated", invert=False), written, samples)


@given(regexes(), texts)
def test_tiktoken(pattern: str, samples: list[str]) -> None:
    try:
        ours = _matches(pattern)
    except BPECompatError:
        return
    try:
        judge = in_tiktoken(pattern, samples)
    except RefusedError:
        return
    _agree(judge, ours, samples)
    _agree(judge, in_tokenizers(dialects.to_oniguruma(pattern)), samples)


@pytest.mark.parametrize("pattern", [r"(?i:k|\p{Lu}[^a]?)++$", r"a(?i)b|c", r"\w+|^.{2,3}+"])
def test_the_judges_see_a_difference_between_the_dialects(pattern: str) -> None:
    samples = ["aAbBcC\n12345\u200d²", "acAC", "ab\nCc"]
    judges = in_tiktoken(pattern, samples), in_tokenizers(pattern)
    assert any(judges[0](sample) != judges[1](sample) for sample in samples)
    _agree(judges[0], _matches(pattern), samples)
    _agree(judges[1], _matches(dialects.from_oniguruma(pattern)), samples)


@given(regexes(), texts)
def test_native_matcher(pattern: str, samples: list[str]) -> None:
    """The native matcher finds what Python's `regex` finds."""
    try:
        matcher, native = dialects.matcher(pattern), dialects.compiled(pattern)
    except BPECompatError:
        return
    assert (native is None) == dialects.can_be_empty(pattern)
    if native is None:
        return
    for sample in (*samples, "".join(samples) * 3):
        spans = [
            (len(sample[:a].encode()), len(sample[:b].encode())) for a, b in matcher.spans(sample)
        ]
        assert native.find_all(sample) == spans, sample
