"""Published tokenizers, against the libraries they were made for."""

import hashlib
import json
from itertools import pairwise
from pathlib import Path

import pytest
import shared_data
import tokenizers

import bpe_compat as bc

# Real files


@pytest.mark.usefixtures("shared")
@pytest.mark.parametrize("name", sorted(shared_data.RANK_FILES))
def test_published_ranks_to_tokenizer_json_and_back(name: str, tmp_path: Path) -> None:
    source = shared_data.rank_file(name)
    bc.convert(source, tmp_path / "hf", to="huggingface")
    bc.convert(tmp_path / "hf", tmp_path / "back.tiktoken", to="tiktoken")
    assert (tmp_path / "back.tiktoken").read_bytes() == source.read_bytes()
    sidecar = json.loads((tmp_path / "back.tiktoken.json").read_text())
    encoding = shared_data.tiktoken_encoding(name)
    assert sidecar["special_tokens"] == encoding._special_tokens
    assert sidecar["pattern"] == shared_data.RANK_FILES[name]
    theirs = tokenizers.Tokenizer.from_file(str(tmp_path / "hf" / "tokenizer.json"))
    assert {
        t: theirs.token_to_id(t) for t in encoding.special_tokens_set
    } == encoding._special_tokens
    for corpus in ("english_web", "code", "multilingual", "hard"):
        documents = shared_data.documents(corpus, 200_000)
        expected = encoding.encode_ordinary_batch(documents)
        assert [e.ids for e in theirs.encode_batch(documents)] == expected


@pytest.mark.usefixtures("shared")
def test_gpt2_files_and_r50k_are_one_tokenizer(tmp_path: Path) -> None:
    folder = tmp_path / "gpt2"
    folder.mkdir()
    for name in ("vocab.json", "merges.txt"):
        (folder / name).write_bytes(shared_data.unpacked(f"tokenizers/gpt2/{name}").read_bytes())
    bc.convert(folder, tmp_path / "gpt2.tiktoken", to="tiktoken")
    assert (tmp_path / "gpt2.tiktoken").read_bytes() == shared_data.rank_file(
        "r50k_base"
    ).read_bytes()
    bc.convert(shared_data.rank_file("r50k_base"), tmp_path / "back", to="gpt2")
    merges, vocab = (tmp_path / "back" / name for name in ("merges.txt", "vocab.json"))
    assert sha256(merges) == "1ce1664773c50f3e0cc8842619a93edc4624525b728b188a9e0be33b7726adc5"
    assert sha256(vocab) == "196139668be63f3b5d6574427317ae82f612a97c5d1cdaf36ed2256dbf636783"


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


JSON_FILES = """
    chatglm falcon gemma3 gpt2 gpt35turbo gptoss llama3 mistral_7b_hf phi2 phi3 roberta deepseek_v3
    claude clip_hf gpt_neox pgn qwen3 whisper_hf
""".split()  # noqa: SIM905


@pytest.mark.usefixtures("shared")
@pytest.mark.parametrize("name", JSON_FILES)
def test_real_tokenizer_json_files(name: str, tmp_path: Path) -> None:
    """The ids of tokenizers on real text, also after a round trip, and an equal spec."""
    path = shared_data.unpacked(f"tokenizers/{name}/tokenizer.json")
    ours, theirs = bc.load(path), tokenizers.Tokenizer.from_file(str(path))
    ours.save(tmp_path / "again")
    again = tokenizers.Tokenizer.from_file(str(tmp_path / "again" / "tokenizer.json"))
    assert bc.load(tmp_path / "again").spec == ours.spec
    for corpus in ("english_web", "code", "multilingual", "tinystories", "hard"):
        documents = shared_data.documents(corpus, 60_000)
        expected = [e.ids for e in theirs.encode_batch(documents, add_special_tokens=False)]
        ids, offsets = ours.encode_arrays(documents, specials="encode")
        assert [ids[a:b].tolist() for a, b in pairwise(offsets)] == expected
        assert [e.ids for e in again.encode_batch(documents, add_special_tokens=False)] == expected
        for text, want in zip(documents[:5], expected, strict=False):
            assert ours.decode(want) == theirs.decode(want, skip_special_tokens=False), text[:40]


@pytest.mark.usefixtures("shared")
@pytest.mark.parametrize(
    ("file", "error", "message"),
    [
        ("llama2_ort/tokenizer.json", "FormatError", r"merges\[18917\]"),
        ("t5_small_unigram/tokenizer.json", "UnsupportedError", "Unigram"),
        ("nmt_marian/tokenizer.json", "UnsupportedError", "Unigram"),
        ("pytorch_tokenizers/test_hf_tokenizer.json", "FormatError", r"merges\["),
    ],
)
def test_real_files_that_are_none(file: str, error: str, message: str) -> None:
    path = shared_data.unpacked(f"tokenizers/{file}")
    with pytest.raises(getattr(bc.errors, error), match=message):
        bc.load(path)
