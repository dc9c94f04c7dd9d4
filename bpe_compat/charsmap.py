"""SentencePiece's compiled normalization rules: strings and what they become.

A map is the size of a trie (4 bytes, little endian), a double array of darts-clone, and the
replacements, each ended by a zero byte. The longest string at each place is replaced, from left to
right, and nothing twice. Source: `normalizer.cc` of SentencePiece, `darts.h` of darts-clone.
"""

import base64
import binascii
import itertools
from collections.abc import Callable, Iterator

import numpy as np

from .errors import FormatError

__all__ = ["data_of", "finder", "replacer", "spelled"]

_LONGEST = 64  # characters of a string that is replaced
_DEAD = -1
_REMEMBERED = 1 << 20


def spelled(charsmap: bytes) -> str:
    """A map as the text that a spec carries; raises `FormatError` for what is no map.

    >>> spelled(bytes([4, 0, 0, 0, 0, 0, 0, 0]))
    'BAAAAAAAAAA='
    """
    content = base64.b64encode(charsmap).decode()
    _Rules(content)
    return content


def data_of(content: str) -> bytes:
    """The other way round."""
    try:
        return base64.b64decode(content, validate=True)
    except (binascii.Error, ValueError):
        raise FormatError("the charsmap is not base64") from None


class _Rules:
    """The trie of a map, walked as texts need it: a few of its strings ever occur.

    A unit holds a label (bits 0-7; bit 31 in those that are values), whether it has a value (bit
    8), and how far its children are (bits 10-30, in steps of 256 if bit 9 is set), combined with
    its place by exclusive or.
    """

    def __init__(self, content: str) -> None:
        data = data_of(content)
        size = int.from_bytes(data[:4], "little")
        if len(data) < 8 or size % 4 or not 4 <= size <= len(data) - 4:
            raise FormatError(f"the charsmap of {len(data)} bytes has a trie of {size}")
        self._units: list[int] = np.frombuffer(data, "<u4", size // 4, 4).tolist()
        self._texts = data[4 + size :]
        root = _children(self._units[0], 0)
        # Each string that was walked: where its children are, and what it becomes.
        self._known: dict[str, tuple[int, str | None]] = {"": (root, None)}

    def walk(self, string: str) -> tuple[int, str | None]:
        """Where a string leads to, and what it becomes if anything."""
        if (known := self._known.get(string)) is not None:
            return known
        base, _ = self.walk(string[:-1])
        found = self._step(base, string[-1]) if base >= 0 else (_DEAD, None)
        if len(self._known) < _REMEMBERED:
            self._known[string] = found
        return found

    def _step(self, base: int, character: str) -> tuple[int, str | None]:
        units, unit = self._units, 0
        for byte in character.encode():
            place = base ^ byte
            if not byte or place >= len(units) or units[place] & 0x800000FF != byte:
                return _DEAD, None
            unit = units[place]
            base = _children(unit, place)
        if not unit >> 8 & 1:
            return base, None
        at = units[base] & 0x7FFFFFFF if base < len(units) else len(self._texts)
        end = self._texts.find(b"\0", at)
        if end < 0:
            raise FormatError(f"the charsmap has no replacement for {character!r}")
        try:
            return base, self._texts[at:end].decode()
        except UnicodeDecodeError as error:
            raise FormatError(f"the charsmap makes no UTF-8 of {character!r}: {error}") from None

    def longest(self, text: str, at: int) -> tuple[int, str]:
        """How many characters at a place are replaced, and by what; none if there is no rule."""
        found = (0, "")
        for end in range(at + 1, min(at + _LONGEST, len(text)) + 1):
            base, becomes = self.walk(text[at:end])
            if becomes is not None:
                found = (end - at, becomes)
            if base < 0:
                break
        return found


def _children(unit: int, place: int) -> int:
    return place ^ (unit >> 10 << ((unit & 1 << 9) >> 6))


def finder(content: str) -> Callable[[str], Iterator[tuple[int, int, str]]]:
    """A function that tells what a map replaces in a text: from where, to where, by what."""
    rules = _Rules(content)

    def found(text: str) -> Iterator[tuple[int, int, str]]:
        # Most texts hold no character that a rule replaces alone, and no two that begin a rule.
        alone = any(rules.walk(character)[1] is not None for character in set(text))
        pairs = set(map("".join, itertools.pairwise(text)))
        if not alone and all(rules.walk(pair)[0] < 0 for pair in pairs):
            return
        at = 0
        while at < len(text):
            length, becomes = rules.longest(text, at)
            if length:
                yield at, at + length, becomes
            at += length or 1

    return found


def replacer(content: str) -> Callable[[str], str]:
    """A function that applies a map to a text."""
    find = finder(content)

    def replaced(text: str) -> str:
        out: list[str] = []
        last = 0
        for begin, end, becomes in find(text):
            out += (text[last:begin], becomes)
            last = end
        return "".join(out) + text[last:]

    return replaced
