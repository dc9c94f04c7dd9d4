"""A tiny GPT-2 that learns to tell stories: tokenizer, columns, collator, Trainer, AutoTokenizer.

python scripts/tiny_gpt2.py                              made-up stories, works offline
python scripts/tiny_gpt2.py --corpus tinystories.txt     stories between <|endoftext|>

Needs torch and accelerate.
"""

import argparse
import os
from pathlib import Path
from typing import Any

os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")

import datasets
import transformers
from stories import stories

import bpe_compat as bc
from bpe_compat.hf import BPECompatTokenizer

END, PAD = "<|endoftext|>", "<|pad|>"
BLOCK = 64


def trained(texts: list[str], folder: Path, *, vocab_size: int, steps: int) -> list[float]:
    """Saves a model and its tokenizer; returns the losses."""
    tok: Any = BPECompatTokenizer(
        tokenizer_object=bc.train(texts, vocab_size, special_tokens=[END, PAD]),
        bos_token=END,
        eos_token=END,
        pad_token=PAD,
        model_max_length=BLOCK,
    )
    data = datasets.Dataset.from_dict({"text": texts}).with_format("arrow")
    blocks = data.map(tok.map_arrow(block_size=BLOCK), batched=True, remove_columns=["text"])
    model = transformers.GPT2LMHeadModel(
        transformers.GPT2Config(
            vocab_size=len(tok),
            n_positions=BLOCK,
            n_embd=64,
            n_layer=2,
            n_head=2,
            bos_token_id=tok.bos_token_id,
            eos_token_id=tok.eos_token_id,
            pad_token_id=tok.pad_token_id,
        )
    )
    trainer = transformers.Trainer(
        model,
        transformers.TrainingArguments(
            str(folder),
            max_steps=steps,
            per_device_train_batch_size=16,
            learning_rate=5e-3,
            logging_steps=1,
            save_strategy="no",
            report_to=[],
            use_cpu=True,
            disable_tqdm=True,
            seed=1,
        ),
        train_dataset=blocks.with_format("torch"),
        processing_class=tok,
        data_collator=transformers.DataCollatorForLanguageModeling(tok, mlm=False),
    )
    trainer.train()
    trainer.save_model()
    return [row["loss"] for row in trainer.state.log_history if "loss" in row]


def told(folder: Path, prompt: str) -> str:
    """What the saved model makes of a prompt."""
    tell = transformers.pipeline(
        "text-generation",
        model=transformers.AutoModelForCausalLM.from_pretrained(folder),
        tokenizer=transformers.AutoTokenizer.from_pretrained(folder),
    )
    text: str = tell(prompt, max_new_tokens=BLOCK // 2, do_sample=False)[0]["generated_text"]
    return text


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--corpus", type=Path)
    parser.add_argument("--output", type=Path, default=Path("tiny-gpt2"))
    parser.add_argument("--vocab-size", type=int, default=1024)
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--prompt", default="Once upon a time")
    options = parser.parse_args()
    if options.corpus is None:
        texts = list(stories(2000))
    else:
        parts = options.corpus.read_text(encoding="utf-8").split(END)
        texts = [story for part in parts if (story := part.strip())]
    losses = trained(texts, options.output, vocab_size=options.vocab_size, steps=options.steps)
    print(f"loss {losses[0]:.2f} -> {losses[-1]:.2f} in {len(losses)} steps")
    print(told(options.output, options.prompt))


if __name__ == "__main__":
    main()
