"""SentencePiece's .model: pieces with scores and types, and how text is normalized before.

What the pieces mean is in `pieces.py`. Unigram, word and character models are no BPE. Source:
`sentencepiece_model.proto` of SentencePiece.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import FormatError, UnsupportedError
from ..spec import TokenizerSpec
from .base import Format, read_bytes, refuse_losses, require, write_files
from .pieces import NORMAL, Pieces, losses, normalizers_of, pieces_of, settings_of, spec_of
from .protobuf import Fields, fields, floats, length, varint

if TYPE_CHECKING:
    import sentencepiece

__all__ = ["FORMAT", "live", "read", "write"]

_BPE = 2
_FAMILIES = {1: "Unigram", 3: "word", 4: "character"}
# Fields of ModelProto, TrainerSpec and NormalizerSpec.
_PIECES, _TRAINER, _NORMALIZER, _DENORMALIZER = 1, 2, 3, 5
_MODEL_TYPE, _VOCAB_SIZE, _SPACE_BEHIND, _BYTE_FALLBACK = 3, 4, 24, 35
_UNK_ID, _BOS_ID, _EOS_ID, _PAD_ID = 40, 41, 42, 43
_NAME, _CHARSMAP, _DUMMY_PREFIX, _REMOVE_SPACES, _ESCAPE = 1, 2, 3, 4, 5


def detect(path: Path) -> bool:
    """Whether a file begins with a piece, as models do."""
    if path.is_dir():
        return False
    with path.open("rb") as file:
        head = file.read(1 << 10)
    if len(head) < 4 or head[0] != 0x0A or head[1] < 2 or head[2] != 0x0A:
        return False
    return head[1] >= 0x80 or head[3] <= head[1] - 2


def read(
    path: Path, pattern: str | None, special_tokens: Mapping[str, int] | None
) -> TokenizerSpec:
    """Reads a model."""
    if pattern is not None or special_tokens is not None:
        raise FormatError(f"{path}: a SentencePiece model holds its own splits and special tokens")
    data, name = read_bytes(path), path.name
    strings: list[str] = []
    scores: list[float] = []
    types: list[int] = []
    sections = {_TRAINER: b"", _NORMALIZER: b"", _DENORMALIZER: b""}
    for number, value, at in fields(data, name):
        if number == _PIECES and isinstance(value, bytes):
            piece = Fields(value, f"{name}: piece {len(strings)}")
            strings.append(piece.text(1))
            scores.append(piece.float(2))
            types.append(piece.number(3, NORMAL))
        elif number in sections and isinstance(value, bytes):
            sections[number] += value
        elif number < 4:
            raise FormatError(f"{name}: byte {at}: field {number} must be a message")
    trainer = Fields(sections[_TRAINER], f"{name}: trainer_spec")
    if (family := trainer.number(_MODEL_TYPE, 1)) != _BPE:
        kind = _FAMILIES.get(family, f"type {family}")
        raise UnsupportedError(f"{name}: a SentencePiece {kind} model, which is not BPE")
    normalizer = Fields(sections[_NORMALIZER], f"{name}: normalizer_spec")
    denormalizer = Fields(sections[_DENORMALIZER], f"{name}: denormalizer_spec")
    _check_flags(name, trainer, normalizer, denormalizer)
    prefix = bool(normalizer.number(_DUMMY_PREFIX, 1))
    tidy = bool(normalizer.number(_REMOVE_SPACES, 1))
    rules = normalizer.bytes(_CHARSMAP)
    return spec_of(
        Pieces(strings, scores, types),
        name,
        byte_fallback=bool(trainer.number(_BYTE_FALLBACK, 0)),
        normalizers=normalizers_of(prefix=prefix, tidy=tidy, rules=rules),
        metadata={
            "sentencepiece": {
                "normalizer": normalizer.text(_NAME),
                "ids": {n: trainer.number(n, d) for n, d in _ROLES.items()},
            }
        },
    )


_ROLES = {_BOS_ID: 1, _EOS_ID: 2, _PAD_ID: -1}
_NAMES = {_BOS_ID: "<s>", _EOS_ID: "</s>", _PAD_ID: "<pad>"}
_PIECE_OF_ID = 5  # from the number of the field unk_id to that of unk_piece


def _check_flags(
    name: str,
    trainer: Fields,
    normalizer: Fields,
    denormalizer: Fields,
) -> None:
    for what, found in (
        ("treat_whitespace_as_suffix", trainer.number(_SPACE_BEHIND, 0)),
        ("escape_whitespaces=false", not normalizer.number(_ESCAPE, 1)),
        ("a denormalizer", denormalizer.bytes(_CHARSMAP)),
    ):
        if found:
            raise UnsupportedError(f"{name}: {what} is not supported")


def write(spec: TokenizerSpec, path: Path) -> list[Path]:
    """Writes a model."""
    return write_files({path: _model(spec)})


def live(spec: TokenizerSpec, *, allow_loss: bool) -> "sentencepiece.SentencePieceProcessor":
    """A `sentencepiece.SentencePieceProcessor`, not by way of a file."""
    require("sentencepiece")
    import sentencepiece

    refuse_losses("sentencepiece", losses(spec), allow_loss=allow_loss)
    return sentencepiece.SentencePieceProcessor(model_proto=_model(spec))


def _model(spec: TokenizerSpec) -> bytes:
    pieces = pieces_of(spec)
    kept = spec.metadata.get("sentencepiece", {})
    prefix, tidy, rules = settings_of(spec) or (False, False, b"")
    model = [
        length(_PIECES, length(1, s.encode()) + floats(2, score) + varint(3, type))
        for s, score, type in zip(pieces.strings, pieces.scores, pieces.types, strict=True)
    ]
    ids = kept.get("ids") or {n: spec.special_tokens.get(s, -1) for n, s in _NAMES.items()}
    unknown = spec.unknown or 0
    trainer = [
        varint(_MODEL_TYPE, _BPE),
        varint(_VOCAB_SIZE, len(pieces.strings)),
        varint(_BYTE_FALLBACK, spec.byte_fallback),
        varint(_UNK_ID, unknown),
        *(varint(number, id) for number, id in ids.items()),
        *(
            length(number + _PIECE_OF_ID, pieces.strings[id].encode())
            for number, id in {_UNK_ID: unknown, **ids}.items()
            if 0 <= id < len(pieces.strings)
        ),
    ]
    normalizer = [
        length(
            _NAME, str(kept.get("normalizer") or ("user_defined" if rules else "identity")).encode()
        ),
        length(_CHARSMAP, rules) if rules else b"",
        varint(_DUMMY_PREFIX, prefix),
        varint(_REMOVE_SPACES, tidy),
        varint(_ESCAPE, 1),
    ]
    model += [length(_TRAINER, b"".join(trainer)), length(_NORMALIZER, b"".join(normalizer))]
    return b"".join(model)


FORMAT = Format("sentencepiece", "SentencePiece's .model of BPE", detect, read, losses, write)
