"""Regular expressions in the dialects of this field: read, run, and written in another one.

A spec holds regexes in tiktoken's dialect (Rust's fancy-regex). tokenizer.json holds Oniguruma's
(Ruby syntax). Both are read into one tree, which is written in either dialect or run here. What
differs, and what the tree makes one:

=================== ======================= ==============================================
construct           tiktoken                Oniguruma
=================== ======================= ==============================================
``x{2,3}+``         possessive              ``(?:x{2,3})+``
``x{2}?``           lazy                    ``(?:x{2})?``
``a(?i)b|c``        ``a(?i:b)|(?i:c)``      ``a(?i:b|c)``
``^`` ``$``         ends of the text        ends of a line; ``^`` not after a final newline
``(?m)`` ``(?s)``   lines; dot all          dot all; invalid
``\\w``              as in UTS #18           without U+200C, U+200D; outside brackets with
                                            ² ³ ¹ ¼ ½ ¾
``[[:alpha:]]``     ASCII                   Unicode
``(?i:ss)``         s or S, twice           ß, too
``(?i:\\p{Lu})``     letters of any case     capital letters
``[a--b]``          difference              a, a hyphen, b
=================== ======================= ==============================================

Refused with `UnsupportedError` are back-references, the x flag, octal and control escapes,
repetitions of what can be empty, and other syntax on which engines disagree.
"""

from .matching import Matcher, matcher
from .parser import parse
from .program import compiled, literal
from .tree import nullable, surely_started
from .writer import emit, escape, translate

__all__ = [
    "Matcher",
    "can_be_empty",
    "compiled",
    "escape",
    "from_oniguruma",
    "literal",
    "matcher",
    "matches_everywhere",
    "parse",
    "to_oniguruma",
    "with_text_between",
]


def from_oniguruma(text: str) -> str:
    """A regex of tokenizer.json in tiktoken's dialect.

    Raises `UnsupportedError` for what has no counterpart and `FormatError` for what is no regex.

    >>> from_oniguruma(r"\\p{N}{1,3}+$")
    '(?:\\\\p{N}{1,3})+(?m:$)'
    """
    return translate(text, "oniguruma", "tiktoken")


def to_oniguruma(text: str) -> str:
    """A regex of tiktoken's dialect as tokenizer.json needs it; errors as in `from_oniguruma`.

    >>> to_oniguruma(r"\\p{N}{1,3}+$")
    '(?>\\\\p{N}{1,3})\\\\z'
    """
    return translate(text, "tiktoken", "oniguruma")


def can_be_empty(text: str) -> bool:
    """Whether a regex of tiktoken's dialect can match the empty text.

    >>> can_be_empty("a*"), can_be_empty("a+")
    (True, False)
    """
    return nullable(parse(text, "tiktoken"))


def matches_everywhere(text: str) -> bool:
    """Whether it is certain that the matches of a regex cover every text.

    False says nothing. Seen are alternatives that need one character, as most of a split pattern.

    >>> matches_everywhere(r"a?\\w+|\\W"), matches_everywhere(r"\\w+")
    (True, False)
    """
    return bool(surely_started(parse(text, "tiktoken")).all())


def with_text_between(text: str) -> str:
    """A regex whose matches are those of another one and the text between them, in pieces.

    For a regex of tiktoken's dialect that cannot match the empty text.

    >>> with_text_between(r"\\d")
    '(?:\\\\d)|(?:(?!(?:\\\\d))(?s:.))+'
    """
    if matches_everywhere(text):
        return text
    plain = emit(parse(text, "tiktoken"), "tiktoken")
    return rf"(?:{plain})|(?:(?!(?:{plain}))(?s:.))+"
