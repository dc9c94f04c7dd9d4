"""The character classes: Unicode 16.0, as the engines of tiktoken and tokenizers have it."""

import numpy as np
import pytest
from tokenizers import Regex, pre_tokenizers

from bpe_compat import _core

NAMES = _core.category_names().split()
CATEGORIES = np.frombuffer(_core.categories(), np.uint8)
CODE_POINTS = [c for c in range(0x110000) if not 0xD800 <= c < 0xE000]


def in_oniguruma(expression: str) -> set[int]:
    """The code points that a class of Oniguruma holds, found through tokenizers."""
    split = pre_tokenizers.Split(Regex(expression), "isolated")
    # Each code point stands between two that are in no class; matches come out alone.
    text = "".join(chr(c) + "\x01" for c in CODE_POINTS)
    return {
        ord(piece)
        for start in range(0, len(text), 1 << 15)
        for piece, _ in split.pre_tokenize_str(text[start : start + (1 << 15)])
        if len(piece) == 1 and piece != "\x01"
    }


def in_table(*categories: str) -> set[int]:
    numbers = [NAMES.index(category) for category in categories]
    found = np.flatnonzero(np.isin(CATEGORIES, numbers))
    return {int(c) for c in found if not 0xD800 <= c < 0xE000}


def test_version() -> None:
    assert _core.unicode_version == "16.0.0"


@pytest.mark.parametrize("category", [c for c in NAMES if c not in ("Cs", "Cc")])
def test_each_category_equals_that_of_tokenizers(category: str) -> None:
    assert in_oniguruma(rf"\p{{{category}}}") == in_table(category)


def test_white_space_equals_that_of_tokenizers() -> None:
    expected = in_oniguruma(r"\s")
    # The scanner tells: white space other than a line end is a piece of its own between letters.
    found = {
        c
        for c in CODE_POINTS
        if _core.piece_ends(f"a{chr(c)}{chr(c)}1", "gpt2").tolist()[1] == 1 + len(chr(c).encode())
    }
    others = {c for c in found if c not in expected}
    # Letters and numbers join their neighbours, others stay together: only white space is cut.
    assert expected <= found
    assert not others
