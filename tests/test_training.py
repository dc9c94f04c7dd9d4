"""The trainer against the textbook, the worked examples of the literature, and its peers."""

import json
import os
import random
import signal
import threading
import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
import rustbpe
import tokenizers
from hypothesis import given
from hypothesis import strategies as st

import bpe_compat as bc
import reference
import shared_data
from bpe_compat.bytelevel import BYTE_ORDER, from_characters
from bpe_compat.patterns import PATTERNS

Pair = tuple[bytes, bytes]
HUGGING_FACE = {"tie_break": "ids", "byte_order": "gpt2", "special_ids": "first"}
PRESETS: dict[str, dict[str, Any]] = {
    "default": {},
    "hugging_face": HUGGING_FACE,
    "raw_ids": {"tie_break": "ids"},
    "minbpe": {"tie_break": "first"},
}


def merges_of(tokenizer: bc.Tokenizer) -> list[Pair]:
    tokens = tokenizer.spec.tokens
    return [(tokens[left], tokens[right]) for left, right in tokenizer.spec.merges]


def train(sources: Any, merges: int, **options: Any) -> list[Pair]:
    options.setdefault("special_tokens", ())
    return merges_of(bc.train(sources, 256 + merges + len(options["special_tokens"]), **options))


def joined(merges: Iterable[Pair]) -> list[str]:
    return [(left + right).decode() for left, right in merges]


# The textbook

words = st.dictionaries(
    st.text("ab", min_size=1, max_size=12).map(str.encode), st.integers(1, 6), max_size=12
)


@pytest.mark.filterwarnings("ignore:the text has only")
@pytest.mark.parametrize("tie_break", ["bytes", "ids", "first"])
@given(words, st.integers(1, 3), st.one_of(st.none(), st.integers(1, 5)))
def test_equals_a_full_recount_after_every_merge(
    tie_break: str, counts: dict[bytes, int], min_frequency: int, max_length: int | None
) -> None:
    options = {"min_frequency": min_frequency, "max_token_length": max_length}
    expected = reference.train(counts, 30, tie_break, **options)
    assert train(counts, 30, tie_break=tie_break, **options) == expected


@pytest.mark.filterwarnings("ignore:the text has only")
@pytest.mark.parametrize("preset", PRESETS)
def test_equals_the_textbook_on_text(preset: str) -> None:
    rng = random.Random(5)
    text = " ".join("".join(rng.choices("aabcé中 ", k=rng.randrange(1, 9))) for _ in range(400))
    options = PRESETS[preset]
    pieces = reference.pieces(PATTERNS["gpt2"].text, text)
    order = BYTE_ORDER if options.get("byte_order") == "gpt2" else bytes(range(256))
    expected = reference.train(
        reference.count_pieces(p.encode() for p in pieces),
        120,
        options.get("tie_break", "bytes"),
        order,
    )
    assert train([text], 120, **options) == expected


@pytest.mark.parametrize("word", ["aaa", "aaaa", "aaaaa", "ababab", "abaab", "aabaabaa", "abababa"])
@pytest.mark.parametrize("tie_break", ["bytes", "ids", "first"])
@pytest.mark.filterwarnings("ignore:the text has only")
def test_runs_and_alternations(word: str, tie_break: str) -> None:
    counts = {word.encode(): 3, b"b" + word.encode(): 2, word.encode() + b"a": 1}
    assert train(counts, 9, tie_break=tie_break) == reference.train(counts, 9, tie_break)


# Worked examples


def test_the_cat_then_the_hat() -> None:
    text = " the" * 5 + " then" * 2 + " cat" * 3 + " hat"
    tok = bc.train([text], 262, special_tokens=())
    assert joined(merges_of(tok)) == ["th", "the", " the", "at", "cat", " cat"]
    assert [tok.decode([id]) for id in tok.encode(" then")] == [" the", "n"]


def test_the_example_of_the_encyclopedia() -> None:
    tok = bc.train(["aaabdaaabac"], 259, special_tokens=(), tie_break="ids")
    assert joined(merges_of(tok)) == ["aa", "ab", "aaab"]
    expected = ["aaab", "d", "aaab", "a", "c"]
    assert [tok.decode([id]) for id in tok.encode("aaabdaaabac")] == expected


@pytest.mark.parametrize(
    ("preset", "expected"),
    [
        ("hugging_face", ["bc", "mn", "zy", " a"]),
        ("raw_ids", [" a", "bc", "mn", "zy"]),
        ("default", ["zy", "mn", "bc", " a"]),
        ("minbpe", ["mn", "zy", "bc", " a"]),
    ],
)
def test_ties_of_bytes(preset: str, expected: list[str]) -> None:
    """Four pairs that occur once each, in the four presets."""
    assert joined(train(["mn\nzy\nbc\n a"], 4, **PRESETS[preset])) == expected


@pytest.mark.parametrize(
    ("preset", "expected"),
    [
        ("hugging_face", ["ab", "az", "abq", "abr"]),
        ("raw_ids", ["ab", "az", "abq", "abr"]),
        ("default", ["ab", "abq", "az", "abr"]),
        ("minbpe", ["ab", "abq", "az", "abr"]),
    ],
)
def test_ties_of_merged_tokens(preset: str, expected: list[str]) -> None:
    counts = {"abq": 2, "az": 2, "abr": 1}
    assert joined(train(counts, 4, **PRESETS[preset])) == expected


def test_first_occurrence_depends_on_the_order_of_the_text() -> None:
    counts = {"az": 2, "abq": 2, "abr": 1}
    assert joined(train(counts, 4, tie_break="first")) == ["ab", "az", "abq", "abr"]


# Ids


def test_ids_of_the_presets() -> None:
    last = bc.train(["ab ab"], 258, special_tokens=["<s>"]).spec
    assert (last.tokens[97], last.tokens[256], last.tokens[257]) == (b"a", b"ab", b"<s>")
    after = bc.train(["ab ab"], 258, special_tokens=["<s>"], special_ids="after_bytes").spec
    assert (after.tokens[256], after.tokens[257], after.merges) == (b"<s>", b"ab", ((97, 98),))
    first = bc.train(["ab ab"], 258, special_tokens=["<s>"], **HUGGING_FACE).spec
    assert (first.tokens[0], first.tokens[1], first.tokens[257]) == (b"<s>", b"!", b"ab")
    assert first.merges == ((65, 66),)


def test_specials_cut_the_text_and_take_part_in_no_merge() -> None:
    tok = bc.train(["ABCD<sep>EFGH"] * 50, 263, special_tokens=["<sep>"], tie_break="ids")
    assert joined(merges_of(tok)) == ["AB", "CD", "EF", "GH", "ABCD", "EFGH"]
    assert tok.encode("AB<sep>", allowed_special="all")[-1] == tok.spec.special_tokens["<sep>"]


def test_the_longest_special_is_cut_first() -> None:
    options = {"special_tokens": ["<a>", "<a>b"], "pattern": None}
    assert joined(train(["x<a>bx<a>xx"], 1, **options)) == ["xx"]


def test_number_of_merges() -> None:
    text = " ".join(f"w{i:05}" for i in range(4000))
    tok = bc.train([text], 1000)
    assert len(tok.spec.merges) == 1000 - 256 - 1
    assert tok.n_vocab == 1000


# Options


def test_max_token_length_is_exact() -> None:
    for limit in (1, 2, 3, 4, 5, 8):
        with pytest.warns(UserWarning, match="the text has only"):
            merges = train({"abcdefgh": 5}, 50, max_token_length=limit)
        assert max([len(token) for token in joined(merges)], default=1) == limit


def test_max_token_length_counts_bytes() -> None:
    with pytest.warns(UserWarning, match="the text has only"):
        merges = train({"中中": 5}, 50, max_token_length=4)
    assert max(len(left + right) for left, right in merges) <= 4


def test_min_frequency_is_inclusive() -> None:
    with pytest.warns(UserWarning, match="the text has only 1 pairs"):
        assert joined(train({"ab": 3, "cd": 2}, 10, min_frequency=3)) == ["ab"]


def test_unit_line_splits_after_newlines_only() -> None:
    text = "a\n\nb\rc\u2028d\n\n"
    pieces = Counter[bytes]()
    for line in ("a\n", "\n", "b\rc\u2028d\n", "\n"):
        pieces.update(p.encode() for p in reference.pieces(PATTERNS["gpt2"].text, line))
    with pytest.warns(UserWarning, match="the text has only"):
        assert train([text], 50, unit="line") == reference.train(pieces, 50, "bytes")
    with pytest.warns(UserWarning, match="the text has only"):
        assert (b"\n", b"\n") in train([text], 50, unit="document")


@pytest.mark.filterwarnings("ignore:the text has only")
@pytest.mark.parametrize("threads", [1, 2, 3, 7])
@pytest.mark.parametrize("tie_break", ["bytes", "ids", "first"])
def test_the_number_of_threads_changes_nothing(threads: int, tie_break: str) -> None:
    rng = random.Random(6)
    texts = ["".join(rng.choices("abcd ", k=50)) for _ in range(300)]
    assert train(texts, 200, tie_break=tie_break, threads=threads) == train(
        texts, 200, tie_break=tie_break, threads=1
    )


@pytest.mark.filterwarnings("ignore:the text has only")
def test_any_regex_is_trained_with() -> None:
    text = "ab12cd34 ab12-cd34\n" * 3
    pattern = r"[a-z]+|\d{2,3}+"
    pieces = ["ab", "12", "cd", "34", " ", "ab", "12", "-", "cd", "34", "\n"] * 3
    expected = reference.train(reference.count_pieces(p.encode() for p in pieces), 20, "first")
    assert train([text], 20, pattern=pattern, tie_break="first") == expected
    by_line = train([text], 20, pattern=pattern, tie_break="first", unit="line")
    assert by_line == expected
    cut = train([text.replace(" ", "<x>")], 20, pattern=pattern, special_tokens=["<x>"])
    assert sorted(cut) == sorted(expected)


def test_counts_do_not_overflow_32_bits() -> None:
    """A pair that occurs 2^31 times and more stays the most frequent one."""
    merges = train({"aaaa": 3 << 40, "xy": 1 << 33, "yx": (1 << 33) + 1}, 3)
    assert joined(merges) == ["aa", "aaaa", "yx"]


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
        (Path("/"), "is a folder"),
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
        ({"threads": 0}, "threads must be at least 1"),
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


def test_ctrl_c_stops_within_a_second(tmp_path: Path) -> None:
    rng = random.Random(7)
    letters = "".join(rng.choices("abcdefgh", k=4000))
    texts = (letters[i : i + 800] for i in iter(lambda: rng.randrange(3000), -1))
    started = time.monotonic()
    threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        bc.train(texts, 1 << 20, pattern=None)
    assert time.monotonic() - started < 5


def test_progress_is_shown_when_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    bc.train(["ab ab"], 257, special_tokens=(), progress=True)
    assert "counting" in (shown := capsys.readouterr().err)
    assert "merging" in shown
    bc.train(["ab ab"], 257, special_tokens=())
    assert capsys.readouterr().err == ""


# Peers, on real text


def hugging_face_merges(path: Path, vocab_size: int, pattern: str) -> list[Pair]:
    tok = tokenizers.Tokenizer(tokenizers.models.BPE())
    byte_level = tokenizers.pre_tokenizers.ByteLevel(
        add_prefix_space=False, use_regex=pattern == "gpt2"
    )
    if pattern == "gpt2":
        tok.pre_tokenizer = byte_level
    else:
        regex = tokenizers.Regex(PATTERNS[pattern].oniguruma)
        split = tokenizers.pre_tokenizers.Split(regex, "isolated")
        tok.pre_tokenizer = tokenizers.pre_tokenizers.Sequence([split, byte_level])
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=vocab_size,
        show_progress=False,
        initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet(),
    )
    tok.train([str(path)], trainer)
    merges = json.loads(tok.to_str())["model"]["merges"]
    return [(from_characters(a) or b"", from_characters(b) or b"") for a, b in merges]


def head(name: str, size: int, tmp_path: Path) -> Path:
    path = tmp_path / f"{name}.txt"
    path.write_text(shared_data.text(name, size), newline="")
    return path


@pytest.mark.parametrize("pattern", ["gpt2", "cl100k"])
@pytest.mark.parametrize(
    ("name", "size", "vocab_size"),
    [
        ("tinystories", 11_000_000, 10_000),
        ("english_web", 5_000_000, 8_000),
        ("code", 5_000_000, 8_000),
        ("multilingual", 5_000_000, 8_000),
    ],
)
@pytest.mark.usefixtures("shared")
def test_equals_tokenizers(
    name: str, size: int, vocab_size: int, pattern: str, tmp_path: Path
) -> None:
    path = head(name, size, tmp_path)
    ours = train(path, vocab_size - 256, pattern=pattern, unit="line", **HUGGING_FACE)
    assert ours == hugging_face_merges(path, vocab_size, pattern)


@pytest.mark.parametrize("name", ["tinystories", "code", "multilingual"])
@pytest.mark.usefixtures("shared")
def test_equals_rustbpe(name: str) -> None:
    text = shared_data.text(name, 2_000_000)
    peer = rustbpe.Tokenizer()
    peer.train_from_iterator(iter([text]), 4000, pattern=PATTERNS["llama3"].text)
    expected = [
        bytes(token) for token, rank in sorted(peer.get_mergeable_ranks(), key=lambda r: r[1])
    ]
    ours = bc.train([text], 4000, pattern="llama3", special_tokens=(), tie_break="ids")
    assert list(ours.spec.tokens) == expected


def test_equals_the_reference_of_cs336(shared: Path) -> None:
    folder = "tokenizers/cs336_train_bpe_reference"
    tok = bc.train(shared_data.unpacked(f"{folder}/corpus.en"), 500)
    lines = (
        shared_data.unpacked(f"{folder}/train-bpe-reference-merges.txt").read_text().splitlines()
    )
    expected = [tuple(from_characters(part) for part in line.split(" ")) for line in lines]
    assert merges_of(tok) == expected
    vocab = json.loads(shared_data.unpacked(f"{folder}/train-bpe-reference-vocab.json").read_text())
    assert {from_characters(token) or token.encode() for token in vocab} == set(tok.spec.tokens)


@pytest.mark.usefixtures("shared")
def test_first_occurrence_equals_the_textbook_on_real_text() -> None:
    text = shared_data.text("tinystories", 30_000)
    pieces = reference.pieces(PATTERNS["gpt2"].text, text)
    expected = reference.train(reference.count_pieces(p.encode() for p in pieces), 150, "first")
    assert train([text], 150, tie_break="first") == expected
