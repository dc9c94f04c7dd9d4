"""Merges <-> ranks: the two ways to write down one byte-pair encoding.

Hugging Face lists pairs; tiktoken gives each token a rank and merges any neighbours whose
concatenation has one. Both agree if every token is made by exactly the pair that tiktoken's rule
leaves of it under the ranks below its own: its canonical merge. The reason: while the two ends of a
token's bytes are token boundaries, everything inside happens as it would to these bytes alone.
"""

import weakref
from dataclasses import dataclass
from itertools import accumulate

import numpy as np

from . import _core
from .spec import TokenizerSpec, TokenKind

__all__ = [
    "RecoveredMerges",
    "differences",
    "losses_of_merges",
    "merges_of",
    "missing_bytes",
    "recover_merges",
]

Merges = tuple[tuple[int, int], ...]
# Of `enum Kind` in the core: what merges make, and anything that they do not.
_NORMAL, _OTHER = 0, 3


@dataclass(frozen=True, slots=True)
class RecoveredMerges:
    """Merges that reproduce tiktoken's rule on Hugging Face's side.

    If every token has a canonical merge, `merges` are these. Otherwise `odd` holds the ids of those
    that have none, `merges` every two tokens that make a token, and `ignore_merges` must be set:
    that is how the rank files of Llama 3 and gpt-oss are published as tokenizer.json, too.
    """

    merges: Merges
    ignore_merges: bool
    odd: tuple[int, ...]


_recovered: dict[int, tuple["weakref.ref[TokenizerSpec]", RecoveredMerges]] = {}


def recover_merges(spec: TokenizerSpec) -> RecoveredMerges:
    """The merges of a spec with `merge_rule="ranks"`; remembered as long as there is the spec.

    >>> spec = TokenizerSpec((b"a", b"b", b"c", b"bc", b"abc"), merge_rule="ranks")
    >>> recover_merges(spec).merges
    ((1, 2), (0, 3))
    """
    key = id(spec)
    known = _recovered.get(key)
    if known is not None and known[0]() is spec:
        return known[1]
    rows, odd = _core.canonical_merges(*_arguments(spec))
    if len(odd):
        rows = _core.all_pairs(*_arguments(spec))
    found = RecoveredMerges(_pairs(rows), ignore_merges=len(odd) > 0, odd=tuple(odd.tolist()))
    _recovered[key] = weakref.ref(spec, lambda _: _recovered.pop(key, None)), found
    return found


def merges_of(spec: TokenizerSpec) -> RecoveredMerges:
    """The merges of any spec, recovered from its ranks if it has no list of them."""
    if spec.merge_rule == "ranks":
        return recover_merges(spec)
    return RecoveredMerges(spec.merges, spec.ignore_merges, odd=())


def missing_bytes(spec: TokenizerSpec) -> list[int]:
    """The bytes that have no token.

    >>> len(missing_bytes(TokenizerSpec((b"a", b"b", b"ab"))))
    254
    """
    known = spec.normal_ids()
    return [byte for byte in range(256) if bytes([byte]) not in known]


def losses_of_merges(spec: TokenizerSpec) -> list[str]:
    """What `merges_of` does not say of a spec; empty if listed merges give its ids."""
    missing = missing_bytes(spec) if spec.merge_rule == "ranks" else []
    if not missing:
        return []
    return [f"the error for byte 0x{missing[0]:02X} ({len(missing)} bytes in all), which has no"
            " token: with listed merges it is dropped from the text"]  # fmt: skip


def differences(spec: TokenizerSpec) -> list[str]:
    """Why tiktoken's rule on the ids of a spec would not give its ids; empty if it would.

    The spec's merges must be the canonical ones of its ids, or all pairs that make a token. Tokens
    without a canonical merge must come from whole pieces: `ignore_merges`.
    """
    if spec.merge_rule == "ranks":
        return []
    if not spec.byte_level:
        return ["characters without a token: the pieces do not start as bytes"]
    missing = missing_bytes(spec)
    if missing:
        return [f"the lack of a token for byte 0x{missing[0]:02X} ({len(missing)} bytes in all)"]
    rows, odd = _core.canonical_merges(*_arguments(spec))
    pairs = np.array(spec.merges, np.uint32).reshape(-1, 2)
    every = _core.all_pairs(*_arguments(spec))
    if not len(odd) or spec.ignore_merges:
        if np.array_equal(every[:, :2], pairs):
            return []
        if np.array_equal(rows[:, :2], pairs) and not np.isin(odd, every[:, 2]).any():
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
    kinds = bytes([_NORMAL if kind is TokenKind.NORMAL else _OTHER for kind in spec.kinds])
    return b"".join(spec.tokens), ends, kinds


def _pairs(rows: "np.typing.NDArray[np.uint32]") -> Merges:
    return tuple(zip(rows[:, 0].tolist(), rows[:, 1].tolist(), strict=True))
