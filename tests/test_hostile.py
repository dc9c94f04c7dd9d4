"""Hostile input and a system that refuses: errors and right answers, never a crash or a leak."""

import os
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from samples import BYTES, trained

import bpe_compat as bc
from bpe_compat.summary import summary

# What the system refuses

WITHOUT_THREADS = """
import resource, threading
import bpe_compat as bc

texts = ["the cat and the hat"] * 400
tok = bc.train(texts, 265, special_tokens=(), threads=1)
expected = tok.encode_arrays(texts, threads=1).ids.tolist()
# Each thread wants a stack of a gigabyte, of which none is left.
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (1 << 29), resource.RLIM_INFINITY))
try:
    threading.Thread(target=print).start()
except RuntimeError:
    print("no threads")
assert tok.encode_arrays(texts, threads=8).ids.tolist() == expected
assert bc.train(texts, 265, special_tokens=(), threads=8).spec == tok.spec
print("same")
"""


@pytest.mark.skipif(not Path("/proc/self/statm").is_file(), reason="needs /proc")
def test_a_system_without_threads_is_slower_and_not_wrong() -> None:
    def with_large_stacks() -> None:
        hard = resource.getrlimit(resource.RLIMIT_STACK)[1]
        resource.setrlimit(resource.RLIMIT_STACK, (1 << 30, hard))

    if 0 <= resource.getrlimit(resource.RLIMIT_STACK)[1] < 1 << 30:
        pytest.skip("needs a hard limit of stacks of a gigabyte")
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_THREADS],
        capture_output=True, text=True, preexec_fn=with_large_stacks,
        env={"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    assert (done.stdout, done.stderr) == ("no threads\nsame\n", "")


RANDOM_WORDS = """
import resource, sys
import numpy as np
import bpe_compat as bc

def resident():
    return int(open("/proc/self/statm").read().split()[1]) * resource.getpagesize() >> 20

rng = np.random.default_rng(0)
ranks = {bytes([b]): b for b in range(256)}
tok = bc.Tokenizer.from_ranks(ranks, pattern="gpt2", special_tokens={})
blocks = int(sys.argv[1])
for block in range(blocks):
    data = rng.integers(97, 123, 1 << 21, dtype=np.uint8)
    data[rng.random(1 << 21, dtype=np.float32) < 0.14] = 32
    texts = [part.tobytes() for part in np.split(data, 32)]
    assert tok.encode_arrays(texts, threads=1).ids.astype(np.uint8).tobytes() == data.tobytes()
    assert sum(map(len, tok.encode_batch(texts[:4], num_threads=1))) == 1 << 18
    if block in (0, blocks * 2 // 3, blocks - 1):
        print(resident())
"""


@pytest.mark.skipif(not Path("/proc/self/statm").is_file(), reason="needs /proc")
def test_memory_is_bounded_whatever_words_come() -> None:
    """Hardly a word comes twice. BPE_COMPAT_EXAMPLES: gigabytes of them."""
    blocks = 1000 if "BPE_COMPAT_EXAMPLES" in os.environ else 15
    command = [sys.executable, "-c", RANDOM_WORDS, str(blocks)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    first, later, last = map(int, done.stdout.split())
    assert last - later <= 8  # MB: what allocators keep
    assert last - first <= 150  # the caches, which are full early


# Objects that change under our hands


class Clearing:
    """An id that empties the list it stands in when it is asked for its number."""

    def __init__(self, items: list[Any]) -> None:
        self.items = items

    def __index__(self) -> int:
        self.items.clear()
        return 104


@pytest.mark.parametrize("method", ["decode", "decode_bytes"])
def test_a_list_that_changes_while_it_is_decoded(method: str) -> None:
    ids: list[Any] = []
    ids += [105, Clearing(ids), *[106] * 1000]
    text = getattr(trained(), method)(ids)
    assert text in ("ih" + "j" * 1000, b"ih" + b"j" * 1000)
    assert ids == []


def test_buffers_are_given_back_if_a_text_is_refused() -> None:
    tok = trained()
    text: Any = bytearray(b"abc")
    methods: list[Any] = [tok.encode_ordinary_batch, tok.encode_arrays]
    for method in methods:
        with pytest.raises(TypeError, match="text must be str or bytes, not list"):
            method([text, []])
        text.append(100)  # raises BufferError while somebody holds the buffer
    assert tok.encode_arrays([text]).ids.tolist() == list(b"abcdd")
    text.append(100)


# Numbers


@pytest.mark.parametrize(
    "counts",
    [
        {"ab": 1 << 63},
        {"ab": 1 << 62, "cd": 1 << 62, "ef": 1},
        {"a" * 8: (1 << 61)},
        {"ab": 1 << 64},
        {"ab": -1},
        {"ab": 1.5},
    ],
)
def test_counts_that_do_not_fit_are_named(counts: Any) -> None:
    with pytest.raises(bc.errors.FormatError, match=r"more than 2\^64 bytes|its count an int"):
        bc.train(counts, 300)


def test_counts_may_be_as_large_as_fits() -> None:
    counts = {"ab": (1 << 63) - 1, "c": np.uint64(1)}
    tok = bc.train(counts, 257, special_tokens=())
    assert tok.spec.tokens[256] == b"ab"


@pytest.mark.parametrize("id", [1 << 31, 1 << 40, 1 << 100])
def test_huge_ids_fill_no_memory(id: int) -> None:
    with pytest.raises(bc.errors.FormatError, match="out of range"):
        bc.Tokenizer.from_ranks({b"a": id}, pattern=None, special_tokens={})
    with pytest.raises(bc.errors.FormatError, match="out of range"):
        bc.Tokenizer.from_ranks({b"a": 0}, pattern=None, special_tokens={"<s>": id})


# Bytes without a token

NO_Z = {token: rank for token, rank in BYTES.items() if token != b"z"} | {b"zz": 256}


def test_a_byte_without_a_token_is_named_in_every_encoding_method() -> None:
    tok = bc.Tokenizer.from_ranks(NO_Z, pattern="gpt2", special_tokens={})
    assert tok.encode("zz azzzz") == [256, 32, 97, 256, 256]
    methods: list[Any] = [
        tok.encode, tok.encode_ordinary, tok.encode_to_numpy, tok.encode_with_unstable,
        tok.encode_with_offsets, tok.count, lambda text: tok.truncate(text, 1),
        lambda text: tok.encode_batch(["a", text]),
        lambda text: tok.encode_arrays(["a"] * 40 + [text], threads=4),
    ]  # fmt: skip
    for method in methods:
        with pytest.raises(bc.errors.FormatError, match=r"byte 0x7A has no token.*give"):
            method("azzz")
    by_regex = bc.Tokenizer.from_ranks(NO_Z, pattern=r"\w+|\W", special_tokens={})
    with pytest.raises(bc.errors.FormatError, match="byte 0x7A has no token"):
        by_regex.encode("azzz")


def test_a_byte_without_a_token_is_named_by_summary_and_converters(tmp_path: Path) -> None:
    """Where merges are listed, text without a token is dropped: a loss of the error."""
    tok = bc.Tokenizer.from_ranks(NO_Z, pattern="gpt2", special_tokens={})
    assert "missing bytes   1: 0x7A\n" in summary(tok.spec)
    for format in ("huggingface", "gpt2"):
        with pytest.raises(bc.errors.LossyConversionError, match="the error for byte 0x7A"):
            tok.save(tmp_path / format, format=format)
        tok.save(tmp_path / format, format=format, allow_loss=True)
    tok.save(tmp_path / "x.tiktoken", format="tiktoken")
    with pytest.warns(UserWarning, match="byte 0x7A has no rank"):
        bc.convert(tmp_path / "x.tiktoken", tmp_path / "y.tiktoken", to="tiktoken")
    assert (tmp_path / "y.tiktoken").read_bytes() == (tmp_path / "x.tiktoken").read_bytes()


@pytest.mark.parametrize("pattern", ["gpt2", r"\w+|\W"])
@pytest.mark.parametrize("text", [None, 5, 1.5, ["a"]])
def test_texts_of_a_wrong_type_are_named(pattern: str, text: Any) -> None:
    tok = trained(pattern=pattern)
    with pytest.raises(TypeError, match="text must be str or bytes, not"):
        tok.encode_arrays(["a", text])
    with pytest.raises(TypeError, match="text must be str"):
        tok.encode(text)
