"""CLIP's bpe_simple_vocab: merges of bytes whose last one in a word carries `</w>`.

The ids are GPT-2's characters of the bytes, the same with `</w>`, what the first 48,894 merges
make, and two special tokens; the file itself goes on. Text is in lower case with single spaces,
words are cut by CLIP's own regex. It may be packed by gzip, and can only be read. Source:
`simple_tokenizer.py` of CLIP; its repairing of texts by ftfy is left to the caller.
"""

import zlib
from collections.abc import Mapping
from pathlib import Path

from ..bytelevel import BYTE_ORDER, CHARACTERS
from ..dialects import escape
from ..errors import FormatError
from ..spec import AddedToken, Normalizer, Split, TokenizerSpec
from .base import Format, read_bytes
from .json_tree import Node
from .vocabulary import Spelling, assemble, merges_of_pairs

__all__ = ["FORMAT", "read"]

_START = b'"bpe_simple_vocab_'
_GZIP = b"\x1f\x8b"
_MOST = 1 << 24  # bytes of the file: that of CLIP has 3 MB
_MERGES = 49152 - 256 - 2
_SUFFIX = "</w>"
_SPECIAL = ("<|startoftext|>", "<|endoftext|>")
_PATTERN = "|".join([
    *map(escape, _SPECIAL), "'s|'t|'re|'ve|'m|'ll|'d", r"[\p{L}]+", r"[\p{N}]", r"[^\s\p{L}\p{N}]+",
])  # fmt: skip


def detect(path: Path) -> bool:
    """Whether a file, or what is packed in it, begins as CLIP's does."""
    if path.is_dir():
        return False
    with path.open("rb") as file:
        head = file.read(1 << 12)
    if head.startswith(_GZIP):
        try:
            head = zlib.decompressobj(31).decompress(head, 1 << 12)
        except zlib.error:
            return False
    return head.startswith(_START)


def _text(path: Path) -> str:
    data = read_bytes(path)
    try:
        if data.startswith(_GZIP):
            unpacker = zlib.decompressobj(31)
            data = unpacker.decompress(data, _MOST + 1)
            if len(data) <= _MOST and not unpacker.eof:
                raise EOFError("it ends too early")
        if len(data) > _MOST:
            raise FormatError(f"{path.name}: longer than {_MOST} bytes")
        return data.decode()
    except (EOFError, zlib.error) as error:
        raise FormatError(f"{path.name}: is no gzip file: {error}") from None
    except UnicodeDecodeError as error:
        raise FormatError(f"{path.name}: byte {error.start} is not UTF-8") from error


def read(
    path: Path, pattern: str | None, special_tokens: Mapping[str, int] | None
) -> TokenizerSpec:
    """Reads the file."""
    if pattern is not None or special_tokens is not None:
        raise FormatError(f"{path}: CLIP has a split and special tokens of its own")
    lines = _text(path).split("\n")[1 : _MERGES + 1]
    pairs = []
    for number, line in enumerate(lines, 2):
        parts = line.split()
        if len(parts) == 2:
            pairs.append((parts[0], parts[1]))
        elif parts or number <= len(lines):
            raise FormatError(f"{path.name}: line {number}: {line!r} is not two tokens")
    alphabet = [CHARACTERS[byte] for byte in BYTE_ORDER]
    names = [*alphabet, *(c + _SUFFIX for c in alphabet), *(a + b for a, b in pairs), *_SPECIAL]
    vocab = {name: id for id, name in enumerate(names)}
    where = Node(dict(vocab), path.name)
    if len(vocab) != len(names):
        raise where.error("two merges make one token")
    if missing := next((t for pair in pairs for t in pair if t not in vocab), None):
        raise where.error(f"no merge makes the token {missing!r}")
    added = [AddedToken(content, vocab[content]) for content in _SPECIAL]
    spelling = Spelling(byte_level=True, suffix=_SUFFIX)
    vocabulary = assemble(vocab, merges_of_pairs(vocab, pairs), added, spelling, where)
    return TokenizerSpec(
        **vocabulary,
        suffix=_SUFFIX,
        splits=(Split(_PATTERN, "removed", invert=True),),
        normalizers=(
            Normalizer("nfc"),
            Normalizer("replace", pattern=r"\s+", content=" "),
            Normalizer("lowercase"),
        ),
        added_tokens=tuple(added),
    )


FORMAT = Format("clip", "CLIP's bpe_simple_vocab (read only)", detect, read)
