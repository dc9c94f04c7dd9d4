"""What other libraries make of a file: the ids of texts, from the library that a format is for.

`Library` asks in a process of its own, which runs this file as a script: it imports the library
while the caller makes the file, and loads the file while the caller reads it again. In an
interpreter that cannot start another process, it asks in this one.
"""

import contextlib
import importlib
import importlib.util
import json
import os
import re
import sys
from array import array
from base64 import b64decode
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import subprocess

    import numpy as np
    import numpy.typing as npt

__all__ = ["LIBRARIES", "Library", "installed"]

Ids = list[list[int]]
_Ways = Mapping[str, Callable[[list[str]], Ids]]


def _tokenizers_ways(tokenizer: Any) -> _Ways:
    def encode(texts: list[str], *, specials: str) -> Ids:
        tokenizer.encode_special_tokens = specials == "text"
        return [e.ids for e in tokenizer.encode_batch(texts, add_special_tokens=False)]

    return {
        "text": lambda texts: encode(texts, specials="text"),
        "encode": lambda texts: encode(texts, specials="encode"),
    }


def _huggingface(path: Path, told: Mapping[str, Any]) -> _Ways:
    import tokenizers

    file = path / "tokenizer.json" if path.is_dir() else path
    return _tokenizers_ways(tokenizers.Tokenizer.from_file(str(file)))


def _gpt2(path: Path, told: Mapping[str, Any]) -> _Ways:
    import tokenizers

    names = (str(path / name) for name in ("vocab.json", "merges.txt"))
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE.from_file(*names))
    beside = path / "tokenizer_config.json"
    config = json.loads(beside.read_bytes()) if beside.is_file() else {}
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(
        add_prefix_space=config.get("add_prefix_space", False)
    )
    added = config.get("added_tokens_decoder", {})
    for id in sorted(added, key=int):
        token = tokenizers.AddedToken(**added[id])
        if token.special:
            tokenizer.add_special_tokens([token])
        else:
            tokenizer.add_tokens([token])
    ways = _tokenizers_ways(tokenizer)
    return ways if added else {"text": ways["encode"]}  # the files alone name no special tokens


def _tiktoken(path: Path, told: Mapping[str, Any]) -> _Ways:
    import tiktoken

    lines = (line.split() for line in path.read_bytes().splitlines() if line)
    sidecar = json.loads(path.with_name(path.name + ".json").read_bytes())
    encoding = tiktoken.Encoding(
        "written",
        pat_str=told["pattern"],
        # `b64decode` stops at "=", which is how Whisper's table spells a token of no bytes.
        mergeable_ranks={b64decode(token): int(rank) for token, rank in lines},
        special_tokens=sidecar["special_tokens"],
    )
    return {
        "text": encoding.encode_ordinary_batch,
        "encode": lambda texts: encoding.encode_batch(texts, allowed_special="all"),
    }


def _tekken(path: Path, told: Mapping[str, Any]) -> _Ways:
    from mistral_common.tokens.tokenizers.tekken import Tekkenizer

    tokenizer = Tekkenizer.from_file(path)
    return {"text": lambda texts: [tokenizer.encode(text, False, False) for text in texts]}


def _sentencepiece(path: Path, told: Mapping[str, Any]) -> _Ways:
    import sentencepiece

    processor = sentencepiece.SentencePieceProcessor(model_file=str(path))
    return {"text": lambda texts: [processor.encode(text) for text in texts]}


def _subword_nmt(path: Path, told: Mapping[str, Any]) -> _Ways:
    from subword_nmt.apply_bpe import BPE

    with path.open(encoding="utf-8") as file:
        codes = BPE(file, separator="\n")  # a separator that no word can hold
    if codes.version != (0, 2):  # of 0.1, the library's output does not tell "b</w>" from "b"
        return {}
    sidecar = json.loads(path.with_name(path.name + ".json").read_bytes())
    vocab, unknown = sidecar["vocab"], sidecar["unknown"]

    def ids_of(text: str) -> list[int]:
        tokens = codes.segment_tokens(re.split("[ \r\n]+", text))
        strings = (t[:-1] if t.endswith("\n") else t + "</w>" for t in tokens)
        return [vocab[string if string in vocab else unknown] for string in strings]

    return {"text": lambda texts: list(map(ids_of, texts))}


def _gguf(path: Path, told: Mapping[str, Any]) -> _Ways:
    """gguf has no tokenizer; what its reader finds must be what ours finds."""
    import gguf

    fields = gguf.GGUFReader(path).fields
    for key, expected in told["metadata"].items():
        if key not in fields:
            raise ValueError(f"{key} is missing")
        field = fields[key]
        parts = [field.parts[place] for place in field.data]
        if field.types[-1] == gguf.GGUFValueType.STRING:
            values = [bytes(part).decode() for part in parts]
        else:
            values = [part[0].item() for part in parts]
        if values != (expected if isinstance(expected, list) else [expected]):
            raise ValueError(f"{key} is read with other values")
    return {}


LIBRARIES: Mapping[str, tuple[str, Callable[[Path, Mapping[str, Any]], _Ways]]] = {
    "huggingface": ("tokenizers", _huggingface),
    "gpt2": ("tokenizers", _gpt2),
    "tiktoken": ("tiktoken", _tiktoken),
    "tekken": ("mistral_common", _tekken),
    "sentencepiece": ("sentencepiece", _sentencepiece),
    "subword_nmt": ("subword_nmt", _subword_nmt),
    "gguf": ("gguf", _gguf),
}
"""For each format the package it is for, and what loads a file with it."""


def installed(format: str) -> str | None:
    """The package that a format is for, if there is one and it is installed.

    >>> installed("minbpe") is None
    True
    """
    package = LIBRARIES[format][0] if format in LIBRARIES else None
    return package if package and importlib.util.find_spec(package) else None


def _process(format: str, folder: Path) -> "subprocess.Popen[bytes]":
    import subprocess

    # -P: this script's folder is a package, whose modules hide nobody else's.
    command = [sys.executable, "-P", __file__, format, str(folder)]
    tuned = ":".join(filter(None, [os.environ.get("GLIBC_TUNABLES"), _LARGE_PAGES]))
    environment = {**os.environ, "GLIBC_TUNABLES": tuned}
    return subprocess.Popen(command, stdin=subprocess.PIPE, env=environment)


# glibc's malloc takes memory in pages of 2 MB, and 64 MB at once; others do not know the variable.
# A library that makes small objects of 200,000 tokens loads them in 0.45 s instead of 2.1 s where
# new pages are slow.
_LARGE_PAGES = "glibc.malloc.hugetlb=1:glibc.malloc.top_pad=0x4000000"


class Library:
    """The library of a format, which is asked for the ids of texts and answers when it is done.

    `folder` is for the question and the answer; leaving the context ends the process.

    >>> import tempfile, bpe_compat as bc
    >>> with tempfile.TemporaryDirectory() as name, Library("tiktoken", Path(name)) as library:
    ...     path = Path(name) / "x.tiktoken"
    ...     bc.train(["low"], 257, special_tokens=()).save(path, format="tiktoken")
    ...     library.ask(path, {"text": ["low"]}, pattern="(?s:.+)")
    ...     library.ids("text")[0].tolist()
    [108, 256]
    """

    def __init__(self, format: str, folder: Path) -> None:
        self.package = LIBRARIES[format][0]
        self._format, self._folder = format, folder
        self._texts: Mapping[str, Sequence[str]] = {}
        self._process = _process(format, folder) if sys.executable else None

    def __enter__(self) -> "Library":
        return self

    def __exit__(self, *_: object) -> None:
        if not self._process:
            return
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        self._begin()

    def ask(self, path: Path, texts: Mapping[str, Sequence[str]], **told: Any) -> None:
        """Asks for the ids of texts in the tokenizer at a path.

        `texts` are those with special tokens taken as text ("text"), and those in which they become
        their ids ("encode"). It is told what the file does not say: tiktoken the `pattern`, gguf
        the `metadata` that it should find.
        """
        self._texts = texts
        question = {"path": str(path), "texts": texts, "told": told}
        (self._folder / _QUESTION).write_text(json.dumps(question))
        if self._process:
            self._begin()
        else:
            _answer(self._format, self._folder)

    def _begin(self) -> None:
        """Lets the process go on: to the question, or to its end if there is none."""
        assert self._process
        assert self._process.stdin
        self._process.stdin.close()

    def error(self) -> str:
        """What the library says against the file; empty if nothing."""
        if self._process and self._process.wait():
            return f"the process with it ended with {self._process.returncode}"
        return str(json.loads((self._folder / _ERROR).read_text()))

    def ids(self, specials: str) -> "tuple[npt.NDArray[np.uint32], npt.NDArray[np.int64]] | None":
        """The ids of the texts, and where those of each begin; None for what the library lacks."""
        if self.error() or not (path := self._folder / specials).is_file():
            return None
        import numpy as np  # not on top: the process with the library needs none

        flat, texts = np.fromfile(path, np.uint32), len(self._texts[specials])
        counts = flat[:texts].astype(np.int64)
        return flat[texts:], np.concatenate([[0], np.cumsum(counts)])


_QUESTION, _ERROR = "question", "error"


def _answer(format: str, folder: Path) -> None:
    """Writes what the library says: an error, and for each way of encoding counts, then ids."""
    question, error = json.loads((folder / _QUESTION).read_text()), ""
    try:
        ways = LIBRARIES[format][1](Path(question["path"]), question["told"])
        for specials in ways.keys() & question["texts"].keys():
            found = ways[specials](question["texts"][specials])
            flat = array("I", map(len, found))
            for ids in found:
                flat.extend(ids)
            (folder / specials).write_bytes(flat.tobytes())
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as caught:  # a panic of native code is no Exception
        error = f"{type(caught).__name__}: {caught}"
    (folder / _ERROR).write_text(json.dumps(error))


def _run(format: str, folder: Path) -> None:
    """Imports the library, waits until the caller closes the input, and answers what there is."""
    with contextlib.suppress(Exception):  # what is wrong with it shows when the file is loaded
        importlib.import_module(LIBRARIES[format][0])
    sys.stdin.buffer.read()
    if (folder / _QUESTION).is_file():
        _answer(format, folder)


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        _run(sys.argv[1], Path(sys.argv[2]))
