"""Characters that stand for all that two tokenizers may treat differently."""

import numpy as np

from ..dialects import parse
from ..dialects.codepoints import Set
from ..dialects.matching import reduced, sets_of
from ..spec import TokenizerSpec

__all__ = ["alphabet", "simplicity"]

_SIMPLE = "ab \n1A!'\r\t"
# What normalizers rewrite, and what splits disagree on.
_DELICATE = (
    "s/\u00e9\u0301\u0130\u017f\ufb01\u2460\uff21\u3000\u00a0\u2581\u4e2d\uac00\u1100\u1161"
    "\u0e44\u0660\u00bd"
)
_MOST_OF_A_VOCABULARY = 24
_MOST_SETS = 200


def simplicity(character: str) -> int:
    """The place of a character among all, the simplest first."""
    place = _SIMPLE.find(character)
    return place if place >= 0 else len(_SIMPLE) + ord(character)


def alphabet(specs: tuple[TokenizerSpec, TokenizerSpec]) -> str:
    """Characters to spell short texts with, the most promising first.

    One for every combination of the sets that occur in the splits and replacements of both; all of
    a vocabulary of few characters; and some that normalizers are about.
    """
    return "".join(
        dict.fromkeys([*_of_small_vocabularies(specs), *_SIMPLE, *_told_apart(specs), *_DELICATE])
    )


def _of_small_vocabularies(specs: tuple[TokenizerSpec, TokenizerSpec]) -> list[str]:
    long = [t for spec in specs for t in spec.tokens if len(t) > 1 or not spec.byte_level]
    if sum(map(len, long)) > 10_000:
        return []
    found = sorted(set(b"\n".join(long).decode("utf-8", "ignore")), key=simplicity)
    return found if len(found) <= _MOST_OF_A_VOCABULARY else []


def _told_apart(specs: tuple[TokenizerSpec, TokenizerSpec]) -> list[str]:
    sets: dict[Set, None] = {}
    for spec in specs:
        patterns = [split.pattern for split in spec.splits]
        patterns += [step.pattern for step in spec.normalizers if step.kind == "replace"]
        for pattern in patterns:
            sets |= dict.fromkeys(sets_of(parse(pattern, "tiktoken")))
    if not sets or len(sets) > _MOST_SETS:
        return []
    letters = reduced(list(sets))[0].copy()
    letters[0xD800:0xE000] = letters[0xD7FF]
    known = set(letters[[ord(c) for c in _SIMPLE]].tolist())
    kinds, places = np.unique(letters, return_index=True)
    return [chr(p) for kind, p in zip(kinds.tolist(), places.tolist(), strict=True)
            if kind not in known]  # fmt: skip
