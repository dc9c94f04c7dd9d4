"""Added tokens: ours, and those of transformers."""

from collections.abc import Iterable
from typing import Any

from transformers import AddedToken as HFAddedToken

from ..spec import AddedToken

__all__ = ["flat", "from_hf", "renamed", "to_hf"]


def flat(values: Iterable[Any]) -> list[str | HFAddedToken]:
    """Tokens and lists of tokens as one list, without what is None."""
    tokens: list[str | HFAddedToken] = []
    for value in values:
        tokens += value if isinstance(value, list | tuple) else [value] if value else []
    return tokens


def to_hf(token: AddedToken) -> HFAddedToken:
    """The token as transformers has it."""
    return _with_flags_of(token, token.content)


def _with_flags_of(token: AddedToken | HFAddedToken, content: str) -> HFAddedToken:
    return HFAddedToken(
        content,
        lstrip=token.lstrip,
        rstrip=token.rstrip,
        single_word=token.single_word,
        normalized=token.normalized,
        special=token.special,
    )


def from_hf(token: str | HFAddedToken, *, special: bool) -> AddedToken:
    """The token without its id; a string has the flags that tokenizers gives it."""
    if isinstance(token, str):
        token = HFAddedToken(token, special=special)
    if not isinstance(token, HFAddedToken):
        raise TypeError(f"a token must be str or AddedToken, not {type(token).__name__}")
    if special:  # as transformers does; if nobody has set `normalized`, this does
        token.special = True
    return AddedToken(
        token.content,
        0,
        lstrip=token.lstrip,
        rstrip=token.rstrip,
        single_word=token.single_word,
        normalized=token.normalized,
        special=token.special,
    )


def renamed(token: str | HFAddedToken, names: dict[str, str]) -> str | HFAddedToken:
    """The token under its new name, if it has one, with the same flags."""
    name = names.get(str(token), str(token))
    return name if isinstance(token, str) else _with_flags_of(token, name)
