"""Readers on broken files: one of our errors or a tokenizer, never anything else, and soon.

Soon is 5 seconds of the processor, and 1 GB of memory is enough. `BPE_COMPAT_EXAMPLES=10000` tries
that many mutations of each format's golden file.
"""

import contextlib
import os
import random
import resource
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import test_small_formats

import bpe_compat as bc
from bpe_compat.errors import BPECompatError

GOLDEN = Path(__file__).resolve().parent / "golden"
COUNT = int(os.environ.get("BPE_COMPAT_EXAMPLES", "60"))
CLIP = b'"bpe_simple_vocab_16e6.txt#version: 0.2\nh e\nt he\nr e</w>\nc a\nca t</w>\n'
LLAMA2C = test_small_formats.llama2c((-1.0, " a"), (-2.0, "ab"), (-3.0, "a"), (-4.0, "b"))
FILES = {
    "clip": {"x": CLIP},
    "llama2c": {"x": LLAMA2C},
    "not_bpe": {"x": b"1 '\\x00' 1\n2 '\\x01' 1\n"},
}


def files_of(format: str) -> dict[str, bytes]:
    if format in FILES:
        return FILES[format]
    whole = GOLDEN / format
    paths = whole.iterdir() if whole.is_dir() else GOLDEN.glob(f"golden.{format}*")
    names = {path: path.name.replace(f"golden.{format}", "x") for path in paths}
    return {name: path.read_bytes() for path, name in names.items()}


Mutation = Callable[[bytearray, random.Random], None]


def flip(data: bytearray, chance: random.Random) -> None:
    for _ in range(chance.choice([1, 1, 2, 8])):
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)


def cut(data: bytearray, chance: random.Random) -> None:
    del data[chance.randrange(len(data)) :]


def remove(data: bytearray, chance: random.Random) -> None:
    at = chance.randrange(len(data))
    del data[at : at + chance.choice([1, 2, 9, 100])]


def swap(data: bytearray, chance: random.Random) -> None:
    size = chance.choice([1, 4, 30])
    a, b = (chance.randrange(len(data)) for _ in range(2))
    data[a : a + size], data[b : b + size] = data[b : b + size], data[a : a + size]


def repeat(data: bytearray, chance: random.Random) -> None:
    at = chance.randrange(len(data))
    data[at:at] = data[at : at + chance.choice([1, 10, 200])]


def overwrite(data: bytearray, chance: random.Random) -> None:
    """With numbers and marks that mean something to some format."""
    at = chance.randrange(len(data))
    value = chance.choice([
        b"\xff" * 8, b"\xff\xff\xff\x7f", b"\x00" * 8, b"999999999", b"-1", b"null", b"{}", b"[]",
        b'""', b"\\ud800", b"1e999", b"NaN", b"</w>", b"\xed\xa0\x80", b"\n", b" ", b"\xe2\x96\x81",
    ])  # fmt: skip
    data[at : at + chance.choice([0, len(value)])] = value


MUTATIONS: list[Mutation] = [flip, cut, remove, swap, repeat, overwrite]


def memory() -> int:
    """The most bytes that this process ever had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("format", sorted(bc.converters.FORMATS))
def test_broken_files_are_an_error_of_ours_or_a_tokenizer(format: str, tmp_path: Path) -> None:
    files = files_of(format)
    folder = bc.converters.FORMATS[format].folder
    for number in range(COUNT):
        chance = random.Random(f"{format} {number}")
        broken = chance.choice(sorted(name for name, data in files.items() if data))
        for name, data in files.items():
            content = bytearray(data)
            if name == broken:
                for _ in range(chance.choice([1, 1, 3])):
                    if content:
                        chance.choice(MUTATIONS)(content, chance)
            (tmp_path / name).write_bytes(content)
        path = tmp_path if folder else tmp_path / "x"
        start, most = time.process_time(), memory()
        with contextlib.suppress(BPECompatError):
            tok = bc.Tokenizer(bc.converters.read(path, format=format))
            tok.decode(tok.encode_ordinary("the fox 2026 naïve 😀\n"))
        assert time.process_time() - start < 5, f"mutation {number}"
        assert memory() - most < 1 << 30, f"mutation {number}"
        if number % 10 == 0:
            with contextlib.suppress(BPECompatError):
                bc.converters.detect(path)
