"""Speed beside the peers that are installed: equality first, then ratios.

    python scripts/bench.py                          all but the pages, made-up stories
    python scripts/bench.py train --corpus FILE      training, on a text of your own
    python scripts/bench.py encode --corpus FILE     encoding, first and second pass
    python scripts/bench.py decode --corpus FILE     decoding
    python scripts/bench.py latency --corpus FILE    single calls with short and long texts
    python scripts/bench.py load --corpus FILE       importing the libraries, loading files
    python scripts/bench.py page train --corpus FILE   docs/training.md and its plot
    python scripts/bench.py page encode --corpus FILE  docs/encoding.md and its plot

Each figure is the median of several rounds in turn. Absolute figures mean little on a busy machine,
ratios of one run do.
"""

import argparse
import sys
import tempfile
from pathlib import Path

import bench_encoding
import bench_encoding_page
import bench_training
from bench_tools import made_up

from bpe_compat.patterns import PATTERNS

DOCS = Path(__file__).resolve().parent.parent / "docs"
# What is measured of an encoder, each by its name on the command line.
ENCODERS = {
    "encode": bench_encoding.bench_encoding,
    "decode": bench_encoding.bench_decoding,
    "latency": bench_encoding.bench_latency,
    "load": bench_encoding.bench_loading,
}


def main() -> None:
    if sys.argv[1:2] == ["child"]:
        child = bench_training.child if sys.argv[2] == "train" else bench_encoding.child
        child(*sys.argv[3:])
        return
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    what = ["all", "train", *ENCODERS, "page"]
    parser.add_argument("what", nargs="?", default="all", choices=what)
    parser.add_argument("which", nargs="?", choices=["train", "encode"], help="for page")
    parser.add_argument("--corpus", type=Path, nargs="+")
    parser.add_argument("--pattern", nargs="+", default=["gpt2", "cl100k"], choices=PATTERNS)
    parser.add_argument("--vocab-size", type=int, default=8000)
    parser.add_argument("--threads", type=int, default=1, help="for training")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    if (options.what == "page") != (options.which is not None):
        parser.error("a page is `page train` or `page encode`")
    with tempfile.TemporaryDirectory() as folder:
        for path in options.corpus or [made_up(Path(folder), 10)]:
            run(path, options)


def run(path: Path, options: argparse.Namespace) -> None:
    if options.which == "train":
        bench_training.page(path, DOCS / "training.md", options.rounds)
    elif options.which == "encode":
        bench_encoding_page.page(path, DOCS / "encoding.md", options.rounds)
    else:
        for pattern in options.pattern:
            run_pattern(path, pattern, options)


def run_pattern(path: Path, pattern: str, options: argparse.Namespace) -> None:
    if options.what in ("all", "train"):
        bench_training.compare(path, pattern, options.vocab_size, options.threads, options.rounds)
    chosen = [run for what, run in ENCODERS.items() if options.what in ("all", what)]
    if chosen:
        with tempfile.TemporaryDirectory() as folder:
            bench = bench_encoding.prepared(
                path, Path(folder), pattern, options.vocab_size, options.rounds
            )
            for run in chosen:
                run(bench)


if __name__ == "__main__":
    main()
