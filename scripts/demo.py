"""From text to a trained tokenizer in three formats, loaded by three libraries, with the same ids.

python scripts/demo.py                                    made-up stories, works offline
python scripts/demo.py --corpus tinystories.txt           stories between <|endoftext|>
python scripts/demo.py --dataset roneneldan/TinyStories   from the Hub
"""

import argparse
import itertools
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path

os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")

import datasets
import tiktoken
import tokenizers
import transformers
from stories import stories

import bpe_compat as bc
import bpe_compat.hf

END = "<|endoftext|>"
SHARED = Path(__file__).resolve().parent.parent.parent / "shared" / "data"


def documents(options: argparse.Namespace) -> list[str]:
    """The corpus as a list of stories."""
    if options.dataset:
        rows = datasets.load_dataset(options.dataset, split="train", streaming=True)
        return [row["text"] for row in itertools.islice(rows, options.stories)]
    if options.corpus:
        text = options.corpus.read_text(encoding="utf-8")
        return [story for part in text.split(END) if (story := part.strip("\n"))]
    return list(stories(options.stories))


def shown(token: bytes) -> str:
    return token.decode("utf-8", "backslashreplace").replace(" ", "␣").replace("\n", "⏎")


def show_merges(tok: bc.Tokenizer) -> None:
    tokens, merges = tok.spec.tokens, tok.spec.merges
    made = [f"{shown(tokens[a])}+{shown(tokens[b])}" for a, b in merges]
    print("  first merges ", "  ".join(made[:10]))
    print("  last merges  ", "  ".join(made[-6:]))


def show_sizes(tok: bc.Tokenizer, texts: Sequence[str]) -> None:
    """Bytes and characters per token, beside GPT-2's vocabulary where its ranks are at hand."""
    peers = {"this tokenizer": tok}
    ranks = SHARED / "tokenizers" / "openai_tiktoken" / "r50k_base.tiktoken.gz"
    if ranks.is_file():
        import gzip
        import tempfile

        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "r50k_base.tiktoken"
            path.write_bytes(gzip.decompress(ranks.read_bytes()))
            peers["r50k_base"] = bc.load(path)
    size, length = sum(len(text.encode()) for text in texts), sum(map(len, texts))
    for name, peer in peers.items():
        count = len(peer.encode_arrays(texts).ids)
        print(
            f"  {name:<15} {peer.n_vocab:>6} ids  {size / count:5.2f} bytes and "
            f"{length / count:5.2f} characters per token"
        )


def check(name: str, ours: list[list[int]], theirs: list[list[int]]) -> None:
    """Reports that all ids agree, or ends the demo."""
    if ours != theirs:
        number = next(i for i, (a, b) in enumerate(zip(ours, theirs, strict=True)) if a != b)
        sys.exit(
            f"{name}: other ids for story {number}: {theirs[number]} instead of {ours[number]}"
        )
    print(f"  {name:<44} {sum(map(len, theirs)):>8} ids, all the same")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--corpus", type=Path, help="a text file")
    parser.add_argument("--dataset", help="a dataset of the Hub with a column text")
    parser.add_argument("--stories", type=int, default=12_000, help="how many (default: 12000)")
    parser.add_argument("--vocab-size", type=int, default=4096)
    parser.add_argument("--output", type=Path, default=Path("demo-output"))
    options = parser.parse_args()
    datasets.disable_progress_bars()

    texts = documents(options)
    size = sum(len(text.encode()) for text in texts)
    print(f"Training {options.vocab_size} tokens on {len(texts)} stories, {size / 1e6:.1f} MB")
    started = time.perf_counter()
    tok = bc.train(texts, options.vocab_size, special_tokens=[END])
    print(f"  {len(tok.spec.merges)} merges in {time.perf_counter() - started:.2f} s")
    show_merges(tok)
    show_sizes(tok, texts)

    out = options.output
    print(f"Writing {out}/huggingface, {out}/gpt2 and {out}/demo.tiktoken")
    tok.save(out / "huggingface")
    tok.save(out / "plugin", plugin=True)
    tok.save(out / "gpt2", format="gpt2")
    tok.save(out / "demo.tiktoken", format="tiktoken")

    print("Loading them back, with a special token in every story")
    sample = [text + END for text in texts[:1000]]
    ours = [tok.encode(text, allowed_special="all") for text in sample]
    for folder in ("huggingface", "plugin", "gpt2"):
        auto = transformers.AutoTokenizer.from_pretrained(out / folder)
        check(f"AutoTokenizer({folder}) {type(auto).__name__}", ours, auto(sample)["input_ids"])
    path = out / "huggingface" / "tokenizer.json"
    encodings = tokenizers.Tokenizer.from_file(str(path)).encode_batch(sample)
    check("tokenizers.Tokenizer.from_file", ours, [e.ids for e in encodings])
    loaded = bc.load(out / "demo.tiktoken").to_tiktoken()
    assert isinstance(loaded, tiktoken.Encoding)
    check("tiktoken.Encoding", ours, loaded.encode_batch(sample, allowed_special="all"))

    print("Tokenizing a dataset with map")
    plugin = bpe_compat.hf.BPECompatTokenizer.from_pretrained(out / "plugin")
    data = datasets.Dataset.from_dict({"text": sample})
    mapped = data.map(lambda batch: plugin(batch["text"]), batched=True, remove_columns=["text"])
    check("datasets.map", ours, mapped["input_ids"][:])

    print("A story as tokens")
    story = texts[len(texts) // 2]
    print(" ", "|".join(shown(tok.decode_single_token_bytes(id)) for id in tok.encode(story)[:80]))
    decoded = [tok.decode(ids) for ids in ours]
    if decoded != sample:
        sys.exit("the ids do not give the stories back")
    print(f"All {len(sample)} stories come back from their ids.")


if __name__ == "__main__":
    main()
