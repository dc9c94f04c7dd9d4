"""The models "llama" and "gemma4": pieces with `▁` for spaces, with scores or with merges."""

from dataclasses import replace

from ...spec import DecoderStep, Normalizer, Split, TokenizerSpec
from .. import pieces
from ..json_tree import Node
from ..pieces import BYTE, CONTROL, UNKNOWN, Pieces
from ..vocabulary import Spelling, assemble
from .bytes_ import read_merges, vocab_of
from .container import Value
from .fields import Fields, added_tokens, common, template_losses, template_of

__all__ = ["losses", "read", "read_listed", "values"]

_LINES = (Split(r"[^\n]+|[\n]+"),)


def read(fields: Fields) -> TokenizerSpec:
    """The spec of "llama": SentencePiece without rules, with a space in front if not forbidden."""
    strings, types = fields.tokens()
    scores = fields.items("scores", float, len(strings))
    unknown = fields.get("unknown_token_id", int, 0)
    types = [
        UNKNOWN if id == unknown else CONTROL if type == UNKNOWN else type
        for id, type in enumerate(types)
    ]
    prefix = fields.get("add_space_prefix", bool, True)
    spec = pieces.spec_of(
        Pieces(strings, scores, types),
        fields.name,
        byte_fallback=BYTE in types,
        normalizers=pieces.normalizers_of(prefix=prefix, tidy=False),
        user_added=True,
        metadata=fields.kept(),
    )
    return replace(spec, template=template_of(fields, len(strings), bos=True))


def read_listed(fields: Fields) -> TokenizerSpec:
    """The spec of "gemma4": listed merges within lines."""
    strings, types = fields.tokens()
    vocab = vocab_of(fields, strings, types)
    added = added_tokens(strings, types)
    unknown = fields.get("unknown_token_id", int, 0)
    name = strings[unknown] if 0 <= unknown < len(strings) else None
    spelling = Spelling(byte_level=False, byte_fallback=True, unknown=name)
    where = Node(dict(vocab), fields.name)
    vocabulary = assemble(vocab, read_merges(fields, vocab), added, spelling, where)
    return TokenizerSpec(
        **vocabulary,
        splits=_LINES,
        normalizers=(Normalizer("replace", pattern=" ", content="▁"),),
        byte_level=False,
        byte_fallback=True,
        fuse_unknown=True,
        unknown=None if name is None else unknown,
        added_tokens=added,
        template=template_of(fields, len(strings), bos=True),
        decoder=(
            DecoderStep("replace", "▁", " "),
            DecoderStep("byte_fallback"),
            DecoderStep("fuse"),
        ),
        metadata=fields.kept(),
    )


def losses(spec: TokenizerSpec) -> list[str]:
    """What the metadata of "llama" cannot hold of a spec."""
    found = pieces.losses(spec, user_added=True, template_held=True) + template_losses(spec)
    settings = pieces.settings_of(spec)
    if settings and (settings[1] or settings[2]):
        found.append("normalization rules, or spaces that are tidied away")
    if spec.splits:
        found.append("a split")
    return found


def values(spec: TokenizerSpec) -> dict[str, Value]:
    """The metadata of a spec."""
    vocab = pieces.pieces_of(spec)
    settings = pieces.settings_of(spec)
    return {
        **common(spec, "llama", "default"),
        "tokenizer.ggml.tokens": list(vocab.strings),
        "tokenizer.ggml.scores": [float(score) for score in vocab.scores],
        "tokenizer.ggml.token_type": list(vocab.types),
        "tokenizer.ggml.add_space_prefix": bool(settings and settings[0]),
    }
