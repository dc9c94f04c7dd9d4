"""Real texts and tokenizers in ../shared/data: not part of this project, and not everywhere."""

import functools
import gzip
import lzma
import os
import shutil
import tempfile
from pathlib import Path

import pytest

_FOLDER = Path(__file__).resolve().parent.parent.parent / "shared"
RANK_FILES = {
    "r50k_base": "gpt2",
    "p50k_base": "gpt2",
    "cl100k_base": "cl100k",
    "o200k_base": "o200k",
}


def folder() -> Path:
    """../shared; skips the test if there is none, and fails it in CI, where there must be one."""
    if not (_FOLDER / "data").is_dir():
        if os.environ.get("CI") == "true":
            pytest.fail(f"{_FOLDER}/data is missing")
        pytest.skip("needs the folder ../shared")
    return _FOLDER


@functools.cache
def _cache() -> Path:
    return Path(tempfile.mkdtemp(prefix="bpe_compat_tests_"))


def temporary(name: str) -> Path:
    """A folder that lives as long as the tests run."""
    folder = _cache() / "made" / name
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def find(name: str) -> Path | None:
    """A file below ../shared/data, unpacked if it ends in .gz or .xz; None if there is none."""
    paths = (folder() / "data" / (name + end) for end in ("", ".gz", ".xz"))
    packed = next((path for path in paths if path.is_file()), None)
    if packed is None or packed.suffix not in (".gz", ".xz"):
        return packed
    target = _cache() / name
    if not target.is_file():
        target.parent.mkdir(parents=True, exist_ok=True)
        opener = gzip.open if packed.suffix == ".gz" else lzma.open
        with opener(packed) as source, target.open("wb") as out:
            shutil.copyfileobj(source, out)
    return target


@functools.cache
def unpacked(name: str) -> Path:
    """The same for a file that must be there."""
    path = find(name)
    assert path, name
    return path


@functools.cache
def text(name: str, size: int = 2_000_000) -> str:
    """The beginning of a text of data/text, about `size` bytes cut at a line end."""
    with unpacked(f"text/{name}.txt").open("rb") as file:
        data = file.read(size)
        data += file.readline()
    return data.decode()


def documents(name: str, size: int = 2_000_000, length: int = 4000) -> list[str]:
    """The same as texts of `length` characters."""
    whole = text(name, size)
    return [whole[i : i + length] for i in range(0, len(whole), length)]


CORPORA = ("hard", "multilingual", "code", "tinystories", "english_web")


def corpora(size: int = 60_000, length: int = 4000) -> list[list[str]]:
    """The beginning of each text, as `documents`; with BPE_COMPAT_EXAMPLES set, much more.

    Then it is all of them, but for English text, of which the peers take 10 MB in minutes.
    """
    if "BPE_COMPAT_EXAMPLES" in os.environ:
        return [
            documents(name, 10_000_000 if name == "english_web" else 1 << 40, length)
            for name in CORPORA
        ]
    return [documents(name, size, length) for name in CORPORA]


def rank_file(name: str) -> Path:
    """One of OpenAI's rank files."""
    return unpacked(f"tokenizers/openai_tiktoken/{name}.tiktoken")


@functools.cache
def tiktoken_encoding(name: str) -> "tiktoken.Encoding":
    """tiktoken's own encoding with its own pattern, from the rank file here."""
    import tiktoken_ext.openai_public as openai_public

    ranks = tiktoken.load.load_tiktoken_bpe(str(rank_file(name)))
    original = openai_public.load_tiktoken_bpe
    openai_public.load_tiktoken_bpe = lambda *_, **__: ranks
    try:
        return tiktoken.Encoding(**openai_public.ENCODING_CONSTRUCTORS[name]())
    finally:
        openai_public.load_tiktoken_bpe = original


import tiktoken  # noqa: E402
import tiktoken.load  # noqa: E402
