"""Write docs/tokenizers.md: every real tokenizer of ../shared/data, and what becomes of it.

Each is read, or refused; and of each it is said which formats hold it without a loss.
"""

import argparse
import gzip
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path

import bpe_compat as bc
from bpe_compat.converters import FORMATS
from bpe_compat.errors import BPECompatError, UnsupportedError
from bpe_compat.patterns import scanner_of
from bpe_compat.spec import TokenizerSpec

ROOT = Path(__file__).resolve().parent.parent
TOKENIZERS = ROOT.parent / "shared" / "data" / "tokenizers"
WRITABLE = [format for format in FORMATS.values() if format.write]
BESIDE = {"tokenizer_config.json", "special_tokens_map.json", "added_tokens.json"}
# Texts and lists of words.
SKIPPED = (".inp", ".out", "SOURCE.txt", "address.txt", "german.txt", "tinystories_sample.txt",
           "corpus.en.gz", "corpus.bpe.ref.en.gz", "vocab.en", "vocab.en.tab")  # fmt: skip
# What a rank file does not say; from those who publish them.
PATTERNS = {"llama3_tiktoken": "llama3", "llama4_tiktoken": "o200k", "qwen_tiktoken": "qwen2",
            "whisper": "gpt2"}  # fmt: skip

HEAD = """# Real tokenizers

What `bpe_compat` makes of published files; `scripts/make_tokenizers_page.py` writes this page.
*Ids* are the greatest id plus one, *tokens* those in use. *Split* is the native scanner, or
"regex". *To* lists the formats that hold the tokenizer without a loss, *with losses* those that
`--allow-loss` writes; into the others it is refused. `bpe-compat inspect` says what would be lost.

| file | format | family | ids | tokens | merges | split | with losses | to |
|---|---|---|---|---|---|---|---|---|
"""
REFUSED = """
## Refused

| file | error |
|---|---|
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=ROOT / "docs" / "tokenizers.md")
    output: Path = parser.parse_args().output
    read, refused = [], []
    with tempfile.TemporaryDirectory() as folder:
        for name, path in sources(Path(folder)):
            try:
                read.append(row(name, path))
            except BPECompatError as error:
                message = (
                    str(error).replace(f"{path}: ", "").replace(folder, "").replace("|", r"\|")
                )
                refused.append(f"| {name} | {type(error).__name__}: {message[:200]} |\n")
    output.parent.mkdir(exist_ok=True)
    output.write_text("".join([HEAD, *read, REFUSED, *refused]), encoding="utf-8")


def sources(folder: Path) -> Iterator[tuple[str, Path]]:
    """Names and unpacked files; vocab.json with merges.txt are one folder."""
    for source in sorted(TOKENIZERS.iterdir()):
        target = folder / source.name
        target.mkdir()
        names = [unpacked(path, target) for path in sorted(source.iterdir())
                 if not path.name.endswith(SKIPPED)]  # fmt: skip
        pair = {"vocab.json", "merges.txt"}
        if pair <= set(names):
            gpt2 = folder / f"{source.name}_files"
            gpt2.mkdir()
            for name in sorted(pair | (BESIDE & set(names))):
                (gpt2 / name).write_bytes((target / name).read_bytes())
            yield f"{source.name}/vocab.json, merges.txt", gpt2
            names = [name for name in names if name not in pair]
        for name in sorted(set(names) - BESIDE):
            yield f"{source.name}/{name}", target / name


def unpacked(path: Path, folder: Path) -> str:
    data = path.read_bytes()
    name = path.name.removesuffix(".gz")
    (folder / name).write_bytes(gzip.decompress(data) if name != path.name else data)
    return name


def row(name: str, path: Path) -> str:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        format = bc.converters.detect(path)
        pattern = PATTERNS.get(name.split("/")[0]) if format == "tiktoken" else None
        spec = bc.converters.read(path, format=format, pattern=pattern)
        losses = {other.name: losses_of(other, spec) for other in WRITABLE}
    to = [name for name, lost in losses.items() if lost == []]
    lossy = [name for name, lost in losses.items() if lost]
    merges = "ranks" if spec.merge_rule == "ranks" else f"{len(spec.merges):,}"
    split = scanner_of(spec.splits) or "regex"
    cells = [name, format, family(spec), f"{spec.vocab_size:,}", f"{spec.token_count:,}", merges,
             split, ", ".join(lossy) or "none", ", ".join(to) or "none"]  # fmt: skip
    return f"| {' | '.join(cells)} |\n"


def family(spec: TokenizerSpec) -> str:
    if spec.byte_level:
        return "bytes"
    return "characters" + ", bytes for others" * spec.byte_fallback


def losses_of(format: bc.converters.Format, spec: TokenizerSpec) -> list[str] | None:
    """What a format would lose; None if it can hold nothing of a tokenizer."""
    try:
        return format.losses(spec)
    except UnsupportedError:
        return None


if __name__ == "__main__":
    main()
