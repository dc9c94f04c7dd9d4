"""Encoding, decoding, latency and loading beside the peers that are installed.

Every figure comes from processes that do nothing else, pinned to as many processors as they may use
threads; the libraries take turns, and before anything is timed, all of them have given the same ids
for their part of the text and that text for the ids. The tokenizers are trained here, on the text
itself. What runs on one thread is measured in CPU seconds.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from bench_libraries import JSON, RANKS, Ids, Library, digest, installed, library
from bench_tools import (
    clock,
    duration,
    medians,
    processors,
    report,
    run_child,
    run_python,
    same,
    speed,
)

import bpe_compat as bc

__all__ = [
    "LENGTHS",
    "LOADS",
    "Bench",
    "Rows",
    "bench_decoding",
    "bench_encoding",
    "bench_latency",
    "bench_loading",
    "child",
    "prepared",
]

Rows = dict[str, dict[str, float]]
"""Seconds by library and by what was measured; for passes and decoding, seconds a megabyte."""
LENGTHS = (10, 100, 1_000, 10_000)
"""Characters of the texts of single calls."""
LOADS = {"import": "import", JSON: "tokenizer.json", RANKS: ".tiktoken"}
"""What is loaded, and what it is called."""
_IMPORT = """
import json, sys, time, numpy
started = time.process_time()
__import__(sys.argv[1])
print(json.dumps({"import": time.process_time() - started}))
"""


@dataclass(frozen=True)
class Bench:
    """A text, and where the tokenizers for it are; `reads` tells which library reads which file."""

    corpus: Path
    folder: Path
    pattern: str
    rounds: int
    reads: dict[str, tuple[str, ...]]

    def rows(self, kind: str, threads: int = 1, names: Sequence[str] = ()) -> Rows:
        """Medians of rounds in which the libraries take turns, each in a process of its own."""
        found: dict[str, list[dict[str, float]]] = {name: [] for name in names or self.reads}
        for _ in range(self.rounds):
            for name, rows in found.items():
                rows.append(self.row(kind, name, threads))
        return {name: _median(rows) for name, rows in found.items()}

    def row(self, kind: str, name: str, threads: int = 1) -> dict[str, float]:
        """What one process measures."""
        paths = [str(self.corpus), str(self.folder)]
        return run_child(["encode", kind, name, self.pattern, *paths, str(threads)], threads)


def prepared(corpus: Path, folder: Path, pattern: str, vocab_size: int, rounds: int) -> Bench:
    """Trains a tokenizer and compares what the libraries make of it; ends if they differ."""
    tok = bc.train(corpus, vocab_size, pattern=pattern, special_tokens=(), errors="replace")
    tok.save(folder / pattern)
    tok.save(folder / pattern / RANKS, format="tiktoken")
    bench = Bench(corpus, folder / pattern, pattern, rounds, {})
    answers = {name: bench.row("check", name) for name in installed()}
    for name, answer in answers.items():
        bench.reads[name] = tuple(file for file in (JSON, RANKS) if answer.pop(file))
        same(f"{pattern}, {name}", answer, {key: answers["bpe_compat"][key] for key in answer})
    return bench


def bench_encoding(bench: Bench) -> dict[int, Rows]:
    """The first and the second pass over the text, by the number of threads."""
    found = {}
    for threads in range(1, min(2, processors()) + 1):
        found[threads] = bench.rows("passes", threads)
        for which in ("first", "second"):
            title = f"encoding with {bench.pattern}, {threads} thread(s), {which} pass"
            report(title, _of(found[threads], which), speed)
    return found


def bench_decoding(bench: Bench) -> Rows:
    """Decoding all the ids of the text."""
    rows = bench.rows("decode")
    for what in rows["bpe_compat"]:
        report(f"decoding {what}, {bench.pattern}", _of(rows, what), speed)
    return rows


def bench_latency(bench: Bench) -> Rows:
    """Seconds of one call, by the characters of its text."""
    rows = bench.rows("latency")
    for length in LENGTHS:
        title = f"one call with {bench.pattern}, {length:,} characters"
        report(title, _of(rows, str(length)), duration)
    return rows


def bench_loading(bench: Bench) -> Rows:
    """Seconds of importing a library beyond numpy, and from a file to the first ids."""
    runs = [
        {name: run_python(["-P", "-c", _IMPORT, name], 1) for name in bench.reads}
        for _ in range(bench.rounds)
    ]
    rows = {name: _median([run[name] for run in runs]) for name in bench.reads}
    for file in (JSON, RANKS):
        names = [name for name, files in bench.reads.items() if file in files]
        for name, row in bench.rows(f"load {file}", names=names).items():
            rows[name] |= row
    for what, called in LOADS.items():
        title = "import" if what == "import" else f"loading {called}, {bench.pattern}"
        report(title, _of(rows, what), duration)
    return rows


def child(kind: str, name: str, pattern: str, corpus: str, folder: str, threads: str) -> None:
    """One process of `Bench.row`; prints its row."""
    import_module(name)
    opened = partial(_opened, library(name), Path(folder), pattern, int(threads))
    if kind.startswith("load "):
        row = _load(opened, kind.removeprefix("load "))
    else:
        kinds = {"check": _check, "passes": _passes, "decode": _decode, "latency": _latency}
        with Path(corpus).open(encoding="utf-8", errors="replace", newline="") as file:
            row = kinds[kind](opened, file.read())
    print(json.dumps(row))


Opened = Callable[..., Library]


def _opened(
    of: type[Library], folder: Path, pattern: str, threads: int, file: str | None = None
) -> Library:
    return of(folder / (file or of.files[0]), pattern, threads)


def _texts(text: str, of: Library) -> list[str]:
    texts = [text[i : i + 4000] for i in range(0, len(text), 4000)]
    return texts[: -(-len(texts) // of.part)]


def _a_megabyte(seconds: dict[str, float], texts: list[str]) -> dict[str, float]:
    megabytes = sum(len(text.encode()) for text in texts) / 1e6
    return {what: value / megabytes for what, value in seconds.items()}


def _short_texts(text: str, length: int) -> list[str]:
    """A hundred texts of so many characters, from all over the text."""
    step = max(1, (len(text) - length) // 100)
    return [text[i * step : i * step + length] for i in range(100)]


def _check(opened: Opened, text: str) -> dict[str, float]:
    """Digests of all ids, and which files the library reads; decoding must give the text."""
    first = opened()
    texts = _texts(text, first)
    rows = first.lists(first.encode_batch(texts))
    _check_decoding(first, rows, texts)
    answer: dict[str, float] = {JSON: 0, RANKS: 0, first.files[0]: 1}
    for file in first.files[1:]:
        try:
            again = opened(file)
        except Exception:
            # A peer that has no such split pattern in such a file says so; it has read another.
            if isinstance(first, library("bpe_compat")):
                raise
            continue
        same(file, digest(again.lists(again.encode_batch(texts))), digest(rows))
        answer[file] = 1
    short = [short for length in LENGTHS for short in _short_texts(text, length)]
    answer["ids of single calls"] = digest([list(first.encode(short)) for short in short])
    for part in (1, 10):
        if part >= first.part:
            count = -(-len(rows) * first.part // part)
            answer[f"ids of 1/{part}"] = digest(rows[:count])
    return answer


def _check_decoding(tokenizer: Library, rows: list[list[int]], texts: list[str]) -> None:
    whole = "".join(texts)
    for what, call in tokenizer.decoders(_ids(rows)).items():
        same(f"decoding {what}", call(), texts if what.startswith("texts") else whole)


def _passes(opened: Opened, text: str) -> dict[str, float]:
    """The first pass of a new tokenizer over the text, and the second one."""
    tokenizer = opened()
    texts = _texts(text, tokenizer)
    tokenizer.encode_batch(["What is made or imported at the first call, is there now."])
    row, now = {}, clock(tokenizer.threads)
    for which in ("first", "second"):
        started = now()
        result = tokenizer.encode_batch(texts)
        row[which] = now() - started
        del result
    return _a_megabyte(row, texts)


def _decode(opened: Opened, text: str) -> dict[str, float]:
    tokenizer = opened()
    texts = _texts(text, tokenizer)
    rows = tokenizer.lists(tokenizer.encode_batch(texts))
    return _a_megabyte(medians(tokenizer.decoders(_ids(rows)), 3), texts)


def _ids(rows: list[list[int]]) -> Ids:
    flat = [id for row in rows for id in row]
    ends = np.cumsum([0, *map(len, rows)], dtype=np.int64)
    return Ids(rows, flat, bc.TokenArrays(np.array(flat, dtype=np.uint32), ends))


def _latency(opened: Opened, text: str) -> dict[str, float]:
    tokenizer = opened()
    return {
        str(length): _seconds_a_call(tokenizer.encode, _short_texts(text, length))
        for length in LENGTHS
    }


def _seconds_a_call(encode: Callable[[str], Any], texts: list[str]) -> float:
    """Each text once for nothing, so that its words are known; then the median of passes."""
    for text in texts:
        encode(text)
    passes: list[float] = []
    now = clock(1)
    while len(passes) < 3 or sum(passes) < 0.1:
        started = now()
        for text in texts:
            encode(text)
        passes.append(now() - started)
    return median(passes) / len(texts)


def _load(opened: Opened, file: str) -> dict[str, float]:
    """From the file to the first ids, as some libraries do part of the work only then."""
    now = clock(1)
    started = now()
    opened(file).encode("a few words")
    return {file: now() - started}


def _median(rows: list[dict[str, float]]) -> dict[str, float]:
    return {key: median(row[key] for row in rows) for key in rows[0]}


def _of(rows: Rows, what: str) -> dict[str, float]:
    return {name: row[what] for name, row in rows.items() if what in row}
