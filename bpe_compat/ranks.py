"""Merges <-> ranks: the two ways to write down one byte-pair encoding.

Hugging Face lists pairs; tiktoken gives each token a rank and merges any neighbours whose
concatenation has one. Both agree if every token is made by exactly the pair that tiktoken's rule
leaves of it under the ranks below its own: its canonical merge. The reason: while the two ends of a
token's bytes are token boundaries, everything inside happens as it would to these bytes alone.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import accumulate

import numpy as np

from . import _core
from .spec import TokenizerSpec, TokenKind

__all__ = ["RecoveredMerges", "differences", "merges_of", "recover_merges", "tokens_of"]

Merges = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class RecoveredMerges:
    """Merges that reproduce tiktoken's rule on Hugging Face's side.

    If every token has a canonical merge, `merges` are these. Otherwise `odd` holds the ids of those
    that have none, `merges` every split of every token into two tokens, and `ignore_merges` must be
    set: that is how the rank files of Llama 3 and gpt-oss are converted, too.
    """

    merges: Merges
    ignore_merges: bool
    odd: tuple[int, ...]


def tokens_of(ranks: Mapping[bytes, int]) -> tuple[tuple[bytes, ...], tuple[TokenKind, ...]]:
    """Tokens and kinds of a rank table; ids without a rank are unused.

    >>> tokens_of({b"a": 0, b"b": 2})[0]
    (b'a', b'', b'b')
    """
    tokens = [b""] * (max(ranks.values(), default=-1) + 1)
    for token, rank in ranks.items():
        tokens[rank] = token
    return tuple(tokens), tuple(TokenKind.NORMAL if t else TokenKind.UNUSED for t in tokens)


def recover_merges(spec: TokenizerSpec) -> RecoveredMerges:
    """The merges of a spec with `merge_rule="ranks"`.

    >>> tokens, kinds = tokens_of({b"a": 0, b"b": 1, b"c": 2, b"bc": 3, b"abc": 4})
    >>> recover_merges(TokenizerSpec(tokens, kinds, merge_rule="ranks")).merges
    ((1, 2), (0, 3))
    """
    rows, odd = _core.canonical_merges(*_arguments(spec))
    if not len(odd):
        return RecoveredMerges(_pairs(rows), ignore_merges=False, odd=())
    splits = _core.all_pairs(*_arguments(spec))
    return RecoveredMerges(_pairs(splits), ignore_merges=True, odd=tuple(odd.tolist()))


def merges_of(spec: TokenizerSpec) -> RecoveredMerges:
    """The merges of any spec, recovered from its ranks if it has no list of them."""
    if spec.merge_rule == "ranks":
        return recover_merges(spec)
    return RecoveredMerges(spec.merges, spec.ignore_merges, odd=())


def differences(spec: TokenizerSpec) -> list[str]:
    """Why tiktoken's rule on the ids of a spec would not give its ids; empty if it would.

    The spec's merges must be the canonical ones of its ids, or all splits with `ignore_merges`.
    """
    if spec.merge_rule == "ranks":
        return []
    if not spec.byte_level:
        return ["characters without a token: the pieces do not start as bytes"]
    known = spec.normal_ids()
    missing = [byte for byte in range(256) if bytes([byte]) not in known]
    if missing:
        return [f"the lack of a token for byte 0x{missing[0]:02X} ({len(missing)} bytes in all)"]
    rows, odd = _core.canonical_merges(*_arguments(spec))
    pairs = np.array(spec.merges, np.uint32).reshape(-1, 2)
    if not len(odd) and np.array_equal(rows[:, :2], pairs):
        return []
    if spec.ignore_merges and np.array_equal(_core.all_pairs(*_arguments(spec))[:, :2], pairs):
        return []
    if len(odd):
        return [f"token {odd[0]} {spec.tokens[odd[0]]!r}, which merges cannot reach"
                f" ({len(odd)} tokens in all)"]  # fmt: skip
    if len(rows) != len(pairs):
        return [f"{len(pairs)} merges where the ids imply {len(rows)}"]
    index = int(np.flatnonzero((rows[:, :2] != pairs).any(axis=1))[0])
    return [f"the order of merges: merge {index} is not the one that the ids imply"]


def _arguments(spec: TokenizerSpec) -> tuple[bytes, "np.typing.NDArray[np.int64]", bytes]:
    ends = np.fromiter(accumulate(map(len, spec.tokens)), np.int64, len(spec.tokens))
    # The core numbers kinds in the order of `enum Kind`: normal is 0, all else is out of the game.
    kinds = bytes(0 if kind is TokenKind.NORMAL else 3 for kind in spec.kinds)
    return b"".join(spec.tokens), ends, kinds


def _pairs(rows: "np.typing.NDArray[np.uint32]") -> Merges:
    return tuple(map(tuple, rows[:, :2].tolist()))
