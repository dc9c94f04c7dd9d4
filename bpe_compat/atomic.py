"""Files that are there whole or not at all."""

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

__all__ = ["replaced"]


@contextmanager
def replaced(*targets: Path) -> Iterator[list[Any]]:
    """Files to write that take the places of others when all are written, or else leave them.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with replaced(Path(folder, "a")) as (file,):
    ...         _ = file.write(b"whole")
    ...     Path(folder, "a").read_bytes()
    b'whole'
    """
    parts = [target.with_name(f".{target.name}.{os.getpid()}.part") for target in targets]
    try:
        with ExitStack() as stack:
            files = [stack.enter_context(part.open("wb")) for part in parts]
            yield files
            for file in files:
                file.flush()
                os.fsync(file.fileno())
        for part, target in zip(parts, targets, strict=True):
            part.replace(target)
    finally:
        for part in parts:
            part.unlink(missing_ok=True)
