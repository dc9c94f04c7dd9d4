"""`train_new_from_iterator` beside that of `PreTrainedTokenizerFast`."""

# mypy: disable-error-code="no-untyped-call"

import json
from pathlib import Path
from typing import Any

import pytest

import bpe_compat as bc
from bpe_compat.errors import UnsupportedError

pytest.importorskip("transformers")
from transformers import AddedToken, PreTrainedTokenizerFast

from bpe_compat.hf import BPECompatTokenizer

OLD = ["the cat and the hat, it's 2026! naïve café 中文中文 def f(x): return 'x'"] * 3
NEW = [
    "A Dog saw the other dogs; the dogs' café was Naïve.",
    "",
    " two  spaces 中文",
    "dogs, cafe\u0301",
] * 4
TEXTS = [*NEW[:4], "x <s>the dogs</s><|endoftext|>", "unseen ŵords 😀"]
SPECIAL = ["<|endoftext|>", "<s>", "<pad>"]
NAMES = {"bos_token": "<s>", "eos_token": "<|endoftext|>", "pad_token": "<pad>"}
ROBERTA = {"type": "RobertaProcessing", "sep": ["<|endoftext|>", 0], "cls": ["<s>", 0],
           "trim_offsets": True, "add_prefix_space": False}  # fmt: skip
BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True}
LOWER = {"type": "Sequence", "normalizers": [{"type": "NFC"}, {"type": "Lowercase"}]}
SECTIONS: list[dict[str, Any]] = [
    {},
    {"post_processor": ROBERTA},
    {"normalizer": LOWER},
    {"pre_tokenizer": BYTE_LEVEL},
]


def both(folder: Path, sections: dict[str, Any], **train: Any) -> tuple[Any, Any]:
    """Ours and theirs from one folder."""
    tok = bc.train(OLD, 300, special_tokens=SPECIAL, **train)
    tok.save(folder)
    path = folder / "tokenizer.json"
    tree = json.loads(path.read_text()) | sections
    if "cls" in (tree["post_processor"] or {}):
        ids = tok.spec.special_tokens
        tree["post_processor"] |= {
            name: [token, ids[token]] for name, token in (("sep", "<|endoftext|>"), ("cls", "<s>"))
        }
    path.write_text(json.dumps(tree))
    prefix = {"add_prefix_space": True} if "pre_tokenizer" in sections else {}
    kinds: list[Any] = [BPECompatTokenizer, PreTrainedTokenizerFast]
    pair = [kind.from_pretrained(folder, **NAMES, **prefix) for kind in kinds]
    for made in pair:
        made.add_tokens(["not special"])
        made.chat_template = "{{ messages }}"
    return pair[0], pair[1]


def assert_same(ours: Any, theirs: Any) -> None:
    assert ours.get_vocab() == theirs.get_vocab()
    assert dict(ours(TEXTS)) == dict(theirs(TEXTS))
    assert ours("the dogs", "cats")["input_ids"] == theirs("the dogs", "cats")["input_ids"]
    assert ours.all_special_tokens == theirs.all_special_tokens
    for name in NAMES:
        assert str(getattr(ours, name)) == str(getattr(theirs, name))
    flags = [{i: repr(t) for i, t in k.added_tokens_decoder.items()} for k in (ours, theirs)]
    assert flags[0] == flags[1]


@pytest.mark.parametrize("sections", SECTIONS, ids=str)
@pytest.mark.parametrize("batched", [False, True])
def test_the_vocabulary_of_the_fast_class(
    sections: dict[str, Any], batched: bool, tmp_path: Path
) -> None:
    ours, theirs = both(tmp_path, sections)
    texts = [NEW[:5], NEW[5:]] if batched else NEW
    made = [tok.train_new_from_iterator(iter(texts), 320) for tok in (ours, theirs)]
    assert_same(*made)
    assert type(made[0]) is BPECompatTokenizer
    assert made[0].chat_template == ours.chat_template
    assert "not special" not in made[0].get_vocab()
    made[0].save_pretrained(tmp_path / "saved")
    assert_same(BPECompatTokenizer.from_pretrained(tmp_path / "saved"), made[1])


@pytest.mark.parametrize("sections", SECTIONS[:2], ids=str)
def test_new_special_tokens(sections: dict[str, Any], tmp_path: Path) -> None:
    options = {
        "new_special_tokens": ["<new>", AddedToken("<strip>", lstrip=True)],
        "min_frequency": 2,
    }
    made = [t.train_new_from_iterator(NEW, 320, **options) for t in both(tmp_path, sections)]
    assert made[0].convert_ids_to_tokens([0, 1, 2, 3]) == [*SPECIAL, "<new>"]
    assert_same(*made)
    text = "x  <strip><new>y<s>"
    assert dict(made[0](text)) == dict(made[1](text))


def test_old_names_are_gone(tmp_path: Path) -> None:
    """The fast class adds those in `extra_special_tokens` again, behind the vocabulary."""
    names = {"<s>": "<start>", "<pad>": "<fill>"}
    ours, theirs = (
        tok.train_new_from_iterator(NEW, 320, special_tokens_map=names)
        for tok in both(tmp_path, {"post_processor": ROBERTA})
    )
    vocab = theirs.get_vocab()
    assert ours.get_vocab() == {token: id for token, id in vocab.items() if token not in names}
    assert (ours.bos_token, ours.pad_token) == ("<start>", "<fill>")
    assert ours("the dogs", "cats")["input_ids"] == theirs("the dogs", "cats")["input_ids"]


def test_a_size_below_the_bytes(tmp_path: Path) -> None:
    made = [tok.train_new_from_iterator(NEW, 100) for tok in both(tmp_path, {})]
    assert len(made[0]) == 259
    assert_same(*made)


def test_characters(tmp_path: Path) -> None:
    """The fast class gives its symbols other ids each time, and so breaks ties at random."""
    options = {"alphabet": "characters", "end_of_word_suffix": "</w>", "unknown_token": "<unk>"}
    tok = both(tmp_path, {}, **options)[0].train_new_from_iterator(NEW, 80)
    assert tok.tokenize("the dogs") == ["t", "he</w>", " dogs</w>"]
    assert tok.convert_ids_to_tokens([0, 1, 2, 3]) == ["<unk>", *SPECIAL]


def test_what_cannot_be_learned() -> None:
    from dataclasses import replace

    spec = bc.train(OLD, 120, alphabet="characters", unknown_token="<unk>").spec
    fallback = bc.Tokenizer(replace(spec, byte_fallback=True))
    with pytest.raises(UnsupportedError, match="byte fallback"):
        BPECompatTokenizer(tokenizer_object=fallback).train_new_from_iterator(NEW, 300)
