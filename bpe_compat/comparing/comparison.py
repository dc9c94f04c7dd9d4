"""`compare`: whether two tokenizers give the same ids."""

import os
from dataclasses import dataclass
from typing import Literal

from ..spec import TokenizerSpec
from ..tokenizer import Tokenizer, load
from .alphabet import alphabet
from .candidates import stages
from .normal_form import normal_form
from .proofs import prove
from .search import Difference, Search

__all__ = ["Comparison", "compare"]

Source = Tokenizer | TokenizerSpec | str | os.PathLike[str]


@dataclass(frozen=True, slots=True)
class Comparison:
    """What `compare` found; true if the two are equal.

    `verdict` is "equal" (proved), "different" (`difference` has a text that shows it) or
    "undecided"; `reason` names the proof, the text, or what was tried. `notes` says what is not the
    same besides ids: templates, decoders, sizes.
    """

    verdict: Literal["equal", "different", "undecided"]
    reason: str
    difference: Difference | None = None
    notes: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return self.verdict == "equal"

    def __str__(self) -> str:
        return "\n".join([f"{self.verdict}: {self.reason}", *(f"note: {n}" for n in self.notes)])


def compare(a: Source, b: Source, *, most: int = 250_000) -> Comparison:
    """Whether two tokenizers give the same ids for every text.

    `a` and `b` are tokenizers, specs, or paths of any readable format. They are equal if
    `encode_arrays(texts)` gives the same for all texts that are Unicode, with special tokens taken
    as text and with all of them taken as ids; an error counts as a result. The template, which
    `encode` never adds, and decoding have no part in it.

    What is not proved equal is searched for a difference on about `most` texts of each of a dozen
    kinds, always the same ones. The text of a difference is the shortest that was found: no
    character can be left out of it. Raises as `load`.

    >>> import bpe_compat as bc
    >>> tok = bc.train(["low lower"], 258, special_tokens=())
    >>> ranks = bc.Tokenizer.from_ranks(tok.spec.normal_ids(), pattern="gpt2", special_tokens={})
    >>> compare(tok, ranks).verdict
    'equal'
    >>> other = bc.train(["low lower"], 257, special_tokens=())
    >>> compare(tok, other).difference
    Difference(text='low', specials='text', ids=([257], [108, 256]))
    """
    pair = _tokenizer(a), _tokenizer(b)
    specs = pair[0].spec, pair[1].spec
    notes = tuple(_notes(specs))
    if specs[0] == specs[1]:
        return Comparison("equal", "the same specification", None, notes)
    forms = normal_form(specs[0], pair[0].engine), normal_form(specs[1], pair[1].engine)
    proof = prove(*forms, specs)
    if isinstance(proof, str):
        return Comparison("equal", proof, None, notes)
    search = Search(*pair, most)
    letters = alphabet(specs)
    found = search.run(stages(specs, forms, proof, letters, search.most), letters)
    if found is None:
        return Comparison("undecided", _tried(search), None, notes)
    return Comparison("different", _shown(found), found, notes)


def _tokenizer(source: Source) -> Tokenizer:
    if isinstance(source, Tokenizer):
        return source
    return Tokenizer(source) if isinstance(source, TokenizerSpec) else load(source)


def _shown(found: Difference) -> str:
    mode = ", special tokens taken as ids" if found.specials == "encode" else ""
    a, b = ("an error" if ids is None else str(ids) for ids in found.ids)
    return f"{found.text!r} becomes {a} and {b}{mode}"


def _tried(search: Search) -> str:
    listed = ", ".join(f"{kind} ({count:,})" for kind, count in search.tried)
    total = sum(count for _, count in search.tried)
    return f"no proof, and no difference on {total:,} texts: {listed}"


def _notes(specs: tuple[TokenizerSpec, TokenizerSpec]) -> list[str]:
    a, b = specs
    found = []
    if a.vocab_size != b.vocab_size:
        found.append(f"the vocabularies have {a.vocab_size} and {b.vocab_size} ids")
    if a.template != b.template:
        found.append("the templates differ")
    if differing := _differing(*specs):
        found.append(f"{differing} ids stand for other bytes or are of another kind")
    if a.decoder != b.decoder:
        found.append("the decoders differ")
    return found


def _differing(a: TokenizerSpec, b: TokenizerSpec) -> int:
    """How many of the ids of both are not the same."""
    if a.vocabulary.same_tokens(b.vocabulary):
        return 0
    shared = zip(a.tokens, b.tokens, a.kinds, b.kinds, strict=False)
    return sum(x != y or k != m for x, y, k, m in shared)
