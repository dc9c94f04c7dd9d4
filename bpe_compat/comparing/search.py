"""The first text on which two tokenizers differ, made as short as it gets."""

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from ..plan import native_plan
from ..tokenizer import Tokenizer
from .alphabet import simplicity
from .candidates import Stage, code_points, short_texts

__all__ = ["Difference", "Search"]

Specials = Literal["text", "encode"]
Ids = list[int] | None

_BATCH = 50_000
_SLOWER_IN_PYTHON = 80


@dataclass(frozen=True, slots=True)
class Difference:
    """A text, how special tokens in it were taken, and the ids of both; None for an error."""

    text: str
    specials: Specials
    ids: tuple[Ids, Ids]


class Search:
    """Encodes texts with both tokenizers and counts them, about `most` of each kind."""

    def __init__(self, a: Tokenizer, b: Tokenizer, most: int) -> None:
        self.pair = a, b
        special = a.special_tokens_set | b.special_tokens_set
        self.modes: tuple[Specials, ...] = ("text", "encode") if special else ("text",)
        slow = any(native_plan(tok.spec) is None for tok in self.pair)
        self.most = max(1, most // _SLOWER_IN_PYTHON if slow else most)
        self.rewrites = a.spec.normalizers != b.spec.normalizers
        self.tried: list[tuple[str, int]] = []

    def run(self, stages: Iterable[Stage], alphabet: str) -> Difference | None:
        """The shortest difference that the stages lead to, if there is one."""
        for kind, texts in stages:
            found = self._first_of(kind, iter(texts))
            if found:
                text, mode = found
                return self._difference(self._shortest(self._shrunk(text, mode), mode, alphabet))
        return None

    def _first_of(self, kind: str, texts: Iterator[str]) -> tuple[str, Specials] | None:
        count = 0
        while batch := list(itertools.islice(texts, _BATCH)):
            count += len(batch)
            for mode in self.modes:
                place = self._first(batch, mode)
                if place is not None:
                    return batch[place], mode
        self.tried.append((kind, count))
        return None

    def _first(self, texts: Sequence[str], mode: Specials) -> int | None:
        """The place of the first text that differs."""
        try:
            a, b = (tok.encode_arrays(texts, specials=mode, threads=1) for tok in self.pair)
        except ValueError:  # a byte without a token in one of the texts
            return self._first_by_halves(texts, mode)
        if len(a.ids) == len(b.ids) and (a.ids == b.ids).all():
            moved = np.flatnonzero(a.offsets != b.offsets)
            return int(moved[0]) - 1 if len(moved) else None
        shared = min(len(a.ids), len(b.ids))
        other = np.flatnonzero(a.ids[:shared] != b.ids[:shared])
        first = int(other[0]) if len(other) else shared
        # Up to that id all are the same, so the text is the first that either ends or holds it.
        places = [int(np.searchsorted(x.offsets[1:], first, "right")) for x in (a, b)]
        moved = np.flatnonzero(a.offsets != b.offsets)[:1] - 1
        return int(min([*places, *moved.tolist()]))

    def _first_by_halves(self, texts: Sequence[str], mode: Specials) -> int | None:
        if len(texts) == 1:
            ids = self._ids(texts[0], mode)
            return 0 if ids[0] != ids[1] else None
        middle = len(texts) // 2
        place = self._first(texts[:middle], mode)
        if place is not None:
            return place
        place = self._first(texts[middle:], mode)
        return None if place is None else middle + place

    def _ids(self, text: str, mode: Specials) -> tuple[Ids, Ids]:
        found: list[Ids] = []
        for tok in self.pair:
            try:
                found.append(tok.encode_arrays([text], specials=mode, threads=1).ids.tolist())
            except ValueError:
                found.append(None)
        return found[0], found[1]

    def _difference(self, found: tuple[str, Specials]) -> Difference:
        return Difference(*found, self._ids(*found))

    def _shrunk(self, text: str, mode: Specials) -> str:
        """A text that differs, of which no character can be left out or made simpler."""
        for step in itertools.cycle((_without_parts, _simpler)):
            shorter = self._steps(text, mode, step)
            if shorter == text and step is _simpler:
                return text
            text = shorter
        return text

    def _steps(self, text: str, mode: Specials, step: Callable[[str], list[str]]) -> str:
        while True:
            candidates = step(text)
            place = self._first(candidates, mode) if candidates else None
            if place is None:
                return text
            text = candidates[place]

    def _shortest(self, text: str, mode: Specials, alphabet: str) -> tuple[str, Specials]:
        """The same, or a shorter one of its characters and others, as far as these are few."""
        if self.rewrites and len(text) > 1:  # any one character may be rewritten
            found = self._first_of("", map(chr, code_points(4 * self.most)))
            if found:
                return found
        letters = "".join(dict.fromkeys(text + alphabet))
        for length in range(1, len(text)):
            if len(set(text)) ** length > self.most:
                break
            found = self._first_of("", short_texts(letters, length, self.most))
            if found:
                return self._shrunk(*found), found[1]
        return text, mode


def _without_parts(text: str) -> list[str]:
    """The text without a part of it: half of it, and less and less down to one character."""
    found: dict[str, None] = {}
    size = len(text) // 2
    while size:
        for at in range(0, len(text) - size + 1, max(1, size // 2)):
            found[text[:at] + text[at + size :]] = None
        size //= 2
    found.pop("", None)
    return list(found)


def _simpler(text: str) -> list[str]:
    """The text with one character replaced by a simpler one."""
    found = []
    for at, character in enumerate(text):
        for other in "ab \n1A!":
            if simplicity(other) < simplicity(character):
                found.append(text[:at] + other + text[at + 1 :])
    return found
