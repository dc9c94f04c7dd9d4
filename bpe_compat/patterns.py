"""The split patterns of the field by name: exact regex text <-> native scanner.

A pattern is recognised by its exact text in any of the spellings in use, each proved to be the same
function. Two spellings that are not get two names: tiktoken's cl100k and the one in Hugging Face
files differ on `"a\\n  "`.
"""

from dataclasses import dataclass
from typing import Literal

from . import dialects
from .errors import FormatError
from .spec import Split

__all__ = ["PATTERNS", "PUNCTUATION", "SEQUENCES", "Pattern", "named", "resolve", "scanner_of"]


@dataclass(frozen=True, slots=True)
class Pattern:
    """A split pattern that has a native scanner of the same name.

    `text` is the spelling of a spec, in tiktoken's dialect; `oniguruma` the one of tokenizer.json;
    `aliases` are further spellings that mean the same in both dialects. Every such pattern matches
    every character, so its matches are the pieces.
    """

    name: str
    text: str
    oniguruma: str
    aliases: tuple[str, ...] = ()

    @property
    def splits(self) -> tuple[Split, ...]:
        """The split steps of a spec that uses this pattern."""
        return (Split(self.text),)


_CONTRACTIONS = "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
_TAIL = r" ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
_LLAMA3 = rf"{_CONTRACTIONS}|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|\p{{N}}{{1,3}}|{_TAIL}"
_QWEN2 = rf"{_CONTRACTIONS}|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|\p{{N}}|{_TAIL}"
_QWEN35 = "|".join([
    _CONTRACTIONS,
    r"[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+",
    r"\p{N}",
    r" ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*",
    r"\s*[\r\n]+",
    r"\s+(?!\S)",
    r"\s+",
])  # fmt: skip
_O200K = "|".join([
    rf"[^\r\n\p{{L}}\p{{N}}]?[\p{{Lu}}\p{{Lt}}\p{{Lm}}\p{{Lo}}\p{{M}}]*[\p{{Ll}}\p{{Lm}}\p{{Lo}}\p{{M}}]+{_CONTRACTIONS}?",
    rf"[^\r\n\p{{L}}\p{{N}}]?[\p{{Lu}}\p{{Lt}}\p{{Lm}}\p{{Lo}}\p{{M}}]+[\p{{Ll}}\p{{Lm}}\p{{Lo}}\p{{M}}]*{_CONTRACTIONS}?",
    r"\p{N}{1,3}",
    r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
    r"\s*[\r\n]+",
    r"\s+(?!\S)",
    r"\s+",
])  # fmt: skip
_TEKKEN = _O200K.replace(f"{_CONTRACTIONS}?", "").replace("{1,3}", "")
_KIMI = r"[\p{Han}]+|" + _O200K.replace(r"\p{M}]", r"\p{M}&&[^\p{Han}]]").replace("/]*", "]*")

PATTERNS: dict[str, Pattern] = {
    pattern.name: pattern
    for pattern in [
        Pattern(
            "gpt2",
            r"""'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s""",
            r"""'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+""",
            (
                r"""'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+""",
                r"""'s|'t|'re|'ve|'m|'ll|'d| ?[\p{L}]+| ?[\p{N}]+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+""",
                r"""'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s""",
            ),
        ),
        Pattern(
            "cl100k",
            r"""'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s""",
            r"""'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s""",
        ),
        Pattern(
            "llama3",
            _LLAMA3,
            _LLAMA3,
            (
                rf"""'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|\p{{N}}{{1,3}}|{_TAIL}""",
                r"""'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+""",
            ),
        ),
        Pattern("qwen2", _QWEN2, _QWEN2),
        Pattern("qwen3.5", _QWEN35, _QWEN35),
        Pattern("o200k", _O200K, _O200K),
        Pattern("tekken", _TEKKEN, _TEKKEN),
        Pattern("kimi", _KIMI, _KIMI),
    ]
}  # fmt: skip
"""Every named pattern by its name."""

# tokenizers has its punctuation from Unicode 8: what came later is none, and two characters have
# become something else since. The ranges hold no other punctuation.
_LATER_PUNCTUATION = (
    "\u061d\u09fd-\u0a76\u0c77-\u0c84\u1b4e-\u1b4f\u1b7d-\u1b7f\u2e43-\u2e5d\U00010d6e-\U00010f89"
    "\U000113d4-\U0001145d\U00011660-\U000116b9\U0001183b-\U00011fff\U00012ff1-\U00012ff2"
    "\U00016d6d-\U00016fe2\U0001e5ff-\U0001e95f"
)
PUNCTUATION = f"(?![{_LATER_PUNCTUATION}])[\u166d\U000111c9" + r"\p{P}!-/:-@\[-`{-~]"
"""What the pre-tokenizer Punctuation of tokenizers takes for a punctuation character."""

_DEEPSEEK_WORDS = (
    "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+"
    "| ?[\\p{P}\\p{S}]+[\r\n]*|\\s*[\r\n]+|\\s+(?!\\S)|\\s+"
)
SEQUENCES: dict[str, tuple[Split, ...]] = {
    "starcoder": (Split(r"\p{N}"), *PATTERNS["gpt2"].splits),
    "deepseek_v3": (Split(r"\p{N}{1,3}"), Split("[一-龥\u3040-ゟ゠-ヿ]+"), Split(_DEEPSEEK_WORDS)),
    "falcon": (
        Split(PUNCTUATION, "contiguous"),
        *PATTERNS["gpt2"].splits,
        Split(r"\p{N}", "contiguous", mapped=True),
        Split("[0-9][0-9][0-9]", mapped=True),
    ),
}
"""Split steps that have one native scanner together, by its name."""

Dialect = Literal["tiktoken", "oniguruma"]

_BY_TEXT: dict[Dialect, dict[str, Pattern]] = {"tiktoken": {}, "oniguruma": {}}
for _pattern in PATTERNS.values():
    # Oniguruma reads the {1,3}+ of tiktoken's cl100k as a repeated group, so that spelling is the
    # pattern in one dialect only; every spelling for Oniguruma means the same to tiktoken.
    for _text in (_pattern.oniguruma, *_pattern.aliases):
        _BY_TEXT["tiktoken"][_text] = _BY_TEXT["oniguruma"][_text] = _pattern
    _BY_TEXT["tiktoken"][_pattern.text] = _pattern


def named(text: str, dialect: Dialect = "tiktoken") -> Pattern | None:
    """The named pattern that is spelled like this.

    >>> named(r"'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+").name
    'gpt2'
    >>> named(PATTERNS["cl100k"].text, "oniguruma") is None
    True
    """
    return _BY_TEXT[dialect].get(text)


def resolve(pattern: str | Split | None) -> tuple[Split, ...]:
    """The split steps of a pattern given by name, as a regex, as a step, or as None for no split.

    A regex of one's own, in tiktoken's dialect, cuts around its matches; text that it does not match
    stays, as pieces. Raises `FormatError` for what is no regex and `UnsupportedError` for a regex that
    `dialects` refuses.

    >>> resolve("gpt2") == PATTERNS["gpt2"].splits
    True
    >>> resolve(r"\\s+")
    (Split(pattern='\\\\s+', behavior='isolated', invert=False, mapped=False),)
    >>> resolve(None)
    ()
    """
    if pattern is None:
        return ()
    if isinstance(pattern, Split):
        dialects.matcher(pattern.pattern)
        return (pattern,)
    if pattern == "":
        raise FormatError("the split pattern is empty; pass None for no split")
    if pattern in PATTERNS:
        return PATTERNS[pattern].splits
    if pattern in SEQUENCES:
        return SEQUENCES[pattern]
    if pattern.isidentifier():
        raise FormatError(
            f"no split pattern is named {pattern!r}; known: {', '.join([*PATTERNS, *SEQUENCES])}. "
            f"As a regular expression for this very word write {f'(?:{pattern})'!r}"
        )
    known = named(pattern)
    if not known:
        dialects.matcher(pattern)
    return known.splits if known else (Split(pattern),)


def scanner_of(splits: tuple[Split, ...]) -> str | None:
    """The native scanner that makes the same pieces as these steps, if there is one.

    >>> scanner_of(resolve("o200k")), scanner_of(()), scanner_of(resolve(r"\\s+"))
    ('o200k', 'none', None)
    >>> scanner_of(resolve("starcoder"))
    'starcoder'
    """
    if not splits:
        return "none"
    if len(splits) > 1:
        return next((name for name, steps in SEQUENCES.items() if steps == splits), None)
    if splits[0].mapped:
        return None
    split = splits[0]
    # A pattern that matches everywhere leaves the same pieces either way.
    whole = split.behavior == "isolated" or (split.behavior == "removed" and split.invert)
    known = named(split.pattern) if whole else None
    return known.name if known else None
