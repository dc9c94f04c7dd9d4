"""Field cases that ask for a `PreTrainedTokenizer`, and folders as `AutoTokenizer` meets them."""

# mypy: disable-error-code="no-untyped-call"

import inspect
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import shared_data

import bpe_compat as bc

transformers = pytest.importorskip("transformers")
from transformers import AutoTokenizer, PreTrainedTokenizerFast  # noqa: E402

from bpe_compat.hf import BPECompatTokenizer  # noqa: E402

V4 = transformers.__version__.startswith("4.")


@pytest.fixture(scope="session")
def cases(shared: Path) -> dict[str, Any]:
    with (shared / "cases" / "cases.jsonl").open(encoding="utf-8") as lines:
        return {case["id"]: case for case in map(json.loads, lines)}


def plugin(name: str = "r50k_base", **arguments: Any) -> Any:
    return BPECompatTokenizer(tokenizer_object=bc.load(shared_data.rank_file(name)), **arguments)


def edited(folder: Path, **changes: Any) -> Path:
    """An export of r50k_base with changes to its tokenizer.json."""
    bc.load(shared_data.rank_file("r50k_base")).save(folder, plugin=True)
    path = folder / "tokenizer.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))
    return folder


# Field cases


def test_d11_spaces_between_special_tokens(cases: dict[str, Any]) -> None:
    given, expected = cases["D11"]["input"], cases["D11"]["expected"]
    tok = plugin()
    tok.add_tokens(given["special"], special_tokens=True)
    ids = tok(given["text"])["input_ids"]
    assert tok.decode(ids) == expected["decode"]
    assert tok.decode(ids, spaces_between_special_tokens=True) == expected["decode"]
    assert tok.decode(ids, skip_special_tokens=True) == expected["skip_special_tokens"]


def test_d12_a_file_without_a_decoder(cases: dict[str, Any], tmp_path: Path) -> None:
    case = cases["D12"]
    tok: Any = AutoTokenizer.from_pretrained(edited(tmp_path, decoder=None))
    assert type(tok) is BPECompatTokenizer
    assert tok.decode(tok(case["input"]["text"])["input_ids"]) == case["expected"]["wanted"]


def test_d15_an_id_that_is_no_token(cases: dict[str, Any]) -> None:
    with pytest.raises(KeyError, match="300000"):
        plugin().decode(cases["D15"]["input"]["ids"])


def test_o07_offsets_are_there(cases: dict[str, Any]) -> None:
    assert "return_offsets_mapping=True" in cases["O07"]["input"]["call"]
    encoded = plugin()("hi there", return_offsets_mapping=True)
    assert encoded["offset_mapping"] == [(0, 2), (2, 8)]
    assert encoded.word_ids() == [0, 1]


def test_o09_a_stride_too_long(cases: dict[str, Any]) -> None:
    assert "stride must be smaller" in cases["O09"]["expected"]["error"]
    options = {"truncation": True, "max_length": 3, "return_overflowing_tokens": True}
    with pytest.raises(ValueError, match="stride is 3, but must be smaller"):
        plugin()("one two three four", stride=3, **options)
    assert len(plugin()("one two three four", stride=2, **options)["input_ids"]) == 2


def test_s02_control_tokens_in_user_text(cases: dict[str, Any]) -> None:
    content = cases["S02"]["input"]["content"]
    tok = plugin()
    tok.add_special_tokens({"bos_token": "<s>"})
    assert tok.bos_token_id in tok(content)["input_ids"]
    for ids in (
        tok(content, split_special_tokens=True)["input_ids"],
        tok([content], split_special_tokens=True)["input_ids"][0],
        tok.encode(content, split_special_tokens=True),
    ):
        assert tok.bos_token_id not in ids
        assert tok.decode(ids) == content


def test_s10_no_second_bos_from_a_chat_template(cases: dict[str, Any], tmp_path: Path) -> None:
    assert "[bos, ...]" in cases["S10"]["expected"]["apply_chat_template(tokenize=True)"]
    end = 50256
    template = {
        "type": "TemplateProcessing",
        "single": [
            {"SpecialToken": {"id": "x", "type_id": 0}},
            {"Sequence": {"id": "A", "type_id": 0}},
        ],
        "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
        "special_tokens": {"x": {"id": "x", "ids": [end], "tokens": ["<|endoftext|>"]}},
    }
    tok: Any = AutoTokenizer.from_pretrained(edited(tmp_path, post_processor=template))
    tok.chat_template = "{{ bos_token }}{{ messages[0]['content'] }}"
    messages = [{"role": "user", "content": "hi"}]
    ids = tok.apply_chat_template(messages, return_dict=True)["input_ids"]
    assert ids == [end, *bc.load(tmp_path).encode("hi")]
    text = tok.apply_chat_template(messages, tokenize=False)
    assert tok(text, add_special_tokens=False)["input_ids"] == ids
    assert tok(text)["input_ids"] == [end, *ids]


def test_a02_a_length_without_end(cases: dict[str, Any]) -> None:
    tok = plugin()
    encoded = tok("hi", truncation=True, max_length=tok.model_max_length)
    assert encoded["input_ids"] == cases["A02"]["expected"]["input_ids"]


def test_a03_a04_signatures_and_order(cases: dict[str, Any]) -> None:
    """The vocabulary is there before transformers asks; overrides take what newer versions add."""
    assert "before" in cases["A03"]["symptom"]
    assert "**kwargs" in cases["A04"]["expected"]["rule"]
    assert plugin(eos_token="<e>").eos_token_id == 50257
    for name in ("_encode_plus", "_batch_encode_plus", "_decode", "tokenize"):
        kinds = {
            p.kind for p in inspect.signature(getattr(BPECompatTokenizer, name)).parameters.values()
        }
        assert inspect.Parameter.VAR_KEYWORD in kinds, name


def test_a05_saved_and_found_again(cases: dict[str, Any], tmp_path: Path) -> None:
    assert "AutoTokenizer" in cases["A05"]["input"]["steps"]
    plugin().save_pretrained(tmp_path)
    tok: Any = AutoTokenizer.from_pretrained(tmp_path)
    assert type(tok) is BPECompatTokenizer


def test_a06_a_prefix_space(cases: dict[str, Any], tmp_path: Path) -> None:
    case = cases["A06"]
    tok = AutoTokenizer.from_pretrained(edited(tmp_path), add_prefix_space=True)
    assert tok(case["input"]["text"])["input_ids"] == case["expected"]["wanted"]
    tok.save_pretrained(tmp_path)
    again = AutoTokenizer.from_pretrained(tmp_path)
    assert again(case["input"]["text"])["input_ids"] == case["expected"]["wanted"]


def test_m01_m03_fingerprints(cases: dict[str, Any]) -> None:
    fingerprint = pytest.importorskip("datasets.fingerprint")
    assert cases["M01"]["expected"]["h0==h1"] is True
    assert cases["M03"]["expected"]["hashes"] == "different"
    corpus = ["the cat and the hat"] * 3
    hashes = [
        fingerprint.Hasher.hash(BPECompatTokenizer(tokenizer_object=bc.train(corpus, size)))
        for size in (260, 261, 260)
    ]
    assert hashes[0] == hashes[2] != hashes[1]


def test_m06_batches_that_are_too_large(cases: dict[str, Any], monkeypatch: Any) -> None:
    pa = pytest.importorskip("pyarrow")
    assert "bounded batches" in cases["M06"]["expected"]["rule"]
    from bpe_compat import arrow

    monkeypatch.setattr(arrow, "MOST_IDS", 3)
    mapper = plugin().map_arrow()
    assert mapper(pa.table({"text": ["one two three"]})).num_rows == 1
    with pytest.raises(ValueError, match="use a smaller batch_size"):
        mapper(pa.table({"text": ["one two three", "four"]}))


# Folders


@pytest.mark.parametrize("model_type", [None, "gpt2", "llama", "qwen3", "gemma", "roberta"])
@pytest.mark.parametrize("kind", ["stock", "plugin"])
def test_folders_beside_a_config(kind: str, model_type: str | None, tmp_path: Path) -> None:
    """Whatever class AutoTokenizer chooses, the ids are those of the tokenizer.json."""
    tok = bc.train(["2023 hello it's the year 650841823\n\nhello"] * 3, 300, pattern="cl100k")
    tok.save(tmp_path, plugin=kind == "plugin")
    if model_type:
        (tmp_path / "config.json").write_text(json.dumps({"model_type": model_type}))
    auto: Any = AutoTokenizer.from_pretrained(tmp_path)
    texts = ["2023", "650841823", "\n\nhello", "a\n  b", "<|endoftext|>x"]
    assert auto(texts)["input_ids"] == [tok.encode(t, allowed_special="all") for t in texts]
    if kind == "plugin" and not model_type:
        assert type(auto) is BPECompatTokenizer
    if kind == "stock":
        assert isinstance(auto, PreTrainedTokenizerFast)
    direct = BPECompatTokenizer.from_pretrained(tmp_path)
    assert direct(texts)["input_ids"] == auto(texts)["input_ids"]


@pytest.mark.usefixtures("shared")
def test_every_format(tmp_path: Path) -> None:
    tok = bc.load(shared_data.rank_file("r50k_base"))
    text = "The naïve café<|endoftext|> 2026"
    for place, format in (("a", "gpt2"), ("b", "huggingface"), ("c.tiktoken", "tiktoken")):
        tok.save(tmp_path / place, format=format)
        loaded = BPECompatTokenizer.from_pretrained(tmp_path / place)
        assert loaded(text)["input_ids"] == tok.encode(text, allowed_special="all")
        assert loaded.name_or_path == str(tmp_path / place)
        assert loaded.eos_token == "<|endoftext|>"
    copied = shutil.copy(tmp_path / "b" / "tokenizer.json", tmp_path / "mine.json")
    assert BPECompatTokenizer.from_pretrained(copied)(text) == loaded(text)
    below = BPECompatTokenizer.from_pretrained(tmp_path, subfolder="a")
    assert below(text) == loaded(text)


def test_what_is_not_bpe_is_refused(tmp_path: Path) -> None:
    (tmp_path / "tokenizer_config.json").write_text("{}")
    model = {"type": "WordPiece", "vocab": {"a": 0}, "unk_token": "a"}
    (tmp_path / "tokenizer.json").write_text(json.dumps({"added_tokens": [], "model": model}))
    with pytest.raises(bc.errors.UnsupportedError, match="WordPiece"):
        BPECompatTokenizer.from_pretrained(tmp_path)
    (tmp_path / "tokenizer.json").unlink()
    with pytest.raises(bc.errors.BPECompatError):
        BPECompatTokenizer.from_pretrained(tmp_path)
    with pytest.raises((OSError, ValueError)):
        BPECompatTokenizer.from_pretrained(tmp_path / "nothing")
