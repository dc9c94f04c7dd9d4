"""What the benchmarks share: calls and processes, equality before speed, corpora."""

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

__all__ = [
    "Calls",
    "child_row",
    "clock",
    "duration",
    "made_up",
    "medians",
    "processors",
    "report",
    "run_child",
    "run_python",
    "same",
    "speed",
]

Calls = dict[str, Callable[[], Any]]


def clock(threads: int) -> Callable[[], float]:
    """CPU seconds for one thread, which other work on the machine changes least; else seconds."""
    return time.process_time if threads == 1 else time.perf_counter


def medians(calls: Calls, rounds: int) -> dict[str, float]:
    """Median seconds of each call on one thread, the calls taking turns."""
    times: dict[str, list[float]] = {name: [] for name in calls}
    now = clock(1)
    for _ in range(rounds):
        for name, call in calls.items():
            started = now()
            call()
            times[name].append(now() - started)
    return {name: statistics.median(values) for name, values in times.items()}


def report(title: str, seconds: dict[str, float], shown: Callable[[float], str]) -> None:
    """Prints a figure for each library, and what each peer takes of our time."""
    print(title)
    ours = seconds["bpe_compat"]
    width = max(map(len, seconds))
    for name, value in seconds.items():
        ratio = "" if name == "bpe_compat" else f"   x{value / ours:.1f} of bpe_compat's time"
        print(f"  {name:<{width}} {shown(value):>12}{ratio}", flush=True)


def speed(seconds: float) -> str:
    """Seconds a megabyte as megabytes a second."""
    return f"{1 / seconds:.1f} MB/s"


def duration(seconds: float) -> str:
    """Seconds in the unit that suits them."""
    for unit, factor in (("µs", 1e6), ("ms", 1e3)):
        if seconds * factor < 1000:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds:.3g} s"


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
    """Runs `child` of this script in a fresh process; see `run_python`."""
    return run_python([sys.argv[0], "child", *arguments], threads)


def run_python(arguments: list[str], threads: int) -> dict[str, float]:
    """What a fresh process prints as its last line, pinned to so many processors.

    They are the last ones: the first has more to do for the system. Peers that take their number
    of threads from the environment get the same, and tiktoken makes no copies of files.
    """
    cores = sorted(os.sched_getaffinity(0))[-threads:]
    settings = {
        "RAYON_NUM_THREADS": str(threads),
        "TOKENIZERS_PARALLELISM": "true" if threads > 1 else "false",
        "TIKTOKEN_CACHE_DIR": "",
    }
    done = subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | settings,
        preexec_fn=lambda: os.sched_setaffinity(0, cores),
    )
    if done.returncode:
        sys.exit(done.stderr or done.stdout)
    row: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return row


def processors() -> int:
    """How many processors there are to measure on."""
    return len(os.sched_getaffinity(0))
