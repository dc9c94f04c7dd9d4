"""Sets of code points: what classes and properties hold, in Unicode 16.0.

A set is worked on as a mask, a bool for each code point, and kept as a `Set`: the sorted code
points at which membership changes, which can be compared and hashed.
"""

import functools

import numpy as np
import numpy.typing as npt

from .. import _core
from ..errors import UnsupportedError
from .folding import ORBITS

__all__ = ["Mask", "Set", "fold", "mask", "of", "property_mask", "set_of", "set_of_one"]

Mask = npt.NDArray[np.bool_]
Set = tuple[int, ...]

SIZE = 0x110000

_LONG_NAMES = {
    "Letter": "L", "Cased_Letter": "LC", "Uppercase_Letter": "Lu", "Lowercase_Letter": "Ll",
    "Titlecase_Letter": "Lt", "Modifier_Letter": "Lm", "Other_Letter": "Lo", "Mark": "M",
    "Nonspacing_Mark": "Mn", "Spacing_Mark": "Mc", "Enclosing_Mark": "Me", "Number": "N",
    "Decimal_Number": "Nd", "Letter_Number": "Nl", "Other_Number": "No", "Punctuation": "P",
    "Connector_Punctuation": "Pc", "Dash_Punctuation": "Pd", "Open_Punctuation": "Ps",
    "Close_Punctuation": "Pe", "Initial_Punctuation": "Pi", "Final_Punctuation": "Pf",
    "Other_Punctuation": "Po", "Symbol": "S", "Math_Symbol": "Sm", "Currency_Symbol": "Sc",
    "Modifier_Symbol": "Sk", "Other_Symbol": "So", "Separator": "Z", "Space_Separator": "Zs",
    "Line_Separator": "Zl", "Paragraph_Separator": "Zp", "Other": "C", "Control": "Cc",
    "Format": "Cf", "Private_Use": "Co", "Unassigned": "Cn",
}  # fmt: skip
_MAJOR = ("L", "M", "N", "P", "S", "Z", "C")
# Each with the categories that it holds besides what Unicode lists for it.
_BINARY = {"Alphabetic": ("L", "Nl"), "Uppercase": ("Lu",), "Lowercase": ("Ll",), "White_Space": ()}
_SCRIPTS = (
    "Arabic", "Armenian", "Bengali", "Bopomofo", "Braille", "Cherokee", "Common", "Coptic",
    "Cyrillic", "Devanagari", "Ethiopic", "Georgian", "Greek", "Gujarati", "Gurmukhi", "Han",
    "Hangul", "Hebrew", "Hiragana", "Inherited", "Kannada", "Katakana", "Khmer", "Lao", "Latin",
    "Malayalam", "Mongolian", "Myanmar", "Oriya", "Sinhala", "Syriac", "Tamil", "Telugu", "Thai",
    "Tibetan",
)  # fmt: skip


def mask(members: Set) -> Mask:
    """The mask of a set."""
    found = np.zeros(SIZE, bool)
    bounds = (*members, SIZE) if len(members) % 2 else members
    for first, end in zip(bounds[::2], bounds[1::2], strict=True):
        found[first:end] = True
    return found


def set_of(members: Mask) -> Set:
    """The set of a mask; surrogates, which no text holds, go with what precedes them."""
    members = members.copy()
    members[0xD800:0xE000] = members[0xD7FF]
    changed = np.flatnonzero(members[1:] != members[:-1]) + 1
    return (*((0,) if members[0] else ()), *changed.tolist())


def set_of_one(character: str) -> Set:
    """The set of one character, the same as by way of its mask."""
    end = ord(character) + 1
    return (ord(character), 0xE000 if end == 0xD800 else end)


def of(*parts: str | tuple[int, int]) -> Mask:
    """The mask of characters, each part a string of them or the first and the last of a range.

    >>> set_of(of("a", (98, 122)))
    (97, 123)
    """
    members = np.zeros(SIZE, bool)
    for part in parts:
        if isinstance(part, str):
            members[[ord(c) for c in part]] = True
        else:
            members[part[0] : part[1] + 1] = True
    return members


def fold(members: Mask) -> Mask:
    """All characters that are a member but for their case, by simple case folding."""
    cased, orbit = _orbits()
    found = np.zeros(SIZE, bool)
    found[orbit[members[cased]]] = True
    folded = members.copy()
    folded[cased] = found[orbit]
    return folded


@functools.cache
def _orbits() -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """The code points that have other cases, and for each the one that stands for all its cases."""
    orbit = np.arange(SIZE)
    for first, last, step, distance in ORBITS:
        orbit[first : last + 1 : step] += distance
    moved = orbit != np.arange(SIZE)
    moved[orbit[moved]] = True
    cased = np.flatnonzero(moved)
    return cased, orbit[cased]


@functools.lru_cache(maxsize=256)
def property_mask(name: str) -> Mask | None:
    """The members of a property, by the names that both dialects have for it; else None."""
    category = _category_names().get(_loose(name))
    if category:
        numbers = [i for i, c in enumerate(_core.category_names().split()) if _within(c, category)]
        return np.isin(_categories(), numbers)
    known = {_loose(n): n for n in (*_BINARY, *_SCRIPTS, "Any", "Assigned", "ASCII")}
    found = known.get(_loose(name))
    match found:
        case None:
            return None
        case "Any":
            return np.ones(SIZE, bool)
        case "ASCII":
            return of((0, 127))
        case "Assigned":
            return ~_named("Cn")
        case _ if found in _SCRIPTS:
            return _in_regex(rf"\p{{Script={found}}}")
    # What these add to categories never moves, unlike the category of a character.
    added = _in_regex(rf"\p{{{found}}}")
    for category in _BINARY[found]:
        added = (added & ~_in_regex(rf"\p{{{category}}}")) | _named(category)
    return added


def _named(name: str) -> Mask:
    members = property_mask(name)
    assert members is not None
    return members


def _loose(name: str) -> str:
    return name.replace("_", "").lower()


def _within(category: str, name: str) -> bool:
    return category in ("Lu", "Ll", "Lt") if name == "LC" else category.startswith(name)


@functools.cache
def _category_names() -> dict[str, str]:
    short = [*_core.category_names().split(), *_MAJOR, "LC"]
    return {_loose(name): name for name in short} | {_loose(k): v for k, v in _LONG_NAMES.items()}


@functools.cache
def _categories() -> npt.NDArray[np.uint8]:
    return np.frombuffer(_core.categories(), np.uint8)


@functools.cache
def _assigned() -> str:
    """All assigned characters of this package's version of Unicode."""
    members = np.flatnonzero(~(_named("Cn") | _named("Cs")))
    return members.astype("<u4").tobytes().decode("utf-32-le")


def _in_regex(expression: str) -> Mask:
    """A class of Python's `regex`, which knows all characters of ours and maybe later ones."""
    import regex

    if regex.search(r"\p{Cn}", _assigned()):
        raise UnsupportedError(
            f"the installed package regex is too old for {expression}: it does not know Unicode "
            f"{_core.unicode_version}; upgrade it"
        )
    return of("".join(regex.findall(expression, _assigned())))
