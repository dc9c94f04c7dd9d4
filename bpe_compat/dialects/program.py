"""A tree compiled for the native matcher: instructions, sets of letters, letters of characters.

`native/scan/regex.h` says what the instructions do; the numbers here are its order.
"""

import functools
from collections.abc import Sequence as Items
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from .. import _core
from . import codepoints
from .matching import reduced, sets_of
from .parser import parse
from .tree import Anchor, Atomic, Chars, Choice, Look, Node, Repeat, Sequence, nullable, width

__all__ = ["Program", "compiled", "literal", "program"]

_MOST_LETTERS = 256
_MOST_INSTRUCTIONS = 1 << 15


class _Op(IntEnum):
    ACCEPT = 0
    SET = 1
    RUN = 2
    SPLIT = 3
    JUMP = 4
    GUARD = 5
    ATOMIC = 6
    LOOK = 7
    BACK = 8
    ANCHOR = 9


_ANCHORS = ("start", "end", "last_line_end", "line_start", "line_end", "inner_line_start")
_MODES = ("greedy", "lazy", "possessive")


@dataclass(frozen=True, slots=True)
class Program:
    """What `_core.Regex` is made from; `sets` and `letters` as it takes them."""

    code: NDArray[np.int32]
    sets: bytes
    letters: bytes
    first: int


def program(text: str) -> Program | None:
    """A regex of tiktoken's dialect for the native matcher; None for what that cannot run.

    It cannot run a regex that may match the empty text, or one of very many sets or repetitions.
    Raises as `parse`.
    """
    tree = parse(text, "tiktoken")
    if nullable(tree):
        return None
    sets = sets_of(tree)
    letters, holders = reduced(sets)
    if holders.shape[1] > _MOST_LETTERS:
        return None
    compiler = _Compiler(dict(zip(sets, holders, strict=True)))
    try:
        compiler.add(tree)
    except _TooLongError:
        return None
    compiler.emit(_Op.ACCEPT)
    first = compiler.number(compiler.first(tree))
    masks = np.zeros((len(compiler.sets), _MOST_LETTERS), bool)
    for held, number in compiler.sets.items():
        masks[number, list(held)] = True
    return Program(
        np.array(compiler.code, np.int32),
        np.packbits(masks, axis=1, bitorder="little").tobytes(),
        letters.astype(np.uint8).tobytes(),
        first,
    )


@functools.lru_cache(maxsize=64)
def compiled(text: str) -> _core.Regex | None:
    """The native matcher of a regex of tiktoken's dialect; None and errors as `program`."""
    found = program(text)
    if found is None:
        return None
    return _core.Regex(found.code, found.sets, found.letters, found.first)


def literal(text: str) -> str | None:
    """The one text that a regex of tiktoken's dialect matches, if it is only that.

    >>> literal(r"a\\\\.b"), literal("a+")
    ('a.b', None)
    """
    tree = parse(text, "tiktoken")
    items = tree.items if isinstance(tree, Sequence) else (tree,)
    characters = []
    for item in items:
        if not isinstance(item, Chars):
            return None
        first = item.members[0]
        if item.members != codepoints.set_of_one(chr(first)):
            return None
        characters.append(chr(first))
    return "".join(characters) or None


class _TooLongError(Exception):
    """The program would be longer than the matcher takes."""


_Letters = frozenset[int]


class _Compiler:
    """Appends instructions; a set is a frozen set of letters, known by its number."""

    def __init__(self, letters: dict[codepoints.Set, Items[bool]]) -> None:
        self.letters = {
            members: frozenset(np.flatnonzero(held).tolist()) for members, held in letters.items()
        }
        self.code: list[int] = []
        self.sets: dict[_Letters, int] = {}

    def number(self, letters: _Letters) -> int:
        return self.sets.setdefault(letters, len(self.sets))

    def emit(self, *numbers: int) -> int:
        """Appends an instruction and returns where its last argument stands."""
        self.code += numbers
        if len(self.code) > _MOST_INSTRUCTIONS:
            raise _TooLongError
        return len(self.code) - 1

    def set_here(self, *places: int) -> None:
        """Fills in the end of the code as a target."""
        for place in places:
            self.code[place] = len(self.code)

    def first(self, node: Node) -> _Letters:
        """At least the letters with which a match begins that takes a character."""
        match node:
            case Chars():
                return self.letters[node.members]
            case Anchor() | Look():
                return frozenset()
            case Choice():
                return frozenset().union(*map(self.first, node.items))
            case Repeat() | Atomic():
                return self.first(node.item)
            case Sequence():
                found: _Letters = frozenset()
                for item in node.items:
                    found |= self.first(item)
                    if not nullable(item):
                        break
                return found

    def add(self, node: Node) -> None:
        match node:
            case Chars():
                self.emit(_Op.SET, self.number(self.letters[node.members]))
            case Anchor():
                self.emit(_Op.ANCHOR, _ANCHORS.index(node.kind))
            case Sequence():
                for item in node.items:
                    self.add(item)
            case Choice():
                self._choice(node.items)
            case Repeat():
                self._repeat(node)
            case Atomic():
                self._part(node.item, _Op.ATOMIC)
            case Look():
                self._part(node.item, _Op.LOOK, int(node.negative), behind=node.behind)

    def _choice(self, items: tuple[Node, ...]) -> None:
        ends = []
        for item in items[:-1]:
            others = [] if nullable(item) else [self._guard(item)]
            others.append(self.emit(_Op.SPLIT, -1))
            self.add(item)
            ends.append(self.emit(_Op.JUMP, -1))
            self.set_here(*others)
        self.add(items[-1])
        self.set_here(*ends)

    def _guard(self, item: Node) -> int:
        return self.emit(_Op.GUARD, self.number(self.first(item)), -1)

    def _part(self, item: Node, *head: int, behind: bool = False) -> None:
        """A part of its own, its end as the last argument."""
        end = self.emit(*head, -1)
        if behind:
            self._behind(item.items if isinstance(item, Choice) else (item,))
        else:
            self.add(item)
        self.emit(_Op.ACCEPT)
        self.set_here(end)

    def _behind(self, branches: tuple[Node, ...]) -> None:
        ends = []
        for branch in branches:
            other = self.emit(_Op.SPLIT, -1) if branch is not branches[-1] else None
            self.emit(_Op.BACK, width(branch) or 0)
            self.add(branch)
            if other is not None:
                ends.append(self.emit(_Op.JUMP, -1))
                self.set_here(other)
        self.set_here(*ends)

    def _repeat(self, node: Repeat) -> None:
        high = -1 if node.high is None else node.high
        if isinstance(node.item, Chars):
            number = self.number(self.letters[node.item.members])
            self.emit(_Op.RUN, number, node.low, high, _MODES.index(node.mode))
        elif node.mode == "possessive":
            self._part(Repeat(node.item, node.low, node.high, "greedy"), _Op.ATOMIC)
        else:
            for _ in range(node.low):
                self.add(node.item)
            self._optional(node)

    def _optional(self, node: Repeat) -> None:
        """What a repetition may take beyond its least number."""
        ends: list[int] = []
        lazy = node.mode == "lazy"
        if node.high is None:
            start = len(self.code)
            self._maybe(lazy, ends)
            self.add(node.item)
            self.emit(_Op.JUMP, start)
        else:
            for _ in range(node.high - node.low):
                self._maybe(lazy, ends)
                self.add(node.item)
        self.set_here(*ends)

    def _maybe(self, lazy: bool, ends: list[int]) -> None:
        """Goes on behind or at an end: behind first, unless lazy."""
        place = self.emit(_Op.SPLIT, -1)
        if lazy:
            ends.append(self.emit(_Op.JUMP, -1))
            self.set_here(place)
        else:
            ends.append(place)
