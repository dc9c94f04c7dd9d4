"""docs/encoding.md and its plot: encoding, decoding, latency and loading beside the peers."""

import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from bench_encoding import (
    LENGTHS,
    LOADS,
    Bench,
    Rows,
    bench_decoding,
    bench_encoding,
    bench_latency,
    bench_loading,
    prepared,
)

__all__ = ["page"]

PATTERNS = ("gpt2", "cl100k", "o200k")
VOCAB_SIZE = 32_000

HEAD = """# Encoding: speed beside the peers

Written by `python scripts/bench.py page encode --corpus FILE` on one machine with other work to do:
ratios mean more than figures. Each figure is the median of {rounds} rounds in which the libraries
take turns, in processes of their own, with one thread where nothing else is said. One thread is
measured in CPU seconds, two are in seconds, in which other work on the machine counts as well. The
text is {megabytes} MB of English from the web, in texts of 4,000 characters; the tokenizers have
{vocab_size:,} ids trained on it. tiktoken and tokenizers get the first tenth of the text, so that
they do not take all the time. Before anything is timed, all have given the same ids for their part
and that text for the ids. No figure: the library does not do this.

{versions}.

![speed of encoding and decoding, time of a call and of loading]({plot})
"""
ENCODING = """
## Encoding, MB/s

The first pass of a new tokenizer over the text / the second one, when it may remember words.
bpe_compat and gigatoken give arrays, tiktoken lists, tokenizers objects of its own.
"""
DECODING = """
## Decoding, MB/s

With the split of GPT-2, to `str`. gigatoken takes one text a call and gives bytes; `bytes.decode`
is part of its time.
"""
LATENCY = """
## One call, microseconds

bpe_compat, tiktoken and tokenizers give a list, gigatoken an array. A hundred texts from all over
the corpus, each encoded once before.
"""
LOADING = """
## Loading, milliseconds

From a file to the first ids in a new process, with the split of GPT-2. `import` is what comes on
top of numpy, which is there already.
"""


@dataclass(frozen=True)
class Results:
    """What was measured: passes and calls for each pattern, the rest for the first one."""

    megabytes: float
    names: list[str]
    passes: dict[str, dict[int, Rows]]
    decoding: Rows
    latency: dict[str, Rows]
    loading: Rows

    @property
    def threads(self) -> list[int]:
        """The numbers of threads that passes were measured with."""
        return list(self.passes[PATTERNS[0]])


def page(corpus: Path, out: Path, rounds: int) -> None:
    """Measures all, writes the page and, beside it, the plot."""
    # Before measuring, which takes long: an error for who has no matplotlib.
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "encoding"  # the names inside the plot stay the same
    with tempfile.TemporaryDirectory() as folder:
        benches = [prepared(corpus, Path(folder), p, VOCAB_SIZE, rounds) for p in PATTERNS]
        results = _measured(benches)
    plot = out.with_suffix(".svg")
    _draw(results, plot)
    head = HEAD.format(
        rounds=rounds,
        megabytes=round(results.megabytes),
        vocab_size=VOCAB_SIZE,
        versions=", ".join(f"{name} {version(name)}" for name in results.names),
        plot=plot.name,
    )
    out.write_text(head + "".join(_tables(results)), encoding="utf-8")


def _measured(benches: list[Bench]) -> Results:
    first = benches[0]
    return Results(
        first.corpus.stat().st_size / 1e6,
        list(first.reads),
        {bench.pattern: bench_encoding(bench) for bench in benches},
        bench_decoding(first),
        {bench.pattern: bench_latency(bench) for bench in benches},
        bench_loading(first),
    )


def _tables(results: Results) -> Iterator[str]:
    names = results.names

    def speed(seconds: float) -> str:
        return _figure(1 / seconds)

    def table(first: str, rows: Iterable[tuple[str, list[str]]]) -> str:
        lines = [f"| {first} | {' | '.join(names)} |", "|---" * (len(names) + 1) + "|"]
        lines += [f"| {label} | {' | '.join(cells)} |" for label, cells in rows]
        return "\n" + "\n".join(lines) + "\n"

    def cells(rows: Rows, what: str, shown: Callable[[float], str]) -> list[str]:
        return [shown(rows[name][what]) if what in rows[name] else "" for name in names]

    yield ENCODING
    yield table(
        "split, threads",
        (
            (f"{pattern}, {threads}",
             [f"{speed(rows[name]['first'])} / {speed(rows[name]['second'])}" for name in names])
            for pattern, by_threads in results.passes.items()
            for threads, rows in by_threads.items()
        ),
    )  # fmt: skip
    yield DECODING
    kinds = results.decoding["bpe_compat"]
    yield table("from", ((kind, cells(results.decoding, kind, speed)) for kind in kinds))
    yield LATENCY
    yield table(
        "split, characters",
        (
            (f"{pattern}, {length:,}", cells(rows, str(length), lambda s: _figure(s * 1e6)))
            for pattern, rows in results.latency.items()
            for length in LENGTHS
        ),
    )
    yield LOADING
    milliseconds = [
        (f"`{called}`", cells(results.loading, what, lambda s: _figure(s * 1e3)))
        for what, called in LOADS.items()
    ]
    yield table("", milliseconds)


def _figure(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _draw(results: Results, path: Path) -> None:
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(2, 3, figsize=(13, 7), constrained_layout=True)
    most = results.threads[-1]
    for axis, threads, which in (
        (axes[0][0], 1, "first"), (axes[0][1], 1, "second"), (axes[0][2], most, "second"),
    ):  # fmt: skip
        rows = {pattern: _speeds(by[threads], which) for pattern, by in
                results.passes.items()}  # fmt: skip
        _bars(axis, rows, results.names, "MB/s")
        axis.set_xlabel(f"encoding, {which} pass, {threads} thread{'s' * (threads > 1)}")
    kinds = results.decoding["bpe_compat"]
    decoding = {kind: _speeds(results.decoding, kind) for kind in kinds}
    _bars(axes[1][0], decoding, results.names, "MB/s")
    axes[1][0].set_xlabel("decoding, 1 thread")
    _latency_lines(axes[1][1], results)
    loading = {
        called: {name: row[what] * 1e3 for name, row in results.loading.items() if what in row}
        for what, called in LOADS.items()
    }
    _bars(axes[1][2], loading, results.names, "milliseconds")
    axes[1][2].set_xlabel("loading")
    axes[0][0].legend()
    figure.savefig(path, metadata={"Date": None})


def _speeds(rows: Rows, what: str) -> dict[str, float]:
    return {name: 1 / row[what] for name, row in rows.items() if what in row}


def _bars(axis: Any, groups: dict[str, dict[str, float]], names: list[str], unit: str) -> None:
    """A group of bars for each thing measured, a bar for each library, its figure on top."""
    width = 0.8 / len(names)
    for place, name in enumerate(names):
        at = np.array([i for i, group in enumerate(groups.values()) if name in group])
        heights = [group[name] for group in groups.values() if name in group]
        bars = axis.bar(at + (place - (len(names) - 1) / 2) * width, heights, width, label=name)
        axis.bar_label(bars, fmt=_figure, fontsize=6)
    axis.set_xticks(range(len(groups)), [label.replace(" of ", "\nof ") for label in groups])
    axis.set_ylabel(unit)
    axis.grid(alpha=0.3, axis="y")
    axis.set_axisbelow(True)
    axis.set_xlim(-0.5, len(groups) - 0.5)


def _latency_lines(axis: Any, results: Results) -> None:
    rows = results.latency[PATTERNS[0]]
    for name in results.names:
        axis.plot(LENGTHS, [rows[name][str(n)] * 1e6 for n in LENGTHS], marker="o", label=name)
    axis.set_xscale("log")
    axis.set_yscale("log")
    axis.set_xlabel(f"characters of one call, {PATTERNS[0]}")
    axis.set_ylabel("microseconds")
    axis.grid(alpha=0.3)
