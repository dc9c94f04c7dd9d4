"""Merges <-> ranks: the two ways to write down one byte-pair encoding.

Hugging Face lists pairs; tiktoken gives each token a rank and merges any neighbours whose
concatenation has one. Both agree if every token is made by exactly the pair that tiktoken's rule
leaves of it under the ranks below its own: its canonical merge. The reason: while the two ends of a
token's bytes are token boundaries, everything inside happens as it would to these bytes alone.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from . import _core, flat
from .models import model_by_ranks
from .remembered import remembered
from .spec import TokenizerSpec

__all__ = [
    "RecoveredMerges",
    "differences",
    "losses_of_merges",
    "merges_of",
    "missing_bytes",
    "recover_merges",
]

Merges = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True, eq=False)
class RecoveredMerges:
    """Merges that reproduce tiktoken's rule on Hugging Face's side.

    `rows` are (left, right, merged). If every token has a canonical merge, they are these.
    Otherwise `odd` holds the ids of those that have none, `rows` every two tokens that make a
    token, and `ignore_merges` must be set: that is how the rank files of Llama 3 and gpt-oss are
    published as tokenizer.json, too.
    """

    rows: npt.NDArray[np.uint32]
    ignore_merges: bool
    odd: tuple[int, ...]

    @property
    def merges(self) -> Merges:
        """Left and right of each."""
        return flat.pairs(self.rows)


@remembered
def recover_merges(spec: TokenizerSpec) -> RecoveredMerges:
    """The merges of a spec with `merge_rule="ranks"`; remembered as long as there is the spec.

    >>> spec = TokenizerSpec((b"a", b"b", b"c", b"bc", b"abc"), merge_rule="ranks")
    >>> recover_merges(spec).merges
    ((1, 2), (0, 3))
    """
    model = model_by_ranks(spec)
    rows, odd = _core.canonical_merges(model)
    if len(odd):
        rows = _core.all_pairs(model)
    return RecoveredMerges(rows, ignore_merges=len(odd) > 0, odd=tuple(odd.tolist()))


def merges_of(spec: TokenizerSpec) -> RecoveredMerges:
    """The merges of any spec, recovered from its ranks if it has no list of them."""
    if spec.merge_rule == "ranks":
        return recover_merges(spec)
    return RecoveredMerges(spec.vocabulary.rows(), spec.ignore_merges, odd=())


def missing_bytes(spec: TokenizerSpec) -> list[int]:
    """The bytes that have no token.

    >>> len(missing_bytes(TokenizerSpec((b"a", b"b", b"ab"))))
    254
    """
    return [byte for byte, id in enumerate(spec.vocabulary.byte_ids()) if id is None]


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
    model = model_by_ranks(spec)
    rows, odd = _core.canonical_merges(model)
    pairs = spec.vocabulary.rows()[:, :2]
    if not len(odd) and np.array_equal(rows[:, :2], pairs):
        return []
    every = _core.all_pairs(model)
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
