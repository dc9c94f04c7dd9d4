"""Where training text comes from, bad input, interruption."""

import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import reference
from training_helpers import HUGGING_FACE, train

import bpe_compat as bc
from bpe_compat.patterns import PATTERNS

# Sources


def test_sources_of_every_kind_agree(tmp_path: Path) -> None:
    texts = ["the cat sat", "on the mat", "the cat ran"]
    expected = train(texts, 12)
    paths = []
    for number, text in enumerate(texts):
        paths.append(tmp_path / f"{number}.txt")
        paths[-1].write_text(text)
    whole = tmp_path / "whole.txt"
    whole.write_text("<e>".join(texts))
    assert train(paths, 12) == expected
    assert train((text for text in texts), 12) == expected
    assert train([text.encode() for text in texts], 12) == expected
    assert train(str(whole), 12, special_tokens=["<e>"]) == expected
    assert train(whole, 12, special_tokens=["<e>"]) == expected
    assert train([{"text": text} for text in texts], 12) == expected
    assert train([{"story": text} for text in texts], 12, text_column="story") == expected
    pieces = [piece for text in texts for piece in reference.pieces(PATTERNS["gpt2"].text, text)]
    assert train(Counter(pieces), 12) == expected


def test_a_dataset_is_a_source() -> None:
    datasets = pytest.importorskip("datasets")
    texts = ["the cat sat", "on the mat"]
    data = datasets.Dataset.from_dict({"text": texts})
    assert train(data, 8) == train(texts, 8)
    assert train(data.to_iterable_dataset(), 8) == train(texts, 8)


def test_files_with_crlf_and_a_byte_order_mark(tmp_path: Path) -> None:
    path = tmp_path / "windows.txt"
    path.write_bytes(b"\xef\xbb\xbfhi hi hi\r\nhi\r\n")
    with pytest.warns(UserWarning, match="byte order mark"):
        merges = train(path, 3, unit="line", **HUGGING_FACE)
    assert [left + right for left, right in merges] == [b"hi", b"\r\n", b" hi"]


def test_nul_is_a_byte_like_any_other() -> None:
    assert train(["a\0b a\0b"], 2, pattern=None, **HUGGING_FACE)[0] == (b"a", b"\0")


@pytest.mark.parametrize(
    ("sources", "message"),
    [
        ("/no/such/file", r"/no/such/file: no such file; to train on a text itself pass \[text\]"),
        (["a", None], "item 1 of the sources is NoneType"),
        ([b"caf\xe9 ol\xe9\n"], "item 0 of the sources: byte 0xE9 at offset 3 is not UTF-8"),
        ([{"story": "a"}], "row 0 has no column 'text' but story; pass text_column="),
        ({"a": "b"}, "a piece must be str or bytes and its count an int"),
    ],
)
def test_bad_sources_are_named(sources: Any, message: str) -> None:
    with pytest.raises(bc.errors.FormatError, match=message):
        train(sources, 3)


def test_invalid_utf8_in_a_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "latin1.txt"
    path.write_bytes(bytes.fromhex("636166e9206f6ce90a"))
    with pytest.raises(bc.errors.FormatError, match=r"latin1.txt: byte 0xE9 at offset 3"):
        train(path, 3)


def test_an_empty_file_has_no_pairs(tmp_path: Path) -> None:
    path = tmp_path / "empty.txt"
    path.touch()
    with pytest.warns(UserWarning, match="the text has only 0 pairs"):
        assert train(path, 3) == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"vocab_size": 100}, "must be at least 257: 256 bytes and 1 special tokens"),
        ({"min_frequency": 0}, "min_frequency must be at least 1"),
        ({"max_token_length": 0}, "max_token_length must be at least 1"),
        ({"tie_break": "newest"}, "tie_break must be one of bytes, ids, first"),
        ({"byte_order": "gpt3"}, "byte_order must be one of raw, gpt2"),
        ({"special_ids": "middle"}, "special_ids must be one of"),
        ({"unit": "word"}, "unit must be one of"),
        ({"special_tokens": ["a", "a"]}, "'a' is given twice"),
        ({"special_tokens": [""]}, "non-empty"),
        ({"pattern": "gpt5"}, "no split pattern is named 'gpt5'"),
        ({"pattern": "(a"}, "not closed|valid regular expression"),
        ({"pattern": ""}, "empty"),
        ({"threads": 0}, "threads must be an int of at least 1, not 0"),
    ],
)
def test_bad_arguments_are_named(options: dict[str, Any], message: str) -> None:
    options = {"vocab_size": 300, **options}
    with pytest.raises(ValueError, match=message):
        bc.train(["abc"], options.pop("vocab_size"), **options)


@pytest.mark.parametrize("sources", [b"text", 5])
def test_sources_that_are_no_sources(sources: Any) -> None:
    with pytest.raises(TypeError, match="sources must be"):
        train(sources, 3)


# Each stage goes on far longer than it takes until Ctrl-C.
STAGES = {
    "counting": "bc.train(itertools.repeat(text, 10_000), 300, threads=2)",
    "counting in Python": "bc.train(itertools.repeat(text, 10_000), 300, pattern=r'\\w+|\\W')",
    "merging": "bc.train([noise], 1 << 20, pattern=None)",
    "merging in order": "bc.train([noise], 1 << 20, pattern=None, tie_break='first')",
}
INTERRUPTED = """
import itertools, os, random, signal, threading, time
import bpe_compat as bc

text = " ".join(f"word{{i}}" for i in range(500_000))
noise = random.Random(7).randbytes(8_000_000).hex()
signal.signal(signal.SIGINT, signal.default_int_handler)  # what runs in the background ignores it
sent = []

def interrupt():
    sent.append(time.monotonic())
    os.kill(os.getpid(), signal.SIGINT)

threading.Timer(1, interrupt).start()
try:
    {call}
except KeyboardInterrupt:
    print(time.monotonic() - sent[0])
"""


@pytest.mark.parametrize("stage", STAGES)
def test_ctrl_c_stops_within_a_second(stage: str) -> None:
    """Measured in the process itself, so that what else the machine does matters little."""
    script = INTERRUPTED.format(call=STAGES[stage])
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stderr == ""
    assert float(done.stdout) < 1


def test_progress_is_shown_when_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    bc.train(["ab ab"], 257, special_tokens=(), progress=True)
    assert "counting" in (shown := capsys.readouterr().err)
    assert "merging" in shown
    bc.train(["ab ab"], 257, special_tokens=())
    assert capsys.readouterr().err == ""
