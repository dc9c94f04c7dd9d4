"""Speed beside the peers that are installed: equality first, then ratios.

    python scripts/bench.py                          all but the page, made-up stories
    python scripts/bench.py train --corpus FILE      training, on a text of your own
    python scripts/bench.py encode --corpus FILE     encoding
    python scripts/bench.py decode --corpus FILE     decoding
    python scripts/bench.py page --corpus FILE       docs/training.md and its plot

Each figure is the median of several rounds in turn. Absolute figures mean little on a busy machine,
ratios of one run do.
"""

import argparse
import os
import sys
import tempfile
from itertools import pairwise
from pathlib import Path

# One thread for every peer: they read these once, when their pools of threads are made.
os.environ |= {"RAYON_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}

import bench_training
from bench_tools import Calls, made_up, medians, report, same

import bpe_compat as bc
from bpe_compat.patterns import PATTERNS

ROOT = Path(__file__).resolve().parent.parent


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


def bench_decoding(texts: list[str], tok: bc.Tokenizer, name: str, rounds: int) -> None:
    tt, hf = tok.to_tiktoken(), tok.to_tokenizers()
    arrays = tok.encode_arrays(texts)
    ids = arrays.ids.tolist()
    lists = [ids[a:b] for a, b in pairwise(arrays.offsets.tolist())]
    for batch in (tok.decode_arrays(arrays), tok.decode_batch(lists), hf.decode_batch(lists)):
        same(name, batch, texts)
    same(name, [tok.decode(ids), tok.decode(arrays.ids), tt.decode(ids)], ["".join(texts)] * 3)
    calls: Calls = {
        "bpe_compat": lambda: tok.decode(ids),
        "bpe_compat, an array": lambda: tok.decode(arrays.ids),
        "bpe_compat, texts": lambda: tok.decode_batch(lists, num_threads=1),
        "bpe_compat, texts of arrays": lambda: tok.decode_arrays(arrays, threads=1),
        "tiktoken": lambda: tt.decode(ids),
        "tiktoken, texts": lambda: tt.decode_batch(lists, num_threads=1),
        "tokenizers, texts": lambda: hf.decode_batch(lists),
    }
    size = sum(len(text.encode()) for text in texts)
    report(f"decoding with {name}", size, medians(calls, rounds))


def main() -> None:
    if sys.argv[1:2] == ["child"]:
        trainer, pattern, path, vocab_size, threads = sys.argv[2:]
        bench_training.child(trainer, pattern, path, int(vocab_size), int(threads))
        return
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    what = ["all", "train", "encode", "decode", "page"]
    parser.add_argument("what", nargs="?", default="all", choices=what)
    parser.add_argument("--corpus", type=Path, nargs="+")
    parser.add_argument("--pattern", nargs="+", default=["gpt2", "cl100k"], choices=PATTERNS)
    parser.add_argument("--vocab-size", type=int, default=8000)
    parser.add_argument("--threads", type=int, default=1, help="for training")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for path in options.corpus or [made_up(Path(folder), 10)]:
            run(path, options)


def run(path: Path, options: argparse.Namespace) -> None:
    if options.what == "page":
        bench_training.page(path, ROOT / "docs" / "training.md", options.rounds)
        return
    for pattern in options.pattern:
        if options.what in ("all", "train"):
            bench_training.compare(
                path, pattern, options.vocab_size, options.threads, options.rounds
            )
        if options.what != "train":
            text = path.read_text(encoding="utf-8", errors="replace")
            texts = [text[i : i + 4000] for i in range(0, len(text), 4000)]
            tok = bc.train(texts, options.vocab_size, pattern=pattern, special_tokens=())
            if options.what != "decode":
                bench_encoding(texts, tok, pattern, options.rounds)
            if options.what != "encode":
                bench_decoding(texts, tok, pattern, options.rounds)


if __name__ == "__main__":
    main()
