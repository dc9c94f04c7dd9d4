"""Every readable file of docs/tokenizers.md: its ids, its own format again, and all conversions.

With `BPE_COMPAT_EXAMPLES=10000` on 2 MB of each text and all of hard.txt, with fewer on as much
less; below 1000 only small tokenizers are converted.
"""

import functools
import itertools
import json
import os
import shutil
from base64 import b64decode
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import shared_data
import tiktoken

import bpe_compat as bc
from bpe_compat import libraries

PAGE = Path(__file__).resolve().parent.parent / "docs" / "tokenizers.md"
EXAMPLES = int(os.environ.get("BPE_COMPAT_EXAMPLES", "0"))
ALL = EXAMPLES >= 1000
SIZE = min(2_000_000, max(8_000, 200 * EXAMPLES))
CONVERTED = SIZE // 10
TEXTS = ("tinystories", "english_web", "code", "multilingual", "hard")
# What a rank file does not say; from those who publish them.
PATTERNS = {"llama3_tiktoken": "llama3", "llama4_tiktoken": "o200k", "qwen_tiktoken": "qwen2",
            "whisper": "gpt2"}  # fmt: skip
BESIDE = ("tokenizer_config.json", "special_tokens_map.json", "added_tokens.json")

Ways = dict[str, Callable[[list[str]], list[list[int]]]]


def rows() -> Iterator[Any]:
    """Name, format, count of ids, and formats without a loss, of the first table of the page."""
    for line in PAGE.read_text(encoding="utf-8").split("## Refused")[0].splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("| ") and cells[0] != "file":
            name, format, _, ids, *_, to = cells
            small = ALL or int(ids.replace(",", "")) < 5_000
            targets = to.split(", ") if small and to != "none" else []
            yield pytest.param(name, format, targets, id=name.replace(", ", "+"))


def source(name: str, folder: Path) -> Path:
    """The file, or the folder with vocab.json and merges.txt."""
    home, _, files = name.partition("/")
    if "," not in files:
        return shared_data.unpacked(f"tokenizers/{name}")
    for file in (*files.split(", "), *BESIDE):
        if found := shared_data.find(f"tokenizers/{home}/{file}"):
            shutil.copy(found, folder / file)
    return folder


@functools.cache
def documents(name: str, size: int) -> list[str]:
    """About `size` bytes of a text: from its begin, or from all over hard.txt, or all of it."""
    if name != "hard":
        return shared_data.documents(name, size, min(size, 4000))
    texts = shared_data.documents("hard", 1 << 30)
    return texts if size == 2_000_000 else texts[:: len(texts) * 4000 // size]


def tiktoken_of(ranks: dict[bytes, int], pattern: str, special_tokens: dict[str, int]) -> Ways:
    encoding = tiktoken.Encoding(
        "x", pat_str=pattern, mergeable_ranks=ranks, special_tokens=special_tokens
    )
    return {
        "text": encoding.encode_ordinary_batch,
        "encode": lambda texts: encoding.encode_batch(texts, allowed_special="all"),
    }


def own_library(name: str, format: str, path: Path) -> Ways:
    """The library that a published file was made for; nothing for GGUF, whose engine is a program.

    CLIP's and llama2.c's files are compared with the tokenizers that they were made of.
    """
    match format:
        case "tiktoken":
            lines = (line.split() for line in path.read_bytes().splitlines() if line)
            ranks = {b64decode(token): int(rank) for token, rank in lines}
            split = PATTERNS.get(name.split("/")[0])
            pattern = bc.patterns.resolve(split)[0].pattern if split else None
            if pattern is None:
                return tiktoken_of(ranks, **published(path.stem))
            return tiktoken_of(ranks, pattern, {})
        case "js_tiktoken":
            tree = json.loads(path.read_bytes())
            runs = [line.split() for line in tree["bpe_ranks"].splitlines()]
            ranks = {
                b64decode(token): int(run[1]) + place
                for run in runs
                for place, token in enumerate(run[2:])
            }
            return tiktoken_of(ranks, tree["pat_str"], tree["special_tokens"])
        case "clip":
            file = shared_data.unpacked("tokenizers/clip_hf/tokenizer.json")
            # Special tokens as text are one piece to CLIP, and several to the tokenizer.json.
            return {"encode": libraries.LIBRARIES["huggingface"][1](file, {})["encode"]}
        case "llama2c":
            model = shared_data.unpacked("tokenizers/llama2_spm/tokenizer.model")
            return dict(libraries.LIBRARIES["sentencepiece"][1](model, {}))
        case "gguf" | "subword_nmt":
            return {}
    return dict(libraries.LIBRARIES[format][1](path, {}))


def published(name: str) -> dict[str, Any]:
    encoding = shared_data.tiktoken_encoding(name)
    return {"pattern": encoding._pat_str, "special_tokens": encoding._special_tokens}


def compare(tok: bc.Tokenizer, ways: Ways, size: int) -> None:
    """The last way on texts of this size; another, in which special tokens are text, on less."""
    sizes = dict(zip(ways, [min(size, CONVERTED), size][-len(ways) :], strict=False))
    for specials, encode in ways.items():
        for name in TEXTS:
            texts = documents(name, sizes[specials])
            ids, offsets = tok.encode_arrays(texts, specials=specials)  # type: ignore[arg-type]
            found = encode(texts)
            assert np.diff(offsets).tolist() == [len(item) for item in found], (name, specials)
            expected = np.fromiter(itertools.chain.from_iterable(found), np.uint32, len(ids))
            assert np.array_equal(ids, expected), (name, specials)


@pytest.mark.usefixtures("shared")
@pytest.mark.filterwarnings("ignore:.*AutoTokenizer reads it")
@pytest.mark.parametrize(("name", "format", "targets"), list(rows()))
def test_a_published_file(name: str, format: str, targets: list[str], tmp_path: Path) -> None:
    (tmp_path / "source").mkdir()
    path = source(name, tmp_path / "source")
    pattern = PATTERNS.get(name.split("/")[0]) if format == "tiktoken" else None
    if name.startswith("clip/"):
        path = shared_data.folder() / "data" / "tokenizers" / f"{name}.gz"
    tok = bc.load(path, format=format, pattern=pattern)
    compare(tok, own_library(name, format, path), SIZE)
    assert not ALL or targets == without_loss(tok)
    if format in targets:
        assert bc.convert(path, out(tmp_path, format), to=format, pattern=pattern) == []
        again = bc.load(out(tmp_path, format), format=format)
        assert again.spec == tok.spec
    for to in targets:
        target = out(tmp_path, to)
        assert bc.convert(path, target, to=to, source_format=format, pattern=pattern) == []
        written = bc.load(target, format=to)
        compare(tok, target_library(to, target, written) or ours(written), CONVERTED)


def target_library(format: str, path: Path, written: bc.Tokenizer) -> Ways:
    if format not in libraries.LIBRARIES:
        return {}
    question: dict[str, Any] = {"metadata": {}}
    if format == "tiktoken":
        question["pattern"] = written._pat_str
    return dict(libraries.LIBRARIES[format][1](path, question))


def ours(tok: bc.Tokenizer) -> Ways:
    """For formats whose library is no Python package: what we read of them."""

    def encode(texts: list[str], specials: Any) -> list[list[int]]:
        ids, offsets = tok.encode_arrays(texts, specials=specials)
        return [ids[a:b].tolist() for a, b in itertools.pairwise(offsets)]

    return {
        "text": lambda texts: encode(texts, "text"),
        "encode": lambda texts: encode(texts, "encode"),
    }


def out(folder: Path, format: str) -> Path:
    return folder / f"out.{format}"


def without_loss(tok: bc.Tokenizer) -> list[str]:
    found = []
    for format in bc.converters.FORMATS.values():
        try:
            if format.write and not format.losses(tok.spec):
                found.append(format.name)
        except bc.errors.UnsupportedError:
            continue
    return found


def test_the_page_has_rows() -> None:
    assert len(list(rows())) > 60
