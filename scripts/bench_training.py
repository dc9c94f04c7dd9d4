"""Training beside tokenizers and rustbpe, and how time and memory grow.

Every run is a process of its own, pinned to as many processors as it may use threads.
"""

import json
import os
import sys
import time
import zlib
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import Any

from bench_tools import child_row, run_child

import bpe_compat as bc
from bpe_compat.patterns import PATTERNS

Row = dict[str, float]
TRAINERS = ("bpe_compat", "tokenizers", "rustbpe")


def child(trainer: str, pattern: str, path: str, vocab_size: str, threads: str) -> None:
    """One run of one trainer; prints its row, and behind it a digest of the merges."""
    train = {"bpe_compat": _ours, "tokenizers": _tokenizers, "rustbpe": _rustbpe}[trainer]
    train(pattern, path, int(vocab_size), int(threads))


def compare(path: Path, pattern: str, vocab_size: int, threads: int, rounds: int) -> None:
    """Prints medians beside the peers; merges must be equal where a peer has the same rule."""
    trainers = [t for t in TRAINERS if t == "bpe_compat" or find_spec(t)]
    rows: dict[str, list[Row]] = {trainer: [] for trainer in trainers}
    for _ in range(rounds):
        for trainer in trainers:
            rows[trainer].append(measured(trainer, path, pattern, vocab_size, threads))
    print(f"training {vocab_size} ids on {path.name}, {pattern}, {threads} thread(s)")
    ours = median(row["cpu"] for row in rows["bpe_compat"])
    for trainer in trainers:
        wall, cpu, memory = (
            median(row[key] for row in rows[trainer]) for key in ("wall", "cpu", "rss_mb")
        )
        ratio = "" if trainer == "bpe_compat" else f"   x{cpu / ours:.1f} of bpe_compat's time"
        print(f"  {trainer:<12} {wall:7.2f} s  CPU {cpu:7.2f} s  {memory:5.0f} MB{ratio}")
    if rows["bpe_compat"][0]["digest"] != rows["tokenizers"][0]["digest"]:
        sys.exit("the merges differ from those of tokenizers")


def measured(trainer: str, path: Path, pattern: str, vocab_size: int, threads: int) -> Row:
    arguments = ["train", trainer, pattern, str(path), str(vocab_size), str(threads)]
    return run_child(arguments, threads)


def _clock() -> tuple[float, float]:
    used = os.times()
    return time.perf_counter(), used.user + used.system


def _digest(tokens: list[bytes]) -> int:
    return zlib.crc32(b"\0".join(token.hex().encode() for token in tokens))


def _ours(pattern: str, path: str, vocab_size: int, threads: int) -> None:
    started = _clock()
    tok = bc.train(
        path, vocab_size, pattern=pattern, special_tokens=(), tie_break="ids", byte_order="gpt2",
        unit="line", threads=threads,
    )  # fmt: skip
    row = child_row(started)
    spec = tok.spec
    row["digest"] = _digest([spec.tokens[a] + spec.tokens[b] for a, b in spec.merges])
    print_row(row)


def _tokenizers(pattern: str, path: str, vocab_size: int, threads: int) -> None:
    from tokenizers import Regex, Tokenizer, models, pre_tokenizers, trainers

    from bpe_compat.bytelevel import from_characters

    tok = Tokenizer(models.BPE())
    split = pre_tokenizers.Split(Regex(PATTERNS[pattern].oniguruma), "isolated")
    byte_level = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=pattern == "gpt2")
    tok.pre_tokenizer = (
        byte_level if pattern == "gpt2" else pre_tokenizers.Sequence([split, byte_level])
    )
    trainer = trainers.BpeTrainer(
        vocab_size=vocab_size,
        show_progress=False,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
    )
    started = _clock()
    tok.train([path], trainer)
    row = child_row(started)
    merges = json.loads(tok.to_str())["model"]["merges"]
    row["digest"] = _digest([from_characters(a + b) or b"" for a, b in merges])
    print_row(row)


def _rustbpe(pattern: str, path: str, vocab_size: int, threads: int) -> None:
    import rustbpe

    def blocks() -> Iterator[str]:
        with Path(path).open(encoding="utf-8", newline="") as file:
            while lines := file.readlines(1 << 16):
                yield "".join(lines)

    started = _clock()
    rustbpe.Tokenizer().train_from_iterator(
        blocks(), vocab_size, buffer_size=64, pattern=PATTERNS[pattern].oniguruma
    )
    print_row(child_row(started))


def print_row(row: dict[str, Any]) -> None:
    print(json.dumps(row))


def page(path: Path, out: Path, rounds: int) -> None:
    """Writes a page with a table and a plot: time and memory against text and vocabulary."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    whole = path.stat().st_size
    sizes = [size for size in (1, 3, 10, 30, 100, 300, 1000) if size * 1e6 <= whole * 1.02]
    vocabularies = [2_000, 8_000, 32_000, 100_000]
    largest = sizes[-1]
    points = [(size, 32_000, 1) for size in sizes]
    points += [(largest, vocabulary, 1) for vocabulary in vocabularies if vocabulary != 32_000]
    points += [(largest, 32_000, 2)]
    results: dict[tuple[int, int, int], Row] = {}
    for size, vocabulary, threads in points:
        head = path if size == largest else _head(path, size, out.parent)
        rows = [measured("bpe_compat", head, "gpt2", vocabulary, threads) for _ in range(rounds)]
        results[size, vocabulary, threads] = {
            key: median(row[key] for row in rows) for key in ("wall", "cpu", "rss_mb")
        }
        if head != path:
            head.unlink()
    figure, axes = plt.subplots(2, 2, figsize=(9, 6), constrained_layout=True)
    by_size = [results[size, 32_000, 1] for size in sizes]
    by_vocabulary = [results[largest, vocabulary, 1] for vocabulary in vocabularies]
    for axis, x, rows, key, label, unit in (
        (axes[0][0], sizes, by_size, "wall", "MB of text, 32,000 ids", "seconds"),
        (axes[0][1], sizes, by_size, "rss_mb", "MB of text, 32,000 ids", "MB of memory"),
        (axes[1][0], vocabularies, by_vocabulary, "wall", f"ids, {largest} MB of text", "seconds"),
        (axes[1][1], vocabularies, by_vocabulary, "rss_mb", f"ids, {largest} MB of text",
         "MB of memory"),
    ):  # fmt: skip
        axis.plot(x, [row[key] for row in rows], marker="o")
        axis.set_xscale("log")
        axis.set_ylim(bottom=0)
        axis.set_xlabel(label)
        axis.set_ylabel(unit)
        axis.grid(alpha=0.3)
    figure.savefig(out.with_suffix(".svg"), metadata={"Date": None})
    lines = [
        "# Training: time and memory", "",
        "Written by `python scripts/bench.py page train --corpus FILE`. Each figure is the median "
        f"of {rounds} runs in processes of their own, with the split of GPT-2; the memory is that "
        "of the whole process. English text from the web.", "",
        f"![time and memory]({out.with_suffix('.svg').name})", "",
        "| MB of text | ids | threads | seconds | CPU seconds | MB of memory |",
        "|---|---|---|---|---|---|",
    ]  # fmt: skip
    for (size, vocabulary, threads), row in results.items():
        lines.append(
            f"| {size} | {vocabulary:,} | {threads} | {row['wall']:.2f} | {row['cpu']:.2f} | "
            f"{row['rss_mb']:.0f} |"
        )
    lines += [
        "",
        "Counting follows the bytes of the text, merging the distinct pieces in it, which grow "
        "more slowly. So does memory: text is read in blocks.",
        "",
    ]
    out.write_text("\n".join(lines), encoding="utf-8")


def _head(path: Path, megabytes: int, folder: Path) -> Path:
    """A copy of the first so many megabytes, cut at a line end."""
    with path.open("rb") as file:
        data = file.read(megabytes * 1_000_000)
    part = folder / f".{megabytes}.part"
    part.write_bytes(data[: data.rfind(b"\n") + 1])
    return part
