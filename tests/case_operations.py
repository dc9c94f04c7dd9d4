"""What a check of a field case asks for: a function for each `op`."""

import dataclasses
import hashlib
import json
import re
import tempfile
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import shared_data
from case_tokenizers import Check, converted_spec, published, rank_table, tokenizer_of

import bpe_compat as bc
from bpe_compat import pipeline, ranks
from bpe_compat.bytelevel import to_characters
from bpe_compat.converters.json_tree import parse
from bpe_compat.spec import TokenizerSpec

TIE_BREAK = {"smallest ids": "ids", "greatest bytes": "bytes"}
PRE_TOKENIZERS = {"gpt2": "gpt2", "whitespace": r"\w+|[^\w\s]+"}


# The operations


def encode(check: Check, tok: bc.Tokenizer) -> list[int]:
    special = check.get("special", "ids")
    allowed: Any = "all" if special == "ids" else set() if special == "text" else set(special)
    return tok.encode(check["text"], allowed_special=allowed, disallowed_special=())


def op_encode(check: Check) -> None:
    assert encode(check, tokenizer_of(check)) == check["ids"]


def op_encode_tokens(check: Check) -> None:
    """The tokens as text: added ones as they match, which may be in normalized text."""
    tok = tokenizer_of(check)
    normalize = pipeline.normalizer(tok.spec.normalizers)
    content = {
        token.id: normalize(token.content) if token.normalized else token.content
        for token in tok.spec.added_tokens
    }
    spelled = [content.get(id) or to_characters(tok.spec.tokens[id]) for id in encode(check, tok)]
    assert spelled == check["tokens"]


def op_encode_summary(check: Check) -> None:
    text, times = check["text_repeat"]
    tok = published(check["tokenizer"])
    tok.encode("")
    started = time.monotonic()
    ids = tok.encode(text * times)
    # Far more than it takes, for slow machines; the limit stands for "does not hang".
    assert time.monotonic() - started < 10 * check["time_limit_s"]
    assert len(ids) == check["n_tokens"]
    assert (ids[0], ids[-1]) == (check.get("first", ids[0]), check.get("last", ids[-1]))


def op_encode_parallel(check: Check) -> None:
    tok = published(check["tokenizer"])
    assert tok.encode(check["text"]) == check["ids"]
    ids, offsets = tok.encode_arrays([check["text"]] * 64, threads=4)
    assert all(ids[a:b].tolist() == check["ids"] for a, b in pairwise(offsets))


def op_encode_words(check: Check) -> None:
    tok = bc.Tokenizer(published(check["tokenizer"]).spec)
    prefix = check["add_prefix_space"]
    tok = bc.Tokenizer(dataclasses.replace(tok.spec, prefix_space=prefix))
    assert [id for word in check["words"] for id in tok.encode(word)] == check["ids"]


def op_truncate(check: Check) -> None:
    assert published(check["tokenizer"]).truncate(check["text"], check["n"]) == check["text_out"]


def op_count_prefixes(check: Check) -> None:
    tok, text = published(check["tokenizer"]), check["text"]
    assert [tok.count(text[:n]) for n in range(len(text) + 1)] == check["counts"]


def op_decode(check: Check) -> None:
    assert published(check["tokenizer"]).decode(check["ids"]) == check["text"]


def op_decode_error(check: Check) -> None:
    """tiktoken's error; the cases ask for any that names the id."""
    with pytest.raises(KeyError, match=f"Invalid token for decoding: {check['ids'][-1]}"):
        published(check["tokenizer"]).decode(check["ids"])


def op_decode_with_offsets(check: Check) -> None:
    tok = published(check["tokenizer"])
    assert tok.decode_with_offsets(check["ids"]) == (check["text"], check["offsets"])


def op_offsets(check: Check) -> None:
    tok = tokenizer_of(check)
    ids, offsets = tok.encode_with_offsets(check["text"], specials="encode")
    assert [list(pair) for pair in offsets] == check["offsets"]
    if "ids" in check:  # the case numbers its token 50256, which is <|endoftext|> here
        assert [id if id < 50256 else 50256 for id in ids] == check["ids"]


def op_offsets_cover(check: Check) -> None:
    _, offsets = tokenizer_of(check | {"tokenizer": "r50k_base"}).encode_with_offsets(check["text"])
    assert offsets[-1][1] == check["last_end"] == len(check["text"])


def op_roundtrip(check: Check) -> None:
    transformers = pytest.importorskip("transformers")
    import bpe_compat.hf as hf

    with tempfile.TemporaryDirectory() as folder:
        published(check["tokenizer"]).save(folder, plugin=True)
        config = Path(folder) / "tokenizer_config.json"
        config.write_text(json.dumps(json.loads(config.read_text()) | check["tokenizer_config"]))
        tok = transformers.AutoTokenizer.from_pretrained(folder)
        assert type(tok) is hf.BPECompatTokenizer
        assert tok.decode(tok(check["text"])["input_ids"]) == check["text"]


def plugin(name: str) -> Any:
    pytest.importorskip("transformers")
    import bpe_compat.hf as hf

    return hf.BPECompatTokenizer(tokenizer_object=published(name))


def op_added_roundtrip(check: Check) -> None:
    tok = plugin(check["tokenizer"])
    tok.add_tokens(check.get("add_tokens", []))
    tok.add_tokens(check.get("add_special_tokens", []), special_tokens=True)
    ids = tok(check["text"])["input_ids"]
    assert tok.decode(ids) == check["decoded"]
    if "id_min" in check:
        assert all(id >= check["id_min"] for id in ids)


def op_skip_special(check: Check) -> None:
    tok = plugin("r50k_base")
    tok.add_tokens(check["special"], special_tokens=True)
    tok.add_tokens(check["added"])
    ids = tok(check["text"])["input_ids"]
    assert tok.decode(ids, skip_special_tokens=True) == check["decoded_skip"]
    assert tok.decode(ids) == check["decoded_keep"]


def op_added_matches(check: Check) -> None:
    tok = tokenizer_of(check)
    added = tok.spec.added_tokens[-1].id
    assert (added in tok.encode_ordinary(check["text"])) == check["matches"]


def op_autotokenizer_encode(check: Check) -> None:
    transformers = pytest.importorskip("transformers")
    with tempfile.TemporaryDirectory() as folder:
        published("cl100k_base").save(folder)
        tok = transformers.AutoTokenizer.from_pretrained(folder)
        assert tok(check["text"])["input_ids"] == check["ids"]


def op_pretokenize(check: Check) -> None:
    behavior = "".join(word.title() for word in check.get("behavior", "isolated").split("_"))
    pre: dict[str, Any]
    if "pre_tokenizer" in check:
        pre = {
            "type": "Sequence",
            "pretokenizers": [
                {"type": "Punctuation", "behavior": "Contiguous"},
                {"type": "ByteLevel", "add_prefix_space": False, "use_regex": True},
                {"type": "Digits", "individual_digits": False},
                {"type": "Split", "pattern": {"Regex": "[0-9][0-9][0-9]"}, "behavior": "Isolated"},
            ],
        }
        assert check["pre_tokenizer"].startswith(
            "Sequence[Punctuation(contiguous), ByteLevel(use_regex)"
        )
    else:
        invert = check.get("invert", False)
        pre = {
            "type": "Split",
            "pattern": {"Regex": check["pattern"]},
            "behavior": behavior,
            "invert": invert,
        }
    tok = from_tree({"pre_tokenizer": pre, "model": {"vocab": {"a": 0}, "merges": []}})
    pieces = tok.pieces(check["text"])
    if "pre_tokenizer" in check:
        assert [to_characters(piece) for piece in pieces] == check["pieces"]
    else:
        assert [piece.decode() for piece in pieces] == check["pieces"]


def from_tree(tree: dict[str, Any]) -> bc.Tokenizer:
    node = parse(json.dumps(tree).encode(), "tokenizer.json")
    return bc.Tokenizer(bc.converters.huggingface.spec_of(node))


def op_load_tokenizer_json(check: Check) -> None:
    tok = from_tree({"model": check["model"]})
    spelled = {id: token for token, id in check["model"]["vocab"].items()}
    assert [spelled[id] for id in tok.encode(check["text"])] == check["tokens"]


def op_load_tokenizer_json_error(check: Check) -> None:
    expected = "id 0" if "id 0" in check["must_be"] else r"merges\[\d"
    with pytest.raises(bc.errors.FormatError, match=expected):
        from_tree({"model": check["model"]})


def merges_folder(check: Check, folder: str) -> Path:
    (Path(folder) / "vocab.json").write_text(json.dumps(check["vocab"]))
    (Path(folder) / "merges.txt").write_bytes(bytes.fromhex(check["merges_hex"]))
    return Path(folder)


def op_load_merges_encode(check: Check) -> None:
    with tempfile.TemporaryDirectory() as folder:
        tok = bc.load(merges_folder(check, folder))
    assert [tok.decode([id]) for id in tok.encode(check["text"])] == check["tokens"]


def op_load_merges_error(check: Check) -> None:
    with (
        tempfile.TemporaryDirectory() as folder,
        pytest.raises(bc.errors.FormatError, match=r"line \d"),
    ):
        bc.load(merges_folder(check, folder))


def read_ranks(check: Check) -> TokenizerSpec:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.tiktoken"
        path.write_bytes(bytes.fromhex(check["file_hex"]))
        return bc.converters.read(path, pattern="gpt2", special_tokens={})


def op_load_tiktoken(check: Check) -> None:
    expected = {token.encode(): rank for token, rank in check["ranks"].items()}
    assert read_ranks(check).normal_ids() == expected


def op_load_tiktoken_error(check: Check) -> None:
    with pytest.raises(bc.errors.FormatError, match=r"line \d"):
        read_ranks(check)


def op_load_error(check: Check) -> None:
    with pytest.raises(bc.errors.FormatError):
        bc.Tokenizer.from_ranks(rank_table(check["ranks"]), pattern=None, special_tokens={})


def op_load_error_or_encode_error(check: Check) -> None:
    missing = int(re.findall("0x(..)", check["ranks"])[0], 16)
    table = {bytes([b]): b for b in range(256) if b != missing}
    tok = bc.Tokenizer.from_ranks(table, pattern="gpt2", special_tokens={})
    for text in check["texts"]:
        with pytest.raises(ValueError, match="0x7A"):
            tok.encode(text)


def op_recover_merges(check: Check) -> None:
    table = rank_table(dict(check["ranks"]))
    spec = bc.Tokenizer.from_ranks(table, pattern=None, special_tokens={}).spec
    recovered = ranks.recover_merges(spec)
    pairs = [[spec.tokens[a].decode(), spec.tokens[b].decode()] for a, b in recovered.merges]
    assert pairs == check["merges"]


def op_recover_merges_count(check: Check) -> None:
    for name, count in check["counts"].items():
        recovered = ranks.recover_merges(published(name).spec)
        assert (len(recovered.merges), len(recovered.odd)) == (count, check["unreachable"])


def op_convert_sha256(check: Check) -> None:
    assert (check["dst"], check["header"]) == ("gpt2 merges.txt", "#version: 0.2")
    with tempfile.TemporaryDirectory() as folder:
        source = shared_data.rank_file(check["src"].removesuffix(".tiktoken"))
        bc.convert(source, folder, to="gpt2")
        data = (Path(folder) / "merges.txt").read_bytes()
    assert hashlib.sha256(data).hexdigest() == check["sha256"]


def op_convert_encode(check: Check) -> None:
    import tokenizers

    with tempfile.TemporaryDirectory() as folder:
        spec = converted_spec(check)
        bc.converters.write(spec, folder, format="huggingface")
        theirs = tokenizers.Tokenizer.from_file(str(Path(folder) / "tokenizer.json"))
        assert theirs.encode(check["text"], add_special_tokens=False).ids == check["ids"]
        assert bc.load(folder).encode(check["text"]) == check["ids"]


def op_convert_error(check: Check) -> None:
    spec = converted_spec(check)
    with pytest.raises(bc.errors.UnsupportedError, match=check["must_say"]):
        bc.converters.write(spec, "never-written", format=check["dst"], allow_loss=True)


def op_sizes(check: Check) -> None:
    spec = published(check["tokenizer"]).spec
    sizes = (spec.vocab_size, spec.token_count, spec.base_count)
    assert sizes == (check["n_vocab"], check["tokens"], check["base"])


def op_arith(check: Check) -> None:
    text = " ".join(f"w{number:06}" for number in range(5000))
    special = [f"<{n}>" for n in range(check["special_tokens"])]
    tok = bc.train([text], check["vocab_size"], special_tokens=special)
    assert len(tok.spec.merges) == check["merges"]


def op_train(check: Check) -> None:
    sources = check.get("word_counts") or check["corpus"] * check.get("repeat", 1)
    special = check.get("special_tokens", [])
    size = check.get("vocab_size") or 256 + check["merges_count"]
    tie = TIE_BREAK.get(check.get("tie", "smallest ids"))
    order = "gpt2" if "GPT-2" in check.get("note", "") else "raw"
    # Of texts in ASCII, characters are bytes.
    assert not check.get("char_level") or all(text.isascii() for text in sources)
    options: dict[str, Any] = {"tie_break": tie, "byte_order": order}
    options["pattern"] = PRE_TOKENIZERS[check.get("pretok", "gpt2")]
    options["max_token_length"] = check.get("max_token_length")
    tok = bc.train(sources, size, special_tokens=special, **options)
    spelled = to_characters if order == "gpt2" else bytes.decode
    tokens = tok.spec.tokens
    pairs = [[spelled(tokens[a]), spelled(tokens[b])] for a, b in tok.spec.merges]
    assert pairs[: len(check["merges"])] == check["merges"]
    if "merges_count" in check or "repeat" not in check:
        assert len(pairs) == len(check["merges"])


def op_train_encode(check: Check) -> None:
    order = "gpt2" if "ids_gpt2_byte_order" in check else "raw"
    tok = bc.train(
        check["corpus"],
        check["vocab_size"],
        special_tokens=(),
        tie_break="ids",
        byte_order=order,  # type: ignore[arg-type]
    )
    expected = check.get("ids_gpt2_byte_order") or check["ids_raw_byte_numbering"]
    ids = tok.encode(check["text"])
    assert ids == expected
    assert tok.decode(ids) == check["text"]


OPS: dict[str, Callable[[Check], None]] = {
    "added_matches": op_added_matches,
    "added_roundtrip": op_added_roundtrip,
    "arith": op_arith,
    "autotokenizer_encode": op_autotokenizer_encode,
    "convert_encode": op_convert_encode,
    "convert_error": op_convert_error,
    "convert_sha256": op_convert_sha256,
    "count_prefixes": op_count_prefixes,
    "decode": op_decode,
    "decode_error": op_decode_error,
    "decode_with_offsets": op_decode_with_offsets,
    "encode": op_encode,
    "encode_parallel_equals_serial": op_encode_parallel,
    "encode_summary": op_encode_summary,
    "encode_tokens": op_encode_tokens,
    "encode_words": op_encode_words,
    "load_error": op_load_error,
    "load_error_or_encode_error": op_load_error_or_encode_error,
    "load_merges_encode": op_load_merges_encode,
    "load_merges_error": op_load_merges_error,
    "load_tiktoken": op_load_tiktoken,
    "load_tiktoken_error": op_load_tiktoken_error,
    "load_tokenizer_json_encode": op_load_tokenizer_json,
    "load_tokenizer_json_error": op_load_tokenizer_json_error,
    "offsets": op_offsets,
    "offsets_cover": op_offsets_cover,
    "pretokenize": op_pretokenize,
    "recover_merges": op_recover_merges,
    "recover_merges_count": op_recover_merges_count,
    "roundtrip": op_roundtrip,
    "sizes": op_sizes,
    "skip_special": op_skip_special,
    "train": op_train,
    "train_encode": op_train_encode,
    "truncate": op_truncate,
}
