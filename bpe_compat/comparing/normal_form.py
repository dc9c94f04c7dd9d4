"""The normal form of a spec: what can change the ids of some text, written in one way.

Of the merges only those are left that can ever happen. While the ends of two neighbours are
boundaries, everything between them happens as it would to these bytes alone; so if a pair merges
in any text, it is the last merge of the bytes of the token that it makes, alone. Each token thus
has one merge or none, under Hugging Face's rule and under tiktoken's.
"""

from collections.abc import Hashable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from .. import _core, dialects
from ..engine import Engine
from ..patterns import scanner_of
from ..ranks import missing_bytes, recover_merges
from ..spec import AddedToken, Normalizer, Split, TokenizerSpec, TokenKind

__all__ = ["Merging", "NormalForm", "normal_form"]

Rows = npt.NDArray[np.int64]
_NO_TOKEN = 1 << 31  # and above: stands for a byte without a token


@dataclass(frozen=True, slots=True)
class Merging:
    """What becomes of a piece.

    `start` says which symbols it starts as. `rows` are merges (left, right, merged), sorted by the
    merged id and its parts, and `priorities` theirs, lowest first. If `closed`, each is the last
    merge of its token, and no other pair ever merges; otherwise `rows` are all listed merges.
    `whole` are the pieces that are a token without being merged.
    """

    start: Hashable
    rows: Rows
    priorities: Rows
    whole: dict[bytes, int]
    closed: bool

    @property
    def monotone(self) -> bool:
        """Whether every merge comes after those that make its parts."""
        merged, parts = self.rows[:, 2], self.rows[:, :2]
        places = np.minimum(np.searchsorted(merged, parts), max(len(merged) - 1, 0))
        made = np.where(merged[places] == parts, self.priorities[places], -1)
        return bool((made < self.priorities[:, None]).all())


@dataclass(frozen=True, slots=True)
class NormalForm:
    """A tokenizer in the order in which a text goes through it."""

    added_tokens: tuple[AddedToken, ...]
    normalizers: tuple[Normalizer, ...]
    prefix_space: bool
    splits: Hashable
    merging: Merging


def normal_form(spec: TokenizerSpec, engine: Engine) -> NormalForm:
    """The normal form of a spec that this engine runs."""
    normalizers = tuple(step for step in spec.normalizers if not _does_nothing(step))
    return NormalForm(
        _added_tokens(spec.added_tokens, normalized=bool(normalizers)),
        normalizers,
        spec.prefix_space,
        _splits(spec.splits),
        _merging(spec, engine),
    )


def _does_nothing(step: Normalizer) -> bool:
    match step.kind:
        case "strip":
            return not (step.left or step.right)
        case "prepend":
            return not step.content
        case "replace":
            return dialects.literal(step.pattern) == step.content
    return False


def _added_tokens(tokens: tuple[AddedToken, ...], *, normalized: bool) -> tuple[AddedToken, ...]:
    """Added tokens by content: their order decides only where normalizers make two the same."""
    if normalized and any(token.normalized for token in tokens):
        return tokens
    if len({token.normalized for token in tokens}) == 1:  # one of the two passes finds nothing
        tokens = tuple(replace(token, normalized=False) for token in tokens)
    return tuple(sorted(tokens, key=lambda token: token.content))


def _splits(splits: tuple[Split, ...]) -> Hashable:
    """The name of the scanner, or the trees of the steps."""
    return scanner_of(splits) or tuple(map(_split, splits))


def _split(split: Split) -> Hashable:
    behavior, invert = split.behavior, split.invert
    if behavior == "removed" and invert and dialects.matches_everywhere(split.pattern):
        behavior = "isolated"
    return (
        dialects.parse(split.pattern, "tiktoken"),
        behavior,
        invert and behavior != "isolated",
        split.mapped,
    )


def _merging(spec: TokenizerSpec, engine: Engine) -> Merging:
    if spec.prefix or spec.suffix or not _merges_only_normal(spec):
        return _listed(spec)
    rows, priorities = _last_merges(spec, engine)
    missing = missing_bytes(spec) if spec.byte_level else []
    if missing:  # ids from the vocabulary's size on stand for them, in order
        stand_ins = np.array([*missing, 0], np.int64) + _NO_TOKEN
        places = np.clip(rows - spec.vocab_size, 0, len(missing))
        rows = np.where(rows < spec.vocab_size, rows, stand_ins[places])
    return Merging(_start(spec, missing), rows, priorities, _whole(spec, rows), closed=True)


def _last_merges(spec: TokenizerSpec, engine: Engine) -> tuple[Rows, Rows]:
    """Rows (left, right, merged) of the merges that can happen, and their priorities."""
    if spec.merge_rule == "ranks" and not missing_bytes(spec):
        recovered = recover_merges(spec)
        if not recovered.odd:
            # While there is a pair below the token's own rank it goes first, so that what these
            # pairs leave is what all pairs leave.
            rows = recovered.rows.astype(np.int64)
            return rows, rows[:, 2]
    table = engine.core.last_merges().astype(np.int64)
    return table[:, :3], table[:, 3]


def _merges_only_normal(spec: TokenizerSpec) -> bool:
    """Whether all that merges starts as its own bytes do, alone."""
    plain = spec.normal_mask()
    if spec.unknown is not None:
        plain[spec.unknown] = False
    return bool(plain[spec.vocabulary.rows()[:, :2]].all())


def _start(spec: TokenizerSpec, missing: list[int]) -> Hashable:
    """The symbol of each byte or character, and what becomes of those that have no token."""
    unknown = spec.unknown, spec.unknown is not None and spec.fuse_unknown
    if spec.byte_level:
        return (
            "bytes",
            spec.vocabulary.byte_ids(),
            bool(missing) and (spec.merge_rule == "ranks", *unknown),
        )
    known = spec.normal_ids().items()
    characters = frozenset((token, id) for token, id in known if _is_character(token))
    return "characters", characters, _fallback(spec), unknown


def _is_character(token: bytes) -> bool:
    if len(token) == 1:
        return True
    try:
        return len(token) <= 4 and len(token.decode()) == 1
    except UnicodeDecodeError:
        return False


def _fallback(spec: TokenizerSpec) -> tuple[tuple[int, int], ...]:
    """The tokens of bytes that stand for a character without a token."""
    if not spec.byte_fallback:
        return ()
    pairs = zip(spec.tokens, spec.kinds, strict=True)
    found = {
        token[0]: id
        for id, (token, kind) in enumerate(pairs)
        if kind is TokenKind.BYTE and len(token) == 1
    }
    return tuple(sorted(found.items()))


def _whole(spec: TokenizerSpec, rows: npt.NDArray[np.int64]) -> dict[bytes, int]:
    """The pieces that are a token without any merge, where merges do not give it anyway."""
    if not spec.ignore_merges:
        return {}
    unmerged = spec.normal_mask()
    unmerged[rows[:, 2]] = False
    ids: list[int] = np.flatnonzero(unmerged).tolist()
    one = (lambda token: len(token) == 1) if spec.byte_level else _is_character
    tokens = spec.vocabulary
    whole = {tokens[id]: id for id in ids if not one(tokens[id])}
    if spec.byte_fallback:  # a piece may spell them
        singles = enumerate(spec.vocabulary.byte_ids()) if spec.byte_level else _fallback(spec)
        spelled = {b"<0x%02X>" % byte: id for byte, id in singles if id is not None}
        known = spec.normal_ids()
        whole |= {token: id for token, id in spelled.items() if token not in known}
    scanner = scanner_of(spec.splits)
    if scanner is None or any(split.mapped for split in spec.splits):
        return whole
    return {token: id for token, id in whole.items() if _is_piece(token, scanner)}


def _is_piece(token: bytes, scanner: str) -> bool:
    """Whether a named pattern leaves a token whole; every piece of a text stays whole alone."""
    try:
        token.decode()
    except UnicodeDecodeError:
        return False
    return len(_core.piece_ends(token, scanner)) == 1


def _listed(spec: TokenizerSpec) -> Merging:
    """The merges as they are listed, for pieces whose symbols depend on their place."""
    known, cut = spec.normal_ids(), len(spec.prefix.encode())
    last = {pair: place for place, pair in enumerate(spec.merges)}
    made = [
        (left, right, known[spec.tokens[left] + spec.tokens[right][cut:]]) for left, right in last
    ]
    rows = np.array(made, np.int64).reshape(-1, 3)
    priorities = np.array(list(last.values()), np.int64)
    order = np.lexsort((rows[:, 1], rows[:, 0], rows[:, 2]))
    affixes = (spec.prefix, spec.suffix, spec.suffix_apart)
    of_bytes = spec.byte_level, spec.merge_rule, _fallback(spec)
    unknown = spec.unknown, spec.fuse_unknown
    start = "listed", affixes, of_bytes, unknown, spec.ignore_merges, frozenset(known.items())
    return Merging(start, rows[order], priorities[order], {}, closed=False)
