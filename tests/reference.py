"""Byte-pair encoding as in the textbooks: slow, obvious, and the judge of everything fast.

A piece is a list of tokens; a token is bytes. Nothing here is incremental: every step counts again.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise

from bpe_compat import dialects

Token = bytes
Pair = tuple[Token, Token]


def pieces(pattern: str, text: str) -> list[str]:
    """The matches of a regex in tiktoken's dialect, under the Unicode version of this package."""
    return [text[a:b] for a, b in dialects.matcher(pattern).spans(text)]


def merged(tokens: Sequence[Token], pair: Pair) -> list[Token]:
    """The piece with every occurrence of the pair merged, from left to right.

    >>> merged([b"a", b"a", b"a"], (b"a", b"a"))
    [b'aa', b'a']
    """
    out: list[Token] = []
    at = 0
    while at < len(tokens):
        if at + 1 < len(tokens) and (tokens[at], tokens[at + 1]) == pair:
            out.append(tokens[at] + tokens[at + 1])
            at += 2
        else:
            out.append(tokens[at])
            at += 1
    return out


def pair_counts(words: Sequence[tuple[Sequence[Token], int]]) -> Counter[Pair]:
    """How often each pair occurs, overlaps included, in the order of first occurrence.

    >>> pair_counts([([b"a", b"a", b"a"], 5)])
    Counter({(b'a', b'a'): 10})
    """
    counts: Counter[Pair] = Counter()
    for tokens, count in words:
        for pair in pairwise(tokens):
            counts[pair] += count
    return counts


def train(
    counts: Mapping[bytes, int],
    merges: int,
    tie_break: str,
    byte_order: bytes = bytes(range(256)),
    min_frequency: int = 1,
    max_token_length: int | None = None,
) -> list[Pair]:
    """The merges of training on counted pieces, which must come in the order of the text."""
    words = [([bytes([b]) for b in piece], count) for piece, count in counts.items()]
    ids = {bytes([byte]): id for id, byte in enumerate(byte_order)}
    done: list[Pair] = []
    while len(done) < merges:
        candidates = {
            pair: count
            for pair, count in pair_counts(words).items()
            if count >= max(min_frequency, 1)
            and (max_token_length is None or len(pair[0] + pair[1]) <= max_token_length)
        }
        if not candidates:
            break
        greatest = max(candidates.values())
        tied = [pair for pair, count in candidates.items() if count == greatest]
        pair = _choose(tied, tie_break, ids)
        done.append(pair)
        ids.setdefault(pair[0] + pair[1], 255 + len(done))
        words = [(merged(tokens, pair), count) for tokens, count in words]
    return done


def _choose(tied: list[Pair], tie_break: str, ids: Mapping[Token, int]) -> Pair:
    if tie_break == "bytes":
        return max(tied)
    if tie_break == "ids":
        return min(tied, key=lambda pair: (ids[pair[0]], ids[pair[1]]))
    return tied[0]


def encode_by_merges(piece: bytes, merges: Sequence[Pair]) -> list[Token]:
    """A piece under Hugging Face's rule: the listed pair of lowest place, leftmost first."""
    places = {pair: place for place, pair in enumerate(merges)}
    return _encode(piece, lambda a, b: places.get((a, b)))


def encode_by_ranks(piece: bytes, ranks: Mapping[Token, int]) -> list[Token]:
    """A piece under tiktoken's rule: the pair whose concatenation has the lowest rank."""
    if piece in ranks:
        return [piece]
    return _encode(piece, lambda a, b: ranks.get(a + b))


def _encode(piece: bytes, priority: Callable[[Token, Token], int | None]) -> list[Token]:
    tokens = [bytes([b]) for b in piece]
    while True:
        found = [
            (rank, at)
            for at, (a, b) in enumerate(pairwise(tokens))
            if (rank := priority(a, b)) is not None
        ]
        if not found:
            return tokens
        _, at = min(found)
        tokens[at : at + 2] = [tokens[at] + tokens[at + 1]]


def count_pieces(pieces_: Iterable[bytes]) -> Counter[bytes]:
    """Counts in the order of first appearance."""
    return Counter(pieces_)
