"""What a user may impose on training: tokens that must be made, tokens that must not."""

import re
from collections.abc import Callable, Collection, Iterable
from itertools import pairwise

from ..errors import FormatError

__all__ = ["Forbidden", "forbids", "seed_merges"]

Forbidden = str | re.Pattern[str] | Collection[bytes | str]
"""A regex that matches forbidden tokens whole, or the tokens themselves."""


def forbids(forbid: Forbidden | None) -> Callable[[bytes], bool] | None:
    """A function that says whether a token is forbidden.

    A regex sees tokens as text, bytes that are no UTF-8 as lone surrogates.

    >>> forbids(r".*[0-9].*")(b"a1"), forbids(["ab"])(b"ab")
    (True, True)
    """
    if forbid is None:
        return None
    if isinstance(forbid, str | re.Pattern):
        import regex

        text = forbid if isinstance(forbid, str) else forbid.pattern
        flags = 0 if isinstance(forbid, str) else forbid.flags
        try:
            matches = regex.compile(text, flags & ~re.DEBUG).fullmatch
        except (regex.error, TypeError, ValueError) as error:
            raise FormatError(f"forbid: {text!r} is no regular expression: {error}") from None
        return lambda token: matches(token.decode("utf-8", "surrogateescape")) is not None
    return _bytes_of(forbid, "forbid").__contains__


def seed_merges(seeds: Iterable[bytes | str], symbols: list[bytes]) -> list[tuple[int, int]]:
    """The merges that make these tokens, in their order, each from left to right.

    Ids are places in `symbols`, which holds every byte, and behind them the merges.

    >>> symbols = [bytes([byte]) for byte in range(256)]
    >>> [symbols[left] + symbols[right] for left, right in seed_merges(["in"], symbols)]
    [b'in']
    """
    ids = {symbol: id for id, symbol in enumerate(symbols)}
    merges: dict[tuple[int, int], int] = {}
    for seed in _bytes_of(seeds, "seed_tokens"):
        parts = _encoded([ids[bytes([byte])] for byte in seed], merges)
        while len(parts) > 1:
            merges[parts[0], parts[1]] = len(symbols) + len(merges)
            parts = _encoded(parts, merges)
    return list(merges)


def _encoded(parts: list[int], merges: dict[tuple[int, int], int]) -> list[int]:
    """Textbook BPE: the oldest merge first, everywhere from left to right."""
    while known := [pair for pair in pairwise(parts) if pair in merges]:
        best = min(known, key=merges.__getitem__)
        merged: list[int] = []
        at = 0
        while at < len(parts):
            matches = tuple(parts[at : at + 2]) == best
            merged.append(merges[best] if matches else parts[at])
            at += 2 if matches else 1
        parts = merged
    return parts


def _bytes_of(tokens: Iterable[bytes | str], name: str) -> dict[bytes, None]:
    """Tokens as bytes, each once, in their order."""
    if isinstance(tokens, str | bytes):
        raise TypeError(f"{name} must be a collection of tokens, not one")
    found: dict[bytes, None] = {}
    for token in tokens:
        if not isinstance(token, str | bytes) or not token:
            raise FormatError(f"{name}: a token must be str or bytes and not empty, not {token!r}")
        found[token.encode() if isinstance(token, str) else token] = None
    return found
