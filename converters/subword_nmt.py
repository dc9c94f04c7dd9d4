"""subword-nmt's codes: a line `left right` for each merge of characters, the best first.

A first line `#version: 0.2` says that the last character of a word carries the suffix `</w>`;
without it the file is of version 0.1, where the suffix is a symbol of its own behind the word.
Words stand between spaces and line ends, which are dropped. Of equal lines the first counts.

The file has no ids, no special tokens, and no characters beyond those of its merges. They come from
a file NAME.json beside it, which the writer makes:

    {"vocab": {"a": 0, "a</w>": 1}, "unknown": "<unk>", "special_tokens": {"<s>": 2}}

or else are given out in turn: the characters by code point, then those with the suffix, what the
merges make, and `<unk>` for any other character, which subword-nmt leaves as it is. Source:
`apply_bpe.py`, subword-nmt 0.3.8.
"""

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from ..errors import FormatError, UnsupportedError
from ..spec import AddedToken, DecoderStep, Split, TokenizerSpec, TokenKind
from .base import (
    Format,
    checked_special_tokens,
    flag_losses,
    plain_losses,
    read_text,
    write_files,
)
from .json_tree import Node, load
from .vocabulary import (
    Pair,
    Spelling,
    assemble,
    check_ids,
    merges_of_pairs,
    spelling_losses,
    spellings,
)

__all__ = ["FORMAT", "SPLITS", "SUFFIX", "read", "write"]

SUFFIX = "</w>"
SPLITS = (Split(r"[ \r\n]+", "removed"),)
"""How subword-nmt finds words."""

_UNKNOWN = "<unk>"
_HEADER = "#version:"
_DECODER = (DecoderStep("suffix", content=SUFFIX),)


def detect(path: Path) -> bool:
    """Whether the beginning of a file is merges, one of them with the suffix."""
    if path.is_dir():
        return False
    with path.open("rb") as file:
        head = file.read(1 << 16)
    lines = head.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    if len(head) == 1 << 16:
        del lines[-1]
    if lines and lines[0].startswith(_HEADER.encode()):
        del lines[0]
    pairs = [line.strip(b"\r ").split(b" ") for line in lines if line.strip(b"\r ")]
    suffix = SUFFIX.encode()
    return all(len(pair) == 2 for pair in pairs) and any(p[1].endswith(suffix) for p in pairs)


def read(
    path: Path, pattern: str | None, special_tokens: Mapping[str, int] | None
) -> TokenizerSpec:
    """Reads codes and what is beside them; `special_tokens` override what is there."""
    if pattern is not None:
        raise FormatError(f"{path}: subword-nmt splits at spaces; pass no pattern")
    pairs, apart = parse(read_text(path), path.name)
    sidecar = sidecar_of(path)
    if sidecar.is_file():
        node = load(sidecar)
        node.only("vocab", "unknown", "special_tokens")
        where = node.child("vocab")
        vocab, unknown = dict(where.value), node.get("unknown", str, None)
        if special_tokens is None:
            special_tokens = node.get("special_tokens", dict, {})
    else:
        vocab, unknown = _numbered(pairs, apart=apart), _UNKNOWN
        where = Node(vocab, path.name)
    check_ids(vocab, where)
    _check_vocab(vocab, [*pairs, *([(SUFFIX, "")] if apart else [])], unknown, where)
    given = checked_special_tokens(special_tokens or {}, len(vocab))
    added = [AddedToken(content, id) for content, id in given.items()]
    merges = merges_of_pairs(vocab, pairs)
    vocabulary = assemble(vocab, merges, added, Spelling(False, unknown=unknown), where)
    return TokenizerSpec(
        **vocabulary,
        splits=SPLITS,
        byte_level=False,
        unknown=None if unknown is None else vocab[unknown],
        suffix=SUFFIX,
        suffix_apart=apart,
        added_tokens=tuple(sorted(added, key=lambda token: token.id)),
        decoder=_DECODER,
    )


def sidecar_of(path: Path) -> Path:
    """Where the ids and special tokens of a codes file are."""
    return path.with_name(path.name + ".json")


def parse(text: str, name: str) -> tuple[list[Pair], bool]:
    """The merges of some codes, and whether the suffix is a symbol of its own.

    >>> parse("#version: 0.2\\na b\\nab c</w>\\n", "codes")
    ([('a', 'b'), ('ab', 'c</w>')], False)
    """
    lines = text.rstrip("\n").split("\n")
    first, apart = 1, True
    if lines[0].startswith(_HEADER):
        version = re.sub(r"(\.0+)*$", "", (lines.pop(0).split() or [""])[-1])
        if version not in ("0.1", "0.2"):
            raise UnsupportedError(f"{name}: line 1: the version {version!r} is none of 0.1, 0.2")
        first, apart = 2, version == "0.1"
    pairs: dict[Pair, None] = {}
    for number, line in enumerate(lines, first):
        parts = line.strip("\r ").split(" ")
        if len(parts) != 2 or not all(parts):
            raise FormatError(f"{name}: line {number}: {line!r} is not two tokens and a space")
        pairs.setdefault((parts[0], parts[1]))
    return list(pairs), apart


def _numbered(pairs: Sequence[Pair], *, apart: bool) -> dict[str, int]:
    """Ids for the characters of some merges, what they make, and an unknown token."""
    characters = sorted({c for pair in pairs for token in pair for c in token.removesuffix(SUFFIX)})
    ends = [SUFFIX] if apart else [character + SUFFIX for character in characters]
    parts = [token for pair in pairs for token in (*pair, "".join(pair))]
    strings = dict.fromkeys([*characters, *ends, *parts, _UNKNOWN])
    return {string: id for id, string in enumerate(strings)}


def _check_vocab(
    vocab: Mapping[str, int], pairs: Sequence[Pair], unknown: str | None, where: Node
) -> None:
    for left, right in pairs:
        for token in (left, right, left + right):
            if token and token not in vocab:
                raise where.error(f"the codes have the token {token!r}, which has no id")
    if unknown is not None and unknown not in vocab:
        raise where.error(f"the unknown token {unknown!r} has no id")


def losses(spec: TokenizerSpec) -> list[str]:
    """What codes and the file beside them cannot hold of a spec."""
    if spec.byte_level:
        raise UnsupportedError("subword-nmt merges characters, and these tokens are bytes")
    foreign = {
        "ignore_merges: pieces that are tokens which merges do not make": spec.ignore_merges,
        "bytes of characters that have no token": spec.byte_fallback,
        "one unknown token for neighbouring characters": spec.fuse_unknown,
        f"the prefix {spec.prefix!r} of tokens": spec.prefix,
        f"a suffix {spec.suffix!r} of words other than {SUFFIX!r}": spec.suffix != SUFFIX,
        "a split other than at spaces and line ends": spec.splits != SPLITS,
        "a decoder other than of the suffix": spec.decoder != _DECODER,
    }
    found = plain_losses(spec, "unknown", "affixes", "decoder")
    found += [loss for loss, there in foreign.items() if there]
    added = {token.id for token in spec.added_tokens} | {spec.unknown}
    odd = (TokenKind.NORMAL, TokenKind.UNUSED)
    hidden = [id for id, kind in enumerate(spec.kinds) if kind not in odd and id not in added]
    found += [f"that token {id} is a {spec.kinds[id]} token" for id in hidden]
    merged = {spec.tokens[id] for merge in spec.merges for id in merge}
    spaced = next((token for token in merged if re.search(rb"[ \r\n]", token)), None)
    if spaced is not None:
        found.append(f"the token {spaced!r}, which has white space")
    return found + spelling_losses(spec) + flag_losses(spec)


def write(spec: TokenizerSpec, path: Path) -> list[Path]:
    """Writes codes of the version that the suffix asks for, and the file beside them."""
    spelled = spellings(spec).to_list()
    last = list(dict.fromkeys(reversed(spec.merges)))
    lines = [f"{spelled[left]} {spelled[right]}\n" for left, right in reversed(last)]
    header = f"{_HEADER} {'0.1' if spec.suffix_apart else '0.2'}\n"
    added = {t.id for t in spec.added_tokens if spec.kinds[t.id] is TokenKind.CONTROL}
    sidecar = {
        "vocab": {
            token: id
            for id, token in enumerate(spelled)
            if spec.kinds[id] is not TokenKind.UNUSED and id not in added
        },
        "unknown": None if spec.unknown is None else spelled[spec.unknown],
        "special_tokens": spec.special_tokens,
    }
    text = json.dumps(sidecar, ensure_ascii=False, indent=0)
    return write_files({
        path: "".join([header, *lines]).encode(),
        sidecar_of(path): text.encode() + b"\n",
    })  # fmt: skip


FORMAT = Format(
    "subword_nmt",
    "subword-nmt's codes, with ids and special tokens beside them",
    detect,
    read,
    losses,
    write,
)
