"""The dialects of regexes: what each construct is, judged by tiktoken and tokenizers themselves."""

import json
import os
from pathlib import Path

import pytest
import tiktoken
from engines import in_tiktoken, in_tokenizers
from hypothesis import given
from hypothesis import strategies as st

import bpe_compat as bc
from bpe_compat import _core, dialects, patterns, pipeline
from bpe_compat.converters import tiktoken as rank_files
from bpe_compat.dialects import codepoints
from bpe_compat.errors import FormatError, LossyConversionError, UnsupportedError
from bpe_compat.spec import Behavior, Split, TokenizerSpec

# Where no category begins or ends, no class does; with BPE_COMPAT_EXAMPLES all are looked at.
THOROUGH = "BPE_COMPAT_EXAMPLES" in os.environ
_CATEGORY = _core.categories()
ALL = "".join(
    chr(c)
    for c in range(0x110000)
    if not 0xD800 <= c < 0xE000 and (c < 0x3400 or THOROUGH or len({*_CATEGORY[c - 1 : c + 2]}) > 1)
)
BYTES = tuple(bytes([byte]) for byte in range(256))
SAMPLES = [
    "", "\n", "a", "a\n", "\n\na\nb\n", "aAbBcC acAC ab abab aabb aaaaa",
    "kKK sSſ ss SS st ﬆ ßẞ ſt",
    "iIİı i\u0307", "x² ³¹½ \u200c\u200d_é\u0301", "<b>-a--b~~c&&d m<m", "1234567 a1b22",
    "aab ac\r\n",
    "ab \t日本語 Ελλ ǅ", "[:alpha:]|^$", "pL A\u0001AAA AA \\",
]  # fmt: skip


def matches(pattern: str, text: str) -> list[str]:
    """What our matcher finds of a regex in tiktoken's dialect; empty matches are left out."""
    return [text[a:b] for a, b in dialects.matcher(pattern).spans(text) if a < b]


def members(pattern: str) -> set[str]:
    """All characters that a regex for one character matches."""
    return set(matches(pattern, ALL))


# Classes, code point by code point

CLASSES = [
    r"\w", r"[\w]", r"\W", r"[^\W]", r"\d", r"[\d]", r"\s", r"[\s]", r"[^\S]", r"\h", r"[\H]", ".",
    "[[:alpha:]]", "[[:^alnum:]]", "[[:punct:]]", "[[:word:]]", "[[:space:]]", "[[:graph:]]",
    "[[:print:]]", "[[:lower:]]", "[[:upper:]]", "[[:blank:]]", "[[:cntrl:]]", "[[:digit:]]",
    "[[:xdigit:]]", "[[:ascii:]]", r"\p{LC}", r"\p{Alphabetic}", r"\p{Lowercase}", r"\p{Uppercase}",
    r"\p{White_Space}", r"\P{Assigned}", r"\p{Other_Letter}", r"\p{M}", r"\p{Cn}",
]  # fmt: skip


@pytest.mark.parametrize("pattern", CLASSES)
def test_classes_hold_the_same_code_points(pattern: str) -> None:
    ids = {bytes([byte]): byte for byte in range(256)}
    rust = tiktoken.Encoding("x", pat_str=pattern, mergeable_ranks=ids, special_tokens={})
    in_rust = set(bytes(rust.encode_ordinary(ALL)).decode())
    assert members(pattern) == in_rust
    assert in_oniguruma(pattern) == members(dialects.from_oniguruma(pattern))
    assert in_oniguruma(dialects.to_oniguruma(pattern)) == in_rust


@pytest.mark.parametrize("script", sorted(codepoints._SCRIPTS))
def test_scripts_hold_the_same_code_points(script: str) -> None:
    pattern = rf"\p{{{script}}}"
    assert in_oniguruma(pattern) == members(pattern)


def in_oniguruma(pattern: str) -> set[str]:
    judge = in_tokenizers(pattern)
    starts = range(0, len(ALL), 1 << 12)  # its time grows faster than the text
    return {c for start in starts for c in judge(ALL[start : start + (1 << 12)])}


def test_cases_are_those_of_both_engines() -> None:
    cased = codepoints._orbits()[0].tolist()
    text = "".join(map(chr, cased))
    orbits: dict[int, str] = {}
    for code, orbit in zip(*codepoints._orbits(), strict=True):
        orbits[orbit] = orbits.get(orbit, "") + chr(code)
    for orbit in list(orbits.values())[:: 1 if THOROUGH else 20]:
        pattern = f"(?i:{orbit[0]})"
        assert "".join(in_tiktoken(pattern, list(text))(text)) == orbit


# Constructs

SUPPORTED = {
    "oniguruma": [
        # From published files.
        r" ?\d+\.|\. ?| ?[-\w]+|[#+]\s+", r"[一-龥\u3040-ゟ゠-ヿ]+", " {2,}",
        r"<\|startoftext\|>|'s|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+",
        r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+",
        r"\p{N}{1,3}+", r"(?>\d{1,3})", r"a{2}?b{,3}c{4,}?", r"a{,2}b", r"\x41{2,3}+", "[[.a.]]",
        r"\u0041{1,2}+",
        r"(?:ab){1,2}+", "^a$", r"^|a$", r"\Aa|b\z|\n\Z", "^", "$", r"\bb|c\B",
        "(?m:.)(?i:x)(?-m)a",
        "a(?i)b|c", "(a(?i)b|c)b", "(?i)k|[s]", r"(?i:\p{Lu})", r"(?i:[^k])+",
        r"[\h]\H", "[[:alpha:]_]+", "[[:^space:]]+", r"\p{^L}", "[]a][^]b]", r"\x{41}\x{2028}",
        r"[\w-]+", r"[^\w]", r"\w+", r"[\w&&[^a]]", "a*", "a*?|b", "(?=a)", r"(?<=a|bb)b",
        r"(?<!a)b",
        r"\<b\>", r"\é", "a||b", "(?<x>a)b", r"a++b?+c*+", r"\-\#\&\~",
    ],
    "tiktoken": [
        r"\p{N}{1,3}+", r"\pL{2,3}+", r"a{2}?", "^a$", "(?m)^a$", r"(?s:.)\d+", "(?m:^|$)",
        "[a||b]",
        "(?<=a)b(?!c)|(?:d)++", "x{3}y?+", "a(?i)b|c", "(?i)k|ss|[s]", r"(?i:\p{Lu}+)",
        "(?i:ß|İ|ǆ)",
        r"[\w--a]+", r"[\w&&[^a]]+", "[a-c~~b-d]+", "[[:alpha:]]+", "[[:^alpha:]]",
        r"(?i)[[:^alpha:]]",
        r"\w+|[^\w\s]+", r"\bb|c\B", r"b\Z|\z", r"\Aa", "a*", "a*?|b", "(?=a)", "(?P<x>a)b",
        r"\x41{2,3}+", r"\u0041{2}", r"\x{1F600}", r"(?:a|ab)(?=c|b)", r"(?:ab){1}+", r"\h+\H",
    ],
}  # fmt: skip


@pytest.mark.parametrize("pattern", SUPPORTED["oniguruma"])
def test_constructs_of_oniguruma(pattern: str) -> None:
    translated = dialects.from_oniguruma(pattern)
    behaviors: list[Behavior] = ["isolated", "removed", "merged_with_next", "contiguous"]
    for behavior in behaviors:
        judge = in_tokenizers(pattern, behavior, invert=False)
        split = pipeline.splitter((Split(translated, behavior),))
        for sample in SAMPLES:
            assert [piece for piece, _, _ in split(sample)] == judge(sample)
    again = in_tokenizers(dialects.to_oniguruma(translated))
    assert list(map(again, SAMPLES)) == list(map(in_tokenizers(pattern), SAMPLES))


@pytest.mark.parametrize("pattern", SUPPORTED["tiktoken"])
def test_constructs_of_tiktoken(pattern: str) -> None:
    judge = in_tiktoken(pattern, SAMPLES)
    written = in_tokenizers(dialects.to_oniguruma(pattern))
    for sample in SAMPLES:
        assert matches(pattern, sample) == judge(sample) == written(sample)


@pytest.mark.parametrize(
    ("oniguruma", "tiktoken"),
    [
        (r"\p{N}{1,3}+", r"(?:\p{N}{1,3})+"),
        (r"^a$", r"(?:\A|(?m:^)(?!\z))a(?m:$)"),
        ("a(?i)b|c", "a(?:[Bb]|[Cc])"),
        (r"(?i:'s|'t)|\p{L}+", r"(?i:'s|'t)|\p{L}+"),
        (r" ?[-\w]+|\w", r" ?[[\w--[\x{200C}\x{200D}]]\-]+|[[\w--[\x{200C}\x{200D}]]²³¹¼-¾]"),
    ],
)
def test_spelling(oniguruma: str, tiktoken: str) -> None:
    assert dialects.from_oniguruma(oniguruma) == tiktoken
    back = dialects.to_oniguruma(tiktoken)
    assert dialects.from_oniguruma(back) == tiktoken


REFUSED = [
    r"(a)\1", r"\k<x>", r"\X", r"\R", r"\K", r"\G", r"\Q", r"\cA", r"\C-a", r"\101", r"\0", r"\M-a",
    "(?x) a", "(?x:a)", "(?#c)", "(?(1)a)", "(?~a)", "(?y{g}a)", "(?l)a", "(?)a", "a{,}", "a{", "{",
    "(?:a*)*", "(?:a|)+", "a{0}", "a+++", "a**", r"\b+", "a{2}{3}", "(?<=a+)b", r"\p{Foo}",
    r"\p{InGreek}",
    r"[\d-a]", "[a--]", "[a&&]", "[[:foo:]]", "(?:a{500}){500}", r"\p{Block=x}",
]  # fmt: skip
INVALID = [
    "(", "a)", "[a", "a\\", "(?i:a", "*a", "+", "^*", "(?=a)*", "[z-a]", r"[a-\d]", r"\x{110000}",
    r"\x{D800}", "a{3,2}", "a{99999999999999999999}", "a{1,99999999999}", "(" * 5000 + ")" * 5000,
    "[" * 5000 + "]" * 5000, r"\x{FFFFFFFFFFFF}",
]  # fmt: skip


@pytest.mark.parametrize("text", REFUSED)
def test_what_differs_between_engines_is_refused(text: str) -> None:
    for translate in (dialects.from_oniguruma, dialects.to_oniguruma, dialects.matcher):
        with pytest.raises(UnsupportedError, match="offset"):
            translate(text)


@pytest.mark.parametrize("text", INVALID)
def test_what_is_no_regex_is_named(text: str) -> None:
    for translate in (dialects.from_oniguruma, dialects.to_oniguruma, dialects.matcher):
        with pytest.raises(FormatError, match="regex"):
            translate(text)


@pytest.mark.parametrize(
    "text", ["(?i:ss)", "(?i:ß)", "(?i:[ß])", "(?i:s+)", "(?i:fi)", "(?i:[[a]])"]
)
def test_what_oniguruma_folds_to_more_characters_is_refused(text: str) -> None:
    with pytest.raises(UnsupportedError, match="without regard to case"):
        dialects.from_oniguruma(text)


@given(st.text("a.*+?()[]{}|^$\\-&~# é\n", min_size=1, max_size=6))
def test_escape_matches_the_text_itself(text: str) -> None:
    escaped = dialects.escape(text)
    assert list(dialects.matcher(escaped).spans(text)) == [(0, len(text))]
    assert dialects.from_oniguruma(escaped) == escaped == dialects.to_oniguruma(escaped)


def test_a_search_without_end_is_an_error() -> None:
    exponential = "(?:a|b|ab|ba)" * 30 + "c"
    for pattern in (exponential, f"(?:{exponential})?"):
        matcher = dialects.Matcher(pattern, seconds=0.1)
        with pytest.raises(UnsupportedError, match="backtracks"):
            list(matcher.spans("ab" * 40 + "dc"))


def test_regexes_without_measure_are_refused() -> None:
    with pytest.raises(UnsupportedError, match="longer than"):
        dialects.matcher("a" * 30_000)
    with pytest.raises(UnsupportedError, match="sets of characters"):
        dialects.matcher("".join(map(chr, range(0x4E00, 0x4E00 + 1100))))


def test_many_different_characters_are_told_apart() -> None:
    text = "".join(map(chr, range(0x4E00, 0x4E00 + 400)))
    assert matches("|".join(text), text + "a" + text) == [*text, *text]


# In files and encodings


@pytest.mark.parametrize("name", list(patterns.PATTERNS))
def test_named_patterns_match_everywhere(name: str) -> None:
    text = patterns.PATTERNS[name].text
    assert dialects.matches_everywhere(text)
    assert dialects.with_text_between(text) == text


@pytest.mark.parametrize(
    "pattern", [r"\d", r"\s+(?!\S)|\w", "(?i)(a|b)", "a|^b$", r"(?<=a)b", "a?+a|b"]
)
def test_text_between_matches_is_not_lost_in_tiktoken(pattern: str) -> None:
    spec = TokenizerSpec(BYTES, merge_rule="ranks", ignore_merges=True, splits=(Split(pattern),))
    written = in_tiktoken(rank_files.pattern_of(spec), SAMPLES)
    split = pipeline.splitter(spec.splits)
    for sample in SAMPLES:
        assert [piece for piece, _, _ in split(sample)] == written(sample)
        assert "".join(written(sample)) == sample


def test_a_pattern_that_can_be_empty_is_a_loss_in_tiktoken() -> None:
    spec = TokenizerSpec(BYTES, merge_rule="ranks", ignore_merges=True, splits=(Split("a*"),))
    with pytest.raises(LossyConversionError, match="empty"):
        bc.Tokenizer(spec).to_tiktoken()
    live = bc.Tokenizer(spec).to_tiktoken(allow_loss=True)
    assert live.decode(live.encode("baab")) == "baab"


@pytest.mark.parametrize("pattern", ["(", "[a", r"\x{110000}", r"(a)\1"])
def test_a_bad_pattern_fails_before_the_first_text(pattern: str, tmp_path: Path) -> None:
    ranks = {token: id for id, token in enumerate(BYTES)}
    with pytest.raises((FormatError, UnsupportedError)):
        patterns.resolve(pattern)
    with pytest.raises((FormatError, UnsupportedError)):
        bc.Tokenizer.from_ranks(ranks, pattern=pattern, special_tokens={})
    folder = tmp_path / "folder"
    bc.Tokenizer.from_ranks(ranks, pattern=r"\d|\D", special_tokens={}).save(folder)
    path = folder / "tokenizer.json"
    path.write_text(path.read_text().replace(json.dumps(r"\d|\D"), json.dumps(pattern)))
    assert json.dumps(pattern) in path.read_text()
    with pytest.raises((FormatError, UnsupportedError)):
        bc.load(folder)
