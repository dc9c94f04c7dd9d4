"""What other libraries make of a file: the ids of texts, from the library that a format is for.

`Answer` asks in a process of its own, which runs this file as a script, beside whatever the caller
does meanwhile: loading a large tokenizer.json takes tokenizers as long as writing and reading it
takes us. In an interpreter that cannot start another, it asks at once.
"""

import contextlib
import importlib.util
import json
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

__all__ = ["LIBRARIES", "Answer", "installed"]

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


def _huggingface(path: Path, question: Mapping[str, Any]) -> _Ways:
    import tokenizers

    file = path / "tokenizer.json" if path.is_dir() else path
    return _tokenizers_ways(tokenizers.Tokenizer.from_file(str(file)))


def _gpt2(path: Path, question: Mapping[str, Any]) -> _Ways:
    import tokenizers

    names = (str(path / name) for name in ("vocab.json", "merges.txt"))
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE.from_file(*names))
    beside = path / "tokenizer_config.json"
    config = json.loads(beside.read_bytes()) if beside.is_file() else {}
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(
        add_prefix_space=config.get("add_prefix_space", False)
    )
    return {"text": _tokenizers_ways(tokenizer)["encode"]}  # the files name no special tokens


def _tiktoken(path: Path, question: Mapping[str, Any]) -> _Ways:
    import tiktoken

    lines = (line.split() for line in path.read_bytes().splitlines() if line)
    sidecar = json.loads(path.with_name(path.name + ".json").read_bytes())
    encoding = tiktoken.Encoding(
        "written",
        pat_str=question["pattern"],
        # `b64decode` stops at "=", which is how Whisper's table spells a token of no bytes.
        mergeable_ranks={b64decode(token): int(rank) for token, rank in lines},
        special_tokens=sidecar["special_tokens"],
    )
    return {
        "text": encoding.encode_ordinary_batch,
        "encode": lambda texts: encoding.encode_batch(texts, allowed_special="all"),
    }


def _tekken(path: Path, question: Mapping[str, Any]) -> _Ways:
    from mistral_common.tokens.tokenizers.tekken import Tekkenizer

    tokenizer = Tekkenizer.from_file(path)
    return {"text": lambda texts: [tokenizer.encode(text, False, False) for text in texts]}


def _sentencepiece(path: Path, question: Mapping[str, Any]) -> _Ways:
    import sentencepiece

    processor = sentencepiece.SentencePieceProcessor(model_file=str(path))
    return {"text": lambda texts: [processor.encode(text) for text in texts]}


def _subword_nmt(path: Path, question: Mapping[str, Any]) -> _Ways:
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


def _gguf(path: Path, question: Mapping[str, Any]) -> _Ways:
    """gguf has no tokenizer; what its reader finds must be what ours finds."""
    import gguf

    fields = gguf.GGUFReader(path).fields
    for key, expected in question["metadata"].items():
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


def _process(folder: Path) -> "subprocess.Popen[bytes]":
    import subprocess

    # -P: this script's folder is a package, whose modules hide nobody else's.
    command = [sys.executable, "-P", __file__, str(folder)]
    return subprocess.Popen(command, stdin=subprocess.DEVNULL)


class Answer:
    """Asks the library of a format for the ids of texts, and waits only when they are wanted.

    `question` is what the library must be told: tiktoken the "pattern", gguf the "metadata" that it
    should find. `folder` is for the question and the answer; leaving the context ends the process.

    >>> import tempfile, bpe_compat as bc
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "x.tiktoken"
    ...     bc.train(["low"], 257, special_tokens=()).save(path, format="tiktoken")
    ...     question = {"pattern": "(?s:.+)"}
    ...     with Answer("tiktoken", path, question, ["low"], Path(folder)) as answer:
    ...         answer.ids("text")[0].tolist()
    [108, 256]
    """

    def __init__(
        self,
        format: str,
        path: Path,
        question: Mapping[str, Any],
        texts: Sequence[str],
        folder: Path,
    ) -> None:
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None
        whole = {**question, "format": format, "path": str(path), "texts": texts}
        (folder / _QUESTION).write_text(json.dumps(whole))
        self._texts = len(texts)
        if sys.executable:
            self._process = _process(folder)
        else:
            _answer(folder)

    def __enter__(self) -> "Answer":
        return self

    def __exit__(self, *_: object) -> None:
        if self._process and self._process.poll() is None:
            self._process.kill()
            self._process.wait()

    def error(self) -> str:
        """What the library says against the file; empty if nothing."""
        if self._process and self._process.wait():
            return f"the process with it ended with {self._process.returncode}"
        return str(json.loads((self._folder / _ERROR).read_text()))

    def ids(self, specials: str) -> "tuple[npt.NDArray[np.uint32], npt.NDArray[np.int64]] | None":
        """The ids of all texts, and where those of each begin; None for what the library lacks.

        `specials` says whether special tokens in the texts are text ("text") or become their ids
        ("encode").
        """
        if self.error() or not (path := self._folder / specials).is_file():
            return None
        import numpy as np  # not on top: the process with the library needs none

        flat = np.fromfile(path, np.uint32)
        counts = flat[: self._texts].astype(np.int64)
        return flat[self._texts :], np.concatenate([[0], np.cumsum(counts)])


_QUESTION, _ERROR = "question", "error"


def _answer(folder: Path) -> None:
    """Writes what the library says: an error, and for each way of encoding counts, then ids."""
    question = json.loads((folder / _QUESTION).read_text())
    load, error = LIBRARIES[question["format"]][1], ""
    try:
        ways = load(Path(question["path"]), question)
        for specials, encode in ways.items():
            found = encode(question["texts"])
            flat = array("I", map(len, found))
            for ids in found:
                flat.extend(ids)
            (folder / specials).write_bytes(flat.tobytes())
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as caught:  # a panic of native code is no Exception
        error = f"{type(caught).__name__}: {caught}"
    (folder / _ERROR).write_text(json.dumps(error))


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        _answer(Path(sys.argv[1]))
