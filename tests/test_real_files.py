"""Published tokenizers, against the libraries they were made for."""

import hashlib
import json
from itertools import pairwise
from pathlib import Path
from typing import Literal

import pytest
import shared_data
import tokenizers

import bpe_compat as bc


def check_equal(
    ours: bc.Tokenizer,
    documents: list[str],
    expected: list[list[int]],
    specials: Literal["text", "encode"],
) -> None:
    ids, offsets = ours.encode_arrays(documents, specials=specials)
    for text, want, (a, b) in zip(documents, expected, pairwise(offsets), strict=True):
        assert ids[a:b].tolist() == want, text


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
    ours = bc.load(source)
    for documents in shared_data.corpora(200_000):
        check_equal(ours, documents, encoding.encode_ordinary_batch(documents), specials="text")
        few = documents[: len(documents) // 10 + 20]  # the special token of the texts is one here
        check_equal(ours, few, [e.ids for e in theirs.encode_batch(few)], specials="encode")


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
# Their split is spelled in another way when it is written again.
RESPELLED = ["tinystories_bpe_panjd/tokenizer_4K", "tinystories_bpe_panjd/tokenizer_8K"]


def check_ids(path: Path, again: Path) -> None:
    """The ids and texts of tokenizers, also from what we write to the folder `again`."""
    ours, theirs = bc.load(path), tokenizers.Tokenizer.from_file(str(path))
    ours.save(again)
    rewritten = tokenizers.Tokenizer.from_file(str(again / "tokenizer.json"))
    for documents in shared_data.corpora():
        expected = [e.ids for e in theirs.encode_batch(documents, add_special_tokens=False)]
        check_equal(ours, documents, expected, specials="encode")
        for text, want in zip(documents[:5], expected, strict=False):
            assert ours.decode(want) == theirs.decode(want, skip_special_tokens=False), text[:40]
        few = documents[: len(documents) // 10 + 20]
        written = rewritten.encode_batch(few, add_special_tokens=False)
        assert [e.ids for e in written] == expected[: len(few)]


@pytest.mark.usefixtures("shared")
@pytest.mark.parametrize("name", JSON_FILES)
def test_real_tokenizer_json_files(name: str, tmp_path: Path) -> None:
    """The ids of tokenizers on real text, also after a round trip, and an equal spec."""
    path = shared_data.unpacked(f"tokenizers/{name}/tokenizer.json")
    check_ids(path, tmp_path / "again")
    assert bc.load(tmp_path / "again").spec == bc.load(path).spec


@pytest.mark.usefixtures("shared")
@pytest.mark.parametrize("name", RESPELLED)
def test_real_files_that_are_respelled(name: str, tmp_path: Path) -> None:
    check_ids(shared_data.unpacked(f"tokenizers/{name}.json"), tmp_path / "again")


REFUSED = [
    ("llama2_ort/tokenizer.json", "FormatError", r"merges\[18917\]"),
    ("t5_small_unigram/tokenizer.json", "UnsupportedError", "Unigram"),
    ("nmt_marian/tokenizer.json", "UnsupportedError", "Unigram"),
    ("pytorch_tokenizers/test_hf_tokenizer.json", "FormatError", r"merges\["),
]


@pytest.mark.usefixtures("shared")
@pytest.mark.parametrize(("file", "error", "message"), REFUSED)
def test_real_files_that_are_none(file: str, error: str, message: str) -> None:
    path = shared_data.unpacked(f"tokenizers/{file}")
    with pytest.raises(getattr(bc.errors, error), match=message):
        bc.load(path)


def test_no_tokenizer_json_is_left_out(shared: Path) -> None:
    folder = shared / "data" / "tokenizers"
    found = {str(path.relative_to(folder)) for path in folder.glob("*/*tokenizer*.json*")}
    known = {f"{name}/tokenizer.json" for name in JSON_FILES}
    known |= {f"{name}.json" for name in RESPELLED} | {file for file, _, _ in REFUSED}
    assert {name.removesuffix(".gz") for name in found if "_config" not in name} == known
