"""The libraries that encode behind one set of methods, each called the way its own docs have it.

An instance is a tokenizer read from a file; `threads` is for calls with many texts. gigatoken and
tokenizers take it from the environment, where `run_child` puts it.
"""

import zlib
from abc import ABC, abstractmethod
from collections.abc import Sequence
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt
from bench_tools import Calls

import bpe_compat as bc
from bpe_compat.patterns import PATTERNS

__all__ = ["JSON", "RANKS", "Ids", "Library", "digest", "installed", "library"]

JSON, RANKS = "tokenizer.json", "ranks.tiktoken"
"""The files that tokenizers are read from, by their names in a folder."""


class Ids(NamedTuple):
    """The ids of many texts as lists, and those of all of them as one list and as an array."""

    rows: list[list[int]]
    flat: list[int]
    arrays: bc.TokenArrays


class Library(ABC):
    """A tokenizer that one library has read."""

    files: ClassVar[tuple[str, ...]]
    """What the library reads, first the one it is measured with."""
    part: ClassVar[int] = 1
    """It gets one such part of a long text, so that slow libraries do not take all the time."""

    def __init__(self, path: Path, pattern: str, threads: int) -> None:
        self.threads = threads
        self.tok = self.load(path, pattern)

    @abstractmethod
    def load(self, path: Path, pattern: str) -> Any:
        """The library's own object for one of `files`."""

    @abstractmethod
    def encode(self, text: str) -> Sequence[int] | npt.NDArray[Any]:
        """The ids of one text, as the library gives them."""

    @abstractmethod
    def encode_batch(self, texts: list[str]) -> Any:
        """The ids of many texts, as the library gives them fastest."""

    def lists(self, result: Any) -> list[list[int]]:
        """What `encode_batch` returned, as lists."""
        return list(result)

    @abstractmethod
    def decoders(self, ids: Ids) -> Calls:
        """Calls that give str, by what they decode; those of texts begin with "texts"."""


class BpeCompat(Library):
    files = (JSON, RANKS)

    def load(self, path: Path, pattern: str) -> Any:
        return bc.load(path)

    def encode(self, text: str) -> list[int]:
        tok: bc.Tokenizer = self.tok
        return tok.encode_ordinary(text)

    def encode_batch(self, texts: list[str]) -> bc.TokenArrays:
        tok: bc.Tokenizer = self.tok
        return tok.encode_arrays(texts, threads=self.threads)

    def lists(self, result: Any) -> list[list[int]]:
        return [part.tolist() for part in np.split(result.ids, result.offsets[1:-1])]

    def decoders(self, ids: Ids) -> Calls:
        tok: bc.Tokenizer = self.tok
        return {
            "a list": lambda: tok.decode(ids.flat),
            "an array": lambda: tok.decode(ids.arrays.ids),
            "texts of lists": lambda: tok.decode_batch(ids.rows, num_threads=self.threads),
            "texts of arrays": lambda: tok.decode_arrays(ids.arrays, threads=self.threads),
        }


class Gigatoken(Library):
    files = (RANKS, JSON)

    def load(self, path: Path, pattern: str) -> Any:
        import gigatoken

        if path.suffix == ".json":
            return gigatoken.Tokenizer(path)
        return gigatoken.Tokenizer.from_tiktoken(path, pretokenizer=pattern)

    def encode(self, text: str) -> npt.NDArray[Any]:
        ids: npt.NDArray[Any] = self.tok.encode(text)
        return ids

    def encode_batch(self, texts: list[str]) -> Any:
        return self.tok.encode_batch(texts, parallel=self.threads > 1)

    def lists(self, result: Any) -> list[list[int]]:
        rows: list[list[int]] = result.to_list()
        return rows

    def decoders(self, ids: Ids) -> Calls:
        decode = self.tok.decode  # gives bytes
        return {
            "a list": lambda: decode(ids.flat).decode(errors="replace"),
            "an array": lambda: decode(ids.arrays.ids).decode(errors="replace"),
            "texts of lists": lambda: [decode(row).decode(errors="replace") for row in ids.rows],
        }


class Tiktoken(Library):
    files = (RANKS,)
    part = 10

    def load(self, path: Path, pattern: str) -> Any:
        import tiktoken
        from tiktoken.load import load_tiktoken_bpe

        return tiktoken.Encoding(
            pattern,
            pat_str=PATTERNS[pattern].text,
            mergeable_ranks=load_tiktoken_bpe(str(path)),
            special_tokens={},
        )

    def encode(self, text: str) -> list[int]:
        ids: list[int] = self.tok.encode_ordinary(text)
        return ids

    def encode_batch(self, texts: list[str]) -> Any:
        return self.tok.encode_ordinary_batch(texts, num_threads=self.threads)

    def decoders(self, ids: Ids) -> Calls:
        return {
            "a list": lambda: self.tok.decode(ids.flat),
            "texts of lists": lambda: self.tok.decode_batch(ids.rows, num_threads=self.threads),
        }


class Tokenizers(Library):
    files = (JSON,)
    part = 10

    def load(self, path: Path, pattern: str) -> Any:
        import tokenizers

        return tokenizers.Tokenizer.from_file(str(path))

    def encode(self, text: str) -> list[int]:
        ids: list[int] = self.tok.encode(text, add_special_tokens=False).ids
        return ids

    def encode_batch(self, texts: list[str]) -> Any:
        return self.tok.encode_batch_fast(texts, add_special_tokens=False)

    def lists(self, result: Any) -> list[list[int]]:
        return [encoding.ids for encoding in result]

    def decoders(self, ids: Ids) -> Calls:
        tok = self.tok
        return {
            "a list": lambda: tok.decode(ids.flat, skip_special_tokens=False),
            "texts of lists": lambda: tok.decode_batch(ids.rows, skip_special_tokens=False),
        }


_LIBRARIES: dict[str, type[Library]] = {
    "bpe_compat": BpeCompat,
    "gigatoken": Gigatoken,
    "tiktoken": Tiktoken,
    "tokenizers": Tokenizers,
}


def installed() -> list[str]:
    """The names of the libraries that can be measured here, ours first."""
    return [name for name in _LIBRARIES if find_spec(name)]


def library(name: str) -> type[Library]:
    """A library by the name of its module."""
    return _LIBRARIES[name]


def digest(rows: list[list[int]]) -> int:
    """A number for the ids of many texts that tells where each text ends, too."""
    flat = np.fromiter(chain.from_iterable(rows), dtype=np.uint32)
    lengths = np.array([len(row) for row in rows], dtype=np.uint32)
    return zlib.crc32(lengths.tobytes(), zlib.crc32(flat.tobytes()))
