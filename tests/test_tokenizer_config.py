"""tokenizer_config.json and the older files beside it: the tokens that AutoTokenizer finds."""

import json
from pathlib import Path
from typing import Any

import pytest

import bpe_compat as bc

transformers = pytest.importorskip("transformers")

TEXT = ["the cat and the hat, it's 2026! naïve café 中文中文"] * 3
TEXTS = ["<|endoftext|>the <a> cat<b> <c>  <new>x", "<d> <e><a><|endoftext|>", "the"]


def token(content: str, **flags: bool) -> dict[str, Any]:
    names = ("lstrip", "rstrip", "normalized", "single_word")
    return {"content": content, **dict.fromkeys(names, False), "special": True, **flags}


def role(content: str, **flags: bool) -> dict[str, Any]:
    return {"__type": "AddedToken", **token(content, **flags)}


CONFIGS: dict[str, dict[str, Any]] = {
    "nothing": {},
    "roles": {"bos_token": "<a>", "eos_token": "<|endoftext|>", "pad_token": "<b>"},
    "roles that are objects": {"bos_token": role("<a>", lstrip=True), "pad_token": role("<b>")},
    "roles in another order": {"mask_token": "<c>", "unk_token": "<b>", "bos_token": "<a>"},
    "a role twice": {"bos_token": "<a>", "eos_token": "<a>"},
    "a role that is null": {"bos_token": None, "eos_token": "<a>"},
    "more special tokens": {"additional_special_tokens": ["<a>", "<b>"], "eos_token": "<c>"},
    "listed": {"added_tokens_decoder": {"290": token("<|endoftext|>"), "291": token("<a>")}},
    "listed out of order": {
        "added_tokens_decoder": {"292": token("<b>"), "291": token("<a>"), "300": token("<c>")}
    },
    "listed with flags": {
        "added_tokens_decoder": {
            "291": token("<a>", special=False, rstrip=True),
            "292": token("<new>", special=False, normalized=True),
        },
        "pad_token": "<d>",
    },
    "flags that replace those of tokenizer.json": {
        "added_tokens_decoder": {"290": token("<|endoftext|>", rstrip=True)}
    },
}


def folder_of(tmp_path: Path, config: dict[str, Any], **others: Any) -> Path:
    bc.train(TEXT, 291).save(tmp_path)
    (tmp_path / "tokenizer_config.json").write_text(
        json.dumps({"tokenizer_class": "PreTrainedTokenizerFast"} | config)
    )
    for name, content in others.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(content))
    return tmp_path


def same_as_auto_tokenizer(folder: Path) -> bc.Tokenizer:
    ours, theirs = bc.load(folder), transformers.AutoTokenizer.from_pretrained(folder)
    expected = {t.content: id for id, t in theirs.added_tokens_decoder.items()}
    assert {t.content: t.id for t in ours.spec.added_tokens} == expected
    for text in TEXTS:
        ids = theirs(text, add_special_tokens=False)["input_ids"]
        assert ours.encode(text, allowed_special="all") == ids
        assert ours.decode(ids) == theirs.decode(ids, clean_up_tokenization_spaces=False)
    # transformers 5 calls `<c>` special and keeps the flag of the list, which says that it is not.
    special = {t.content for t in theirs.added_tokens_decoder.values() if t.special}
    assert ours.special_tokens_set == special | set(theirs.all_special_tokens)
    return ours


@pytest.mark.filterwarnings("ignore:.*as AutoTokenizer reads it")
@pytest.mark.parametrize("name", CONFIGS)
def test_the_tokens_of_a_config(name: str, tmp_path: Path) -> None:
    tok = same_as_auto_tokenizer(folder_of(tmp_path / "x", CONFIGS[name]))
    tok.save(tmp_path / "again")
    again = same_as_auto_tokenizer(tmp_path / "again")
    assert again.spec == tok.spec


@pytest.mark.filterwarnings("ignore:.*as AutoTokenizer reads it")
@pytest.mark.parametrize(
    "others",
    [
        {"added_tokens": {"<a>": 291, "<b>": 292}},
        {"added_tokens": {"<b>": 292, "<a>": 291}},
        {"special_tokens_map": {"bos_token": "<a>", "pad_token": "<b>"}},
        {
            "added_tokens": {"<c>": 291},
            "special_tokens_map": {
                "eos_token": token("<a>"),
                "additional_special_tokens": ["<b>", "<c>"],
            },
        },
    ],
)
def test_the_tokens_of_older_files(others: dict[str, Any], tmp_path: Path) -> None:
    same_as_auto_tokenizer(folder_of(tmp_path, {}, **others))


def test_an_id_that_auto_tokenizer_does_not_keep_is_a_warning(tmp_path: Path) -> None:
    config = {"added_tokens_decoder": {"400": token("<a>")}}
    with pytest.warns(UserWarning, match="'<a>' has the id 291, as AutoTokenizer reads it"):
        bc.load(folder_of(tmp_path, config))


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"added_tokens_decoder": {"x": token("<a>")}}, "the key 'x' is no id"),
        ({"added_tokens_decoder": {"9" * 30: token("<a>")}}, "the key '9+' is no id"),
        ({"added_tokens_decoder": {"-1": token("<a>")}}, "the key '-1' is no id"),
        ({"added_tokens_decoder": [token("<a>")]}, "must be an object, not a list"),
        ({"added_tokens_decoder": {"291": "<a>"}}, "must be an object, not a string"),
        ({"additional_special_tokens": [5]}, r"additional_special_tokens\[0\] must be a string"),
        ({"bos_token": 5}, "bos_token must be a string or an object, not 5"),
        ({"bos_token": "\ud800"}, "bos_token: .* is no text"),
    ],
)
def test_bad_configs_are_named(config: dict[str, Any], message: str, tmp_path: Path) -> None:
    expected = f"tokenizer_config.json.*{message}"
    with pytest.raises(bc.errors.FormatError, match=expected):
        bc.load(folder_of(tmp_path, config))


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("chat_template.jinja", b"{{ \xff }}", "byte 3 is not UTF-8"),
        ("tokenizer_config.json", b'{"a": "\xff"}', "byte 7 is not UTF-8"),
        ("special_tokens_map.json", b"\xff", "byte 0 is not UTF-8"),
        ("added_tokens.json", b"[]", "must be an object, not a list"),
        ("added_tokens.json", b'{"<a>": "x"}', "the key 'x' is no id"),
    ],
)
def test_bad_files_are_named(name: str, data: bytes, message: str, tmp_path: Path) -> None:
    folder = folder_of(tmp_path, {})
    (folder / name).write_bytes(data)
    expected = "added_tokens_decoder" if "no id" in message else name
    with pytest.raises(bc.errors.FormatError, match=f"{expected}: {message}"):
        bc.load(folder)


def test_a_chat_template_is_carried_along(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "x", {})
    (folder / "chat_template.jinja").write_text("{{ messages }} 中", encoding="utf-8")
    bc.load(folder).save(tmp_path / "again")
    written = (tmp_path / "again" / "chat_template.jinja").read_text(encoding="utf-8")
    assert written == "{{ messages }} 中"


def test_a_space_in_front_on_which_the_files_disagree(tmp_path: Path) -> None:
    tok = bc.train(["the cat"], 257, special_tokens=())
    tok.save(tmp_path)
    path = tmp_path / "tokenizer_config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "add_prefix_space": True}))
    with pytest.warns(UserWarning, match="add_prefix_space is True in tokenizer_config.json and"):
        assert bc.load(tmp_path).spec == tok.spec
