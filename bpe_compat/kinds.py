"""What ids stand for."""

from collections.abc import Iterable
from enum import StrEnum

__all__ = ["NUMBERS", "TokenKind", "kind_numbers", "kinds_of"]


class TokenKind(StrEnum):
    """What an id stands for."""

    NORMAL = "normal"  # can be produced by merges, or by being a whole piece
    BYTE = "byte"  # one byte of a character that has no token: SentencePiece's <0x41>
    UNKNOWN = "unknown"  # text that has no token
    CONTROL = "control"  # produced by no merge: a special token
    UNUSED = "unused"  # an id that nobody owns


NUMBERS = {kind: number for number, kind in enumerate(TokenKind)}
"""The place of each kind among all, as the native core knows them."""


def kind_numbers(kinds: Iterable[TokenKind]) -> bytes:
    """The number of each kind, one byte each.

    >>> kind_numbers([TokenKind.NORMAL, TokenKind.UNUSED])
    b'\\x00\\x04'
    """
    return bytes(map(NUMBERS.__getitem__, kinds))


_KINDS = tuple(TokenKind)


def kinds_of(numbers: bytes) -> tuple[TokenKind, ...]:
    """The kinds of such numbers.

    >>> [kind.value for kind in kinds_of(bytes([0, 4]))]
    ['normal', 'unused']
    """
    return tuple(map(_KINDS.__getitem__, numbers))
