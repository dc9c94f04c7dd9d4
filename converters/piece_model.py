"""The file of a SentencePiece model, field by field: pieces, and how text is normalized before.

Unigram, word and character models are no BPE. Source: `sentencepiece_model.proto` of
SentencePiece.
"""

from dataclasses import dataclass
from pathlib import Path

from ..errors import FormatError, UnsupportedError
from ..spec import TokenizerSpec
from .base import read_bytes
from .pieces import NORMAL, UNKNOWN, Pieces, normalizers_of, pieces_of, settings_of, spec_of
from .protobuf import Fields, fields, floats, length, varint

__all__ = ["Model", "looks_like", "parse", "written"]

_BPE = 2
_FAMILIES = {1: "Unigram", 3: "word", 4: "character"}
# Fields of ModelProto, TrainerSpec and NormalizerSpec.
_PIECES, _TRAINER, _NORMALIZER, _DENORMALIZER = 1, 2, 3, 5
_MODEL_TYPE, _VOCAB_SIZE, _SPACE_BEHIND, _BYTE_FALLBACK = 3, 4, 24, 35
_UNK_ID, _BOS_ID, _EOS_ID, _PAD_ID = 40, 41, 42, 43
_NAME, _CHARSMAP, _DUMMY_PREFIX, _REMOVE_SPACES, _ESCAPE = 1, 2, 3, 4, 5
_ROLES = {_BOS_ID: 1, _EOS_ID: 2, _PAD_ID: -1}
_NAMES = {_BOS_ID: "<s>", _EOS_ID: "</s>", _PAD_ID: "<pad>"}
_PIECE_OF_ID = 5  # from the number of the field unk_id to that of unk_piece


@dataclass(frozen=True, slots=True)
class Model:
    """What a model says. `ids` are those of its roles by the number of their field, -1 for none;
    `prefix` puts a space in front of a text, `tidy` takes superfluous ones away.
    """

    name: str
    pieces: Pieces
    byte_fallback: bool
    prefix: bool
    tidy: bool
    rules: bytes
    rules_name: str
    ids: dict[int, int]

    def spec(self) -> TokenizerSpec:
        """The spec of the model alone."""
        return spec_of(
            self.pieces,
            self.name,
            byte_fallback=self.byte_fallback,
            normalizers=normalizers_of(prefix=self.prefix, tidy=self.tidy, rules=self.rules),
            metadata={"sentencepiece": {"normalizer": self.rules_name, "ids": self.ids}},
        )

    def roles(self) -> dict[str, str]:
        """The tokens that the model itself has for roles, by their names in transformers."""
        unknown = list(self.pieces.types).index(UNKNOWN)
        named = {"bos_token": self.ids[_BOS_ID], "eos_token": self.ids[_EOS_ID]}
        named["unk_token"] = unknown
        strings = self.pieces.strings
        return {role: strings[id] for role, id in named.items() if 0 <= id < len(strings)}


def looks_like(path: Path) -> bool:
    """Whether a file begins with a piece, as models do."""
    with path.open("rb") as file:
        head = file.read(1 << 10)
    if len(head) < 4 or head[0] != 0x0A or head[1] < 2 or head[2] != 0x0A:
        return False
    return head[1] >= 0x80 or head[3] <= head[1] - 2


def parse(path: Path) -> Model:
    """Reads a file."""
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
    return Model(
        name,
        Pieces(strings, scores, types),
        byte_fallback=bool(trainer.number(_BYTE_FALLBACK, 0)),
        prefix=bool(normalizer.number(_DUMMY_PREFIX, 1)),
        tidy=bool(normalizer.number(_REMOVE_SPACES, 1)),
        rules=normalizer.bytes(_CHARSMAP),
        rules_name=normalizer.text(_NAME),
        ids={n: trainer.number(n, d) for n, d in _ROLES.items()},
    )


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


def written(spec: TokenizerSpec) -> bytes:
    """The file for a spec."""
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
