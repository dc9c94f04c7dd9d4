"""Folders with a SentencePiece model and no tokenizer.json, beside AutoTokenizer."""

import functools
import importlib.metadata
import io
import json
from pathlib import Path
from typing import Any

import pytest

import bpe_compat as bc
from bpe_compat.converters import sentencepiece as reader
from bpe_compat.errors import FormatError, UnsupportedError

spm = pytest.importorskip("sentencepiece")

LINES = ["the cat and the hat, it's 2026! naïve café 中文  once   upon a time, lower newest"] * 9
LLAMA = {"tokenizer_class": "LlamaTokenizer", "legacy": True, "add_bos_token": True}
C19 = {"<unk>": 0, "<s>": 1, "</s>": 2, "<|im_end|>": 400}
TEXTS = [
    "the cat", "the<s>hat</s>the", "x<|im_end|>y", "the <|im_end|>cat<unk>", "a\n\nb中 😀", "",
    "<|im_end|><|im_end|>", "the cat<|im_end|>once upon<s>", "<0x41>\t",
]  # fmt: skip
SPACED = ["  the", " <s> the  cat  ", "the▁ <|im_end|> cat", "<|im_end|>  a", " ", "▁", "   "]


@functools.cache
def model(**options: Any) -> bytes:
    out = io.BytesIO()
    defaults = {
        "vocab_size": 400, "model_type": "bpe", "normalization_rule_name": "identity",
        "byte_fallback": True, "remove_extra_whitespaces": False, "hard_vocab_limit": False,
    }  # fmt: skip
    spm.SentencePieceTrainer.train(
        sentence_iterator=iter(LINES), model_writer=out, minloglevel=2, **(defaults | options)
    )
    return out.getvalue()


def folder_of(path: Path, data: bytes, name: str = "tokenizer.model", **files: Any) -> Path:
    path.mkdir(exist_ok=True)
    (path / name).write_bytes(data)
    for stem, content in files.items():
        (path / f"{stem}.json").write_text(json.dumps(content))
    return path


def size() -> int:
    return int(spm.SentencePieceProcessor(model_proto=model()).vocab_size())


def auto_tokenizer(folder: Path, *, least: str = "4.57") -> Any:
    transformers = pytest.importorskip("transformers", minversion=least)
    pytest.importorskip("google.protobuf", reason="transformers reads models with it")
    return transformers.AutoTokenizer.from_pretrained(folder)


def compare(folder: Path, theirs: Any, texts: list[str]) -> bc.Tokenizer:
    ours = bc.load(folder)
    expected = {t.content: id for id, t in theirs.added_tokens_decoder.items()}
    assert {t.content: t.id for t in ours.spec.added_tokens} == expected
    for text in texts:
        ids = theirs(text, add_special_tokens=False)["input_ids"]
        assert ours.encode(text, allowed_special="all") == ids, text
        assert ours.decode(ids) == theirs.decode(ids, clean_up_tokenization_spaces=False)
    return ours


@pytest.mark.parametrize(
    "files",
    [
        {},
        {"tokenizer_config": {"tokenizer_class": "PreTrainedTokenizerFast"}},
        {"added_tokens": C19 | {"<|im_end|>": size()}},
        {"special_tokens_map": {"eos_token": "<|im_end|>", "pad_token": "</s>"}},
        {"tokenizer_config": LLAMA, "config": {"model_type": "mistral"}},
    ],
)
@pytest.mark.parametrize("options", [{}, {"add_dummy_prefix": False}])
def test_without_a_class_the_model_is_followed(
    files: dict[str, Any], options: dict[str, Any], tmp_path: Path
) -> None:
    folder = folder_of(tmp_path, model(**options), **files)
    compare(folder, auto_tokenizer(folder, least="5.24"), TEXTS + SPACED)


def test_a_control_token_with_another_name(tmp_path: Path) -> None:
    config: dict[str, Any] = {
        "added_tokens_decoder": {"4": {"content": "<|im_end|>", "special": True}}
    }
    data = model(control_symbols="<a>,<b>")
    folder = folder_of(tmp_path, data, tokenizer_config=config)
    ours = bc.load(folder)
    assert ours.spec.vocab_size == spm.SentencePieceProcessor(model_proto=data).vocab_size()
    assert (ours.spec.tokens[3], ours.spec.tokens[4]) == (b"<a>", b"<|im_end|>")
    theirs = auto_tokenizer(folder, least="5.24")  # adds the old name as one more token
    for text in TEXTS + SPACED:
        ids = theirs(text, add_special_tokens=False)["input_ids"]
        assert ours.encode(text, allowed_special="all") == ids


@pytest.mark.filterwarnings("ignore:.* of transformers 5")
@pytest.mark.parametrize("added", [{}, {"added_tokens": C19 | {"<|im_end|>": size()}}])
def test_llama(added: dict[str, Any], tmp_path: Path) -> None:
    """Version 5 leaves out the space in front where there is one; all agree on other texts."""
    pytest.importorskip("transformers")
    from bpe_compat.hf import BPECompatTokenizer

    special = {"eos_token": "<|im_end|>", "bos_token": {"content": "<s>", "normalized": True}}
    map_: dict[str, Any] = {"special_tokens_map": special} if added else {}
    folder = folder_of(tmp_path, model(), tokenizer_config=LLAMA, **added, **map_)
    theirs = auto_tokenizer(folder)
    texts = TEXTS if int(importlib.metadata.version("transformers")[0]) > 4 else TEXTS + SPACED
    compare(folder, theirs, texts)
    plugin = BPECompatTokenizer.from_pretrained(folder)
    for text in texts:
        assert plugin(text)["input_ids"] == theirs(text)["input_ids"]
    assert plugin("a", "b")["input_ids"] == theirs("a", "b")["input_ids"]
    assert (plugin.bos_token, plugin.eos_token) == (theirs.bos_token, theirs.eos_token)


def test_without_a_space_in_front(tmp_path: Path) -> None:
    config = LLAMA | {"add_prefix_space": False, "legacy": False}
    folder = folder_of(tmp_path / "llama", model(), tokenizer_config=config)
    compare(folder, auto_tokenizer(folder), TEXTS + SPACED)
    pieces = {"pad_id": 0, "eos_id": 1, "bos_id": 2, "unk_id": 3, "add_dummy_prefix": False}
    names = {"bos_piece": "<bos>", "eos_piece": "<eos>"}
    config = {"tokenizer_class": "GemmaTokenizer", "add_bos_token": True, "mask_token": "<mask>"}
    data = model(**pieces, **names, control_symbols="<mask>,<start_of_turn>")
    folder = folder_of(tmp_path / "gemma", data, tokenizer_config=config)
    compare(folder, auto_tokenizer(folder), [*TEXTS, *SPACED, "<start_of_turn>user\nhi<eos>"])


def test_added_tokens_that_repeat_those_of_the_model(tmp_path: Path) -> None:
    """C19: ids of the base are kept, and what is new is added behind them."""
    added = C19 | {"<|im_end|>": size()}
    folder = folder_of(tmp_path / "x", model(), added_tokens=added)
    (folder / "chat_template.jinja").write_text("{{ messages }}")
    assert bc.converters.detect(folder) == "sentencepiece"
    tok, alone = bc.load(folder), bc.load(folder / "tokenizer.model")
    assert {token.content: token.id for token in tok.spec.added_tokens} == added
    assert tok.spec.vocab_size == size() + 1
    assert tok.spec.tokens[:-1] == alone.spec.tokens
    assert tok.encode("the<|im_end|>cat", allowed_special="all") == [
        *alone.encode("the"), size(), *alone.encode("cat"),
    ]  # fmt: skip
    bc.convert(folder, tmp_path / "hf", to="huggingface")
    assert bc.load(tmp_path / "hf").spec == tok.spec
    assert (tmp_path / "hf" / "chat_template.jinja").read_text() == "{{ messages }}"
    roles = json.loads((tmp_path / "hf" / "tokenizer_config.json").read_text())
    assert (roles["bos_token"], roles["eos_token"], roles["unk_token"]) == ("<s>", "</s>", "<unk>")


def test_what_differs_in_transformers_5_is_a_warning(tmp_path: Path) -> None:
    config = {"tokenizer_class": "LlamaTokenizerFast"}
    folder = folder_of(tmp_path, model(), tokenizer_config=config)
    expected = "LlamaTokenizer of transformers 5 puts a space .* fewer texts, and adds no bos_token"
    with pytest.warns(UserWarning, match=expected):
        spec = bc.load(folder).spec
    assert spec.template
    assert [item.value for item in spec.template.pair] == [1, "A", 1, "B"]


@pytest.mark.parametrize(
    ("name", "files", "message"),
    [
        ("tokenizer.model", {"tokenizer_config": {"tokenizer_class": "CamembertTokenizer"}},
         "the class CamembertTokenizer may change the ids .* pass tokenizer.model itself"),
        ("tokenizer.model", {"config": {"tokenizer_class": "NllbTokenizerFast"}},
         "the class NllbTokenizer may change"),
        ("sentencepiece.bpe.model", {}, "classes .* that read sentencepiece.bpe.model change"),
        ("tokenizer.model", {"tekken": {}}, "pass the file that is meant"),
        ("tokenizer.model", {"tokenizer_config": LLAMA | {"legacy": False}}, "legacy=false"),
        ("tokenizer.model", {"tokenizer_config": {"legacy": False}}, "legacy=false"),
        ("tokenizer.model", {"tokenizer_config": {"added_tokens_decoder": {"9": {"content": "x"}}}},
         "takes the id 9 of a byte"),
    ],
)  # fmt: skip
def test_refusals(name: str, files: dict[str, Any], message: str, tmp_path: Path) -> None:
    folder = folder_of(tmp_path, model(), name, **files)
    with pytest.raises(UnsupportedError, match=message):
        bc.load(folder, format="sentencepiece")
    assert bc.load(folder / name).spec.vocab_size == size()


def test_models_that_are_refused(tmp_path: Path) -> None:
    unigram = model(model_type="unigram", vocab_size=300)
    with pytest.raises(UnsupportedError, match="Unigram model, which is not BPE"):
        bc.load(folder_of(tmp_path / "unigram", unigram, "spiece.model"))
    user = folder_of(tmp_path / "user", model(user_defined_symbols="[A]"), tokenizer_config=LLAMA)
    with pytest.raises(UnsupportedError, match=r"'\[A\]', .* in the class LlamaTokenizer are not"):
        bc.load(user)
    ranks = folder_of(tmp_path / "ranks", b"YQ== 0\nYg== 1\n")
    assert not reader.FORMAT.detect(ranks)
    with pytest.raises(FormatError, match=r"has no tokenizer\.model of SentencePiece"):
        bc.load(ranks, format="sentencepiece")
