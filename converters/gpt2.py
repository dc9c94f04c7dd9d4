"""GPT-2's vocab.json + merges.txt, in a folder.

vocab.json maps tokens, spelled as in `bytelevel.py`, to ids. merges.txt has a line for each merge,
its two tokens with a space between, under an optional first line `#version: 0.2`; no other line is
a comment, since `# #` is a merge of GPT-2. The files say nothing of the split, which is GPT-2's if
tokens are spelled in bytes and none otherwise, nor of special tokens, for which transformers looks
into tokenizer_config.json.
"""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..bytelevel import CHARACTERS, from_characters, to_characters
from ..errors import FormatError
from ..patterns import PATTERNS, resolve
from ..ranks import merges_of
from ..spec import AddedToken, TokenizerSpec, TokenKind
from .base import Format, read_bytes, write_files
from .json_tree import load
from .tokenizer_json.models import (
    read_added_token,
    spelling_losses,
    spellings,
    write_added_token,
)

__all__ = ["FORMAT", "read", "write"]

_HEADER = "#version"
_SPECIAL_SHAPE = re.compile(r"<[^<>\s]+>|\[[^\[\]\s]+\]")


def detect(path: Path) -> bool:
    """Whether this is a folder with both files."""
    return path.is_dir() and all((path / n).is_file() for n in ("vocab.json", "merges.txt"))


def read(
    path: Path, pattern: str | None, special_tokens: Mapping[str, int] | None
) -> TokenizerSpec:
    """Reads the folder; `pattern` and `special_tokens` override what the files imply."""
    vocab = _read_vocab(path / "vocab.json")
    pairs = _read_merges(path / "merges.txt", vocab)
    byte_level = _is_byte_level(vocab)
    added = (
        _added_tokens(path, vocab, pairs)
        if special_tokens is None
        else [AddedToken(content, id) for content, id in special_tokens.items()]
    )
    controls = {token.content: token.id for token in added}
    size = 1 + max([*vocab.values(), *controls.values()], default=-1)
    tokens, kinds = [b""] * size, [TokenKind.UNUSED] * size
    for content, id in vocab.items():
        spelled = from_characters(content) if byte_level else content.encode()
        control = content in controls or spelled is None
        tokens[id] = content.encode() if control or spelled is None else spelled
        kinds[id] = TokenKind.CONTROL if control else TokenKind.NORMAL
    for content, id in controls.items():
        if vocab.get(content, id) != id or tokens[id] not in (b"", content.encode()):
            raise FormatError(f"{path}: the id {id} of the special token {content!r} is taken")
        tokens[id], kinds[id] = content.encode(), TokenKind.CONTROL
    return TokenizerSpec(
        tokens=tuple(tokens),
        kinds=tuple(kinds),
        merges=tuple((vocab[left], vocab[right]) for left, right in pairs),
        splits=resolve(pattern or ("gpt2" if byte_level else None)),
        byte_level=byte_level,
        added_tokens=tuple(sorted(added, key=lambda token: token.id)),
    )


def _read_vocab(path: Path) -> dict[str, int]:
    vocab = load(path).value
    owners: dict[int, str] = {}
    for token, id in vocab.items():
        if not isinstance(id, int) or isinstance(id, bool) or not 0 <= id < 1 << 24 or not token:
            raise FormatError(f"{path.name}: the id of {token!r} is {id!r}")
        if owners.setdefault(id, token) != token:
            raise FormatError(
                f"{path.name}: id {id} is used twice, by {owners[id]!r} and {token!r}"
            )
    return vocab


def _read_merges(path: Path, vocab: Mapping[str, int]) -> list[tuple[str, str]]:
    data = read_bytes(path).removeprefix(b"\xef\xbb\xbf")
    try:
        # Only \n and \r\n end a line: str.splitlines would also cut at U+2028 and others.
        lines = data.decode().split("\n")
    except UnicodeDecodeError as error:
        raise FormatError(f"{path.name}: byte {error.start} is not UTF-8") from error
    pairs: list[tuple[str, str]] = []
    for number, line in enumerate(lines, 1):
        line = line.removesuffix("\r")
        if not line or (number == 1 and line.startswith(_HEADER)):
            continue
        parts = line.split(" ")
        if len(parts) != 2 or not all(parts):
            raise FormatError(f"{path.name}: line {number}: {line!r} is not two tokens and a space")
        left, right = parts
        for token in (left, right, left + right):
            if token not in vocab:
                raise FormatError(f"{path.name}: line {number}: {token!r} is not in vocab.json")
        pairs.append((left, right))
    return list(reversed(dict.fromkeys(reversed(pairs))))


def _is_byte_level(vocab: Mapping[str, int]) -> bool:
    """Whether the tokens are spelled in bytes, rather than in characters.

    Then each stands for bytes, or looks like a special token; and there are all bytes, or at least
    the space as GPT-2 spells it.
    """
    spelled = all(
        from_characters(token) is not None or _SPECIAL_SHAPE.fullmatch(token) for token in vocab
    )
    return spelled and (
        all(character in vocab for character in CHARACTERS)
        or any(to_characters(b" ") in token for token in vocab)
    )


def _added_tokens(
    path: Path, vocab: Mapping[str, int], pairs: list[tuple[str, str]]
) -> list[AddedToken]:
    """Those that tokenizer_config.json lists, or special ones: made by no merge, and look so."""
    config = path / "tokenizer_config.json"
    if config.is_file():
        node = load(config)
        if listed := node.optional("added_tokens_decoder"):
            return [read_added_token(listed.child(id), int(id)) for id in listed.value]
    made = {left + right for left, right in pairs}
    return [
        AddedToken(token, id)
        for token, id in vocab.items()
        if token not in made and _SPECIAL_SHAPE.fullmatch(token)
    ]


def losses(spec: TokenizerSpec) -> list[str]:
    """What the two files cannot hold of a spec."""
    found = spelling_losses(spec)
    if not spec.byte_level:
        found.append("tokens that are not spelled in bytes")
    if spec.splits != PATTERNS["gpt2"].splits:
        found.append("a split pattern other than GPT-2's")
    if spec.normalizers:
        found.append("the normalizers " + ", ".join(step.kind for step in spec.normalizers))
    if spec.template:
        found.append("the template around a text")
    if spec.prefix_space:
        found.append("a space in front of the text")
    if spec.unknown is not None or spec.prefix or spec.suffix:
        found.append("an unknown token, a prefix or a suffix")
    if merges_of(spec).ignore_merges:
        found.append("ignore_merges: pieces that are tokens which merges do not make")
    return found


def write(spec: TokenizerSpec, path: Path) -> list[Path]:
    """Writes both files, and a tokenizer_config.json with which AutoTokenizer finds them."""
    spelled = spellings(spec)
    merges = [f"{spelled[left]} {spelled[right]}\n" for left, right in merges_of(spec).merges]
    vocab = {token: id for id, token in enumerate(spelled) if token}
    return write_files({
        path / "tokenizer_config.json": json.dumps(_config(spec), indent=2).encode() + b"\n",
        path / "merges.txt": "".join([f"{_HEADER}: 0.2\n", *merges]).encode(),
        path / "vocab.json": json.dumps(vocab).encode(),
    })  # fmt: skip


def _config(spec: TokenizerSpec) -> dict[str, Any]:
    end = "<|endoftext|>" if "<|endoftext|>" in spec.special_tokens else None
    return {
        "tokenizer_class": "GPT2Tokenizer",
        "add_prefix_space": False,
        "bos_token": end,
        "eos_token": end,
        "unk_token": end,
        "clean_up_tokenization_spaces": False,
        "model_input_names": ["input_ids", "attention_mask"],
        "added_tokens_decoder": {
            str(token.id): write_added_token(token) for token in spec.added_tokens
        },
    }


FORMAT = Format(
    "gpt2",
    "folder with GPT-2's vocab.json and merges.txt",
    detect,
    read,
    losses,
    write,
    folder=True,
)
