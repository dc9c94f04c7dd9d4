"""The trainer against its peers, on real text."""

import json
from pathlib import Path

import pytest
import reference
import rustbpe
import shared_data
import tokenizers
from training_helpers import HUGGING_FACE, Pair, merges_of, train

import bpe_compat as bc
from bpe_compat.bytelevel import from_characters
from bpe_compat.patterns import PATTERNS

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
