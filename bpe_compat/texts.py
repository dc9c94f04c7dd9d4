"""Texts that come in: what the native core needs of them."""

from collections.abc import Iterable
from typing import Any

__all__ = ["all_valid", "valid"]


def valid(text: str) -> str:
    """The text without lone surrogates; pairs of them become the character they stand for.

    What tiktoken's `encode` does with them. Raises `TypeError` for what is no str.

    >>> valid("a\\ud83d\\ude00\\ud800")
    'a😀�'
    """
    if not isinstance(text, str):
        raise TypeError(f"text must be str, not {type(text).__name__}")
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def all_valid(texts: Iterable[Any]) -> list[Any]:
    """`valid` for each str; all else is left to the core to accept or refuse."""
    return [valid(text) if isinstance(text, str) else text for text in texts]
