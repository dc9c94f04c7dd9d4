"""How tiktoken and tokenizers cut a text by a regex: the judges of `bpe_compat.dialects`."""

from collections.abc import Callable, Iterable

import tiktoken
import tokenizers

from bpe_compat.spec import Behavior

Cutter = Callable[[str], list[str]]

_NAMES: dict[Behavior, str] = {
    "isolated": "isolated",
    "removed": "removed",
    "merged_with_previous": "merged_with_previous",
    "merged_with_next": "merged_with_next",
    "contiguous": "contiguous",
}


class RefusedError(Exception):
    """The engine takes this regex for none."""


def in_tokenizers(pattern: str, behavior: Behavior = "removed", *, invert: bool = True) -> Cutter:
    """The pieces of a `Split`; without a behavior, the matches."""
    try:
        regex = tokenizers.Regex(pattern)
    except Exception as error:
        raise RefusedError(str(error)) from error
    split = tokenizers.pre_tokenizers.Split(regex, _NAMES[behavior], invert)
    return lambda text: [piece for piece, _ in split.pre_tokenize_str(text)]


def in_tiktoken(pattern: str, texts: Iterable[str]) -> Cutter:
    """The pieces that tiktoken makes of any of these texts; empty ones are left out."""
    ranks = {b"": 0} | {bytes([byte]): 1 + byte for byte in range(256)}
    for text in texts:
        for start in range(len(text)):
            for end in range(start + 1, len(text) + 1):
                ranks.setdefault(text[start:end].encode(), len(ranks))
    try:
        encoding = tiktoken.Encoding(
            "judge", pat_str=pattern, mergeable_ranks=ranks, special_tokens={}
        )
    except ValueError as error:
        raise RefusedError(str(error)) from error
    by_id = {id: token.decode("utf-8", "replace") for token, id in ranks.items()}
    return lambda text: [by_id[id] for id in encoding.encode_ordinary(text) if id]
