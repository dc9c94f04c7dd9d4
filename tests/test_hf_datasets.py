"""The plug-in under `datasets`: columns of Arrow, packing, processes, fingerprints."""

# mypy: disable-error-code="no-untyped-call"

import copy
import json
import multiprocessing
import os
import pickle
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bpe_compat as bc

pytest.importorskip("transformers")
datasets = pytest.importorskip("datasets")
import pyarrow as pa  # noqa: E402

from bpe_compat.hf import BPECompatTokenizer  # noqa: E402
from bpe_compat.hf.results import Rows  # noqa: E402

TEXT = ["the cat and the hat, it's 2026! naïve café 中文中文 def f(x): return 'x'"] * 3
TEXTS = ["the cat", "", "a naïve hat<|endoftext|>it's 中文", "<s>x  <pad> y\n\n", "the " * 30]
datasets.disable_progress_bars()


def make(**arguments: Any) -> Any:
    tok = bc.train(TEXT, 300, special_tokens=["<|endoftext|>", "<s>", "<pad>"])
    return BPECompatTokenizer(tokenizer_object=tok, eos_token="<|endoftext|>", **arguments)


def with_template() -> Any:
    from dataclasses import replace

    from bpe_compat.spec import Template, TemplateItem

    spec = make().tokenizer.spec
    ids = spec.special_tokens
    single = (TemplateItem(ids["<s>"]), TemplateItem("A"), TemplateItem(ids["<pad>"]))
    pair = (*single, TemplateItem("B", 1))
    return BPECompatTokenizer(
        tokenizer_object=bc.Tokenizer(replace(spec, template=Template(single, pair))),
        eos_token="<|endoftext|>",
    )


@pytest.mark.parametrize(
    "kind", ["string", "large_string", "binary", "sliced", "chunked", "dictionary"]
)
@pytest.mark.parametrize("template", [False, True])
@pytest.mark.parametrize("max_length", [None, 3, 2])
@pytest.mark.parametrize("side", ["left", "right"])
def test_map_arrow_gives_the_ids_of_calls(
    kind: str, template: bool, max_length: int | None, side: str
) -> None:
    tok = with_template() if template else make()
    tok.truncation_side = side
    column: Any = pa.array(TEXTS)
    if kind in ("large_string", "binary"):
        column = column.cast(getattr(pa, kind)())
    elif kind == "sliced":
        column = pa.array(["x", *TEXTS, "y"]).slice(1, len(TEXTS))
    elif kind == "chunked":
        column = pa.chunked_array([TEXTS[:2], [], TEXTS[2:]])
    elif kind == "dictionary":
        column = column.dictionary_encode()
    made = tok.map_arrow("t", attention_mask=True, max_length=max_length)(pa.table({"t": column}))
    expected = tok(TEXTS, truncation=max_length is not None, max_length=max_length)
    assert made.to_pydict() == dict(expected)
    assert made.schema.field("input_ids").type == pa.list_(pa.int32())
    assert made.schema.field("attention_mask").type == pa.list_(pa.int8())
    bare = tok.map_arrow("t", add_special_tokens=False)(pa.table({"t": column}))
    assert bare.to_pydict() == {"input_ids": tok(TEXTS, add_special_tokens=False)["input_ids"]}


def test_map_arrow_and_nulls() -> None:
    tok = make()
    table = pa.table({"t": pa.array(["the", None, "", None])})
    expected = [tok("the")["input_ids"], None, [], None]
    assert tok.map_arrow("t")(table).to_pydict() == {"input_ids": expected}
    assert tok.map_arrow("t")(pa.table({"t": pa.array([], pa.string())})).num_rows == 0
    with pytest.raises(TypeError, match="must hold texts, not int64"):
        tok.map_arrow("t")(pa.table({"t": [1, 2]}))
    with pytest.raises(ValueError, match="2 special tokens"):
        with_template().map_arrow("t", max_length=1)(table)


@pytest.mark.parametrize("dtype", [np.int32, np.uint16])
def test_packing(dtype: Any) -> None:
    tok = make()
    joined = [i for ids in tok(TEXTS)["input_ids"] for i in [*ids, tok.eos_token_id]]
    rows = len(joined) // 8
    expected = [joined[i * 8 : i * 8 + 8] for i in range(rows)]
    for texts in (TEXTS, iter(TEXTS), pa.array(TEXTS), pa.chunked_array([TEXTS[:1], TEXTS[1:]])):
        blocks = tok.pack(texts, 8, dtype=dtype)
        assert (blocks.dtype, blocks.tolist()) == (dtype, expected)
    mapped = datasets.Dataset.from_dict({"text": TEXTS}).with_format("arrow")
    mapped = mapped.map(tok.map_arrow(block_size=8), batched=True, remove_columns=["text"])
    assert mapped.with_format(None)["input_ids"][:] == expected
    with pytest.raises(ValueError, match="does not fit into int8"):
        tok.pack(TEXTS, 8, dtype=np.int8)
    with pytest.raises(ValueError, match="at least one id"):
        tok.pack(TEXTS, 0)
    assert tok.pack([], 8).shape == (0, 8)


def test_map_in_every_form() -> None:
    tok = make()
    data = datasets.Dataset.from_dict({"text": TEXTS * 20})
    expected = tok(TEXTS)["input_ids"] * 20

    def call(batch: dict[str, Any]) -> Any:
        return tok(batch["text"])

    assert data.map(call, batched=True)["input_ids"][:] == expected
    assert data.map(call)["input_ids"][:] == expected
    arrow = data.with_format("arrow").map(tok.map_arrow(), batched=True, remove_columns=["text"])
    assert arrow.with_format(None)["input_ids"][:] == expected
    streamed = list(data.to_iterable_dataset().map(call, batched=True, batch_size=7))
    assert [row["input_ids"] for row in streamed] == expected
    shuffled = data.to_iterable_dataset().shuffle(seed=3, buffer_size=10).map(call, batched=True)
    again = data.to_iterable_dataset().shuffle(seed=3, buffer_size=10).map(call, batched=True)
    assert list(shuffled) == list(again)


LISTS: list[list[Any]] = [
    [[1, 2], [], [3]], [], [[]], [[], []], [[0, -1, 2**31, 2**63 - 1]], [[1], None, [2]],
    [[1, None], [2]], [None], [[1.5], [2]], [["a"], ["b"]], [[True], [False]], [[[1], [2]], [[3]]],
    [(1, 2), [3]], [1, 2], [[np.int32(1)], [2]], [[2**63]],
]  # fmt: skip


@pytest.mark.parametrize("lists", LISTS, ids=str)
@pytest.mark.parametrize("kind", [None, pa.list_(pa.int32())])
def test_arrow_makes_the_same_of_our_lists(lists: list[Any], kind: Any) -> None:
    """Whatever somebody has put into them."""

    def made(values: list[Any]) -> Any:
        try:
            array = pa.array(values, kind)
        except (pa.ArrowException, OverflowError) as error:
            return type(error)
        return array.type, array.to_pylist()

    assert made(Rows(lists)) == made(lists)


def test_results_are_lists_that_may_be_changed() -> None:
    tok = make()
    encoded = tok(TEXTS)
    plain = [list(row) for row in encoded["input_ids"]]
    assert isinstance(encoded["input_ids"], list)
    assert encoded["input_ids"] == plain
    for again in (pickle.loads(pickle.dumps(encoded)), copy.deepcopy(encoded)):
        assert type(again["input_ids"]) is list
        assert again["input_ids"] == plain
    assert json.loads(json.dumps(encoded["input_ids"])) == plain
    for row in (*encoded["input_ids"], *plain):
        row.append(tok.eos_token_id)
    encoded["input_ids"].append([5])
    assert pa.array(encoded["input_ids"]).to_pylist() == [*plain, [5]]
    table = datasets.Dataset.from_dict({"text": TEXTS}).map(
        lambda batch: tok(batch["text"]), batched=True
    )
    assert table.features["input_ids"].feature.dtype == "int32"
    assert table.features["attention_mask"].feature.dtype == "int8"


def encode_in_process(blob: bytes) -> list[list[int]]:
    ids: list[list[int]] = pickle.loads(blob)(TEXTS * 100)["input_ids"]
    return ids


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_processes_after_threads(method: str) -> None:
    tok = make()
    expected = tok(TEXTS * 100)["input_ids"]  # on threads, if there are processors
    context = multiprocessing.get_context(method)
    with ProcessPoolExecutor(2, mp_context=context) as pool:
        futures = [pool.submit(encode_in_process, pickle.dumps(tok)) for _ in range(4)]
        for future in futures:
            assert future.result(timeout=120) == expected


IN_PROCESSES = """
import sys
import datasets, multiprocess
from bpe_compat.hf import BPECompatTokenizer

def encode(batch, tok):
    return tok(batch["text"])

if __name__ == "__main__":
    folder, method, times = sys.argv[1:]
    multiprocess.set_start_method(method)
    datasets.disable_progress_bars()
    datasets.disable_caching()
    tok = BPECompatTokenizer.from_pretrained(folder)
    texts = ["the cat", "", "a naïve hat 中文"] * 30
    data = datasets.Dataset.from_dict({"text": texts})
    for _ in range(int(times)):
        tok.tokenizer.encode_arrays(texts * 20, threads=4)
        mapped = data.map(encode, batched=True, batch_size=16, num_proc=2, fn_kwargs={"tok": tok})
        assert mapped["input_ids"][:] == tok(texts)["input_ids"]
"""


@pytest.mark.parametrize(("method", "times"), [("fork", 5), ("spawn", 2)])
def test_map_in_processes_after_threads(method: str, times: int, tmp_path: Path) -> None:
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"no {method} here")
    make().save_pretrained(tmp_path)
    script = tmp_path / "script.py"
    script.write_text(IN_PROCESSES, encoding="utf-8")
    command = [sys.executable, "-W", "ignore", str(script), str(tmp_path), method, str(times)]
    subprocess.run(command, check=True, timeout=600)


def test_fingerprints(tmp_path: Path) -> None:
    from datasets.fingerprint import Hasher

    tok = make()
    tok.save_pretrained(tmp_path)
    loaded = BPECompatTokenizer.from_pretrained(tmp_path)
    before = Hasher.hash(loaded)
    loaded(TEXTS, truncation=True, max_length=4)
    assert loaded("a").word_ids() == [0]
    assert Hasher.hash(loaded) == before
    assert Hasher.hash(BPECompatTokenizer.from_pretrained(tmp_path)) == before
    script = (
        "import sys\nfrom datasets.fingerprint import Hasher\n"
        "from bpe_compat.hf import BPECompatTokenizer\n"
        "print(Hasher.hash(BPECompatTokenizer.from_pretrained(sys.argv[1])))"
    )
    environment = os.environ | {"PYTHONHASHSEED": "7"}
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path)],
        env=environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.strip() == before
    # Files with other content in the same place.
    bc.train(TEXT, 299, special_tokens=["<|endoftext|>", "<s>", "<pad>"]).save(
        tmp_path, plugin=True
    )
    assert Hasher.hash(BPECompatTokenizer.from_pretrained(tmp_path)) != before
    mapper = Hasher.hash(tok.map_arrow())
    assert Hasher.hash(make().map_arrow()) == mapper != Hasher.hash(tok.map_arrow(max_length=3))
