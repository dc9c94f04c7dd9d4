"""The plug-in in models of transformers: collators, training, generation, pipelines, chats."""

# mypy: disable-error-code="no-untyped-call"

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import shared_data

import bpe_compat as bc

transformers = pytest.importorskip("transformers")
from transformers import AutoTokenizer, PreTrainedTokenizerFast  # noqa: E402

from bpe_compat.hf import BPECompatTokenizer  # noqa: E402

STORIES = [
    "Once upon a time, there was a little fox. The fox liked the other foxes.",
    "One day the fox saw a hat. It was a big hat, and the fox said: I like this hat!",
    "The end.",
] * 8
SPECIAL = ["<|endoftext|>", "<pad>", "<s>"]


@pytest.fixture
def pair(tmp_path: Path) -> tuple[Any, Any]:
    """Ours and theirs from one folder."""
    bc.train(STORIES, 320, special_tokens=SPECIAL).save(tmp_path / "folder")
    names: dict[str, Any] = {"pad_token": "<pad>", "eos_token": "<|endoftext|>", "bos_token": "<s>"}
    ours = BPECompatTokenizer.from_pretrained(tmp_path / "folder", **names)
    return ours, PreTrainedTokenizerFast.from_pretrained(tmp_path / "folder", **names)


# Chats


TEMPLATE = (
    "{% for m in messages %}{% if m['role'] == 'assistant' %}"
    "{% generation %}<s>{{ m['content'] }}<|endoftext|>{% endgeneration %}"
    "{% else %}{{ m['role'] }}: {{ m['content'] }}\n{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}<s>{% endif %}"
)
CHAT = [
    {"role": "user", "content": "the <s>fox"},
    {"role": "assistant", "content": "a naïve 中文 hat"},
    {"role": "user", "content": "x"},
    {"role": "assistant", "content": "and"},
]
CHATS: list[dict[str, Any]] = [
    {"conversation": CHAT},
    {"conversation": CHAT, "tokenize": False},
    {"conversation": CHAT[:3], "add_generation_prompt": True},
    {"conversation": CHAT, "continue_final_message": True},
    {"conversation": CHAT, "return_dict": True, "return_assistant_tokens_mask": True},
    {"conversation": [CHAT, CHAT[:2]], "return_dict": True, "padding": True,
     "return_assistant_tokens_mask": True},
    {"conversation": CHAT, "return_dict": True, "return_assistant_tokens_mask": True,
     "truncation": True, "max_length": 12},
    {"conversation": [CHAT, CHAT[:2]], "padding": True, "return_tensors": "np"},
]  # fmt: skip


@pytest.mark.parametrize("options", CHATS)
def test_chat_templates(pair: tuple[Any, Any], options: dict[str, Any]) -> None:
    pytest.importorskip("jinja2")
    results = []
    for tok in pair:
        tok.chat_template = TEMPLATE
        result = tok.apply_chat_template(**options)
        if hasattr(result, "items"):
            result = {k: getattr(v, "tolist", lambda v=v: v)() for k, v in result.items()}
        results.append(getattr(result, "tolist", lambda r=result: r)())
    assert results[0] == results[1]


def test_chats_with_control_tokens_as_text(pair: tuple[Any, Any]) -> None:
    if not hasattr(PreTrainedTokenizerFast, "_mark_chat_inputs"):
        pytest.skip("this version of transformers has no sanitize_control_tokens")
    for tok in pair:
        tok.chat_template = TEMPLATE
    for chat in (CHAT, [CHAT, CHAT[:1]]):
        ids = [
            dict(tok.apply_chat_template(chat, sanitize_control_tokens=True, padding=chat != CHAT))
            for tok in pair
        ]
        assert ids[0] == ids[1]


def test_chats_with_other_added_tokens_as_text(pair: tuple[Any, Any]) -> None:
    """Tokens that the template has, though they are not special, are text in messages."""
    if not hasattr(PreTrainedTokenizerFast, "_mark_chat_inputs"):
        pytest.skip("this version of transformers has no sanitize_control_tokens")
    results = []
    for tok in pair:
        tok.add_tokens(["<tool>"])
        tok.chat_template = "<tool>{{ messages[0]['content'] }}"
        chat = [{"role": "user", "content": "a <tool> and <s>"}]
        ids = tok.apply_chat_template(chat, sanitize_control_tokens=True, return_dict=True)
        results.append(ids["input_ids"])
        assert results[-1].count(tok.convert_tokens_to_ids("<tool>")) == 1
        assert tok.decode(results[-1]) == "<tool>a <tool> and <s>"
    assert results[0] == results[1]


def test_templates_are_saved(pair: tuple[Any, Any], tmp_path: Path) -> None:
    pair[0].chat_template = TEMPLATE
    pair[0].save_pretrained(tmp_path / "saved")
    assert AutoTokenizer.from_pretrained(tmp_path / "saved").chat_template == TEMPLATE


# Models


def model(tok: Any, kind: str = "GPT2LMHeadModel", **more: Any) -> Any:
    torch = pytest.importorskip("torch")
    torch.manual_seed(1)
    config = transformers.GPT2Config(
        vocab_size=len(tok), n_positions=64, n_embd=32, n_layer=2, n_head=2,
        bos_token_id=tok.bos_token_id, eos_token_id=tok.eos_token_id,
        pad_token_id=tok.pad_token_id, **more,
    )  # fmt: skip
    return getattr(transformers, kind)(config)


def test_collators(pair: tuple[Any, Any]) -> None:
    torch = pytest.importorskip("torch")
    batches = []
    for tok in pair:
        collate = transformers.DataCollatorForLanguageModeling(tok, mlm=False, pad_to_multiple_of=8)
        batches.append(collate([tok(text) for text in STORIES[:3]]))
    assert batches[0].keys() == batches[1].keys()
    assert all(torch.equal(batches[0][key], batches[1][key]) for key in batches[0])
    pair[0].mask_token = "<s>"
    masked = transformers.DataCollatorForLanguageModeling(pair[0], mlm_probability=0.3)
    assert masked([pair[0](text) for text in STORIES[:3]])["input_ids"].shape[0] == 3
    padded = transformers.DataCollatorWithPadding(pair[0])([pair[0](text) for text in STORIES[:3]])
    assert padded["attention_mask"].sum() == sum(
        len(ids) for ids in pair[0](STORIES[:3])["input_ids"]
    )


def test_train_save_load_generate(pair: tuple[Any, Any], tmp_path: Path) -> None:
    """The loss falls, and what is loaded again through AutoTokenizer generates the same."""
    torch = pytest.importorskip("torch")
    tok = pair[0]
    gpt = model(tok)
    blocks = torch.from_numpy(tok.pack(STORIES, 32)).long()
    optimizer = torch.optim.AdamW(gpt.parameters(), lr=3e-3)
    losses = []
    for _ in range(12):
        loss = gpt(input_ids=blocks, labels=blocks).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
    assert losses[-1] < 0.8 * losses[0]

    folder = tmp_path / "model"
    gpt.save_pretrained(folder)
    tok.save_pretrained(folder)
    again = transformers.GPT2LMHeadModel.from_pretrained(folder)
    direct = BPECompatTokenizer.from_pretrained(folder)
    options = {"max_new_tokens": 12, "do_sample": False}
    texts: list[Any] = []
    for reader, lm in ((tok, gpt), (AutoTokenizer.from_pretrained(folder), again), (direct, again)):
        prompt = reader("Once upon", return_tensors="pt")
        texts.append(reader.decode(lm.eval().generate(**prompt, **options)[0]))
    assert texts[0] == texts[1] == texts[2]
    assert texts[0].startswith("Once upon")


def test_trainer(pair: tuple[Any, Any], tmp_path: Path) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("accelerate")
    datasets = pytest.importorskip("datasets")
    tok = pair[0]
    data = datasets.Dataset.from_dict({"text": STORIES})
    data = data.map(lambda b: tok(b["text"]), batched=True, remove_columns=["text"])
    arguments = transformers.TrainingArguments(
        str(tmp_path), max_steps=2, per_device_train_batch_size=4, report_to=[], use_cpu=True,
        disable_tqdm=True, save_strategy="no", logging_strategy="no",
    )  # fmt: skip
    trainer = transformers.Trainer(
        model(tok), arguments, train_dataset=data, processing_class=tok,
        data_collator=transformers.DataCollatorForLanguageModeling(tok, mlm=False),
    )  # fmt: skip
    assert trainer.train().global_step == 2
    trainer.save_model(str(tmp_path / "out"))
    assert BPECompatTokenizer.from_pretrained(tmp_path / "out")(STORIES) == tok(STORIES)


def test_strings_that_stop_generation(pair: tuple[Any, Any]) -> None:
    pytest.importorskip("torch")
    made = []
    for tok in pair:
        prompt = tok("The fox", return_tensors="pt")
        gpt = model(tok).eval()
        free = tok.decode(gpt.generate(**prompt, max_new_tokens=20, do_sample=False)[0])
        ids = gpt.generate(
            **prompt, max_new_tokens=20, do_sample=False, tokenizer=tok, stop_strings=[free[12:14]]
        )
        made.append((free, ids.tolist()))
    assert made[0] == made[1]
    assert pair[0].backend_tokenizer.encode("The fox").ids == pair[0]("The fox")["input_ids"]


@pytest.mark.usefixtures("shared")
def test_the_example_on_tiny_stories(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("accelerate")
    pytest.importorskip("datasets")
    corpus = tmp_path / "stories.txt"
    with shared_data.unpacked("text/tinystories.txt").open(encoding="utf-8") as text:
        corpus.write_text(text.read(200_000), encoding="utf-8")
    script = Path(__file__).parent.parent / "scripts" / "tiny_gpt2.py"
    options = ["--corpus", corpus, "--output", tmp_path / "model", "--steps", 12]
    done = subprocess.run(
        [sys.executable, str(script), *map(str, options), "--vocab-size", "400"],
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    shown = re.search(
        r"loss (\S+) -> (\S+) in 12 steps\nOnce upon a time.+", done.stdout, re.DOTALL
    )
    assert shown is not None, done.stdout
    assert float(shown[2]) < 0.9 * float(shown[1])
    again: Any = AutoTokenizer.from_pretrained(tmp_path / "model")
    assert type(again) is BPECompatTokenizer


def test_pipelines(pair: tuple[Any, Any]) -> None:
    pytest.importorskip("torch")
    prompt, text = "The fox", "The naïve fox saw a hat."
    made = []
    for tok in pair:
        generate = transformers.pipeline("text-generation", model=model(tok).eval(), tokenizer=tok)
        words = transformers.pipeline(
            "token-classification", model=model(tok, "GPT2ForTokenClassification").eval(),
            tokenizer=tok, aggregation_strategy="first",
        )  # fmt: skip
        made.append((generate(prompt, max_new_tokens=5, do_sample=False), words(text)))
    assert made[0][0] == made[1][0]
    assert [dict(group, score=0) for group in made[0][1]] == [dict(g, score=0) for g in made[1][1]]


def test_labels_of_words_for_their_tokens(pair: tuple[Any, Any]) -> None:
    """The alignment of the token-classification guide: a word's label for its first token."""
    words, labels = ["The", "fox's", "naïve", "hat"], [0, 1, 2, 3]
    aligned = []
    for tok in pair:
        encoded = tok(words, is_split_into_words=True)
        last, row = None, []
        for word in encoded.word_ids():
            row.append(-100 if word is None or word == last else labels[word])
            last = word
        aligned.append(row)
    assert aligned[0] == aligned[1]
    assert [label for label in aligned[0] if label >= 0] == labels
