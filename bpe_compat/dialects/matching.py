"""Running a tree: Python's `regex` on texts reduced to the characters that a regex tells apart.

Every code point becomes a letter for the sets that hold it, so `regex` sees a few letters and no
property, flag or class of its own, and neither its Unicode version nor its dialect plays a part.
"""

import functools
import time
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from ..errors import FormatError, UnsupportedError
from . import codepoints
from .parser import parse
from .tree import Anchor, Atomic, Chars, Choice, Look, Node, Repeat, Sequence, nullable
from .writer import braces, opening

__all__ = ["Matcher", "matcher", "reduced", "sets_of"]

# A search that takes longer backtracks without end: 100 times the time that patterns need.
_SECONDS, _CHARACTERS_A_SECOND = 20.0, 10_000

_MOST_SETS = 1000

_ANCHORS = {
    "start": r"\A",
    "end": r"\Z",
    "last_line_end": r"(?={n}?\Z)",
    "line_start": r"(?:\A|(?<={n}))",
    "line_end": r"(?=\Z|{n})",
    "inner_line_start": r"(?:\A|(?<={n})(?!\Z))",
}


@functools.lru_cache(maxsize=64)
def matcher(text: str) -> "Matcher":
    """A regex of tiktoken's dialect, ready to run; raises as `parse`."""
    return Matcher(text)


class Matcher:
    """Finds the matches of a regex as tiktoken and tokenizers step through a text."""

    def __init__(self, text: str, seconds: float = _SECONDS) -> None:
        import regex  # slow to import, and most patterns have native scanners

        self.text = text
        self._seconds = seconds
        tree = parse(text, "tiktoken")
        self._may_be_empty = nullable(tree)
        newline = codepoints.set_of(codepoints.of("\n"))
        sets = list(dict.fromkeys([newline, *sets_of(tree)]))
        if len(sets) > _MOST_SETS:
            raise UnsupportedError(
                f"the regex {text[:200]!r} tells more than {_MOST_SETS} sets of characters apart"
            )
        self._letters, holders = reduced(sets)
        self._classes = {members: _class(holders[i]) for i, members in enumerate(sets)}
        self._newline = self._classes[newline]
        try:
            self._compiled = regex.compile(self._emitted(tree))
        except (regex.error, RecursionError, OverflowError) as error:
            raise FormatError(f"{text!r} is not a valid regular expression: {error}") from error

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Where each match starts and ends.

        An empty match right after a match does not count; after any other the search goes on one
        character later. Raises `UnsupportedError` if the search does not come to an end.
        """
        letters = self._reduced(text)
        seconds = self._seconds + len(text) / _CHARACTERS_A_SECOND
        try:
            if self._may_be_empty:
                yield from self._stepping(letters, time.monotonic() + seconds)
            else:
                for match in self._compiled.finditer(letters, timeout=seconds):
                    yield match.span()
        except TimeoutError:
            raise UnsupportedError(
                f"the split pattern {self.text!r} backtracks without end on a text of {len(text)} "
                f"characters: given up after {seconds:.3g} seconds"
            ) from None

    def _stepping(self, letters: str, deadline: float) -> Iterator[tuple[int, int]]:
        at, last = 0, -1
        while at <= len(letters):
            left = max(deadline - time.monotonic(), 1e-3)
            match = self._compiled.search(letters, at, timeout=left)
            if match is None:
                return
            start, end = match.span()
            if start == end == last:
                at += 1
                continue
            yield start, end
            at = last = end

    def _reduced(self, text: str) -> str:
        letters = self._letters[_code_points(text)]
        if letters.dtype == np.uint8:
            return str(letters.tobytes(), "latin-1")
        return str(letters.astype("<u4").tobytes(), "utf-32-le")

    def _emitted(self, node: Node) -> str:
        match node:
            case Chars():
                return self._classes[node.members]
            case Anchor():
                return _ANCHORS[node.kind].replace("{n}", self._newline)
            case Sequence():
                parts = [(item, self._emitted(item)) for item in node.items]
                return "".join(f"(?:{t})" if isinstance(i, Choice) else t for i, t in parts)
            case Choice():
                return "|".join(map(self._emitted, node.items))
            case Repeat():
                return self._repeat(node)
            case Atomic():
                return f"(?>{self._emitted(node.item)})"
            case Look():
                return f"{opening(node)}{self._emitted(node.item)})"

    def _repeat(self, node: Repeat) -> str:
        inside = self._emitted(node.item)
        if isinstance(node.item, Chars):
            suffix = {"greedy": "", "lazy": "?", "possessive": "+"}[node.mode]
            return inside + braces(node) + suffix
        if node.mode == "possessive":  # `regex` takes (?:x){1}+ for x, which may backtrack
            return f"(?>(?:{inside}){braces(node)})"
        return f"(?:{inside}){braces(node)}{'?' if node.mode == 'lazy' else ''}"


def sets_of(node: Node) -> list[codepoints.Set]:
    """The sets of a tree, each once."""
    return list(dict.fromkeys(_sets(node)))


def _sets(node: Node) -> Iterator[codepoints.Set]:
    match node:
        case Chars():
            yield node.members
        case Sequence() | Choice():
            for item in node.items:
                yield from _sets(item)
        case Repeat() | Atomic() | Look():
            yield from _sets(node.item)


def reduced(
    sets: list[codepoints.Set],
) -> tuple[npt.NDArray[np.uint8 | np.uint16], npt.NDArray[np.bool_]]:
    """The letter of each code point, and which letters each set holds (sets by letters)."""
    bounds = sorted({0, *(bound for members in sets for bound in members)})
    # A code point is in a set if the changes up to it are odd in number.
    held = np.array([np.searchsorted(members, bounds, "right") % 2 == 1 for members in sets])
    kinds, letters = np.unique(held, axis=1, return_inverse=True)
    small = np.uint8 if kinds.shape[1] <= 256 else np.uint16
    sizes = np.diff([*bounds, codepoints.SIZE])
    return np.repeat(letters.reshape(-1).astype(small), sizes), kinds


def _class(held: npt.NDArray[np.bool_]) -> str:
    letters = [f"\\u{letter:04X}" for letter in np.flatnonzero(held)]
    return letters[0] if len(letters) == 1 else f"[{''.join(letters)}]"


def _code_points(text: str) -> npt.NDArray[np.uint32]:
    """The code points of a text; half a surrogate pair counts as unassigned, like a stray byte."""
    try:
        return np.frombuffer(text.encode("utf-32-le"), "<u4")
    except UnicodeEncodeError:
        codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4")
        return np.where((codes >= 0xD800) & (codes < 0xE000), np.uint32(0x10FFFF), codes)
