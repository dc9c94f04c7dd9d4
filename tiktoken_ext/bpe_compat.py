"""What `tiktoken.get_encoding` finds of bpe_compat: what `bpe-compat register` gave a name.

tiktoken loads this module on its first `get_encoding`. Nothing here may fail then: it would take
tiktoken's own encodings along.
"""

import functools
import warnings
from collections.abc import Callable
from typing import Any

from bpe_compat import errors, registry

__all__ = ["ENCODING_CONSTRUCTORS"]


def _arguments(name: str) -> dict[str, Any]:
    """The arguments of `tiktoken.Encoding` for a registered tokenizer."""
    encoding = registry.find(name).to_tiktoken()
    return {
        "name": name,
        "pat_str": encoding._pat_str,
        "mergeable_ranks": encoding._mergeable_ranks,
        "special_tokens": encoding._special_tokens,
    }


def _constructors() -> dict[str, Callable[[], dict[str, Any]]]:
    try:
        names = list(registry.names())
    except (errors.BPECompatError, OSError) as error:
        warnings.warn(f"the tokenizers of bpe-compat register are left out: {error}", stacklevel=2)
        return {}
    # A name that a later tiktoken has itself would be an error to it.
    taken = registry.names_of_tiktoken()
    return {name: functools.partial(_arguments, name) for name in names if name not in taken}


ENCODING_CONSTRUCTORS = _constructors()
