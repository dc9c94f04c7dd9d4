"""tiktoken's rank files."""

import base64
import json
from pathlib import Path

import pytest

import bpe_compat as bc

# Tables of a few tokens lack most bytes, of which reading them warns.
pytestmark = pytest.mark.filterwarnings("ignore:.* has no rank")


def rank_lines(ranks: dict[bytes, int]) -> bytes:
    return b"".join(base64.b64encode(token) + b" %d\n" % rank for token, rank in ranks.items())


def read_ranks(data: bytes, folder: Path) -> dict[bytes, int]:
    path = folder / "x.tiktoken"
    path.write_bytes(data)
    spec = bc.converters.read(path, pattern="gpt2", special_tokens={})
    return {token: id for id, token in enumerate(spec.tokens) if token}


@pytest.mark.parametrize(
    "data",
    [
        b"YQ== 0\nYg== 1\n",
        b"YQ== 0\r\nYg== 1\r\n",
        b"YQ== 0\n\nYg== 1",
        b"\xef\xbb\xbfYQ== 0\nYg== 1\n",
    ],
)
def test_line_ends_of_rank_files(data: bytes, tmp_path: Path) -> None:
    assert read_ranks(data, tmp_path) == {b"a": 0, b"b": 1}


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"YQ== 0\n!!! 5\n", "line 2: '!!!' is not base64"),
        (b"Y!Q== 0\n", "line 1: 'Y!Q==' is not base64"),
        (b"YR== 7\n", "line 1: 'YR==' is not the base64 form"),
        (b"YQ 0\n", "line 1: 'YQ' is not base64"),
        (b" 0\n", "line 1: '' is not the base64 form"),
        (b"YQ== 0\nYQ== 1\n", "line 2: the token b'a' has a rank already"),
        (b"YQ== 0\nYg== 0\n", "line 2: rank 0 was used in line 1 already"),
        (b"YQ== -1\n", "line 1: 'YQ== -1' is not a base64 token, a space and a rank"),
        (b"YQ== 1.0\n", "line 1: .* is not a base64 token"),
        (b"YQ==\n", "line 1: .* is not a base64 token"),
        (b"YQ== 0 x\n", "line 1: .* is not a base64 token"),
        (b"YQ== \xb2\n", "line 1: .* is not a base64 token"),
        (b"YQ== 99999999999999999999\n", "line 1: the rank '9+' is too large"),
        (b"<!DOCTYPE html>\n", "line 1: '<!DOCTYPE html>' is not a base64"),
        (b"", "line 1: the file holds no rank"),
    ],
)
def test_bad_rank_files_are_named_by_line(data: bytes, message: str, tmp_path: Path) -> None:
    with pytest.raises(bc.errors.FormatError, match=rf"x\.tiktoken: {message}"):
        read_ranks(data, tmp_path)


def test_a_bare_rank_file_needs_a_pattern(tmp_path: Path) -> None:
    path = tmp_path / "mine.tiktoken"
    path.write_bytes(rank_lines({bytes([b]): b for b in range(256)}))
    with pytest.raises(bc.errors.FormatError, match=r"pass pattern= .* mine.tiktoken.json"):
        bc.load(path)
    tok = bc.load(path, pattern="cl100k", special_tokens={"<s>": 256})
    assert tok.encode("<s>", allowed_special="all") == [256]
    (tmp_path / "mine.tiktoken.json").write_text(
        '{"name": "mine", "pattern": "o200k", "special_tokens": {"<e>": 300}}'
    )
    tok = bc.load(path)
    assert (tok.name, tok.n_vocab, tok.spec.splits) == (
        "mine",
        301,
        bc.load(path, pattern="o200k").spec.splits,
    )


def test_a_changed_file_is_read_again(tmp_path: Path) -> None:
    assert read_ranks(b"YQ== 0\n", tmp_path) == {b"a": 0}
    assert read_ranks(b"Yg== 0\n", tmp_path) == {b"b": 0}


def test_whispers_token_without_bytes(tmp_path: Path) -> None:
    """It is written `=`, has an id, is decoded to nothing, and no text becomes it."""
    ranks = {**{bytes([b]): b for b in range(256)}, b"ab": 256}
    path = tmp_path / "x.tiktoken"
    path.write_bytes(rank_lines(ranks) + b"= 257\n")
    tok = bc.load(path, pattern="gpt2", special_tokens={"<s>": 258})
    assert tok.n_vocab == 259
    assert tok.encode("ab<s>", allowed_special="all") == [256, 258]
    assert tok.decode([256, 257, 258]) == "ab<s>"
    assert tok.decode_single_token_bytes(257) == b""
    tok.save(tmp_path / "y.tiktoken", format="tiktoken")
    assert (tmp_path / "y.tiktoken").read_bytes() == path.read_bytes()
    assert bc.load(tmp_path / "y.tiktoken").spec == tok.spec


@pytest.mark.parametrize(
    ("sidecar", "message"),
    [
        (b'{"special_tokens": {}}', "'pattern' is missing; null means no split"),
        (b'{"pattern": "gpt2", "surprise": 1}', "the key 'surprise' is not known"),
        (b'{"pattern": 5}', "pattern: must be a string, not an integer"),
        (b'{"pattern": null, "special_tokens": {"<s>": 1000000000000}}', "'<s>' has the id 1000"),
        (b'{"pattern": null, "special_tokens": {"<s>": 1.5}}', "'<s>' is 1.5, no integer"),
        (b'{"pattern": null, "special_tokens": {"\\ud800": 2}}', "is no text"),
        (b'{"pattern": "\\udc00"}', "is no text"),
        (b'{"pattern": "\xff"}', "byte 13 is not UTF-8"),
    ],
)
def test_bad_sidecars_are_named(sidecar: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "x.tiktoken"
    path.write_bytes(rank_lines({bytes([b]): b for b in range(256)}))
    (tmp_path / "x.tiktoken.json").write_bytes(sidecar)
    with pytest.raises((bc.errors.FormatError, bc.errors.UnsupportedError), match=message):
        bc.load(path)


def test_bytes_without_a_rank_are_a_warning(tmp_path: Path) -> None:
    (tmp_path / "x.tiktoken").write_bytes(rank_lines({b"a": 0, b"b": 1}))
    with pytest.warns(UserWarning, match=r"x.tiktoken: byte 0x00 has no rank \(254 bytes in all\)"):
        bc.load(tmp_path / "x.tiktoken", pattern="gpt2", special_tokens={})


@pytest.mark.parametrize("id", [0, 256, 258])
def test_a_special_token_among_the_ranks(id: int, tmp_path: Path) -> None:
    """It is an added token of the tokenizer.json, and no merge makes it."""
    tokenizers = pytest.importorskip("tokenizers")
    tokens = [*(bytes([byte]) for byte in range(256)), b"lo", b"low"]
    tokens.insert(id, b"<s>")
    ranks = {token: rank for rank, token in enumerate(tokens)}
    tok = bc.Tokenizer.from_ranks(ranks, pattern="gpt2", special_tokens={"<s>": id})
    tok.save(tmp_path)
    tree = json.loads((tmp_path / "tokenizer.json").read_text())
    assert [token["content"] for token in tree["added_tokens"]] == ["<s>"]
    assert "<s>" not in ["".join(pair) for pair in tree["model"]["merges"]]
    live = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    for text in ("low<s>", "<s><s>lows>"):
        ids = live.encode(text, add_special_tokens=False).ids
        assert ids == tok.encode(text, allowed_special="all")
