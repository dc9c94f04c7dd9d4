"""Writes the split steps of every named scanner to a file, for the fuzz targets.

Numbers are 64-bit and little-endian: for each scanner its name and its steps, for each step what
`scan::Step` and `scan::Regex` take, and the length before whatever has one.
"""

import struct
import sys
from pathlib import Path
from typing import get_args

from bpe_compat import patterns
from bpe_compat.dialects.program import program
from bpe_compat.spec import Behavior, Split


def number(*values: int) -> bytes:
    return struct.pack(f"<{len(values)}q", *values)


def sized(data: bytes) -> bytes:
    return number(len(data)) + data


def step(split: Split) -> bytes:
    found = program(split.pattern)
    if found is None:
        raise SystemExit(f"the native matcher cannot run {split.pattern!r}")
    behavior = get_args(Behavior).index(split.behavior)
    return (
        number(behavior, split.invert, split.mapped, found.first)
        + sized(found.code.tobytes())
        + sized(found.sets)
        + sized(found.letters)
    )


def main() -> None:
    out = b""
    for name in (*patterns.PATTERNS, *patterns.SEQUENCES):
        splits = patterns.resolve(name)
        out += sized(name.encode()) + number(len(splits)) + b"".join(map(step, splits))
    Path(sys.argv[1]).write_bytes(out)


main()
