"""The model "gpt2": tokens spelled in bytes, merges, and the name of a split."""

from ...errors import FormatError, UnsupportedError
from ...ranks import losses_of_merges, merges_of
from ...spec import TokenizerSpec, TokenKind
from ..base import plain_losses
from ..json_tree import Node
from ..pieces import NORMAL, UNUSED
from ..vocabulary import (
    Merges,
    Pair,
    Spelling,
    assemble,
    merges_of_pairs,
    sound_merges,
    spelling_losses,
    spellings,
)
from .container import Value
from .fields import Fields, added_tokens, common, template_losses, template_of, types_of
from .splits import IGNORES_MERGES, name_of, splits_of

__all__ = ["losses", "read", "read_merges", "values"]


def read(fields: Fields) -> TokenizerSpec:
    """The spec of the metadata."""
    strings, types = fields.tokens()
    pre = fields.get("pre", str, "default")
    splits = splits_of(pre)
    if splits is None:
        raise UnsupportedError(f"{fields.name}: the split {pre!r} (tokenizer.ggml.pre)")
    vocab = vocab_of(fields, strings, types)
    spelling = Spelling(byte_level=True, ignore_merges=pre in IGNORES_MERGES)
    added = added_tokens(strings, types)
    merges = read_merges(fields, vocab)
    where, count = Node(dict(vocab), fields.name), len(strings)
    # What an added token is decoded to is its text, also if it could stand for bytes.
    vocabulary = assemble(
        vocab, merges, added, spelling, where, least_size=count, added_as_text=True
    )
    return TokenizerSpec(
        **vocabulary,
        ignore_merges=spelling.ignore_merges,
        splits=splits,
        added_tokens=added,
        template=template_of(fields, count, bos=pre in IGNORES_MERGES),
        metadata=fields.kept(),
    )


def vocab_of(fields: Fields, strings: list[str], types: list[int]) -> dict[str, int]:
    """The ids of the strings, without those that nobody owns."""
    vocab: dict[str, int] = {}
    for id, (string, type) in enumerate(zip(strings, types, strict=True)):
        if type == UNUSED or not string:
            continue
        if not NORMAL <= type <= 6:
            raise FormatError(f"{fields.name}: token {id} has the type {type}")
        if vocab.setdefault(string, id) != id:
            raise FormatError(f"{fields.name}: ids {vocab[string]} and {id} are both {string!r}")
    return vocab


def read_merges(fields: Fields, vocab: dict[str, int]) -> Merges:
    """The merges; their two tokens stand around a space that is not at an end."""
    listed = fields.items("merges", str)
    if found := sound_merges(vocab, listed):
        return found
    pairs: list[Pair] = []
    for place, merge in enumerate(listed):
        at = merge.find(" ", 1)
        left, right = merge[:at], merge[at + 1 :]
        if at < 0 or not right:
            raise FormatError(f"{fields.name}: merge {place}, {merge!r}, is not two tokens")
        for token in (left, right, left + right):
            if token not in vocab:
                raise FormatError(f"{fields.name}: merge {place}, {merge!r}: {token!r} is no token")
        pairs.append((left, right))
    return merges_of_pairs(vocab, pairs)


def losses(spec: TokenizerSpec) -> list[str]:
    """What the metadata cannot hold of a spec."""
    found = plain_losses(spec, "template")
    found += template_losses(spec) + losses_of_merges(spec)
    ignore_merges = merges_of(spec).ignore_merges
    if name_of(spec.splits, ignore_merges=ignore_merges) is None:
        known = name_of(spec.splits, ignore_merges=not ignore_merges)
        merges = "with" if ignore_merges else "without"
        how = f" {merges} ignore_merges, which llama.cpp couples to it" if known else ""
        found.append(f"this split{how}: llama.cpp has no name for it")
    found += [
        f"the flags of the added token {token.content!r}"
        for token in spec.added_tokens
        if token.lstrip or token.rstrip or token.single_word
    ]
    found += [
        f"the text {spec.tokens[token.id]!r} that the added token {token.content!r} is decoded to"
        for token in spec.added_tokens
        if spec.kinds[token.id] is TokenKind.CONTROL
        and spec.tokens[token.id] != token.content.encode()
    ]
    if len({token.normalized for token in spec.added_tokens}) > 1:
        found.append("added tokens that are looked for before others")
    text_losses = ("the text of the added token",)  # of formats that spell added tokens in bytes
    return found + [loss for loss in spelling_losses(spec) if not loss.startswith(text_losses)]


def values(spec: TokenizerSpec) -> dict[str, Value]:
    """The metadata of a spec."""
    recovered = merges_of(spec)
    pre = name_of(spec.splits, ignore_merges=recovered.ignore_merges) or "default"
    spelled = spellings(spec).to_list()
    strings = [
        string if kind is not TokenKind.UNUSED else f"[PAD{id}]"
        for id, (string, kind) in enumerate(zip(spelled, spec.kinds, strict=True))
    ]
    return {
        **common(spec, "gpt2", pre),
        "tokenizer.ggml.tokens": strings,
        "tokenizer.ggml.token_type": types_of(spec),
        "tokenizer.ggml.merges": [f"{spelled[a]} {spelled[b]}" for a, b in recovered.merges],
    }
