"""How many threads a call may use."""

import os

__all__ = ["thread_count"]

_MOST = 1024  # more would only wait for each other


def thread_count(threads: int | None) -> int:
    """The number asked for, or one per processor this process may run on.

    `TOKENIZERS_PARALLELISM=false` means one thread, unless a number is asked for; `datasets` sets
    it in its worker processes.

    >>> thread_count(3)
    3
    """
    if threads is not None:
        if not isinstance(threads, int) or threads < 1:
            raise ValueError(f"threads must be an int of at least 1, not {threads!r}")
        return min(threads, _MOST)
    if os.environ.get("TOKENIZERS_PARALLELISM", "").lower() in ("false", "0", "no", "off"):
        return 1
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
