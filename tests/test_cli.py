"""The command `bpe-compat`."""

import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import bpe_compat as bc
from bpe_compat.cli import main

TEXT = "the cat and the hat, it's naïve\nthe end\n"


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    path = tmp_path / "corpus.txt"
    path.write_text(TEXT * 3)
    return path


@pytest.fixture
def folder(corpus: Path, tmp_path: Path) -> Path:
    folder = tmp_path / "tok"
    bc.train(corpus, 270).save(folder)
    return folder


def test_train(corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    assert main(["train", str(corpus), "--vocab-size", "270", "--output", str(out)]) == 0
    assert capsys.readouterr().out == f"{out}: 270 ids, 13 merges\n"
    assert bc.load(out).spec == bc.train(corpus, 270).spec


def test_train_options(corpus: Path, tmp_path: Path) -> None:
    out = tmp_path / "x.tiktoken"
    options = ["--format", "tiktoken", "--pattern", "none", "--special", "<a>", "--special", "<b>",
               "--tie-break", "ids", "--byte-order", "gpt2", "--special-ids", "first", "--quiet",
               "--min-frequency", "2", "--max-token-length", "5", "--unit", "line"]  # fmt: skip
    arguments = ["train", str(corpus), "--vocab-size", "270", "--output", str(out), *options]
    assert main(arguments) == 0
    expected = bc.train(
        corpus, 270, pattern=None, special_tokens=["<a>", "<b>"], tie_break="ids",
        byte_order="gpt2", special_ids="first", min_frequency=2, max_token_length=5, unit="line",
    )  # fmt: skip
    assert bc.load(out).spec.tokens == expected.spec.tokens
    assert main([*arguments, "--no-special"]) == 0
    assert bc.load(out).special_tokens_set == set()


@pytest.mark.filterwarnings("ignore:the text has only")
def test_train_from_stdin_and_other_sources(
    corpus: Path, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    common = ["--vocab-size", "280", "--output", str(out), "--quiet"]
    with corpus.open("rb") as stream, monkeypatch.context() as patch:
        patch.setattr("sys.stdin", io.TextIOWrapper(stream))
        assert main(["train", "-", *common]) == 0
    assert bc.load(out).spec == bc.train(corpus, 280).spec
    rows = tmp_path / "rows.jsonl"
    rows.write_text(json.dumps({"story": TEXT * 3}))
    options = ["--text-column", "story", "--forbid", ".*t.*", "--seed-token", "cat"]
    assert main(["train", str(rows), *common, *options]) == 0
    expected = bc.train(corpus, 280, forbid=".*t.*", seed_tokens=["cat"])
    assert bc.load(out).spec == expected.spec
    assert main(["train", str(corpus), *common, "--extend", str(folder)]) == 0
    assert bc.load(out).spec == bc.train(corpus, 280, extend=bc.load(folder)).spec
    assert main(["train", str(corpus), "-", *common]) == 2


def test_encode_to_a_flat_file(
    folder: Path, corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "ids.bin"
    end = "<|endoftext|>"
    command = ["encode", str(folder), str(corpus), str(corpus), "--out", str(out)]
    assert main([*command, "--separator", end, "--dtype", "uint32"]) == 0
    ids = np.fromfile(out, "<u4").tolist()
    assert capsys.readouterr().out == f"{out}: {len(ids)} ids of 2 files, uint32\n"
    tok = bc.load(folder)
    assert ids == [*tok.encode(TEXT * 3), tok.eot_token] * 2
    assert main(command) == 0
    assert np.fromfile(out, "<u2").tolist() == tok.encode(TEXT * 3) * 2
    assert np.load(f"{out}.offsets.npy").tolist() == [0, len(ids) // 2 - 1, len(ids) - 2]
    for wrong in ([*command, "--lines"], ["encode", str(folder), "--out", str(out)]):
        assert main(wrong) == 2
        assert "--out takes files" in capsys.readouterr().err
    assert main(["encode", str(folder), str(corpus), "--separator", end]) == 2
    assert "--separator and --dtype are of --out" in capsys.readouterr().err


def test_encode_and_decode(
    folder: Path, corpus: Path, tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    tok = bc.load(folder)
    assert main(["encode", str(folder), str(corpus)]) == 0
    ids = capsysbinary.readouterr().out
    assert list(map(int, ids.split())) == tok.encode(TEXT * 3)
    (tmp_path / "ids").write_bytes(ids)
    assert main(["decode", str(folder), str(tmp_path / "ids")]) == 0
    assert capsysbinary.readouterr().out.decode() == TEXT * 3
    assert main(["encode", str(folder), "--lines", str(corpus)]) == 0
    lines = capsysbinary.readouterr().out
    assert [list(map(int, line.split())) for line in lines.splitlines()] == [
        tok.encode(line) for line in TEXT.splitlines() * 3
    ]
    (tmp_path / "ids").write_bytes(lines)
    assert main(["decode", str(folder), "--lines", str(tmp_path / "ids")]) == 0
    assert capsysbinary.readouterr().out.decode() == TEXT * 3


def test_special_tokens_in_text(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "text").write_text("a<|endoftext|>")
    assert main(["encode", str(folder), str(tmp_path / "text")]) == 0
    assert len(capsys.readouterr().out.split()) > 2
    assert main(["encode", str(folder), str(tmp_path / "text"), "--specials", "encode"]) == 0
    assert capsys.readouterr().out == "97 269\n"


def test_convert_and_inspect(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "x.tiktoken"
    assert main(["convert", str(folder), str(target), "--to", "tiktoken"]) == 0
    assert capsys.readouterr().out == f"{target}\n"
    (tmp_path / "x.tiktoken.json").unlink()
    options = ["--pattern", "gpt2", "--special", "<|endoftext|>=269"]
    assert main(["convert", str(target), str(tmp_path / "g"), "--to", "gpt2", *options]) == 0
    capsys.readouterr()
    assert main(["inspect", str(tmp_path / "g")]) == 0
    shown = capsys.readouterr().out
    for part in (
        "family          BPE of bytes, by listed merges",
        "encoder         native, scanner gpt2",
        "ids             270",
        "13 listed pairs",
        "split           gpt2",
        "'<|endoftext|>' 269",
    ):
        assert part in shown
    for format in ("huggingface", "gpt2", "tiktoken"):
        assert re.search(rf"^to {format} +nothing is lost$", shown, re.MULTILINE), shown


def test_inspect_shows_what_is_odd(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tree = {
        "normalizer": {"type": "NFC"},
        "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": True},
        "added_tokens": [{"id": 3, "content": "<x>", "special": False}],
        "model": {"vocab": {"a": 0, "b": 1, "xyz": 2}, "merges": []},
    }
    (tmp_path / "tokenizer.json").write_text(json.dumps(tree))
    assert main(["inspect", str(tmp_path)]) == 0
    shown = capsys.readouterr().out
    for part in (
        "encoder         native, scanner gpt2\n", "normalizer      nfc", "prefix space    yes",
        "added tokens    1: '<x>' 3",
        "missing bytes   254", "unreachable     1 tokens that no merge makes: 2 b'xyz'",
        "to tiktoken     the lack of a token for byte 0x00",
    ):  # fmt: skip
        assert part in shown


def test_inspect_shows_families_and_duplicates(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    golden = Path(__file__).resolve().parent / "golden"
    for name, parts in (
        ("golden.tiktoken", ["family          BPE of bytes, by rank"]),
        (
            "golden.subword_nmt",
            ["family          BPE of characters, suffix '</w>'", "generic matcher"],
        ),
        ("golden.sentencepiece", ["family          BPE of characters\n"]),
    ):
        assert main(["inspect", str(golden / name)]) == 0
        shown = capsys.readouterr().out
        assert all(part in shown for part in parts), shown
    tree = {"pre_tokenizer": {"type": "ByteLevel"}, "added_tokens": [{"id": 2, "content": " "}],
            "model": {"vocab": {"a": 0, "Ġ": 1}, "merges": []}}  # fmt: skip
    (tmp_path / "tokenizer.json").write_text(json.dumps(tree))
    assert main(["inspect", str(tmp_path)]) == 0
    assert (
        "duplicates      1 pairs of ids with the same bytes: 1 = 2 b' '" in capsys.readouterr().out
    )


def test_losses_are_listed_and_the_proof_can_be_left_out(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bc.train([TEXT], 257, special_tokens=(), pattern="cl100k").save(tmp_path / "cl")
    arguments = ["convert", str(tmp_path / "cl"), str(tmp_path / "g"), "--to", "gpt2"]
    assert main([*arguments, "--allow-loss"]) == 0
    assert capsys.readouterr().err == "bpe-compat: lost: a split pattern other than GPT-2's\n"
    assert main(["convert", str(folder), str(tmp_path / "h"), "--to", "gpt2", "--no-verify"]) == 0
    assert bc.load(tmp_path / "h").spec == bc.load(folder).spec
    options = ["--to", "gguf", "--pad-to", "300"]
    assert main(["convert", str(folder), str(tmp_path / "x.gguf"), *options]) == 0
    assert bc.load(tmp_path / "x.gguf").n_vocab == 300
    assert main(["convert", str(folder), str(tmp_path / "g"), "--to", "gpt2", "--pad-to", "9"]) == 2
    assert "--pad-to is an option of the format gguf" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["inspect", "/no/such"], "/no/such: no such file or folder"),
        (["train", "/no/such", "--vocab-size", "300", "--output", "x"], "/no/such: no such file"),
        (["encode", "{folder}", "/no/such"], "No such file"),
        (["decode", "{folder}", "{text}"], "'text' is no id; give numbers"),
        (["decode", "{folder}", "{ids}"], "Invalid token for decoding: 999"),
        (["convert", "{text}", "x", "--to", "gpt2"], "in none of the formats"),
        (["convert", "{folder}", "{text}", "--to", "gpt2"], "is a file"),
        (["inspect", "{folder}", "--special", "x"], "--special must be TOKEN=ID"),
        (["inspect", "{folder}", "--pattern", "gpt2"], "holds its own pattern"),
    ],
)
def test_bad_input_is_named_on_stderr(
    arguments: list[str],
    message: str,
    folder: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "text").write_text("text\n")
    (tmp_path / "ids").write_text("999")
    names = {name: str(tmp_path / name) for name in ("text", "ids")} | {"folder": str(folder)}
    assert main([argument.format(**names) for argument in arguments]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.startswith("bpe-compat: error: ")
    assert message in shown.err


def test_warnings_are_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "text").write_text("ab")
    arguments = [
        "train",
        str(tmp_path / "text"),
        "--vocab-size",
        "300",
        "--output",
        str(tmp_path / "o"),
    ]
    assert main(arguments) == 0
    assert capsys.readouterr().err.startswith("bpe-compat: warning: the text has only 1 pairs")


def test_unknown_commands_exit_with_2(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["improve"])
    assert caught.value.code == 2
    assert "improve" in capsys.readouterr().err


def test_as_a_process(folder: Path) -> None:
    """From standard input, and into a pipe that nobody reads to the end."""
    command = [sys.executable, "-m", "bpe_compat", "encode", str(folder)]
    environment = os.environ | {"PYTHONPATH": str(Path(bc.__file__).parent.parent)}
    done = subprocess.run(
        command, input=b"the cat", capture_output=True, check=True, env=environment
    )
    assert list(map(int, done.stdout.split())) == bc.load(folder).encode("the cat")
    assert done.stderr == b""
    pipe = f"yes the cat | head -c 3000000 | {' '.join(command)} --lines | head -n 1"
    done = subprocess.run(["bash", "-c", pipe], capture_output=True, check=True, env=environment)
    assert done.stderr == b""
