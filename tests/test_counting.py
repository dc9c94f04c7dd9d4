"""Counting pieces: blocks, threads, saving, adding up, forgetting."""

import json
import random
import re
import threading
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import reference
from hypothesis import given
from hypothesis import strategies as st
from training_helpers import HUGGING_FACE, merges_of

import bpe_compat as bc
from bpe_compat.errors import FormatError
from bpe_compat.patterns import PATTERNS
from bpe_compat.training.sources import files

FRAGMENTS = [
    "the", " cat", " ", "  ", "\n", "\r\n", "\t", "don't", "'s", "12", "345", "!", "...", "/", "é",
    "中文", "ह", "\u0301", "\u3000", "<|endoftext|>", "<s a>", "<s", "a>", "X", "yZ",
]  # fmt: skip
texts = st.lists(st.sampled_from(FRAGMENTS), max_size=60).map("".join)


def by_regex(name: str, text: str) -> Counter[bytes]:
    parts = text.split("<|endoftext|>")
    regex = PATTERNS[name].text
    return Counter(piece.encode() for part in parts for piece in reference.pieces(regex, part))


@pytest.mark.parametrize("name", ["gpt2", "cl100k", "o200k", "qwen2"])
@given(texts)
def test_equals_the_regex(name: str, text: str) -> None:
    assert dict(bc.count([text], pattern=name).items()) == by_regex(name, text)


@pytest.mark.parametrize("unit", ["document", "line"])
@pytest.mark.parametrize("name", ["gpt2", "cl100k", "o200k", r"\p{L}+|\s"])
@given(text=texts, block=st.integers(8, 80))
def test_a_file_in_blocks_is_one_document(
    name: str, unit: str, text: str, block: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Whatever the size of a block: it is cut where no piece and no special token goes on."""
    path = tmp_path_factory.mktemp("blocks") / "text.txt"
    path.write_bytes(text.encode())
    options: dict[str, Any] = {
        "pattern": name,
        "unit": unit,
        "special_tokens": ["<|endoftext|>", "<s a>"],
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(files, "_BLOCK", block)
        in_blocks = bc.count(path, **options)
    whole = bc.count([text], **options)
    assert list(in_blocks.items()) == list(whole.items())


def test_threads_change_neither_counts_nor_order(tmp_path: Path) -> None:
    rng = random.Random(0)
    text = "".join(rng.choices(FRAGMENTS, k=400_000))
    path = tmp_path / "text.txt"
    path.write_text(text, newline="")
    expected = list(bc.count([text], threads=1).items())
    for threads in (2, 3, 8):
        assert list(bc.count([text], threads=threads).items()) == expected
        assert list(bc.count(path, threads=threads).items()) == expected


def test_files_of_characters_are_counted_in_order_on_threads(tmp_path: Path) -> None:
    rng = random.Random(1)
    for number in range(4):
        lines = ("".join(rng.choices([*FRAGMENTS, "🙂"], k=40)) for _ in range(20_000))
        with (tmp_path / f"{number}.jsonl").open("w") as file:
            file.writelines(json.dumps({"text": line}) + "\n" for line in lines)
    expected = list(bc.count(tmp_path, threads=1).items())
    assert list(bc.count(tmp_path, threads=3).items()) == expected


def test_what_one_thread_raises_ends_all(tmp_path: Path) -> None:
    path = tmp_path / "text.txt"
    path.write_bytes(b"the cat sat\n" * 200_000 + b"\xff" + b"on the mat\n" * 200_000)
    before = threading.active_count()
    for threads in (1, 3):
        with pytest.raises(FormatError, match="offset 2400000"):
            bc.count(path, threads=threads)

    def stop(stage: str, done: int, total: int | None) -> None:
        if done > 1_000_000:
            raise KeyboardInterrupt

    counts = bc.count([], special_tokens=())
    with pytest.raises(KeyboardInterrupt):
        counts.add(path, threads=3, progress=stop)
    assert threading.active_count() == before
    assert 0 < counts.total_bytes < 4_600_001


def test_empty_pieces_and_those_that_never_occur_are_none() -> None:
    counts = bc.count(["a"], special_tokens=())
    ends, numbers = np.array([0, 2, 20, 21], np.int64), np.array([7, 0, 0, 3], np.uint64)
    counts.core.add_pieces(b"abcdefghijklmnopqrstu", ends, numbers)
    assert list(counts.items()) == [(b"a", 1), (b"u", 3)]
    assert len(counts) == 2
    assert bc.train(counts, 256, special_tokens=()).n_vocab == 256


def test_top_and_totals() -> None:
    counts = bc.count(["b a a a b c c d"], special_tokens=())
    assert counts.top(3) == [(b" a", 3), (b" c", 2), (b"b", 1)]
    assert counts.top(0) == []
    assert len(counts) == 5
    assert counts.total_bytes == len("b a a a b c c d")
    assert bc.count([], special_tokens=()).top(3) == []


def test_counts_are_saved_and_loaded(tmp_path: Path) -> None:
    counts = bc.count(["the cat\n the hat"], pattern="cl100k", special_tokens=["<a>"], unit="line")
    path = tmp_path / "counts"
    counts.save(path)
    again = bc.PieceCounts.load(path)
    assert list(again.items()) == list(counts.items())
    assert again.cutting == counts.cutting
    assert again.total_bytes == counts.total_bytes
    assert list(tmp_path.iterdir()) == [path]
    again.add(["the end"])
    assert dict(again.items())[b"the"] == 2


def test_damaged_files_are_format_errors(tmp_path: Path) -> None:
    path = tmp_path / "counts"
    bc.count(["the cat sat on the mat"]).save(path)
    data = path.read_bytes()
    rng = random.Random(3)
    broken = [b"", b"text", data[:8], data[:-1], data[:40], data[:9] + b"\7" + data[10:]]
    for _ in range(300):
        changed = bytearray(data)
        changed[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        broken.append(bytes(changed))
    for content in broken:
        path.write_bytes(content)
        with pytest.raises(bc.errors.FormatError, match=re.escape(str(path))):
            bc.PieceCounts.load(path)


def _count_part(part: str, path: str) -> None:
    bc.count([part], special_tokens=()).save(path)


@pytest.mark.parametrize("tie_break", ["bytes", "ids", "first"])
def test_parts_counted_by_five_processes_train_like_the_whole(
    tmp_path: Path, tie_break: str
) -> None:
    rng = random.Random(1)
    parts = [
        " ".join("".join(rng.choices("abcdé", k=rng.randrange(1, 8))) for _ in range(3000)) + "\n"
        for _ in range(5)
    ]
    paths = [str(tmp_path / str(number)) for number in range(5)]
    with ProcessPoolExecutor(5, get_context("spawn")) as pool:
        list(pool.map(_count_part, parts, paths))
    first, *others = map(bc.PieceCounts.load, paths)
    merged = first.merge(*others)
    options: dict[str, Any] = {"tie_break": tie_break}
    whole = bc.train(parts, 700, special_tokens=(), **options)
    assert bc.train(merged, 700, **options).spec == whole.spec
    assert bc.train(merged, 500, **options).spec.merges == whole.spec.merges[:244]


def test_only_like_counts_add_up() -> None:
    gpt2 = bc.count(["a b"])
    assert dict((gpt2 + bc.count([" b"])).items()) == {b"a": 1, b" b": 2}
    assert dict(gpt2.items()) == {b"a": 1, b" b": 1}
    with pytest.raises(ValueError, match="do not add up"):
        gpt2.merge(bc.count(["a b"], pattern="cl100k"))


def test_counts_bring_their_pattern_along() -> None:
    counts = bc.count(["a1 b2"], pattern="cl100k", special_tokens=["<a>"])
    tokenizer = bc.train(counts, 258)
    assert tokenizer.spec.splits == PATTERNS["cl100k"].splits
    assert tokenizer.special_tokens_set == {"<a>"}
    assert bc.train(counts, 258, pattern="cl100k", special_tokens=["<a>"]).spec == tokenizer.spec
    other: list[dict[str, Any]] = [
        {"pattern": "o200k"},
        {"special_tokens": ["<b>"]},
        {"unit": "line"},
    ]
    for options in other:
        with pytest.raises(ValueError, match="the counts were made with"):
            bc.train(counts, 258, **options)


def test_a_memory_limit_drops_what_is_rare() -> None:
    rng = random.Random(2)
    rare = [f" {rng.randrange(10**9)}x" for _ in range(60_000)]
    text = "".join(f"{word} often enough" for word in rare)
    exact = bc.count([text], special_tokens=())
    assert exact.forgotten == 0
    with pytest.warns(UserWarning, match="memory_limit was reached: [0-9]+ occurrences"):
        bounded = bc.count([text], special_tokens=(), memory_limit=1 << 20)
    assert len(bounded) < 1 << 15
    assert bounded.top(2) == exact.top(2)
    kept = sum(number for _, number in bounded.items())
    assert kept + bounded.forgotten == sum(number for _, number in exact.items())
    with pytest.warns(UserWarning, match="memory_limit"):
        again = bc.count([text], special_tokens=(), memory_limit=1 << 20, threads=4)
    assert list(again.items()) == list(bounded.items())
    with pytest.raises(ValueError, match="at least 1048576"):
        bc.count(["a"], memory_limit=1000)


def test_long_pieces_are_dropped_too() -> None:
    rng = random.Random(4)
    words = ["".join(rng.choices("abcdef", k=400)) for _ in range(4000)]
    with pytest.warns(UserWarning, match="memory_limit"):
        counts = bc.count([" ".join(words)], special_tokens=(), memory_limit=1 << 20)
    assert sum(len(piece) for piece, _ in counts.items()) <= 1 << 19
    assert counts.forgotten + len(counts) == 4000


def test_many_occurrences_of_one_pair_are_counted_in_64_bits() -> None:
    """32 bits overflow in tokenizers 0.23 and rustbpe."""
    for exponent in (31, 32, 33, 40):
        pieces = {b"ab": 1 << exponent, b"xy": 3, b"abab": 1 << (exponent - 1)}
        merges = merges_of(bc.train(pieces, 258, special_tokens=(), **HUGGING_FACE))
        assert merges == [(b"a", b"b"), (b"ab", b"ab")]
    with pytest.raises(bc.errors.FormatError, match="2\\^64"):
        bc.count({b"ab": 1 << 63})
