"""Speed of training and encoding beside the peers that are installed: equality first, then ratios.

    python scripts/bench.py                       made-up stories
    python scripts/bench.py --corpus FILE...      texts of your own

Each figure is the median of several rounds in turn, on one thread. These are whole calls as a user
makes them; absolute figures mean little on a busy machine, ratios of one run do.
"""

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

# One thread for every peer: they read these once, when their pools of threads are made.
os.environ |= {"RAYON_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}

import tokenizers
from stories import stories

import bpe_compat as bc
from bpe_compat.patterns import PATTERNS

Calls = dict[str, Callable[[], Any]]


def medians(calls: Calls, rounds: int) -> dict[str, float]:
    """Median seconds of each call, the calls taking turns."""
    times: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():
            started = time.perf_counter()
            call()
            times[name].append(time.perf_counter() - started)
    return {name: statistics.median(values) for name, values in times.items()}


def report(title: str, size: int, seconds: dict[str, float]) -> None:
    print(title)
    ours = seconds["bpe_compat"]
    for name, value in seconds.items():
        ratio = "" if name == "bpe_compat" else f"   x{value / ours:.1f} of bpe_compat's time"
        print(f"  {name:<12} {size / 1e6 / value:8.1f} MB/s {value:8.3f} s{ratio}")


def same(title: str, ours: Any, theirs: Any) -> None:
    """No time is reported for a wrong answer."""
    if ours != theirs:
        sys.exit(f"{title}: the results differ")


def bench_training(path: Path, vocab_size: int, rounds: int) -> None:
    def ours() -> bc.Tokenizer:
        return bc.train(
            path, vocab_size, special_tokens=(), tie_break="ids", byte_order="gpt2", unit="line",
            threads=1,
        )  # fmt: skip

    def theirs() -> tokenizers.Tokenizer:
        tok = tokenizers.Tokenizer(tokenizers.models.BPE())
        tok.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
        alphabet = tokenizers.pre_tokenizers.ByteLevel.alphabet()
        trainer = tokenizers.trainers.BpeTrainer(
            vocab_size=vocab_size, show_progress=False, initial_alphabet=alphabet
        )
        tok.train([str(path)], trainer)
        return tok

    title = f"training {vocab_size} ids on {path.name}"
    mine, peer = json.loads(ours().to_tokenizers().to_str()), json.loads(theirs().to_str())
    same(title, mine["model"]["merges"], peer["model"]["merges"])
    size = path.stat().st_size
    report(title, size, medians({"bpe_compat": ours, "tokenizers": theirs}, rounds))


def bench_encoding(texts: list[str], tok: bc.Tokenizer, name: str, rounds: int) -> None:
    tt, hf = tok.to_tiktoken(), tok.to_tokenizers()
    few = texts[: max(1, len(texts) // 10)]
    expected = tt.encode_ordinary_batch(few, num_threads=1)
    same(name, tok.encode_ordinary_batch(few), expected)
    same(name, [e.ids for e in hf.encode_batch_fast(few)], expected)
    calls: Calls = {
        "bpe_compat": lambda: tok.encode_arrays(few, threads=1),
        "tiktoken": lambda: tt.encode_ordinary_batch(few, num_threads=1),
        "tokenizers": lambda: hf.encode_batch_fast(few),
    }
    size = sum(len(text.encode()) for text in few)
    report(f"encoding with {name}", size, medians(calls, rounds))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--corpus", type=Path, nargs="+")
    parser.add_argument("--vocab-size", type=int, default=8000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        paths = options.corpus
        if not paths:
            paths = [Path(folder) / "stories.txt"]
            paths[0].write_text("".join(stories(20_000)), encoding="utf-8")
        for path in paths:
            bench_training(path, options.vocab_size, options.rounds)
            text = path.read_text(encoding="utf-8")
            texts = [text[i : i + 4000] for i in range(0, len(text), 4000)]
            for name in PATTERNS:
                tok = bc.train(texts, options.vocab_size, pattern=name, special_tokens=())
                bench_encoding(texts, tok, name, options.rounds)


if __name__ == "__main__":
    main()
