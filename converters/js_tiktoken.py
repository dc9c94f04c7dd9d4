"""js-tiktoken's compact JSON: a regex, special tokens, and ranks in runs.

A line of `bpe_ranks` is `! FIRST TOKEN TOKEN ...`: base64 tokens whose ranks count up from FIRST.
"""

import base64
import binascii
import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from ..errors import FormatError
from ..spec import TokenizerSpec
from . import tiktoken
from .base import Format, write_files
from .json_tree import Node, load, looks_like

__all__ = ["FORMAT", "read", "write"]

_HINT = rb'"bpe_ranks"\s*:\s*"'


def detect(path: Path) -> bool:
    """Whether a file is JSON with ranks in runs."""
    return looks_like(path, _HINT)


def read(
    path: Path, pattern: str | None, special_tokens: Mapping[str, int] | None
) -> TokenizerSpec:
    """Reads such a file; `pattern` and `special_tokens` override what it says."""
    tree = load(path)
    tree.only("explicit_n_vocab", "pat_str", "special_tokens", "bpe_ranks", "name")
    ranks = _ranks(tree)
    if special_tokens is None:
        special_tokens = tree.get("special_tokens", dict, {})
    own = tree.get("pat_str", str)
    return tiktoken.spec_of(ranks, own if pattern is None else pattern, special_tokens, path.stem)


def _ranks(tree: Node) -> dict[bytes, int]:
    ranks: dict[bytes, int] = {}
    for number, line in enumerate(tree.get("bpe_ranks", str).split("\n"), 1):
        where = f"{tree.path}.bpe_ranks: line {number}"
        mark, first, *tokens = line.split(" ") if line else ("!", "0")
        if mark != "!" or not first.isascii() or not first.isdigit() or len(first) > 9:
            raise FormatError(f"{where}: must begin with ! and a rank, not {line[:20]!r}")
        for rank, encoded in enumerate(tokens, int(first)):
            try:
                token = base64.b64decode(encoded, validate=True)
            except (binascii.Error, ValueError) as error:
                raise FormatError(f"{where}: {encoded[:40]!r} is not base64: {error}") from None
            if not token or ranks.setdefault(token, rank) != rank:
                raise FormatError(f"{where}: the token {token!r} is empty or there already")
    return ranks


def write(spec: TokenizerSpec, path: Path) -> list[Path]:
    """Writes a file."""
    tree = {
        "explicit_n_vocab": len(spec.tokens),
        "pat_str": tiktoken.pattern_of(spec),
        "special_tokens": spec.special_tokens,
        "bpe_ranks": "\n".join(_runs(tiktoken.ranks_of(spec))),
    }
    if spec.token_count != len(spec.tokens):
        del tree["explicit_n_vocab"]
    text = json.dumps(tree, ensure_ascii=False, separators=(",", ":"))
    return write_files({path: text.encode() + b"\n"})


def _runs(ranks: Mapping[bytes, int]) -> Iterator[str]:
    run: list[str] = []
    following = -1
    for token, rank in ranks.items():
        if rank != following and run:
            yield " ".join(run)
            run = []
        run = run or ["!", str(rank)]
        run.append(base64.b64encode(token).decode())
        following = rank + 1
    if run:
        yield " ".join(run)


def losses(spec: TokenizerSpec) -> list[str]:
    """What such a file cannot hold of a spec."""
    found = tiktoken.losses(spec)
    if b"" in tiktoken.ranks_of(spec):
        found.append("a token of no bytes")
    return found


FORMAT = Format("js_tiktoken", "js-tiktoken's compact JSON", detect, read, losses, write)
