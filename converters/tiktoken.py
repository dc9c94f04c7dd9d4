"""tiktoken's rank files: a line `base64-of-the-token rank` for each token.

The file says nothing of the split pattern and the special tokens. They come from the caller; or
from a file NAME.tiktoken.json beside it, which the writer makes:

    {"name": "mine", "pattern": "...", "special_tokens": {"<|endoftext|>": 50256}}

`pattern` is a name of `patterns.PATTERNS`, a regex of tiktoken's dialect, or null; or, for the four
published files, from what their owner publishes, found by the sha256 of the content.
"""

import base64
import binascii
import itertools
import json
import operator
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import dialects
from ..errors import FormatError
from ..flat import Spelling, StringIds, rank_lines
from ..kinds import NUMBERS
from ..patterns import named, resolve
from ..ranks import differences, missing_bytes
from ..spec import AddedToken, Split, TokenizerSpec, TokenKind
from .base import (
    Format,
    checked_special_tokens,
    flag_losses,
    id_limit,
    plain_losses,
    read_bytes,
    refuse_losses,
    require,
    write_files,
)
from .json_tree import load

if TYPE_CHECKING:
    import tiktoken

__all__ = [
    "FORMAT",
    "live",
    "matches_only",
    "pattern_of",
    "ranks_of",
    "read",
    "spec_of",
    "split_losses",
    "write",
]

_END, _PROMPT = "<|endoftext|>", "<|endofprompt|>"
# sha256 of the file: name, pattern and special tokens as tiktoken_ext/openai_public.py has them.
_PUBLISHED: dict[str, tuple[str, str, dict[str, int]]] = {
    "306cd27f03c1a714eca7108e03d66b7dc042abe8c258b44c199a7ed9838dd930": (
        "r50k_base", "gpt2", {_END: 50256}),
    "94b5ca7dff4d00767bc256fdd1b27e5b17361d7b8a5f968547f9f23eb70d2069": (
        "p50k_base", "gpt2", {_END: 50256}),
    "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7": (
        "cl100k_base", "cl100k",
        {_END: 100257, "<|fim_prefix|>": 100258, "<|fim_middle|>": 100259,
         "<|fim_suffix|>": 100260, _PROMPT: 100276}),
    "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d": (
        "o200k_base", "o200k", {_END: 199999, _PROMPT: 200018}),
}  # fmt: skip
_NO_SPLIT = r"(?s:.+)"
_EMPTY = b"="  # how Whisper's table spells a token of no bytes


def detect(path: Path) -> bool:
    """Whether the first line of a file is a rank line."""
    if path.is_dir():
        return False
    with path.open("rb") as file:
        first = file.readline(1 << 16).removeprefix(b"\xef\xbb\xbf")
    try:
        _parse_line(first.strip())
    except ValueError:
        return path.suffix == ".tiktoken"
    return True


def read(
    path: Path, pattern: str | None, special_tokens: Mapping[str, int] | None
) -> TokenizerSpec:
    """Reads a rank file; see the top of this module for where the rest comes from."""
    data = read_bytes(path)
    ranks = parse_ranks(data, path.name)
    sidecar = sidecar_of(path)
    name = path.stem
    if sidecar.is_file():
        node = load(sidecar)
        node.only("name", "pattern", "special_tokens")
        name = node.get("name", str, name)
        if "pattern" not in node.value:
            raise node.error("'pattern' is missing; null means no split")
        pattern = node.get("pattern", str, None) if pattern is None else pattern
        if special_tokens is None:
            special_tokens = node.get("special_tokens", dict, {})
    elif published := _PUBLISHED.get(_sha256(data)):
        name = published[0]
        pattern = published[1] if pattern is None else pattern
        special_tokens = published[2] if special_tokens is None else special_tokens
    elif pattern is None:
        raise FormatError(
            f"{path}: a rank file says nothing of its split pattern and special tokens; pass "
            f"pattern= and special_tokens=, or put them into {sidecar.name} beside it"
        )
    spec = spec_of(ranks, pattern, special_tokens or {}, name)
    if missing := missing_bytes(spec):
        warnings.warn(
            f"{path.name}: byte 0x{missing[0]:02X} has no rank ({len(missing)} bytes in all): "
            "texts with it cannot be encoded",
            stacklevel=2,
        )
    return spec


def _sha256(data: bytes) -> str:
    import hashlib  # loads OpenSSL

    return hashlib.sha256(data).hexdigest()


def sidecar_of(path: Path) -> Path:
    """Where the pattern and the special tokens of a rank file are."""
    return path.with_name(path.name + ".json")


def parse_ranks(data: bytes, name: str) -> StringIds:
    """The rank table in a file's content; errors name the line.

    >>> parse_ranks(b"YQ== 0\\nYWI= 1\\n", "x.tiktoken").to_dict_of_bytes()
    {b'a': 0, b'ab': 1}
    """
    found = rank_lines(data)
    if found and _is_sound(found):
        return found
    ranks: dict[bytes, int] = {}
    owners: dict[int, int] = {}
    for number, line in enumerate(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        line = line.removesuffix(b"\r")
        if not line:
            continue
        try:
            token, rank = _parse_line(line)
        except ValueError as error:
            raise FormatError(f"{name}: line {number}: {error}") from None
        if token in ranks:
            raise FormatError(f"{name}: line {number}: the token {token!r} has a rank already")
        if owners.setdefault(rank, number) != number:
            raise FormatError(
                f"{name}: line {number}: rank {rank} was used in line {owners[rank]} already"
            )
        ranks[token] = rank
    if not ranks:
        raise FormatError(f"{name}: line 1: the file holds no rank")
    return _checked_ranks(ranks)


def _parse_line(line: bytes) -> tuple[bytes, int]:
    encoded, _, rank = line.partition(b" ")
    if not rank.isdigit():
        raise ValueError(f"{_shown(line)} is not a base64 token, a space and a rank")
    if len(rank) > 9:
        raise ValueError(f"the rank {_shown(rank)} is too large")
    if encoded == _EMPTY:
        return b"", int(rank)
    try:
        token = base64.b64decode(encoded, validate=True)
    except binascii.Error as error:
        raise ValueError(f"{_shown(encoded)} is not base64: {error}") from None
    if not token or base64.b64encode(token) != encoded:
        raise ValueError(f"{_shown(encoded)} is not the base64 form of a token")
    return token, int(rank)


def _shown(text: bytes) -> str:
    shown = text[:40].decode("utf-8", "replace")
    return repr(shown + ("…" if len(text) > 40 else ""))


def spec_of(
    ranks: Mapping[bytes, int] | StringIds,
    pattern: str | None,
    special_tokens: Mapping[str, int],
    name: str | None = None,
    metadata: Mapping[str, Any] | None = None,
) -> TokenizerSpec:
    """The spec of tiktoken's four data, with more metadata than the name.

    A special token may be in the rank table too, with the same id. An empty token, which Whisper's
    table has, can be decoded and nothing else.

    >>> spec_of({b"a": 0, b"b": 1, b"ab": 2}, None, {"<s>": 3}).special_tokens
    {'<s>': 3}
    """
    table = ranks if isinstance(ranks, StringIds) else _checked_ranks(ranks)
    specials = checked_special_tokens(special_tokens, len(table))
    size = max([table.end, *(1 + id for id in specials.values())])
    spelled = Spelling(table, size, None, byte_fallback=False)
    kinds, added = spelled.kinds(), dict[int, bytes]()
    for content, id in specials.items():
        if kinds[id] == NUMBERS[TokenKind.UNUSED]:
            added.setdefault(id, content.encode())
        elif table.find(content) != id:
            raise FormatError(
                f"the special token {content!r} has the rank {id} of {_owner(table, id)!r}"
            )
    kinds[list(added)] = NUMBERS[TokenKind.CONTROL]
    vocabulary = spelled.vocabulary(kinds, added, np.zeros((0, 2), np.uint32), 0)
    assert vocabulary is not None  # all that could be wrong was looked for
    by_id = sorted(specials.items(), key=lambda item: item[1])
    return TokenizerSpec.of_vocabulary(
        vocabulary,
        merge_rule="ranks",
        ignore_merges=True,
        splits=matches_only(pattern),
        added_tokens=tuple(AddedToken(content, id) for content, id in by_id),
        metadata={**({"name": name} if name else {}), **(metadata or {})},
    )


def _checked_ranks(ranks: Mapping[bytes, int]) -> StringIds:
    """A table of different tokens with different ranks."""
    plain = set(map(type, ranks)) <= {bytes}
    table = StringIds.of(dict(ranks)) if plain else None
    if table is not None and _is_sound(table):
        return table
    owners: dict[int, bytes] = {}
    for token, rank in ranks.items():
        if not isinstance(token, bytes):
            raise FormatError(f"the token {token!r} is {type(token).__name__}, not bytes")
        try:
            number = operator.index(rank)
        except TypeError:
            raise FormatError(f"the rank of {token!r} is {rank!r}, no integer") from None
        if not 0 <= number <= id_limit(len(ranks)):
            raise FormatError(f"the token {token!r} has rank {number}: out of range")
        if owners.setdefault(number, token) != token:
            raise FormatError(f"rank {number} is used twice, by {owners[number]!r} and {token!r}")
    table = StringIds.of({bytes(token): number for number, token in owners.items()})
    assert table is not None  # as they now are plain
    return table


def _is_sound(table: StringIds) -> bool:
    """Whether ranks are different, and none would fill the memory with ids that nobody owns."""
    return table.end <= id_limit(len(table)) + 1 and table.has_distinct_ids()


def _owner(table: StringIds, rank: int) -> bytes:
    return next(token for token, id in table.to_dict_of_bytes().items() if id == rank)


def matches_only(pattern: str | None) -> tuple[Split, ...]:
    """tiktoken's pieces are the matches of the pattern; other text is dropped."""
    return tuple(
        split if named(split.pattern) else Split(split.pattern, "removed", invert=True)
        for split in resolve(pattern)
    )


def losses(spec: TokenizerSpec) -> list[str]:
    """What tiktoken's four data cannot hold of a spec."""
    found = differences(spec) + plain_losses(spec) + split_losses(spec) + flag_losses(spec)
    return found + _matching_losses(spec)


def split_losses(spec: TokenizerSpec) -> list[str]:
    """Why the split of a spec is not the matches of one regex, if it is not."""
    if len(spec.splits) > 1 or any(split.mapped for split in spec.splits):
        return ["more than one split step"]
    split = spec.splits[0] if spec.splits else Split("", "isolated")
    if split.behavior not in ("isolated", "removed"):
        return [f"the split behavior {split.behavior}"]
    if split.behavior == "removed" and not split.invert:
        return ["a split that removes its matches"]
    if spec.splits and dialects.can_be_empty(split.pattern):
        return ["a split pattern that can match the empty text"]
    return []


def _matching_losses(spec: TokenizerSpec) -> list[str]:
    """tiktoken looks for all special tokens at once, and takes any of those that match."""
    found = []
    ordered = sorted(spec.added_tokens, key=lambda token: token.content)
    for token, following in itertools.pairwise(ordered):
        if following.content.startswith(token.content):
            found.append(
                f"that the added token {following.content!r} goes before {token.content!r}, with "
                "which it begins"
            )
    ids: dict[int, str] = {}
    for token in spec.added_tokens:
        if ids.setdefault(token.id, token.content) != token.content:
            found.append(f"id {token.id} for both {ids[token.id]!r} and {token.content!r}")
    return found


def ranks_of(spec: TokenizerSpec) -> dict[bytes, int]:
    """The rank table of a spec, by rank: its normal tokens and their ids, and an empty one."""
    added = {token.id for token in spec.added_tokens}
    normal, control = TokenKind.NORMAL, TokenKind.CONTROL
    return {
        token: id
        for id, (token, kind) in enumerate(zip(spec.tokens, spec.kinds, strict=True))
        if kind is normal or (kind is control and not token and id not in added)
    }


def pattern_of(spec: TokenizerSpec) -> str:
    """The regex whose matches are the pieces of a spec, in tiktoken's dialect.

    >>> pattern_of(spec_of({b"a": 0}, "[a-z]", {}))
    '[a-z]'
    """
    if not spec.splits:
        return _NO_SPLIT
    split = spec.splits[0]
    if named(split.pattern):
        return split.pattern
    if dialects.can_be_empty(split.pattern):  # a loss: tiktoken fails at an empty match
        return _NO_SPLIT
    if split.behavior == "removed":
        return split.pattern
    return dialects.with_text_between(split.pattern)


def write(spec: TokenizerSpec, path: Path) -> list[Path]:
    """Writes the rank file and its sidecar."""
    lines = (_line(token, rank) for token, rank in ranks_of(spec).items())
    sidecar = {
        "name": spec.metadata.get("name", path.stem),
        "pattern": _sidecar_pattern(spec),
        "special_tokens": spec.special_tokens,
    }
    text = json.dumps(sidecar, ensure_ascii=False, indent=2)
    return write_files({path: b"".join(lines), sidecar_of(path): text.encode() + b"\n"})


def _line(token: bytes, rank: int) -> bytes:
    return (base64.b64encode(token) or _EMPTY) + b" %d\n" % rank


def _sidecar_pattern(spec: TokenizerSpec) -> str | None:
    if not spec.splits:
        return None
    known = named(spec.splits[0].pattern)
    pattern = known.name if known else pattern_of(spec)
    # A word would be taken for a name.
    return f"(?:{pattern})" if pattern.isidentifier() and not known else pattern


def live(spec: TokenizerSpec, name: str, *, allow_loss: bool) -> "tiktoken.Encoding":
    """A `tiktoken.Encoding`, not by way of a file."""
    require("tiktoken")
    import tiktoken

    refuse_losses("tiktoken", losses(spec), allow_loss=allow_loss)
    return tiktoken.Encoding(
        name,
        pat_str=pattern_of(spec),
        mergeable_ranks=ranks_of(spec),
        special_tokens=spec.special_tokens,
    )


FORMAT = Format(
    "tiktoken",
    "tiktoken's rank file, with pattern and special tokens beside it",
    detect,
    read,
    losses,
    write,
)
