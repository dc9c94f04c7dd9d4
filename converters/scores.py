"""Scores <-> merges: how SentencePiece and those who took it over write a BPE down.

Their encoder merges any neighbours whose concatenation is a piece, the best score first and the
leftmost of equals. As long as no two pieces that merges make have one score, that is what a list of
all pairs does, piece by piece: while the ends of a piece's text are token boundaries, everything
inside happens as it would to this text alone, so that the piece is always made of the same two.

Llama's and Mistral's models give one score to the runs of two and more spaces. Their merges grow a
run from the left, and pairs in the order of ids do not; but the tokens are the same in the end,
which is tried out here on every length that matters.
"""

import itertools
from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from ..errors import UnsupportedError

__all__ = ["Merges", "canonical", "merges_of_scores", "uncrossed", "unmade"]

Merges = list[tuple[int, int]]
_LONGEST = 1024


def merges_of_scores(pieces: Mapping[str, int], scores: Sequence[float], name: str) -> Merges:
    """All pairs of ids that make a piece, by the score of the piece, then by id.

    `pieces` are those that take part in merges, `scores` those of all ids. Raises
    `UnsupportedError` if equal scores make a difference that pairs cannot express.

    >>> merges_of_scores({"a": 0, "b": 1, "ab": 2, "aba": 3}, [0, 0, -1, -2], "x")
    [(0, 1), (2, 0)]
    """
    made = {piece: pairs for piece in pieces if (pairs := _pairs(piece, pieces, name))}
    ordered = sorted(made, key=lambda piece: (-scores[pieces[piece]], pieces[piece]))
    _check_equals(ordered, made, pieces, scores, name)
    return [pair for piece in ordered for pair in made[piece]]


def _pairs(piece: str, pieces: Mapping[str, int], name: str) -> Merges:
    if len(piece) > _LONGEST:
        raise UnsupportedError(f"{name}: a piece of {len(piece)} characters is not supported")
    pairs = []
    for at in range(1, len(piece)):
        left = pieces.get(piece[:at])
        if left is not None and (right := pieces.get(piece[at:])) is not None:
            pairs.append((left, right))
    return sorted(pairs)


def _check_equals(
    ordered: Sequence[str],
    made: Mapping[str, Merges],
    pieces: Mapping[str, int],
    scores: Sequence[float],
    name: str,
) -> None:
    """Refuses equal scores of different pieces, unless they are runs on which all agree."""
    count = Counter(scores[pieces[piece]] for piece in ordered)
    equals = [piece for piece in ordered if count[scores[pieces[piece]]] > 1]
    if not equals:
        return
    runs = {pieces[piece] for piece in equals}
    character = equals[0][0]
    alone = not any(
        runs.intersection(pair)
        for piece in ordered
        if pieces[piece] not in runs
        for pair in made[piece]
    )
    one_run = all(set(piece) == {character} for piece in equals)
    if not (one_run and alone and _runs_agree(equals, pieces, character)):
        raise UnsupportedError(
            f"{name}: the pieces {equals[0]!r} and {equals[1]!r} have one score, "
            f"{scores[pieces[equals[0]]]}: which merges first depends on where they stand, which "
            "a list of merges cannot say"
        )


def _runs_agree(equals: Sequence[str], pieces: Mapping[str, int], character: str) -> bool:
    """Whether runs of this character end as the same tokens in both orders of merging."""
    lengths = [len(piece) for piece in sorted(equals, key=pieces.__getitem__)]
    known = set(lengths)
    listed = [
        (left, length - left)
        for length in lengths
        for left in _lefts(length, known, pieces, character)
    ]
    return all(
        _grown(count, known) == _merged(count, listed) for count in range(2, 4 * max(known) + 1)
    )


def _lefts(length: int, known: set[int], pieces: Mapping[str, int], character: str) -> list[int]:
    """How long the left part of each pair that makes a run is, in the order of the pairs."""
    parts = known | {1} if character in pieces else known
    lefts = [left for left in range(1, length) if left in parts and length - left in parts]
    ids = {left: pieces[character * left] for left in parts}
    return sorted(lefts, key=lambda left: (ids[left], ids[length - left]))


def _grown(count: int, known: set[int]) -> list[int]:
    """A run merged at the leftmost place, again and again."""
    run = [1] * count
    at = 0
    while at + 1 < len(run):
        if run[at] + run[at + 1] in known:
            run[at : at + 2] = [run[at] + run[at + 1]]
            at = max(at - 1, 0)
        else:
            at += 1
    return run


def _merged(count: int, listed: Sequence[tuple[int, int]]) -> list[int]:
    """A run merged by a list of pairs, each wherever it stands before the next."""
    ranks = {pair: rank for rank, pair in enumerate(listed)}
    run = [1] * count
    while True:
        found = [(ranks[pair], at) for at, pair in enumerate(_neighbours(run)) if pair in ranks]
        if not found:
            return run
        _, at = min(found)
        run[at : at + 2] = [run[at] + run[at + 1]]


def _neighbours(run: Sequence[int]) -> list[tuple[int, int]]:
    return list(itertools.pairwise(run))


def canonical(pieces: Mapping[str, int], merges: Merges) -> dict[str, tuple[int, int]]:
    """The last merge of each piece that its own text becomes, by the order of the merges.

    >>> canonical({"a": 0, "b": 1, "c": 2, "ab": 3, "bc": 4, "abc": 5}, [(0, 1), (1, 2), (3, 2)])
    {'ab': (0, 1), 'bc': (1, 2), 'abc': (3, 2)}
    """
    ranks = {pair: rank for rank, pair in enumerate(merges)}
    by_id = {id: piece for piece, id in pieces.items()}
    last = {
        piece: pair
        for piece in pieces
        if len(piece) > 1 and (pair := _last_merge(piece, pieces, ranks, by_id))
    }
    return dict(sorted(last.items(), key=lambda item: ranks[item[1]]))


def uncrossed(text: str, mergeable: Collection[str]) -> int:
    """A place in a text that no piece in it goes across; 0 if there is none.

    >>> uncrossed("</s>", {"</"})
    2
    """
    inside = [
        (start, end)
        for start in range(len(text))
        for end in range(start + 2, len(text) + 1)
        if text[start:end] in mergeable
    ]
    places = range(1, len(text))
    return next((at for at in places if not any(a < at < b for a, b in inside)), 0)


def unmade(pieces: Mapping[str, int], merges: Merges) -> list[str]:
    """The pieces of two and more characters that their own text does not become.

    >>> unmade({"a": 0, "b": 1, "c": 2, "ab": 3, "bc": 4, "abc": 5}, [(0, 1), (1, 2), (0, 4)])
    ['abc']
    """
    made = canonical(pieces, merges)
    return [piece for piece in pieces if len(piece) > 1 and piece not in made]


def _last_merge(
    piece: str,
    pieces: Mapping[str, int],
    ranks: Mapping[tuple[int, int], int],
    by_id: Mapping[int, str],
) -> tuple[int, int] | None:
    symbols = [pieces.get(character, -1) for character in piece]
    while True:
        pairs = itertools.pairwise(symbols)
        found = [(ranks[pair], at) for at, pair in enumerate(pairs) if pair in ranks]
        if not found:
            return None
        _, at = min(found)
        left, right = symbols[at : at + 2]
        if len(symbols) == 2:
            return left, right
        symbols[at : at + 2] = [pieces[by_id[left] + by_id[right]]]
