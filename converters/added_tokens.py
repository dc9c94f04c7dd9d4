"""Added tokens as JSON files have them, and the ids they get.

tokenizers believes no id that a file gives: an added token that the vocab holds has its id there,
any other gets the next free one (source: `AddedVocabulary::add_tokens`, tokenizers 0.23).
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ..spec import AddedToken, TokenizerSpec
from .base import id_limit
from .json_tree import Node

__all__ = ["Numbered", "read", "read_listed", "write", "write_listed"]

_KEYS = ("id", "content", "single_word", "lstrip", "rstrip", "normalized", "special", "__type")


def read(node: Node, id: int, *, special: bool = False) -> AddedToken:
    """One added token; `special` is what a node means that does not say."""
    node.only(*_KEYS)
    special = node.get("special", bool, special)
    return AddedToken(
        node.get("content", str),
        id,
        lstrip=node.get("lstrip", bool, False),
        rstrip=node.get("rstrip", bool, False),
        single_word=node.get("single_word", bool, False),
        normalized=node.get("normalized", bool, not special),
        special=special,
    )


def write(token: AddedToken) -> dict[str, Any]:
    """One added token without its id."""
    return {
        "content": token.content,
        "single_word": token.single_word,
        "lstrip": token.lstrip,
        "rstrip": token.rstrip,
        "normalized": token.normalized,
        "special": token.special,
    }


class Numbered:
    """Added tokens with the ids that tokenizers gives them, in turn."""

    def __init__(self, vocab: Mapping[str, int]) -> None:
        self.tokens: dict[str, AddedToken] = {}
        self._vocab = vocab
        self._next = len(vocab)

    def add(self, token: AddedToken) -> AddedToken:
        """The token with its id; one with the same content is replaced."""
        known = self.tokens.get(token.content)
        id = known.id if known else self._vocab.get(token.content, self._next)
        self._next = max(self._next, id + 1)
        self.tokens[token.content] = replace(token, id=id)
        return self.tokens[token.content]


def read_listed(tree: Node, vocab: Mapping[str, int]) -> list[AddedToken]:
    """The list `added_tokens` of a tokenizer.json."""
    numbered = Numbered(vocab)
    for node in tree.children("added_tokens") if tree.value.get("added_tokens") else ():
        token = read(node, node.get("id", int))
        if token.content in numbered.tokens:
            raise node.error(f"the added token {token.content!r} is listed twice")
        if not 0 <= token.id <= id_limit(len(vocab) + len(numbered.tokens)):
            raise node.error(f"the id is {token.id}")
        if (id := numbered.add(token).id) != token.id:
            raise node.error(
                f"the added token {token.content!r} has the id {token.id}, but tokenizers reads it "
                f"as {id}: {'as the vocab says' if token.content in vocab else 'the next free one'}"
            )
    return list(numbered.tokens.values())


def write_listed(spec: TokenizerSpec) -> list[dict[str, Any]]:
    """That list for a spec, in the order in which tokenizers gives out ids."""
    ordered = sorted(spec.added_tokens, key=lambda token: token.id)
    return [{"id": token.id, **write(token)} for token in ordered]
