"""minbpe's .model: a regex, special tokens, and merges as pairs of ids behind the 256 bytes.

    minbpe v1
    the regex, or nothing
    how many special tokens follow
    <|endoftext|> 300
    101 32

Text that the regex does not match is dropped. Source: `minbpe/base.py`.
"""

from collections.abc import Mapping
from pathlib import Path

from ..errors import FormatError, UnsupportedError
from ..patterns import resolve
from ..ranks import merges_of
from ..spec import AddedToken, TokenizerSpec, TokenKind
from . import tiktoken
from .base import (
    Format,
    checked_special_tokens,
    flag_losses,
    plain_losses,
    read_text,
    write_files,
)

__all__ = ["FORMAT", "read", "write"]

_HEADER = "minbpe v1"
_BYTES = [bytes([byte]) for byte in range(256)]


def detect(path: Path) -> bool:
    """Whether a file begins with the header."""
    if path.is_dir():
        return False
    with path.open("rb") as file:
        return file.read(len(_HEADER) + 2).split(b"\n")[0].strip(b"\r") == _HEADER.encode()


def read(
    path: Path, pattern: str | None, special_tokens: Mapping[str, int] | None
) -> TokenizerSpec:
    """Reads a model; `pattern` and `special_tokens` override what it says."""
    lines = read_text(path).replace("\r\n", "\n").split("\n")
    if len(lines) < 3 or lines[0] != _HEADER:
        raise FormatError(f"{path.name}: line 1: must be {_HEADER!r}, and two more follow")
    count = _number(path, 3, lines[2])
    if count > len(lines) - 3:
        raise FormatError(f"{path.name}: line 3: {count} special tokens in {len(lines)} lines")
    listed = {}
    for number, line in enumerate(lines[3 : 3 + count], 4):
        content, _, id = line.rpartition(" ")
        listed[content] = _number(path, number, id)
    pairs = []
    for number, line in enumerate(lines[3 + count :], 4 + count):
        if line:
            left, _, right = line.partition(" ")
            pairs.append((_number(path, number, left), _number(path, number, right)))
    specials = checked_special_tokens(
        listed if special_tokens is None else special_tokens, 256 + len(pairs)
    )
    return _spec(path, pairs, specials, (lines[1] or None) if pattern is None else pattern)


def _number(path: Path, number: int, text: str) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > 9:
        raise FormatError(f"{path.name}: line {number}: {text[:40]!r} is no number")
    return int(text)


def _spec(
    path: Path, pairs: list[tuple[int, int]], specials: dict[str, int], pattern: str | None
) -> TokenizerSpec:
    tokens = list(_BYTES)
    length = 0
    for place, (left, right) in enumerate(pairs):
        if max(left, right) >= len(tokens):
            raise FormatError(f"{path.name}: merge {place} ({left}, {right}) names a later id")
        tokens.append(tokens[left] + tokens[right])
        length += len(tokens[-1])
        if length > 1 << 28:
            raise UnsupportedError(f"{path.name}: merge {place}: the tokens have 256 MB")
    size = max([len(tokens), *(id + 1 for id in specials.values())])
    kinds = [TokenKind.NORMAL] * len(tokens) + [TokenKind.UNUSED] * (size - len(tokens))
    for content, id in specials.items():
        if id < len(tokens):
            raise FormatError(f"{path.name}: the special token {content!r} has the id {id}: taken")
        kinds[id] = TokenKind.CONTROL
    tokens += [b""] * (size - len(tokens))
    for content, id in specials.items():
        tokens[id] = content.encode()
    return TokenizerSpec(
        tokens=tuple(tokens),
        kinds=tuple(kinds),
        merges=tuple(pairs),
        splits=tiktoken.matches_only(pattern) if pattern else resolve(None),
        added_tokens=tuple(AddedToken(content, id) for content, id in specials.items()),
    )


def losses(spec: TokenizerSpec) -> list[str]:
    """What a model cannot hold of a spec."""
    if not spec.byte_level or list(spec.tokens[:256]) != _BYTES:
        raise UnsupportedError("minbpe's ids 0 to 255 are the bytes in their order")
    recovered = merges_of(spec)
    made = [spec.tokens[a] + spec.tokens[b] for a, b in recovered.merges]
    if made != list(spec.tokens[256 : 256 + len(made)]) or len(spec.normal_ids()) != 256 + len(
        made
    ):
        raise UnsupportedError("minbpe's ids from 256 on are those of the merges, in their order")
    found = plain_losses(spec) + tiktoken.split_losses(spec) + flag_losses(spec)
    if recovered.ignore_merges:
        found.append("ignore_merges: pieces that are tokens which merges do not make")
    found += [
        f"the special token {token.content!r}, which has white space"
        for token in spec.added_tokens
        if len(token.content.split()) != 1 or token.content.strip() != token.content
    ]
    return found


def write(spec: TokenizerSpec, path: Path) -> list[Path]:
    """Writes a model."""
    specials = [f"{content} {id}" for content, id in spec.special_tokens.items()]
    pattern = tiktoken.pattern_of(spec) if spec.splits else ""
    merges = [f"{left} {right}" for left, right in merges_of(spec).merges]
    lines = [_HEADER, pattern, str(len(specials)), *specials, *merges]
    return write_files({path: "\n".join([*lines, ""]).encode()})


FORMAT = Format("minbpe", "minbpe's .model", detect, read, losses, write)
