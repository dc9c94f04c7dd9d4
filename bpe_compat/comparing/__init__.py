"""Whether two tokenizers give the same ids: a proof, a short text on which they differ, or neither.

`normal_form.py` (a spec without what cannot change an id) <- `proofs.py` (why two are the same);
`alphabet.py` (characters that the two may treat differently) <- `candidates.py` (texts) <-
`search.py` (the first text that differs, made shorter) <- `comparison.py` (the three in turn).
"""

from .comparison import Comparison, compare

__all__ = ["Comparison", "compare"]
