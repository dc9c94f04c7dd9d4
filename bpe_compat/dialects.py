"""Regular expressions in the dialects of this field, translated without changing what they match.

A spec holds regexes in tiktoken's dialect (Rust's fancy-regex). tokenizer.json holds Oniguruma's
(Ruby syntax), and where a pattern has no native scanner we run Python's `regex`. What differs:

=================== ===================== ======================= =========================
construct           tiktoken              Oniguruma               Python `regex`
=================== ===================== ======================= =========================
``x{2,3}+``         possessive            ``(?:x{2,3})+``         possessive
``x{2}?``           lazy                  ``(?:x{2})?``           lazy
``x{,3}``           invalid               ``x{0,3}``              ``x{0,3}``
``^`` ``$``         ends of the text      ends of a line          ``$``: also before a final \\n
``\\z``              end of the text       end of the text         invalid: ``\\Z``
``\\Z``              before a final \\n too before a final \\n too   end of the text
``(?m)`` ``(?s)``   lines; dot all        dot all; invalid        lines; dot all
``\\h``              hexadecimal digit     hexadecimal digit       blank
``\\w``              as in UTS #18         without U+200C, U+200D; as in UTS #18
                                          with ² ³ ¹ ¼ ½ ¾
``[a||b]``          a, ``|`` or b         a, ``|`` or b           a or b
=================== ===================== ======================= =========================
"""

import re
from typing import ClassVar

from .errors import FormatError, UnsupportedError

__all__ = ["escape", "from_oniguruma", "to_oniguruma", "to_python"]

_ONIGURUMA_WORD = "[[\\w--[\u200c\u200d]]²³¹¼-¾]"
_TIKTOKEN_WORD = "[[\\w&&[^²³¹¼-¾]]\u200c\u200d]"
_HEX_DIGIT = {"h": "[0-9A-Fa-f]", "H": "[^0-9A-Fa-f]"}
_POSIX = {"alpha": r"\p{Alphabetic}", "digit": r"\p{Nd}", "space": r"\s"}

_INTERVAL = re.compile(r"\{(?:(\d+)(?:(,)(\d*))?|()(,)(\d+))\}([+?]?)")
_FLAGS = re.compile(r"\(\?([a-zA-Z]*(?:-[a-zA-Z]+)?)([:)])")
_GROUP = re.compile(r"\((\?(?:<[=!]|<\w+>|[=!>]))?(?!\?)")
_POSIX_CLASS = re.compile(r"\[:(\^?)(\w+):\]")
_CODE_POINT = re.compile(r"\\[xu]\{([0-9A-Fa-f]{1,6})\}")
_PROPERTY = re.compile(r"\\([pP])\{(\^?)([^}]*)\}")


def from_oniguruma(text: str) -> str:
    """A regex of tokenizer.json in tiktoken's dialect.

    Raises `UnsupportedError` for what has no counterpart and `FormatError` for what is no regex.

    >>> from_oniguruma(r"\\p{N}{1,3}+$")
    '(?:\\\\p{N}{1,3})+(?m:$)'
    """
    return _FromOniguruma(text).translate()


def to_oniguruma(text: str) -> str:
    """A regex of tiktoken's dialect as tokenizer.json needs it; errors as in `from_oniguruma`.

    >>> to_oniguruma(r"\\p{N}{1,3}+$")
    '(?>\\\\p{N}{1,3})\\\\z'
    """
    return _ToOniguruma(text).translate()


def to_python(text: str) -> str:
    """A regex of tiktoken's dialect for Python's `regex` in its version 1 behaviour.

    >>> to_python(r"\\p{N}{1,3}+$")
    '\\\\p{N}{1,3}+\\\\Z'
    """
    return _ToPython(text).translate()


def escape(text: str) -> str:
    """A regex that matches this text in every dialect.

    >>> escape("<|x|>")
    '<\\\\|x\\\\|>'
    """
    return "".join(f"\\{c}" if c in r"\.+*?()|[]{}^$#&-~" else c for c in text)


class _Translator:
    """Copies a regex; subclasses say what becomes of the constructs that differ."""

    # Whole classes that stand for an escape of the target dialect.
    classes: ClassVar[dict[str, str]] = {}
    escapes: ClassVar[dict[str, str]] = {}
    refused_escapes = ""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def interval(self, atom: str, low: int, high: int | None, suffix: str) -> str:
        return f"{atom}{_braces(low, high)}{suffix}"

    def anchor(self, anchor: str, multiline: bool) -> str:
        return anchor

    def flags(self, flags: str) -> str:
        raise NotImplementedError

    def translate(self) -> str:
        out = self._alternatives(multiline=False)
        if self.at < len(self.text):
            raise FormatError(f"unbalanced ) at offset {self.at} of the regex {self.text!r}")
        return out

    def _alternatives(self, multiline: bool) -> str:
        """Up to the closing parenthesis or the end; flags set on the way count until there."""
        out: list[str] = []
        while self.at < len(self.text) and self.text[self.at] != ")":
            character = self.text[self.at]
            flags = _FLAGS.match(self.text, self.at)
            if character == "|":
                out.append(self._take(1))
            elif character in "^$":
                self.at += 1
                out.append(self.anchor(character, multiline))
            elif flags and flags[2] == ")":
                self.at = flags.end()
                multiline = _multiline(flags[1], multiline)
                translated = self.flags(flags[1])
                out.append(f"(?{translated})" if translated else "")
            else:
                out.append(self._quantified(self._atom(multiline)))
        return "".join(out)

    def _atom(self, multiline: bool) -> str:
        match self.text[self.at]:
            case "(":
                return self._group(multiline)
            case "[":
                return self._class()
            case "\\":
                return self._escape()
        return self._take(1)

    def _group(self, multiline: bool) -> str:
        start = self.at
        if flags := _FLAGS.match(self.text, start):
            self.at = flags.end()
            multiline = _multiline(flags[1], multiline)
            opening = f"(?{self.flags(flags[1])}:"
        elif plain := _GROUP.match(self.text, start):
            opening = self._take(len(plain[0]))
        else:
            raise UnsupportedError(f"the group at offset {start} of the regex {self.text!r}")
        inside = self._alternatives(multiline)
        if self.at == len(self.text):
            raise FormatError(f"the ( at offset {start} of the regex {self.text!r} is not closed")
        self.at += 1
        # tiktoken's dialect says (?m:^) where Oniguruma says ^.
        return inside if opening == "(?:" and inside in ("^", "$") else f"{opening}{inside})"

    def _quantified(self, atom: str) -> str:
        while self.at < len(self.text):
            if self.text[self.at] in "*+?":
                atom += self._take(1)
                if self.text[self.at : self.at + 1] in ("+", "?"):
                    atom += self._take(1)
            elif interval := _INTERVAL.match(self.text, self.at):
                self.at = interval.end()
                low, comma, high = interval[1] or "0", interval[2] or interval[5], interval[3]
                last = low if not comma else high or interval[6]
                atom = self.interval(atom, int(low), int(last) if last else None, interval[7])
            else:
                break
        return atom

    def _class(self) -> str:
        for known, stands_for in self.classes.items():
            if self.text.startswith(known, self.at):
                self.at += len(known)
                return stands_for
        start = self.at
        out = [self._take(1)]
        if self.text.startswith("^", self.at):
            out.append(self._take(1))
        if self.text.startswith("]", self.at):
            self.at += 1
            out.append(r"\]")
        while self.at < len(self.text):
            character = self.text[self.at]
            if character == "]":
                return "".join(out) + self._take(1)
            if character == "[":
                out.append(self._posix_class() or self._class())
            elif character == "\\":
                out.append(self._escape())
            elif self.text.startswith("||", self.at):
                self.at += 2
                out.append("|")
            else:
                out.append(self._take(1))
        raise FormatError(f"the [ at offset {start} of the regex {self.text!r} is not closed")

    def _posix_class(self) -> str | None:
        found = _POSIX_CLASS.match(self.text, self.at)
        if not found:
            return None
        if found[2] not in _POSIX:
            raise UnsupportedError(f"{found[0]} at offset {self.at} of the regex {self.text!r}")
        self.at = found.end()
        return f"[{found[1]}{_POSIX[found[2]]}]"

    def _escape(self) -> str:
        if code := _CODE_POINT.match(self.text, self.at):
            self.at = code.end()
            return _literal(int(code[1], 16))
        if found := _PROPERTY.match(self.text, self.at):
            self.at = found.end()
            negated = (found[1] == "P") != bool(found[2])
            return f"\\{'P' if negated else 'p'}{{{found[3]}}}"
        escaped = self._take(2)
        if len(escaped) < 2:
            raise FormatError(f"the regex {self.text!r} ends in a backslash")
        if escaped[1] in self.refused_escapes:
            raise UnsupportedError(f"{escaped} at offset {self.at - 2} of the regex {self.text!r}")
        return self.escapes.get(escaped[1], escaped)

    def _take(self, count: int) -> str:
        taken = self.text[self.at : self.at + count]
        self.at += count
        return taken


class _FromOniguruma(_Translator):
    escapes: ClassVar = {**_HEX_DIGIT, "w": _ONIGURUMA_WORD, "W": f"[^{_ONIGURUMA_WORD}]"}
    refused_escapes = "RXKGkgOyYN"

    def interval(self, atom: str, low: int, high: int | None, suffix: str) -> str:
        repeated = f"{atom}{_braces(low, high)}"
        if suffix == "+" or (suffix == "?" and low == high):
            return f"(?:{repeated}){suffix}"
        return repeated + suffix

    def anchor(self, anchor: str, multiline: bool) -> str:
        return f"(?m:{anchor})"

    def flags(self, flags: str) -> str:
        return _renamed(flags, {"i": "i", "m": "s", "x": "x"})


class _ToOniguruma(_Translator):
    classes: ClassVar = {_ONIGURUMA_WORD: r"\w"}
    escapes: ClassVar = {"w": _TIKTOKEN_WORD, "W": f"[^{_TIKTOKEN_WORD}]"}

    def interval(self, atom: str, low: int, high: int | None, suffix: str) -> str:
        repeated = f"{atom}{_braces(low, high)}"
        if suffix == "+":
            return f"(?>{repeated})"
        return repeated if suffix == "?" and low == high else repeated + suffix

    def anchor(self, anchor: str, multiline: bool) -> str:
        return anchor if multiline else {"^": r"\A", "$": r"\z"}[anchor]

    def flags(self, flags: str) -> str:
        return _renamed(flags, {"i": "i", "s": "m", "x": "x", "m": ""})


class _ToPython(_Translator):
    escapes: ClassVar = {**_HEX_DIGIT, "z": r"\Z", "Z": r"(?=\n?\Z)"}

    def anchor(self, anchor: str, multiline: bool) -> str:
        return r"\Z" if anchor == "$" and not multiline else anchor

    def flags(self, flags: str) -> str:
        return _renamed(flags, {"i": "i", "s": "s", "x": "x", "m": "m", "u": ""})


def _braces(low: int, high: int | None) -> str:
    return f"{{{low}}}" if low == high else f"{{{low},{'' if high is None else high}}}"


def _literal(code: int) -> str:
    return f"\\x{code:02X}" if code < 0x80 else chr(code)


def _multiline(flags: str, multiline: bool) -> bool:
    on, _, off = flags.partition("-")
    return "m" in on or (multiline and "m" not in off)


def _renamed(flags: str, names: dict[str, str]) -> str:
    """Flags such as `i-m` with their letters translated."""
    if unknown := set(flags) - set(names) - {"-"}:
        raise UnsupportedError(f"the flag {min(unknown)} of (?{flags}) has no counterpart")
    on, _, off = ("".join(names.get(flag, "-") for flag in flags)).partition("-")
    return on + (f"-{off}" if off else "")
