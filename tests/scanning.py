"""What the tests of scanners share: characters to try, and the pieces of a text."""

import functools
from collections.abc import Callable

from tokenizers import Regex, pre_tokenizers

from bpe_compat import _core, patterns, pipeline
from bpe_compat.spec import Split

NAMES = sorted([*patterns.PATTERNS, *patterns.SEQUENCES])

# Characters that the patterns treat differently, or seem to: section 3.4 of most tokenizer bugs.
SPACES = [
    " ", "\t", "\n", "\r", "\x0b", "\x0c", "\x85", "\xa0", "\u1680", "\u2003", "\u2028",
    "\u3000",
]  # fmt: skip
LOOKALIKES = ["\x1c", "\x1f", "\u180e", "\u200b", "\ufeff", "\u2060"]
LETTERS = [
    "a", "B", "z", "é", "ſ", "ǅ", "ʰ", "ı", "İ", "ﬁ", "中", "ア", "ー", "々", "가", "ไ", "ह", "א",
    "م", "𐐀", "K",
]  # fmt: skip
MARKS = ["\u0301", "\u0345", "\u093e", "\u20dd"]
NUMBERS = ["1", "23", "½", "²", "Ⅷ", "٣", "〇", "𝟘"]
OTHERS = [
    "'", "!", "・", "゛", "。", "⺀", "/", "$", "_", "’", "™", "😀", "\u200d", "🏽",
    "\x00", "\x7f", "\ue000", "\uffff",
    "\U0010ffff", "\u0378",
]  # fmt: skip
CONTRACTIONS = ["'s", "'T", "'re", "'VE", "'ll", "'Ll", "'d", "'ſ", "''s", "'x"]
POOL = (
    SPACES + LOOKALIKES + LETTERS + MARKS + NUMBERS + OTHERS + CONTRACTIONS + ["\r\n", "  ", "ab"]
)


def scan(name: str, text: str | bytes, *, by_line: bool = False) -> list[bytes]:
    data = text.encode() if isinstance(text, str) else text
    ends = _core.piece_ends(data, name, by_line).tolist()
    return [data[a:b] for a, b in zip([0, *ends], ends, strict=False)]


@functools.cache
def _splitter(splits: tuple[Split, ...]) -> Callable[[str], list[pipeline.Piece]]:
    return pipeline.splitter(splits)


def by_regex(name: str, text: str) -> list[bytes]:
    """The pieces that the split steps of this name make, by their regexes."""
    pieces = _splitter(patterns.resolve(name))(text)
    return [piece.encode("utf-8", "surrogateescape") for piece, _, _ in pieces]


# What tokenizers has for the split steps of `patterns.SEQUENCES`.
SEQUENCES = {
    "starcoder": [
        pre_tokenizers.Digits(individual_digits=True),
        pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True),
    ],
    "deepseek_v3": [
        pre_tokenizers.Split(Regex(r"\p{N}{1,3}"), "isolated"),
        pre_tokenizers.Split(Regex("[一-龥\u3040-ゟ゠-ヿ]+"), "isolated"),
        pre_tokenizers.Split(
            Regex(
                r"""[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|"""
                + "[^\r\n"
                + r"\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+["
                + "\r\n"
                + r"]*|\s*[\r\n]+|\s+(?!\S)|\s+"
            ),
            "isolated",
        ),
        pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
    ],
    "falcon": [
        pre_tokenizers.Punctuation("contiguous"),
        pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True),
        pre_tokenizers.Digits(individual_digits=False),
        pre_tokenizers.Split(Regex("[0-9][0-9][0-9]"), "isolated"),
    ],
}
