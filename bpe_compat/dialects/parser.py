"""Both dialects read into one tree; what would not mean the same everywhere is refused."""

import functools
import re
from collections.abc import Iterable
from itertools import pairwise

from ..errors import UnsupportedError
from . import codepoints
from .characters import Dialect, Reader, changes_length, long_folding_starts, word
from .tree import Anchor, Atomic, Chars, Choice, Look, Mode, Node, Repeat, Sequence, nullable, width

__all__ = ["parse"]

_LONGEST = 20_000
_DEEPEST = 100
_MOST_REPETITIONS = 10_000

_FLAGS = r"\(\?([a-zA-Z]*)(?:-([a-zA-Z]*))?([:)])"
_INTERVAL = r"\{([0-9]*)(?:(,)([0-9]*))?\}"
_NAMES: dict[Dialect, str] = {
    "tiktoken": r"(?a)\(\?P?<[A-Za-z_]\w*>",
    "oniguruma": r"(?a)\(\?<[A-Za-z_]\w*>",
}
_LOOKS = {"(?=": (False, False), "(?!": (False, True), "(?<=": (True, False), "(?<!": (True, True)}
# The letters of a dialect: i, the dot matches newlines, ^ and $ match at lines.
_LETTERS: dict[Dialect, dict[str, str]] = {
    "tiktoken": {"i": "i", "s": "s", "m": "m"},
    "oniguruma": {"i": "i", "m": "s"},
}

Flags = frozenset[str]


@functools.lru_cache(maxsize=512)
def parse(text: str, dialect: Dialect) -> Node:
    """The tree of a regex.

    Raises `FormatError` for what is no regex and `UnsupportedError` for what is not supported.
    """
    if len(text) > _LONGEST:
        raise UnsupportedError(f"the regex {text[:100]!r}… is longer than {_LONGEST} characters")
    parser = _Parser(text, dialect)
    tree = parser.choice(frozenset(), 0)
    if not parser.ended:
        raise parser.invalid("a ) without its (")
    return tree


class _Parser(Reader):
    """Recursive descent, one method for each level of precedence."""

    def __init__(self, text: str, dialect: Dialect) -> None:
        super().__init__(text, dialect)
        self.repetitions = 1

    def choice(self, flags: Flags, depth: int, *, leaks: bool = False) -> Node:
        """Alternatives up to the closing parenthesis or the end.

        Flags set inside a group that `leaks` go on behind it in tiktoken.
        """
        if depth > _DEEPEST:
            raise self.invalid(f"groups nested deeper than {_DEEPEST}")
        branches: list[list[Node]] = [[]]
        while not self.ended and not self.ahead(")"):
            if self.skip("|"):
                branches.append([])
                continue
            changed = re.compile(_FLAGS).match(self.text, self.at)
            if not changed or changed[3] == ":":
                branches[-1].append(self._quantified(flags, depth))
                continue
            if leaks and self.dialect == "tiktoken":
                raise self.unsupported("flags in a group other than (?:")
            flags = self._changed(flags, changed)
            if self.dialect == "oniguruma":  # the rest of the group is a group of its own
                branches[-1].append(self.choice(flags, depth + 1))
        return self._joined(branches)

    def _joined(self, branches: list[list[Node]]) -> Node:
        sequences = [_sequence(branch) for branch in branches]
        if self.dialect == "oniguruma":
            for branch in branches:
                self._check_folding(branch)
        return sequences[0] if len(sequences) == 1 else Choice(tuple(sequences))

    def _changed(self, flags: Flags, found: re.Match[str]) -> Flags:
        """The flags after `(?i-s)` and the like, which is taken."""
        letters = _LETTERS[self.dialect]
        on, off = found[1], found[2]
        if unknown := (set(on) | set(off or "")) - set(letters):
            raise self.unsupported(f"the flag {min(unknown)}")
        if not on and not off and found[3] == ")":
            raise self.unsupported(found[0])
        if off == "" or set(on) & set(off or ""):
            raise self.unsupported(found[0])
        self.at = found.end()
        return (flags | {letters[c] for c in on}) - {letters[c] for c in off or ""}

    def _quantified(self, flags: Flags, depth: int) -> Node:
        start = self.at
        others, self.repetitions = self.repetitions, 1
        node = self._atom(flags, depth)
        if quantifier := self._quantifier():
            low, high, mode = quantifier
            node = self._repeated(node, low, high, mode, start)
            if self.dialect == "oniguruma" and self.text[self.at - 1] == "}":
                # The suffix of an interval is a quantifier of its own.
                if self.skip("+"):
                    node = self._repeated(node, 1, None, "greedy", start)
                elif low == high and self.skip("?"):
                    node = self._repeated(node, 0, 1, "greedy", start)
            if self._quantifier():
                raise self.unsupported("a quantifier after a quantifier", start)
        self.repetitions = max(others, self.repetitions)
        return node

    def _quantifier(self) -> tuple[int, int | None, Mode] | None:
        """The bounds and the mode of a quantifier, if one follows."""
        if self.ended:
            return None
        if simple := {"*": (0, None), "+": (1, None), "?": (0, 1)}.get(self.text[self.at]):
            self.at += 1
            return (*simple, self._mode())
        if not self.ahead("{"):
            return None
        start = self.at
        found = self.match(_INTERVAL)
        if not found or not (found[1] or found[3]):
            raise self.unsupported("a { that starts no interval")
        if len(found[1]) > 5 or len(found[3] or "") > 5:
            raise self.invalid(f"the interval {found[0]:.30} is too large", start)
        low = int(found[1] or 0)
        high = low if not found[2] else int(found[3]) if found[3] else None
        if high is not None and high < low:
            raise self.invalid(f"the interval {found[0]} is empty", start)
        if self.dialect == "oniguruma":
            return low, high, "lazy" if low != high and self.skip("?") else "greedy"
        return low, high, self._mode()

    def _mode(self) -> Mode:
        return "possessive" if self.skip("+") else "lazy" if self.skip("?") else "greedy"

    def _repeated(self, item: Node, low: int, high: int | None, mode: Mode, start: int) -> Node:
        if isinstance(item, Anchor | Look):
            raise self.invalid("a quantifier after what takes no character", start)
        if high == 0 or nullable(item):
            raise self.unsupported("a repetition of nothing", start)
        self.repetitions *= max(low, high or 1)
        if self.repetitions > _MOST_REPETITIONS:
            raise self.unsupported(f"more than {_MOST_REPETITIONS} repetitions in all", start)
        if low == high and (mode == "lazy" or isinstance(item, Chars)):
            mode = "greedy"  # there is one way only
        return Repeat(item, low, high, mode)

    def _atom(self, flags: Flags, depth: int) -> Node:
        start = self.at
        character = self.text[start]
        folding = "i" in flags
        match character:
            case "(":
                return self._group(flags, depth)
            case "[":
                return self._chars(self.bracketed(folding=folding), start)
            case "^" | "$":
                self.at += 1
                return self._line_anchor(character, flags)
            case "\\":
                return self._escaped(flags)
            case "*" | "+" | "?":
                raise self.invalid(f"{character} with nothing to repeat")
            case "{":
                raise self.unsupported("a { that starts no interval")
        self.at += 1
        if character == ".":
            newline = codepoints.of("" if "s" in flags else "\n")
            return self._chars(~newline, start)
        return self._literal(character, start, folding=folding)

    def _chars(self, members: codepoints.Mask, start: int) -> Chars:
        if not members.any():
            raise self.unsupported("a class that holds nothing", start)
        return Chars(codepoints.set_of(members), self.text[start : self.at])

    def _literal(self, character: str, start: int, *, folding: bool) -> Chars:
        if not folding:
            return Chars(codepoints.set_of_one(character), self.text[start : self.at])
        members = codepoints.of(character)
        if self.dialect == "oniguruma" and changes_length(members):
            raise self.unsupported(f"{character} without regard to case", start)
        folded = codepoints.set_of(codepoints.fold(members))
        return Chars(folded, self.text[start : self.at], folded=True)

    def _line_anchor(self, character: str, flags: Flags) -> Anchor:
        if self.dialect == "oniguruma":
            return Anchor("inner_line_start" if character == "^" else "line_end")
        if "m" in flags:
            return Anchor("line_start" if character == "^" else "line_end")
        return Anchor("start" if character == "^" else "end")

    def _escaped(self, flags: Flags) -> Node:
        start = self.at
        if self.skip(r"\A"):
            return Anchor("start")
        if self.skip(r"\z"):
            return Anchor("end")
        if self.skip(r"\Z"):
            return Anchor("last_line_end")
        for text, negative in ((r"\b", False), (r"\B", True)):
            if self.ahead(text) and not self.text.startswith("{", start + 2):
                self.at += 2
                return _boundary(self.dialect, negative=negative)
        found = self.escape(bracketed=False, folding="i" in flags)
        if isinstance(found, str):
            return self._literal(found, start, folding="i" in flags)
        return self._chars(found, start)

    def _group(self, flags: Flags, depth: int) -> Node:
        start = self.at
        changed = re.compile(_FLAGS).match(self.text, start)
        look = next((look for look in _LOOKS if self.ahead(look)), None)
        atomic = self.ahead("(?>")
        if changed:
            flags = self._changed(flags, changed) if changed[0] != "(?:" else flags
            self.at = changed.end()
        elif look or atomic:
            self.at += len(look or "(?>")
        elif not self.match(_NAMES[self.dialect]):
            if self.ahead("(?") or self.ahead("(*"):
                raise self.unsupported("this kind of group")
            self.at += 1
        inside = self.choice(flags, depth + 1, leaks=not changed)
        if not self.skip(")"):
            raise self.invalid("a ( that is not closed", start)
        if look:
            return self._look(inside, *_LOOKS[look], start)
        return Atomic(inside) if atomic else inside

    def _look(self, inside: Node, behind: bool, negative: bool, start: int) -> Look:
        branches = inside.items if isinstance(inside, Choice) else (inside,)
        if behind and not all(width(branch) for branch in branches):
            raise self.unsupported("a look behind at more than characters of a fixed number", start)
        return Look(inside, behind, negative)

    def _check_folding(self, items: list[Node]) -> None:
        """Refuses neighbours such as ss, which Oniguruma takes for ß without regard to case."""
        for left, right in pairwise(items):
            for pair in ((a, b) for a in _edge(left, -1) for b in _edge(right, 0)):
                self._check_pair(*pair)
        for item in items:
            if isinstance(item, Repeat) and item.high != 1:
                for pair in ((a, b) for a in _edge(item.item, -1) for b in _edge(item.item, 0)):
                    self._check_pair(*pair)

    def _check_pair(self, left: int, right: int) -> None:
        if (left, right) in long_folding_starts():
            raise self.unsupported(f"{chr(left)}{chr(right)} without regard to case")


def _sequence(items: list[Node]) -> Node:
    """Items one after the other, those of plain groups among them."""
    flat: list[Node] = []
    for item in items:
        flat += item.items if isinstance(item, Sequence) else (item,)
    return flat[0] if len(flat) == 1 else Sequence(tuple(flat))


def _boundary(dialect: Dialect, *, negative: bool) -> Node:
    r"""`\b` or `\B`, by what stands on both sides."""
    members = Chars(codepoints.set_of(word(dialect, bracketed=False)))
    branches = []
    for before in (True, False):
        after = before if negative else not before
        looks = Look(members, True, not before), Look(members, False, not after)
        branches.append(Sequence(looks))
    return Choice(tuple(branches))


def _edge(node: Node, end: int) -> Iterable[int]:
    """Characters without regard to case at the first (0) or last (-1) place of a node."""
    match node:
        case Chars():
            return node.members[:1] if node.folded else ()
        case Sequence():
            return _edge(node.items[end], end) if node.items else ()
        case Choice():
            return [c for item in node.items for c in _edge(item, end)]
        case Repeat() | Atomic():
            return _edge(node.item, end)
    return ()
