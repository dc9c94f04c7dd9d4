"""What a regex means, whatever dialect spells it: a tree, and questions about it.

Flags are resolved: a `Chars` holds every character that matches there, in any case. Groups that
only bracket or capture leave no node, since nothing refers to them.
"""

from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from . import codepoints
from .codepoints import Mask, Set

__all__ = [
    "Anchor",
    "Atomic",
    "Chars",
    "Choice",
    "Look",
    "Node",
    "Repeat",
    "Sequence",
    "nullable",
    "surely_started",
    "width",
]

AnchorKind = Literal[
    "start",  # of the text
    "end",  # of the text
    "last_line_end",  # the end of the text, or before a newline there
    "line_start",  # the start of the text, or after a newline
    "line_end",  # the end of the text, or before a newline
    "inner_line_start",  # the start of the text, or after a newline that is not its end
]
Mode = Literal["greedy", "lazy", "possessive"]


@dataclass(frozen=True, slots=True)
class Chars:
    """One character of a set; `text` is how the source spells it.

    `folded` marks a single character of Oniguruma's that matches in any case.
    """

    members: Set
    text: str = field(default="", compare=False)
    folded: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True)
class Anchor:
    """A condition on the place."""

    kind: AnchorKind


@dataclass(frozen=True, slots=True)
class Sequence:
    """One after the other."""

    items: tuple["Node", ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """The first of these that lets the rest match."""

    items: tuple["Node", ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    """At least `low` and at most `high` times; None is no limit."""

    item: "Node"
    low: int
    high: int | None
    mode: Mode


@dataclass(frozen=True, slots=True)
class Atomic:
    """Matches its first way or not at all."""

    item: "Node"


@dataclass(frozen=True, slots=True)
class Look:
    """What stands, or does not stand, ahead or behind."""

    item: "Node"
    behind: bool
    negative: bool


Node = Chars | Anchor | Sequence | Choice | Repeat | Atomic | Look


def nullable(node: Node) -> bool:
    """Whether it can match without taking a character."""
    match node:
        case Chars():
            return False
        case Anchor() | Look():
            return True
        case Sequence():
            return all(map(nullable, node.items))
        case Choice():
            return any(map(nullable, node.items))
        case Repeat():
            return node.low == 0 or nullable(node.item)
        case Atomic():
            return nullable(node.item)


def width(node: Node) -> int | None:
    """How many characters it takes, if always as many and if it looks at nothing else."""
    match node:
        case Chars():
            return 1
        case Anchor() | Look():
            return None
        case Sequence():
            widths = [width(item) for item in node.items]
            return None if None in widths else sum(w for w in widths if w is not None)
        case Choice():
            found = {width(item) for item in node.items}
            return found.pop() if len(found) == 1 else None
        case Repeat():
            one = width(node.item)
            return one * node.low if one is not None and node.low == node.high else None
        case Atomic():
            return width(node.item)


def surely_started(node: Node) -> Mask:
    """Characters at which it matches at least one character, whatever follows and precedes.

    A lower bound: the union over alternatives `x?yz*`, in which y alone is needed.
    """
    match node:
        case Chars():
            return codepoints.mask(node.members)
        case Choice():
            started: Mask = np.logical_or.reduce([surely_started(item) for item in node.items])
            return started
        case Repeat() if node.low == 1:
            return surely_started(node.item)
        case Sequence():
            return _surely_started_sequence(node)
        case Atomic():
            return surely_started(node.item)
    return np.zeros(codepoints.SIZE, bool)


def _surely_started_sequence(node: Sequence) -> Mask:
    needed = [i for i, item in enumerate(node.items) if not _skipped(item)]
    if len(needed) != 1:
        return np.zeros(codepoints.SIZE, bool)
    found = surely_started(node.items[needed[0]])
    for item in node.items[: needed[0]]:
        # What was taken possessively is not given back.
        if isinstance(item, Repeat) and item.mode == "possessive":
            found &= ~_first(item.item)
    return found


def _skipped(node: Node) -> bool:
    """Whether it can match nothing, at any place."""
    return isinstance(node, Repeat) and node.low == 0


def _first(node: Node) -> Mask:
    """Characters with which a match may begin; all of them if that is not plain."""
    if isinstance(node, Chars):
        return codepoints.mask(node.members)
    return np.ones(codepoints.SIZE, bool)
