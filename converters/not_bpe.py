"""Files of tokenizers that are no BPE, or one that a spec cannot express: refused by name."""

import re
from collections.abc import Mapping
from pathlib import Path

from ..errors import UnsupportedError
from ..spec import TokenizerSpec
from .base import Format

__all__ = ["FORMAT", "read"]

_KINDS = {
    "RWKV's vocabulary, which is the longest match in a trie and not BPE":
        rb"1 '\\x00' 1\r?\n",
    "OpenNMT's BPE codes, whose words its own tokenizer marks and joins":
        rb"v[23];(true|false);(true|false);(true|false);",
    "WordPiece's vocab.txt, which is the longest match and not BPE":
        rb"\[PAD\]\r?\n(?s:.*)\n\[UNK\]\r?\n",
}  # fmt: skip


def _kind(path: Path) -> str | None:
    if path.is_dir():
        return None
    with path.open("rb") as file:
        head = file.read(1 << 16)
    return next((kind for kind, shape in _KINDS.items() if re.match(shape, head)), None)


def detect(path: Path) -> bool:
    """Whether a file is one of these."""
    return _kind(path) is not None


def read(
    path: Path, pattern: str | None, special_tokens: Mapping[str, int] | None
) -> TokenizerSpec:
    """Raises `UnsupportedError` that says what the file is."""
    raise UnsupportedError(f"{path}: this is {_kind(path) or 'none of the files known here'}")


FORMAT = Format("not_bpe", "what is refused: RWKV, OpenNMT, WordPiece (read only)", detect, read)
