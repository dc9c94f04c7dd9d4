"""A tree written in either dialect.

A set keeps the spelling of its source where that means the same, and is spelled from its members
where not: by categories and ranges, on which the dialects agree.
"""

import functools

import numpy as np
import numpy.typing as npt

from .. import _core
from ..errors import BPECompatError
from . import codepoints
from .characters import Dialect, word
from .codepoints import Mask
from .parser import parse
from .tree import Anchor, AnchorKind, Atomic, Chars, Choice, Look, Node, Repeat, Sequence

__all__ = ["braces", "emit", "escape", "opening", "translate"]

_ANCHORS: dict[Dialect, dict[AnchorKind, str]] = {
    "tiktoken": {
        "start": r"\A",
        "end": r"\z",
        "last_line_end": r"\Z",
        "line_start": "(?m:^)",
        "line_end": "(?m:$)",
        "inner_line_start": r"(?:\A|(?m:^)(?!\z))",
    },
    "oniguruma": {
        "start": r"\A",
        "end": r"\z",
        "last_line_end": r"\Z",
        "line_start": r"(?:\A|(?<=\n))",
        "line_end": "$",
        "inner_line_start": "^",
    },
}
_SPELLED_OUT = parse(_ANCHORS["tiktoken"]["inner_line_start"], "tiktoken")
_CONTROLS = {"\n": r"\n", "\t": r"\t", "\r": r"\r", "\f": r"\f", "\v": r"\v"}
# What to spell sets with, the larger first.
_CATEGORIES = ("L", "M", "N", "P", "S", "Z", "C", *_core.category_names().split())


def translate(text: str, source: Dialect, target: Dialect) -> str:
    """A regex in another dialect; the same text where that means the same there."""
    tree = parse(text, source)
    try:
        if parse(text, target) == tree:
            return text
    except BPECompatError:
        pass
    return emit(tree, target)


def emit(node: Node, dialect: Dialect) -> str:
    """The regex of a tree."""
    match node:
        case Chars():
            return _chars(node, dialect)
        case Anchor():
            return _ANCHORS[dialect][node.kind]
        case Sequence():
            return "".join(
                f"(?:{emit(item, dialect)})" if isinstance(item, Choice) else emit(item, dialect)
                for item in node.items
            )
        case Choice():
            if node == _SPELLED_OUT and dialect == "oniguruma":
                return "^"
            return "|".join(emit(item, dialect) for item in node.items)
        case Repeat():
            return _repeat(node, dialect)
        case Atomic():
            return f"(?>{emit(node.item, dialect)})"
        case Look():
            return f"{opening(node)}{emit(node.item, dialect)})"


def opening(look: Look) -> str:
    """How a look ahead or behind begins, the same in all dialects."""
    return f"(?{'<' if look.behind else ''}{'!' if look.negative else '='}"


def braces(node: Repeat) -> str:
    """The bounds of a repetition, the same in all dialects."""
    simple = {(0, None): "*", (1, None): "+", (0, 1): "?"}.get((node.low, node.high))
    if simple:
        return simple
    if node.low == node.high:
        return f"{{{node.low}}}"
    return f"{{{node.low},{'' if node.high is None else node.high}}}"


def _repeat(node: Repeat, dialect: Dialect) -> str:
    inside = emit(node.item, dialect)
    item = inside if isinstance(node.item, Chars) else f"(?:{inside})"
    bounds = braces(node)
    if node.mode == "possessive" and dialect == "oniguruma" and bounds.endswith("}"):
        return f"(?>{item}{bounds})"
    return item + bounds + {"greedy": "", "lazy": "?", "possessive": "+"}[node.mode]


def escape(text: str) -> str:
    """A regex that matches this text in every dialect.

    >>> escape("<|x|>")
    '<\\\\|x\\\\|>'
    """
    return "".join(f"\\{c}" if c in r"\.+*?()|[]{}^$#&-~" else c for c in text)


def _chars(node: Chars, dialect: Dialect) -> str:
    if node.text and _means(node.text, dialect) == node:
        return node.text
    for text in (r"\w", r"[\w]", r"\W", r"[^\w]"):
        if _means(text, dialect) == node:
            return text
    if node.members == (0,):
        return r"[\s\S]"
    if node.members[1:] == (node.members[0] + 1,):
        return _one(node.members[0])
    return _bracketed(node.members, dialect)


def _means(text: str, dialect: Dialect) -> Node | None:
    try:
        return parse(text, dialect)
    except BPECompatError:
        return None


def _bracketed(members: codepoints.Set, dialect: Dialect) -> str:
    """A class of these members, the shorter of two."""
    points = np.union1d(_changes(), np.array(members))
    held = np.searchsorted(members, points, "right") % 2 == 1
    inside, outside = (_items(points, side, dialect) for side in (held, ~held))
    return f"[{inside}]" if len(inside) <= len(outside) + 1 else f"[^{outside}]"


def _items(points: npt.NDArray[np.intp], held: Mask, dialect: Dialect) -> str:
    r"""The inside of a class: `\w`, categories, then what is left as ranges.

    `held` says of the code points from each of `points` to the next whether they are members.
    """
    out = []
    left = held & ~_mask_of("Cs")[points]  # no text holds a surrogate
    for text, members in (*_words(dialect), *_properties()):
        whole = members[points]
        if left[whole].any() and held[whole].all():
            out.append(text)
            left &= ~whole
    ends = points[np.flatnonzero(np.diff(left, prepend=False))].tolist()
    ends += [codepoints.SIZE] * (len(ends) % 2)
    for first, end in zip(ends[::2], ends[1::2], strict=True):
        out.append(_one(first))
        if end - first > 1:
            out.append(("-" if end - first > 2 else "") + _one(end - 1))
    return "".join(out)


@functools.cache
def _changes() -> npt.NDArray[np.intp]:
    """The code points at which what `_items` spells with begins or ends."""
    masks = [members for _, members in (*_words("tiktoken"), *_words("oniguruma"), *_properties())]
    changed = [np.flatnonzero(np.diff(members, prepend=False)) for members in masks]
    return np.unique(np.concatenate([[0, 0xD800, 0xE000], *changed]))


@functools.cache
def _words(dialect: Dialect) -> list[tuple[str, Mask]]:
    r"""What `\w` is in brackets; for tiktoken also what it is for Oniguruma."""
    words = [(r"\w", word(dialect, bracketed=True))]
    if dialect == "tiktoken":
        words.append((r"[\w--[\x{200C}\x{200D}]]", word("oniguruma", bracketed=True)))
    return words


@functools.cache
def _properties() -> list[tuple[str, Mask]]:
    surrogates = _mask_of("Cs")
    return [(rf"\p{{{name}}}", _mask_of(name) & ~surrogates) for name in _CATEGORIES]


def _mask_of(name: str) -> Mask:
    found = codepoints.property_mask(name)
    assert found is not None
    return found


def _one(code: int) -> str:
    """A character, in brackets and outside."""
    character = chr(code)
    if character in _CONTROLS:
        return _CONTROLS[character]
    if 0x20 <= code < 0x7F or character.isalnum():
        return escape(character)
    return f"\\x{{{code:X}}}"
