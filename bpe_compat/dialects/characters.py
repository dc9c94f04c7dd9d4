"""What matches one character: escapes, properties and bracketed classes of both dialects.

A dialect is what two engines do, found in their sources and compared with them code point by code
point in `tests/test_dialects.py`: fancy-regex with Rust's regex-syntax in tiktoken, Oniguruma with
its Ruby syntax in tokenizers.
"""

import functools
import re
from typing import Literal

import numpy as np

from ..errors import FormatError, UnsupportedError
from . import codepoints
from .codepoints import Mask

__all__ = ["Dialect", "Reader", "changes_length", "long_folding_starts", "named_class", "word"]

Dialect = Literal["tiktoken", "oniguruma"]

_CONTROLS = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "v": "\v", "a": "\a", "e": "\x1b"}
_PROPERTY = r"\\[pP]\{(\^?)([A-Za-z_]+)\}"
_SHORT_PROPERTY = r"\\[pP]([LMNPSZC])"
_HEXADECIMAL = r"\\(?:x\{([0-9A-Fa-f]+)\}|x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4}))"
_POSIX = r"\[:(\^?)([a-z]+):\]"
_ASCII_POSIX: dict[str, tuple[str | tuple[int, int], ...]] = {
    "alnum": ((48, 57), (65, 90), (97, 122)),
    "alpha": ((65, 90), (97, 122)),
    "ascii": ((0, 127),),
    "blank": (" \t",),
    "cntrl": ((0, 31), (127, 127)),
    "digit": ((48, 57),),
    "graph": ((33, 126),),
    "lower": ((97, 122),),
    "print": ((32, 126),),
    "punct": ((33, 47), (58, 64), (91, 96), (123, 126)),
    "space": ((9, 13), " "),
    "upper": ((65, 90),),
    "word": ((48, 57), (65, 90), (97, 122), "_"),
    "xdigit": ((48, 57), (65, 70), (97, 102)),
}
# What Oniguruma's Latin-1 table adds to \w outside brackets.
_LATIN1_NUMBERS = "²³¹¼½¾"


def _union(*names: str) -> Mask:
    found = [codepoints.property_mask(name) for name in names]
    union: Mask = np.logical_or.reduce([members for members in found if members is not None])
    return union


def word(dialect: Dialect, *, bracketed: bool) -> Mask:
    r"""What `\w` is, outside brackets and inside."""
    members = _union("Alphabetic", "M", "Nd", "Pc")
    if dialect == "tiktoken":
        return members | codepoints.of("\u200c\u200d")
    return members if bracketed else members | codepoints.of(_LATIN1_NUMBERS)


def named_class(letter: str, dialect: Dialect, *, bracketed: bool) -> Mask | None:
    r"""The members of an escape such as `\d`, by its letter."""
    match letter.lower():
        case "w":
            members = word(dialect, bracketed=bracketed)
        case "d":
            members = _union("Nd")
        case "s":
            members = _union("White_Space")
        case "h":
            members = codepoints.of(*_ASCII_POSIX["xdigit"])
        case _:
            return None
    return ~members if letter.isupper() else members


def _oniguruma_posix(name: str) -> Mask:
    match name:
        case "alnum":
            return _union("Alphabetic", "Nd")
        case "alpha":
            return _union("Alphabetic")
        case "blank":
            return _union("Zs") | codepoints.of("\t")
        case "cntrl":
            return _union("Cc")
        case "digit":
            return _union("Nd")
        case "lower":
            return _union("Lowercase")
        case "upper":
            return _union("Uppercase")
        case "punct":
            return _union("P", "S")
        case "space":
            return _union("White_Space")
        case "word":
            return word("oniguruma", bracketed=True)
        case "graph":
            return ~_union("White_Space", "Cc", "Cn", "Cs")
        case "print":
            return ~_union("White_Space", "Cc", "Cn", "Cs") | _union("Zs")
    return codepoints.of(*_ASCII_POSIX[name])


def changes_length(members: Mask) -> bool:
    """Whether a member folds to more than one character, such as ß to ss."""
    return any(members[ord(c)] for c in _long_foldings())


@functools.cache
def long_folding_starts() -> frozenset[tuple[int, int]]:
    """The first two characters of what one character folds to, each the least of its cases."""
    return frozenset(
        (_least_case(c.casefold()[0]), _least_case(c.casefold()[1])) for c in _long_foldings()
    )


def _least_case(character: str) -> int:
    return codepoints.set_of(codepoints.fold(codepoints.of(character)))[0]


@functools.cache
def _long_foldings() -> str:
    """Characters that fold to several."""
    return "".join(c for c in map(chr, range(0x10000)) if len(c.casefold()) > 1)


class Reader:
    """A place in a regex, and what stands there for one character."""

    def __init__(self, text: str, dialect: Dialect) -> None:
        self.text = text
        self.dialect: Dialect = dialect
        self.at = 0

    def invalid(self, what: str, at: int | None = None) -> FormatError:
        """The error for a place that is no regex."""
        return FormatError(f"{what} at offset {self.at if at is None else at} of {self._shown()}")

    def unsupported(self, what: str, at: int | None = None) -> UnsupportedError:
        """The error for a place that is a regex, but means something else elsewhere."""
        place = self.at if at is None else at
        return UnsupportedError(
            f"{what} at offset {place} of {self._shown()} is not supported: its meaning differs "
            "between regex engines, or it is none for splitting text; write the pattern without it"
        )

    def _shown(self) -> str:
        shown = self.text if len(self.text) <= 200 else self.text[:200] + "…"
        return f"the regex {shown!r}"

    def ahead(self, text: str) -> bool:
        """Whether this text follows."""
        return self.text.startswith(text, self.at)

    def skip(self, text: str) -> bool:
        """Takes this text, if it is what follows."""
        if not self.ahead(text):
            return False
        self.at += len(text)
        return True

    def match(self, pattern: str) -> re.Match[str] | None:
        """Takes what a pattern matches here, if it does."""
        found = re.compile(pattern).match(self.text, self.at)
        if found:
            self.at = found.end()
        return found

    @property
    def ended(self) -> bool:
        """Whether nothing follows."""
        return self.at >= len(self.text)

    def escape(self, *, bracketed: bool, folding: bool) -> str | Mask:
        """What an escape stands for: one character or a class."""
        start = self.at
        if self.ahead(r"\p") or self.ahead(r"\P"):
            return self._property(folding=folding)
        if code := self.match(_HEXADECIMAL):
            return self._code_point(code, start)
        if len(self.text) < start + 2:
            raise self.invalid("a backslash without a character")
        letter = self.text[start + 1]
        members = named_class(letter, self.dialect, bracketed=bracketed)
        if members is None and letter not in _CONTROLS and not self._escapes_itself(letter):
            raise self.unsupported(f"\\{letter}")
        self.at += 2
        return _CONTROLS.get(letter, letter) if members is None else members

    def _escapes_itself(self, letter: str) -> bool:
        if self.dialect == "oniguruma":
            return not (letter.isascii() and letter.isalnum())
        return (
            letter.isascii()
            and letter.isprintable()
            and not letter.isalnum()
            and letter not in "<>"
        )

    def _code_point(self, code: re.Match[str], start: int) -> str:
        if code[2] and int(code[2], 16) >= 0x80 and self.dialect == "oniguruma":
            raise self.unsupported(f"the byte {code[0]}", start)
        number = int(code[1] or code[2] or code[3], 16)
        if number > 0x10FFFF or 0xD800 <= number < 0xE000:
            raise self.invalid(f"{code[0]} is no character", start)
        return chr(number)

    def _property(self, *, folding: bool) -> Mask:
        start = self.at
        found = self.match(_PROPERTY)
        short = self.match(_SHORT_PROPERTY) if not found and self.dialect == "tiktoken" else None
        if not found and not short:
            raise self.unsupported(self.text[start : start + 2], start)
        caret, name = ("", short[1]) if short else (found[1], found[2]) if found else ("", "")
        members = codepoints.property_mask(name)
        if members is None or (caret and self.dialect == "tiktoken"):
            raise self.unsupported(f"the property {self.text[start : self.at]}", start)
        if folding and self.dialect == "tiktoken":
            members = codepoints.fold(members)
        return ~members if (self.text[start + 1] == "P") != bool(caret) else members

    def bracketed(self, *, folding: bool, depth: int = 0) -> Mask:
        """A class in brackets."""
        start = self.at
        if depth > 50:
            raise self.invalid("brackets nested too deeply")
        self.at += 1
        negated = self.skip("^")
        done: Mask | None = None
        operator = ""
        while True:
            members = self._operand(start, folding=folding, depth=depth, first=done is None)
            done = members if done is None else _combined(done, operator, members)
            operator = self.text[self.at : self.at + 2]
            if self.skip("]"):
                break
            self.at += 2
            if folding and self.dialect == "oniguruma":
                raise self.unsupported(f"{operator} in a class without regard to case", start)
        if folding and self.dialect == "oniguruma" and not negated and changes_length(done):
            raise self.unsupported("a class with ß or the like without regard to case", start)
        return ~done if negated else done

    def _operand(self, start: int, *, folding: bool, depth: int, first: bool) -> Mask:
        """The items up to an operator or the closing bracket, which is left."""
        members = np.zeros(codepoints.SIZE, bool)
        begin = self.at
        while not self.ended:
            if self.ahead("]") and not (first and self.at == begin):
                break
            if self._at_operator():
                break
            members |= self._item(begin, folding=folding, depth=depth)
        else:
            raise self.invalid("a class that is not closed", start)
        if self.at == begin:
            raise self.unsupported("an operator without an operand")
        return codepoints.fold(members) if folding else members

    def _at_operator(self) -> bool:
        two = self.text[self.at : self.at + 2]
        if two not in ("&&", "--", "~~"):
            return False
        if two != "&&" and self.dialect == "oniguruma":
            raise self.unsupported(f"{two} in a class")
        return True

    def _item(self, begin: int, *, folding: bool, depth: int) -> Mask:
        start = self.at
        if self.ahead("["):
            return self._inner_class(folding=folding, depth=depth)
        first = self._member(folding=folding)
        at_edge = start == begin or self.ahead("]")
        if self.text[start] == "-" and not at_edge:
            raise self.unsupported("a hyphen amid a class", start)
        if not self.ahead("-") or self.ahead("-]") or self.ahead("--"):
            return codepoints.of(first) if isinstance(first, str) else first
        self.at += 1
        if not isinstance(first, str) or self.text[start] == "-" or self.ahead("["):
            raise self.unsupported("a hyphen amid a class", start)
        last = self._member(folding=folding)
        if not isinstance(last, str) or ord(last) < ord(first):
            raise self.invalid("a range without order", start)
        return codepoints.of((ord(first), ord(last)))

    def _member(self, *, folding: bool) -> str | Mask:
        if self.ended:
            raise self.invalid("a class that is not closed")
        if self.ahead("\\"):
            return self.escape(bracketed=True, folding=folding)
        self.at += 1
        return self.text[self.at - 1]

    def _inner_class(self, *, folding: bool, depth: int) -> Mask:
        start = self.at
        posix = self.match(_POSIX)
        if posix and posix[2] in _ASCII_POSIX:
            if self.dialect == "tiktoken":
                found = codepoints.of(*_ASCII_POSIX[posix[2]])
                found = codepoints.fold(found) if folding else found
            else:
                found = _oniguruma_posix(posix[2])
            return ~found if posix[1] else found
        if posix or self.ahead("[:"):
            raise self.unsupported("a class of POSIX", start)
        if folding and self.dialect == "oniguruma":
            raise self.unsupported("a class in a class without regard to case", start)
        return self.bracketed(folding=folding, depth=depth + 1)


def _combined(left: Mask, operator: str, right: Mask) -> Mask:
    match operator:
        case "&&":
            return left & right
        case "--":
            return left & ~right
    return left ^ right
