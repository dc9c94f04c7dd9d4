"""Train byte-pair encodings, encode with them, and move them between the formats of the field.

>>> import bpe_compat as bc
>>> tok = bc.train(["the cat", "the hat"], 260, special_tokens=())
>>> tok.decode(tok.encode("the cat"))
'the cat'
"""

from pkgutil import extend_path

# A checkout finds the compiled core in an installed copy, so that `python` works in the checkout.
__path__ = extend_path(__path__, __name__)

from . import converters, errors
from .comparing import Comparison, compare
from .spec import TokenizerSpec
from .tokenizer import TokenArrays, Tokenizer, load
from .training import PieceCounts, count, train
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
