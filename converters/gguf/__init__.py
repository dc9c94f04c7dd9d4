"""GGUF: the tokenizer in the metadata of llama.cpp's model files.

`tokenizer.ggml.model` says which family it is: "gpt2" has tokens spelled in bytes, merges and the
name of a split (see `splits.py`); "llama" has SentencePiece's pieces and scores; "gemma4" has
pieces and merges. Others are no BPE. Tokens of the type USER_DEFINED always match, CONTROL ones are
special tokens. `add_bos_token` and `add_eos_token` are the template. Files are written without
tensors.
"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from ...errors import FormatError, UnsupportedError
from ...spec import TokenizerSpec, TokenKind
from ..base import Format, id_limit, write_files
from . import bytes_, characters
from .container import MAGIC, metadata, written
from .fields import Fields

__all__ = ["FORMAT", "read", "write"]

_NOT_BPE = {
    "bert": "WordPiece", "t5": "Unigram", "rwkv": "the trie of RWKV", "plamo2": "the trie of PLaMo",
    "no_vocab": "no tokenizer", "none": "no tokenizer",
}  # fmt: skip


def detect(path: Path) -> bool:
    """Whether a file begins as GGUF files do."""
    if path.is_dir():
        return False
    with path.open("rb") as file:
        return file.read(4) == MAGIC


def read(
    path: Path, pattern: str | None, special_tokens: Mapping[str, int] | None
) -> TokenizerSpec:
    """Reads the tokenizer of a model file, or of one that holds nothing else."""
    if pattern is not None or special_tokens is not None:
        raise FormatError(f"{path}: a GGUF file holds its own split and special tokens")
    found = metadata(path, lambda key: key.startswith(("tokenizer.", "general.architecture")))
    fields = Fields(found, path.name)
    model = fields.get("model", str)
    match model:
        case "gpt2":
            return bytes_.read(fields)
        case "llama":
            return characters.read(fields)
        case "gemma4":
            return characters.read_listed(fields)
    family = _NOT_BPE.get(model, f"the family {model!r}")
    raise UnsupportedError(f"{path.name}: tokenizer.ggml.model: {family}, which is not BPE")


def losses(spec: TokenizerSpec) -> list[str]:
    """What the metadata cannot hold of a spec."""
    return bytes_.losses(spec) if spec.byte_level else characters.losses(spec)


def write(spec: TokenizerSpec, path: Path, *, pad_to: int | None = None) -> list[Path]:
    """Writes a file with the tokenizer alone.

    `pad_to` is how many ids there shall be, for a model whose embedding has more rows than the
    tokenizer ids: llama.cpp wants as many. Those behind the last are `[PAD<id>]`, unused.
    """
    if pad_to is not None:
        spec = _padded(spec, pad_to)
    values = bytes_.values(spec) if spec.byte_level else characters.values(spec)
    return write_files({path: written(values)})


def _padded(spec: TokenizerSpec, count: int) -> TokenizerSpec:
    missing = count - spec.vocab_size
    if missing < 0 or count > id_limit(spec.vocab_size):
        raise ValueError(f"pad_to is {count}, but the tokenizer has {spec.vocab_size} ids")
    if not spec.byte_level and missing:
        raise UnsupportedError("SentencePiece's pieces in GGUF have no ids that nobody owns")
    return replace(
        spec,
        tokens=(*spec.tokens, *[b""] * missing),
        kinds=(*spec.kinds, *[TokenKind.UNUSED] * missing),
    )


FORMAT = Format("gguf", "the tokenizer in a GGUF file of llama.cpp", detect, read, losses, write)
