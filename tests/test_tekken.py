"""Mistral's tekken.json, against mistral-common."""

import base64
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import samples
import shared_data

import bpe_compat as bc
from bpe_compat.errors import FormatError, LossyConversionError, UnsupportedError
from bpe_compat.spec import Normalizer

NAMES = ["<unk>", "<s>", "</s>"]


def trained() -> bc.Tokenizer:
    """Special tokens first, as tekken.json has them."""
    tok = samples.trained(300, special_tokens=NAMES, special_ids="first", tie_break="ids")
    return bc.Tokenizer.from_ranks(
        tok.spec.normal_ids(), pattern="o200k", special_tokens=tok.spec.special_tokens
    )


def theirs(path: Path) -> Any:
    return pytest.importorskip(
        "mistral_common.tokens.tokenizers.tekken", reason="needs mistral-common"
    ).Tekkenizer.from_file(path)


def test_what_is_written_comes_back_and_mistral_common_reads_it(tmp_path: Path) -> None:
    tok, path = trained(), tmp_path / "tekken.json"
    tok.save(path, format="tekken")
    assert bc.converters.detect(path) == "tekken"
    again = bc.load(path)
    assert again.spec == tok.spec
    text = "".join(samples.TRAINING_TEXT) + "ÅÄÖ \x00 <s>"
    reference = theirs(path)
    assert again.encode_ordinary(text) == reference.encode(text, False, False)
    assert reference.bos_id == again.spec.special_tokens["<s>"]
    again.save(tmp_path / "b.json", format="tekken")
    assert (tmp_path / "b.json").read_bytes() == path.read_bytes()


def tree(**config: Any) -> dict[str, Any]:
    vocab = [
        {"rank": i, "token_bytes": base64.b64encode(bytes([i])).decode(), "token_str": None}
        for i in range(256)
    ]
    sizes = {"default_vocab_size": 266, "default_num_special_tokens": 10, "num_vocab_tokens": 256}
    return {
        "config": {"pattern": ".", "version": "v11", **sizes, **config},
        "vocab": vocab,
        "special_tokens": [{"rank": 0, "token_str": "<unk>", "is_control": True}],
    }


def read(content: Any, folder: Path) -> bc.Tokenizer:
    (folder / "x.json").write_text(json.dumps(content))
    return bc.Tokenizer(bc.converters.read(folder / "x.json", format="tekken"))


def test_ids_that_no_list_names_are_fillers(tmp_path: Path) -> None:
    tok = read(tree(), tmp_path)
    assert list(tok.spec.special_tokens)[:2] == ["<unk>", "<SPECIAL_1>"]
    assert tok.encode("\x00") == [10]
    early = tree(version="v3", default_num_special_tokens=30, default_vocab_size=280)
    del early["special_tokens"]
    tok = read(early, tmp_path)  # the table is cut where default_vocab_size says
    assert len(tok.spec.tokens) == 280
    assert tok.spec.special_tokens["[INST]"] == 3


def test_bad_files(tmp_path: Path) -> None:
    def with_entry(place: int, **fields: Any) -> dict[str, Any]:
        changed = tree()
        changed["vocab"][place] |= fields
        return changed

    without = tree()
    del without["special_tokens"]
    for content, message in [
        (tree(default_vocab_size=267), "267 ids with 10 special tokens and 256 others"),
        (tree(default_num_special_tokens=-1), "special tokens and 256 others"),
        (tree(default_num_special_tokens="1"), "must be an integer, not a string"),
        (tree(default_num_special_tokens=0, default_vocab_size=256), "1 special tokens, but"),
        (tree(pattern=None), "pattern: must be a string"),
        (with_entry(7, rank=8), r"vocab\[7\].rank: must be 7, not 8"),
        (with_entry(7, token_bytes="?"), r"vocab\[7\].token_bytes: no base64"),
        (with_entry(7, token_bytes=""), r"vocab\[7\]: the token b'' is empty"),
        (with_entry(7, token_bytes="AQ=="), r"vocab\[7\]: .* there already"),
        (with_entry(7, token_bytes=7), r"vocab\[7\]: must be an object"),
        (without, "'special_tokens' is missing, which version v11 must have"),
        ({**tree(), "special_tokens": [{"rank": 1, "token_str": "x"}]}, "the rank is 1, not 0"),
        (
            {**tree(), "special_tokens": [{"rank": i, "token_str": "x"} for i in (0, 1)]},
            "listed twice",
        ),
    ]:
        with pytest.raises(FormatError, match=message):
            read(content, tmp_path)


@pytest.mark.filterwarnings("ignore:the text has only")
def test_losses(tmp_path: Path) -> None:
    spec = trained().spec
    for other, message in [
        (samples.trained(300).spec, "special tokens with other ids"),
        (replace(spec, normalizers=(Normalizer("nfc"),)), "the normalizers nfc"),
        (bc.train(["ab"], 257, byte_order="gpt2", special_tokens=()).spec, "not the first 256"),
    ]:
        with pytest.raises(LossyConversionError, match=message):
            bc.converters.write(other, tmp_path / "x", format="tekken")
    characters = bc.train(["abc"], 9, alphabet="characters", special_tokens=()).spec
    with pytest.raises(UnsupportedError, match="start as characters"):
        bc.converters.write(characters, tmp_path / "x", format="tekken")
    assert not list(tmp_path.iterdir())


@pytest.mark.usefixtures("shared")
def test_the_published_file(tmp_path: Path) -> None:
    path = shared_data.unpacked("tokenizers/mistral/tekken_240911.json")
    tok, reference = bc.load(path), theirs(path)
    assert (tok.spec.vocab_size, len(tok.spec.normal_ids())) == (131072, 130072)
    bc.convert(path, tmp_path / "hf", to="huggingface")
    again = bc.load(tmp_path / "hf")
    for corpus in ("english_web", "code", "multilingual", "hard"):
        for text in shared_data.documents(corpus, 60_000):
            ids = reference.encode(text, False, False)
            assert tok.encode_ordinary(text) == again.encode_ordinary(text) == ids
            assert tok.decode(ids) == text
