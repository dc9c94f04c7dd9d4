"""What the benchmarks share: calls that take turns, equality before speed, corpora."""

import json
import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from stories import stories

__all__ = ["Calls", "child_row", "made_up", "medians", "report", "run_child", "same"]

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
    """Prints megabytes a second, and what each peer takes of our time."""
    print(title)
    ours = seconds["bpe_compat"]
    width = max(map(len, seconds))
    for name, value in seconds.items():
        ratio = "" if name == "bpe_compat" else f"   x{value / ours:.1f} of bpe_compat's time"
        print(f"  {name:<{width}} {size / 1e6 / value:8.1f} MB/s {value:8.3f} s{ratio}")


def same(title: str, ours: Any, theirs: Any) -> None:
    """Ends the benchmark if results differ: no time is reported for a wrong answer."""
    if ours != theirs:
        sys.exit(f"{title}: the results differ")


def made_up(folder: Path, megabytes: int) -> Path:
    """A file of about so many megabytes of made-up stories."""
    path = folder / f"stories-{megabytes}.txt"
    with path.open("w", encoding="utf-8") as file:
        for number in range(megabytes):
            file.write("".join(stories(1700, number)))
    return path


def child_row(started: tuple[float, float]) -> dict[str, float]:
    """What a child process measures: wall and CPU seconds since the start, and its peak memory."""
    wall, cpu = started
    used = resource.getrusage(resource.RUSAGE_SELF)
    return {
        "wall": time.perf_counter() - wall,
        "cpu": used.ru_utime + used.ru_stime - cpu,
        "rss_mb": used.ru_maxrss // 1024,
    }


def run_child(arguments: list[str], threads: int) -> dict[str, float]:
    """Runs this script in a fresh process pinned to so many processors; its last line is a row."""
    cores = sorted(os.sched_getaffinity(0))[:threads]
    done = subprocess.run(
        [sys.executable, sys.argv[0], *arguments],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: os.sched_setaffinity(0, cores),
    )
    if done.returncode:
        sys.exit(done.stderr or done.stdout)
    row: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return row
