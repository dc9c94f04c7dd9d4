"""GPT-2's vocab.json + merges.txt, in a folder.

vocab.json maps tokens, spelled as in `bytelevel.py`, to ids. merges.txt has a line for each merge,
its two tokens with a space between, under an optional first line `#version: 0.2`; no other line is
a comment, since `# #` is a merge of GPT-2. The files say nothing of the split, which is GPT-2's if
tokens are spelled in bytes and none otherwise, nor of special tokens and a space in front of the
text, for which transformers looks into tokenizer_config.json. OpenAI's own names of the two files,
encoder.json and vocab.bpe, are read, too.
"""

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from ..bytelevel import CHARACTERS, from_characters, to_characters
from ..errors import FormatError, UnsupportedError
from ..kinds import NUMBERS
from ..patterns import PATTERNS, resolve
from ..ranks import losses_of_merges, merges_of
from ..spec import AddedToken, TokenizerSpec, TokenKind
from . import tokenizer_config
from .base import Format, checked_special_tokens, plain_losses, read_text, write_files
from .json_tree import load
from .vocabulary import (
    Merges,
    Pair,
    Spelling,
    assemble,
    check_ids,
    merges_of_pairs,
    sound_merges,
    spelling_losses,
    spellings,
)

__all__ = ["FORMAT", "read", "write"]

_VOCAB, _MERGES = "vocab.json", "merges.txt"
_NAMES = ((_VOCAB, _MERGES), ("encoder.json", "vocab.bpe"))
_HEADER = "#version"
_SPECIAL_SHAPE = r"<[^<>\s]+>|\[[^\[\]\s]+\]"


def detect(path: Path) -> bool:
    """Whether this is a folder with both files."""
    return path.is_dir() and any(all((path / name).is_file() for name in names) for names in _NAMES)


def read(
    path: Path, pattern: str | None, special_tokens: Mapping[str, int] | None
) -> TokenizerSpec:
    """Reads the folder; `pattern` and `special_tokens` override what the files imply."""
    if path.is_file():
        raise FormatError(f"{path}: pass the folder that holds {_VOCAB} and {_MERGES}")
    there = [names for names in _NAMES if (path / names[0]).is_file()]
    vocab_name, merges_name = there[0] if there else _NAMES[0]
    tree = load(path / vocab_name)
    vocab: dict[str, int] = tree.value
    check_ids(vocab, tree)
    merges = _read_merges(path / merges_name, vocab)
    config = tokenizer_config.read(path)
    if special_tokens is not None:
        given = checked_special_tokens(special_tokens, len(vocab))
        added = [AddedToken(content, id) for content, id in given.items()]
        for token in added:
            if vocab.get(token.content, token.id) != token.id:
                raise FormatError(
                    f"{path}: the special token {token.content!r} has the id "
                    f"{vocab[token.content]}, not {token.id}"
                )
    elif config is None or not (added := tokenizer_config.with_tokens([], vocab, config)):
        added = _special_by_shape(vocab, merges)
    byte_level = _is_byte_level(vocab, added)
    vocabulary = assemble(vocab, merges, added, Spelling(byte_level), tree)
    return TokenizerSpec(
        **vocabulary,
        splits=resolve(pattern or ("gpt2" if byte_level else None)),
        prefix_space=byte_level
        and config is not None
        and config.get("add_prefix_space", bool, False),
        byte_level=byte_level,
        added_tokens=tuple(sorted(added, key=lambda token: token.id)),
        metadata=tokenizer_config.metadata(path, config),
    )


def _read_merges(path: Path, vocab: dict[str, int]) -> Merges:
    # Only \n and \r\n end a line: str.splitlines would also cut at U+2028 and others.
    lines = read_text(path).split("\n")
    header = lines[0].startswith(_HEADER) and "\r" not in lines[0]
    plain = [line for line in lines[header:] if line]
    if found := sound_merges(vocab, plain):
        return found
    pairs: list[Pair] = []
    for number, line in enumerate(lines, 1):
        line = line.removesuffix("\r")
        if number == 1 and line.startswith(_HEADER) and "\r" not in line:
            continue
        if not line:
            continue
        parts = line.split(" ")
        if len(parts) != 2 or not all(parts):
            raise FormatError(f"{path.name}: line {number}: {line!r} is not two tokens and a space")
        left, right = parts
        for token in (left, right, left + right):
            if token not in vocab:
                raise FormatError(f"{path.name}: line {number}: {token!r} is not in {_VOCAB}")
        pairs.append((left, right))
    return merges_of_pairs(vocab, pairs)


def _is_byte_level(vocab: Mapping[str, int], added: Sequence[AddedToken]) -> bool:
    """Whether the tokens are spelled in bytes, rather than in characters.

    They are if there are all bytes; otherwise if all that is not an added token stands for bytes,
    and the space is spelled as GPT-2 does it.
    """
    if all(character in vocab for character in CHARACTERS):
        return True
    special = {token.content for token in added}
    spelled = all(token in special or from_characters(token) is not None for token in vocab)
    return spelled and any(to_characters(b" ") in token for token in vocab)


def _special_by_shape(vocab: Mapping[str, int], merges: Merges) -> list[AddedToken]:
    """What no merge makes and looks like `<this>` or `[THIS]`, where no file names the special."""
    made = set(merges.made.tolist())
    return [
        AddedToken(token, id)
        for token, id in vocab.items()
        if id not in made and re.fullmatch(_SPECIAL_SHAPE, token)
    ]


def losses(spec: TokenizerSpec) -> list[str]:
    """What the two files cannot hold of a spec."""
    found = spelling_losses(spec) + plain_losses(spec, "prefix_space") + losses_of_merges(spec)
    if not spec.byte_level:
        _refuse_spaces(spec)
        found.append("tokens that are not spelled in bytes")
    if spec.splits != PATTERNS["gpt2"].splits:
        found.append("a split pattern other than GPT-2's")
    if merges_of(spec).ignore_merges:
        found.append("ignore_merges: pieces that are tokens which merges do not make")
    return found


def _refuse_spaces(spec: TokenizerSpec) -> None:
    """Raises `UnsupportedError` if merges.txt could not be read: its lines are two tokens."""
    tokens = spec.vocabulary
    for id in dict.fromkeys(tokens.rows()[:, :2].ravel().tolist()):
        if not _ENDS.isdisjoint(tokens[id]):
            raise UnsupportedError(
                f"merges.txt has two tokens and a space in a line, and merges have the token "
                f"{tokens[id].decode('utf-8', 'replace')!r}"
            )


_ENDS = frozenset(b" \r\n")


def write(spec: TokenizerSpec, path: Path) -> list[Path]:
    """Writes both files, and a tokenizer_config.json with which AutoTokenizer finds them."""
    spelled = spellings(spec)
    merges = spelled.joined_pairs(merges_of(spec).rows, " ", "\n")
    kinds, unused = spec.vocabulary.kinds(), NUMBERS[TokenKind.UNUSED]
    vocab = {token: id for id, token in enumerate(spelled.to_list()) if kinds[id] != unused}
    # GPT2Tokenizer would add an <|endoftext|> of its own if nothing were said.
    end = "<|endoftext|>" if "<|endoftext|>" in spec.special_tokens else None
    beside = tokenizer_config.files(
        spec, path, "GPT2Tokenizer", bos_token=end, eos_token=end, unk_token=end
    )
    return write_files({
        **beside,
        path / _MERGES: f"{_HEADER}: 0.2\n".encode() + merges,
        path / _VOCAB: json.dumps(vocab).encode(),
    })  # fmt: skip


FORMAT = Format(
    "gpt2",
    "folder with GPT-2's vocab.json and merges.txt",
    detect,
    read,
    losses,
    write,
    folder=True,
)
