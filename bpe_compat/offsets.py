"""Which characters of a text each id covers, and to which piece it belongs.

Exact beside tokenizers (source: tokenizer/pre_tokenizer.rs and added_vocabulary.rs, version 0.23):
an id covers whole characters; a space that the tokenizer puts in front covers what follows it.
"""

import functools
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple

from . import _core
from .alignment import Aligned, aligner
from .pipeline import byte_splitter
from .spec import TokenizerSpec

__all__ = ["Located", "Locator", "Offsets", "to_byte_offsets"]

Offsets = list[tuple[int, int]]


class Located(NamedTuple):
    """Ids, the characters (start, end) that each covers, and the number of its piece.

    An added token is a piece of its own. `added` has its text, with the white space that it took
    along, by its place among the ids.
    """

    ids: list[int]
    offsets: Offsets
    words: list[int]
    added: dict[int, str]


class Locator:
    """Encodes step by step in Python, for what has no native scanner, and follows characters."""

    def __init__(self, spec: TokenizerSpec, core: _core.Encoder) -> None:
        self._spec = spec
        self._core = core

    @functools.cached_property
    def _align(self) -> Callable[[Aligned], Aligned]:
        return aligner(self._spec.normalizers)

    @functools.cached_property
    def _split(self) -> Callable[[str], list[tuple[int, int]]]:
        return byte_splitter(self._spec.splits)

    def locate(self, text: str, enabled: bytes) -> Located:
        """The ids of a text with where they come from; `enabled` is a mask of added tokens."""
        found = Located([], [], [], {})
        word = 0
        for segment, token in self._segments(text, enabled):
            if token >= 0:
                found.added[len(found.ids)] = segment.text
                found.ids.append(self._spec.added_tokens[token].id)
                found.offsets.append((segment.starts[0], segment.ends[-1]))
                found.words.append(word)
                word += 1
            else:
                word = self._encode(segment, word, found)
        return found

    def _segments(self, text: str, enabled: bytes) -> Iterator[tuple[Aligned, int]]:
        """Segments of normalized text, and the place of the added token that each is, or -1."""
        for raw, token in self._cut(Aligned.of(text), enabled, normalized=False):
            if token >= 0:
                yield raw, token
            else:
                yield from self._cut(self._align(raw), enabled, normalized=True)

    def _cut(
        self, aligned: Aligned, enabled: bytes, *, normalized: bool
    ) -> Iterator[tuple[Aligned, int]]:
        data = aligned.text.encode()
        characters = _characters(aligned.text)
        for begin, end, token in self._core.cut(data, enabled, normalized):
            yield aligned.part(characters[begin], characters[end - 1] + 1), token

    def _encode(self, segment: Aligned, word: int, found: Located) -> int:
        """Adds the ids of text without added tokens; returns the number of the next piece."""
        if self._spec.prefix_space and not segment.text.startswith(" "):
            segment = segment.prepended(" ")
        data = segment.text.encode()
        characters = _characters(segment.text)
        starts, ends = segment.starts, segment.ends
        for begin, end in self._split(segment.text):
            ids, spans = self._core.encode_piece_with_offsets(data[begin:end])
            found.ids.extend(ids)
            found.words.extend([word] * len(ids))
            found.offsets.extend(
                (starts[characters[begin + a]], ends[characters[begin + b - 1]]) for a, b in spans
            )
            word += 1
        return word


def _characters(text: str) -> Sequence[int]:
    """The character that each byte of a text belongs to."""
    if text.isascii():
        return range(len(text))
    return [i for i, character in enumerate(text) for _ in character.encode()]


def to_byte_offsets(text: str, offsets: Offsets) -> Offsets:
    """Offsets in characters as offsets in the bytes of the text's UTF-8."""
    if text.isascii():
        return offsets
    begins = [0, *accumulate(len(character.encode()) for character in text)]
    return [(begins[start], begins[end]) for start, end in offsets]
