"""Train byte-pair encodings, encode with them, and move them between the formats of the field.

>>> import bpe_compat as bc
>>> tok = bc.train(["the cat", "the hat"], 260, special_tokens=())
>>> tok.decode(tok.encode("the cat"))
'the cat'
"""

from importlib import import_module
from pkgutil import extend_path
from typing import TYPE_CHECKING, Any

# A checkout finds the compiled core in an installed copy, so that `python` works in the checkout.
__path__ = extend_path(__path__, __name__)

from . import converters, errors
from .spec import TokenizerSpec
from .tokenizer import TokenArrays, Tokenizer, load
from .training import PieceCounts, count, train

if TYPE_CHECKING:
    from .comparing import Comparison, compare
    from .verify import convert

__all__ = [
    "Comparison",
    "PieceCounts",
    "TokenArrays",
    "Tokenizer",
    "TokenizerSpec",
    "compare",
    "convert",
    "converters",
    "count",
    "errors",
    "load",
    "train",
]
__version__ = "0.1.0"

# What few programs need is imported when it is first asked for.
_LATER = {"Comparison": "comparing", "compare": "comparing", "convert": "verify"}


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f".{_LATER[name]}", __name__), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
