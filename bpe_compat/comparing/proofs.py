"""Why two normal forms give the same ids for every text."""

import re
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from .. import _core
from ..spec import TokenizerSpec
from ..tokenizer import Tokenizer
from .normal_form import Merging, NormalForm

__all__ = ["Open", "Proof", "prove"]

Proof = str
Open = tuple[bytes, ...]
"""Pieces that are known to differ, or none: nothing is proved."""

_MOST_TRIPLES = 300_000

# Bytes of white space; with some of it behind the last line end.
_IN_LINE = rb"\t\x0b\x0c \x80-\x8a\x9a\x81\x85\x9f\xa0\xa8\xa9\xaf\xc2\xe1-\xe3"
_SPACES = re.compile(rb"[\r\n%b]+" % _IN_LINE)
_BEHIND_LINE_END = re.compile(rb"[\r\n%b]*[\r\n][%b]+" % (_IN_LINE, _IN_LINE))


def prove(a: NormalForm, b: NormalForm, specs: tuple[TokenizerSpec, TokenizerSpec]) -> Proof | Open:
    """The reason why two tokenizers are the same, or pieces on which they are not."""
    merging = _same_merging(a.merging, b.merging, specs)
    if not isinstance(merging, str):
        return merging
    before = (a.added_tokens, a.normalizers, a.prefix_space) == (
        b.added_tokens,
        b.normalizers,
        b.prefix_space,
    )
    if before and a.splits == b.splits:
        return merging
    if before and {a.splits, b.splits} == {"cl100k", "llama3"} and _cut_at_line_ends(a, specs[0]):
        return (
            f"{merging}; the splits differ only in whether white space at the end of a text is cut"
            " behind its last line end, where no token stands across"
        )
    return ()


def _same_merging(
    a: Merging, b: Merging, specs: tuple[TokenizerSpec, TokenizerSpec]
) -> Proof | Open:
    same = (a.start, a.whole, a.closed) == (b.start, b.whole, b.closed)
    if not same or not np.array_equal(a.rows, b.rows):
        return ()
    if np.array_equal(np.argsort(a.priorities), np.argsort(b.priorities)):
        if specs[0].merge_rule == specs[1].merge_rule:
            return "identical normal forms"
        return (
            "identical normal forms: under listed merges and under ranks, each token has the same"
            " last merge, and these have the same order"
        )
    if not (a.closed and a.monotone and b.monotone):
        return ()
    return _same_in_any_order(a, b, specs)


def _same_in_any_order(
    a: Merging, b: Merging, specs: tuple[TokenizerSpec, TokenizerSpec]
) -> Proof | Open:
    """Whether two orders of the same merges are one function.

    Each merge comes after those that make its parts. Let x, y, z be tokens, and let (x, y) and
    (y, z) be merges whose order is not the same in both lists. If both lists agree on the bytes of
    each such x y z alone, they agree on everything. For in a shortest piece on which they disagree
    no inner boundary is left by both, since either side would be a shorter one. One list leaves a
    first token t that the other merges across the end of: there a last part of t meets a first part
    of what the first list leaves behind t, and not in the order of the first list. With the part
    that is next to merge with them these are such x, y, z, and until then boundaries are around
    them; so the lists disagree on x y z, or else one token would have two last merges.
    """
    triples = _turned_triples(a, b)
    if triples is None:
        return ()
    plain = [_merging_alone(spec) for spec in specs]
    tokens = specs[0].tokens
    differing = []
    pieces = sorted({b"".join(tokens[id] for id in triple) for triple in triples.tolist()})
    for piece in pieces:
        if plain[0].encode_pieces([piece]) != plain[1].encode_pieces([piece]):
            differing.append(piece)
    if differing:
        return tuple(differing)
    return (
        f"the same merges in another order, which never matters: {len(pieces)} places where two"
        " merges share a token were tried"
    )


def _merging_alone(spec: TokenizerSpec) -> _core.Encoder:
    bare = replace(
        spec, ignore_merges=False, splits=(), normalizers=(), prefix_space=False, added_tokens=(),
        template=None,
    )  # fmt: skip
    return Tokenizer(bare).engine.core


def _turned_triples(a: Merging, b: Merging) -> npt.NDArray[np.int64] | None:
    """All (x, y, z) of which (x, y) and (y, z) are merged in another order; None if too many."""
    turned = _blocks(a) != _blocks(b)
    shared = np.unique(np.concatenate([a.rows[:, 1], a.rows[:, 0]])[turned])
    found, count = [], 0
    by_left, by_right = np.argsort(a.rows[:, 0]), np.argsort(a.rows[:, 1])
    lefts, rights = a.rows[by_left, 0], a.rows[by_right, 1]
    for y in shared.tolist():
        before = by_right[slice(*np.searchsorted(rights, [y, y + 1]))]
        after = by_left[slice(*np.searchsorted(lefts, [y, y + 1]))]
        order = [m.priorities[before][:, None] < m.priorities[after] for m in (a, b)]
        i, j = np.nonzero(order[0] != order[1])
        count += len(i)
        if count > _MOST_TRIPLES:
            return None
        found.append(np.stack([a.rows[before[i], 0], np.full(len(i), y), a.rows[after[j], 1]], 1))
    triples: npt.NDArray[np.int64] = np.concatenate([np.zeros((0, 3), np.int64), *found])
    return triples


def _blocks(merging: Merging) -> npt.NDArray[np.int64]:
    """Of each merge as one that ends in a token y, then as one that starts with y, its block.

    The merges around y, by priority, are blocks of merges that end in it and of merges that start
    with it. The blocks are the same in two lists if and only if no two merges around y are turned.
    """
    count = len(merging.rows)
    shared = np.concatenate([merging.rows[:, 1], merging.rows[:, 0]])
    starts = np.repeat([0, 1], count)
    order = np.lexsort((starts, np.tile(merging.priorities, 2), shared))
    y, side = shared[order], starts[order]
    first = np.diff(y, prepend=-1) != 0
    turns = np.where(first, side, np.diff(side, prepend=0) != 0)
    total = np.cumsum(turns)
    base = np.maximum.accumulate(np.where(first, total - turns, 0))
    blocks = np.empty(2 * count, np.int64)
    blocks[order] = total - base
    return blocks


def _cut_at_line_ends(form: NormalForm, spec: TokenizerSpec) -> bool:
    """Whether white space can be cut behind a line end without changing an id.

    A piece of one that the other cuts is white space, and the cut is behind its last line end. It
    becomes the same if no token stands across and none comes from a whole piece.
    """
    merging = form.merging
    tokens = [spec.tokens[id] for id in merging.rows[:, 2].tolist()]
    crossing = any(map(_BEHIND_LINE_END.fullmatch, (*tokens, *merging.whole)))
    return merging.closed and not crossing and not any(map(_SPACES.fullmatch, merging.whole))
