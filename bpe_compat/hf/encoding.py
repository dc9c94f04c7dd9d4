"""`Encoding`: the ids of one input with all that is known of each.

Has the attributes and methods of `tokenizers.Encoding` that `BatchEncoding` uses, with the same
results (source: tokenizer/encoding.rs of tokenizers 0.23).
"""

from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import Any

__all__ = ["Encoding", "merged"]

Span = tuple[int, int]

_LISTS = (
    "ids", "type_ids", "tokens", "offsets", "attention_mask", "special_tokens_mask", "word_ids",
)  # fmt: skip


class Encoding:
    """Parallel lists, one item per id, and the encodings of what truncation cut off.

    `ranges` says which ids are those of text 0 and of text 1; without it, all are of text 0.
    """

    __slots__ = (*_LISTS, "overflowing", "ranges")

    ids: list[int]
    type_ids: list[int]
    tokens: list[str]
    offsets: list[Span]
    attention_mask: list[int]
    special_tokens_mask: list[int]
    word_ids: list[int | None]

    def __init__(self, *lists: list[Any], ranges: dict[int, range] | None = None) -> None:
        for name, values in zip(_LISTS, lists or [[] for _ in _LISTS], strict=True):
            setattr(self, name, values)
        self.overflowing: list[Encoding] = []
        self.ranges: dict[int, range] = ranges or {}

    @classmethod
    def of_tokens(
        cls,
        ids: list[int],
        tokens: list[str],
        type_id: int,
        words: list[int] | None = None,
        offsets: list[Span] | None = None,
    ) -> "Encoding":
        """The encoding of a text, or of tokens that stand for no text, which have no words."""
        size = len(ids)
        return cls(
            ids,
            [type_id] * size,
            tokens,
            [(0, 0)] * size if offsets is None else offsets,
            [1] * size,
            [int(words is None)] * size,
            [None] * size if words is None else words,
        )

    def __len__(self) -> int:
        return len(self.ids)

    def __repr__(self) -> str:
        names = ", ".join(name for name in _LISTS if name != "word_ids")
        return f"Encoding(num_tokens={len(self)}, attributes=[{names}, overflowing])"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Encoding) and self.__getstate__() == other.__getstate__()

    __hash__ = None  # type: ignore[assignment] # it is changed in place

    def __getstate__(self) -> tuple[Any, ...]:
        return tuple(getattr(self, name) for name in self.__slots__)

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        for name, value in zip(self.__slots__, state, strict=True):
            setattr(self, name, value)

    # What belongs together

    @property
    def words(self) -> list[int | None]:
        """The word of each id."""
        return self.word_ids

    @property
    def n_sequences(self) -> int:
        """How many texts there are: 1 or 2."""
        return len(self.ranges) or 1

    @property
    def sequence_ids(self) -> list[int | None]:
        """The text that each id is of; None for those of none."""
        found: list[int | None] = [None] * len(self)
        for sequence in range(self.n_sequences):
            place = self._range(sequence)
            found[place.start : place.stop] = [sequence] * len(place)
        return found

    def _range(self, sequence: int) -> range:
        return self.ranges.get(sequence, range(len(self)))

    def token_to_sequence(self, token_index: int) -> int | None:
        """The text that a token is of."""
        if token_index > len(self):
            return None
        if not self.ranges:
            return 0
        return next((i for i, place in self.ranges.items() if token_index in place), None)

    def token_to_chars(self, token_index: int) -> Span | None:
        """The characters of its text that a token covers."""
        known = self.token_to_sequence(token_index) is not None and token_index < len(self)
        return self.offsets[token_index] if known else None

    def token_to_word(self, token_index: int) -> int | None:
        """The word of its text that a token belongs to."""
        known = self.token_to_sequence(token_index) is not None and token_index < len(self)
        return self.word_ids[token_index] if known else None

    def char_to_token(self, char_pos: int, sequence_index: int = 0) -> int | None:
        """The first token that covers a character."""
        for token in self._range(sequence_index):
            start, end = self.offsets[token]
            if start <= char_pos < end:
                return token
        return None

    def char_to_word(self, char_pos: int, sequence_index: int = 0) -> int | None:
        """The word that a character belongs to."""
        token = self.char_to_token(char_pos, sequence_index)
        return None if token is None else self.token_to_word(token)

    def word_to_tokens(self, word_index: int, sequence_index: int = 0) -> Span | None:
        """The first token of a word, and the one after its last."""
        # tokenizers stops at the first later word, and takes no word for an earlier one.
        words = ((-1 if self.word_ids[t] is None else self.word_ids[t], t)
                 for t in self._range(sequence_index))  # fmt: skip
        reached: Iterator[Any] = takewhile(lambda pair: pair[0] <= word_index, words)
        tokens = [token for word, token in reached if word == word_index]
        return (tokens[0], tokens[-1] + 1) if tokens else None

    def word_to_chars(self, word_index: int, sequence_index: int = 0) -> Span | None:
        """The characters that a word covers."""
        tokens = self.word_to_tokens(word_index, sequence_index)
        return tokens and (self.offsets[tokens[0]][0], self.offsets[tokens[1] - 1][1])

    # Changes

    def set_sequence(self, sequence: int, type_id: int, overflow_type_id: int) -> None:
        """Makes this, and what was cut off, the encoding of text 0 or 1."""
        for encoding in (self, *self.overflowing):
            encoding.ranges = {sequence: range(len(encoding))}
            encoding.type_ids = [overflow_type_id] * len(encoding)
        self.type_ids = [type_id] * len(self)

    def truncate(self, length: int, stride: int, *, left: bool) -> None:
        """Cuts it to a length; what is cut off becomes encodings that overlap by `stride`.

        A stride must be smaller than the length.
        """
        size = len(self)
        if length >= size:
            return
        if length == 0:
            rest = self._part(range(size))
            rest.ranges, rest.overflowing = self.ranges, self.overflowing
            self.__setstate__(Encoding().__getstate__())
            self.overflowing = [rest]
            return
        first, *others = (self._part(place) for place in _windows(size, length, stride, left))
        self.__setstate__(first.__getstate__())
        self.overflowing = others

    def _part(self, place: range) -> "Encoding":
        return Encoding(*(getattr(self, name)[place.start : place.stop] for name in _LISTS))

    def pad(self, length: int, id: int, token: str, type_id: int, *, left: bool) -> None:
        """Fills it, and what was cut off, up to a length."""
        for encoding in self.overflowing:
            encoding.pad(length, id, token, type_id, left=left)
        missing = length - len(self)
        if missing <= 0:
            return
        fillers: tuple[Any, ...] = (id, type_id, token, (0, 0), 0, 1, None)
        for name, filler in zip(_LISTS, fillers, strict=True):
            values, more = getattr(self, name), [filler] * missing
            setattr(self, name, more + values if left else values + more)
        if left:
            self.ranges = {i: _moved(place, missing) for i, place in self.ranges.items()}

    def followed_by(self, other: "Encoding") -> "Encoding":
        """Both in one; every part that was cut off is combined with every part of the other."""
        whole = self._joined(other)
        for mine in self.overflowing:
            whole.overflowing.append(mine._joined(other))
            whole.overflowing += [mine._joined(theirs) for theirs in other.overflowing]
        whole.overflowing += [self._joined(theirs) for theirs in other.overflowing]
        return whole

    def _joined(self, other: "Encoding") -> "Encoding":
        whole = Encoding(*(getattr(self, name) + getattr(other, name) for name in _LISTS))
        moved = {i: _moved(place, len(self)) for i, place in other.ranges.items()}
        whole.ranges = self.ranges | moved
        return whole


def merged(encodings: Sequence[Encoding]) -> Encoding:
    """Encodings one after the other."""
    whole = Encoding()
    if any(encoding.overflowing for encoding in encodings):
        for encoding in encodings:
            whole = whole.followed_by(encoding)
        return whole
    for encoding in encodings:
        whole.ranges |= {i: _moved(place, len(whole)) for i, place in encoding.ranges.items()}
        for name in _LISTS:
            getattr(whole, name).extend(getattr(encoding, name))
    return whole


def _moved(place: range, by: int) -> range:
    return range(place.start + by, place.stop + by)


def _windows(size: int, length: int, stride: int, left: bool) -> list[range]:
    """Windows of a length over `size` ids that overlap by `stride`, from the end that is kept."""
    windows = []
    for at in range(0, size, length - stride):
        begin, end = (
            (max(0, size - at - length), size - at) if left else (at, min(at + length, size))
        )
        windows.append(range(begin, end))
        if begin == 0 if left else end == size:
            break
    return windows
