"""`bpe-compat register`, and what tiktoken finds of it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import samples
import tiktoken

import bpe_compat as bc
from bpe_compat import registry
from bpe_compat.cli import main

SCRIPT = """
import sys, tiktoken
try:
    print(tiktoken.get_encoding(sys.argv[1]).encode(sys.argv[2], allowed_special="all"))
except Exception as error:
    print(type(error).__name__, error)
"""


@pytest.fixture(autouse=True)
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "names" / "registry.json"
    monkeypatch.setenv(registry.VARIABLE, str(path))
    return path


def asked(name: str, text: str = "the cat<|endoftext|>") -> str:
    """What a new process gets of tiktoken; its plug-ins are read once in each."""
    command = [sys.executable, "-c", SCRIPT, name, text]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def test_tiktoken_finds_what_is_registered(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tok = samples.trained(300, pattern="qwen2")
    tok.save(tmp_path / "tok")
    assert main(["register", "mine", str(tmp_path / "tok")]) == 0
    assert main(["register", "--list"]) == 0
    assert capsys.readouterr().out == f"mine\t{tmp_path / 'tok'}\n"
    expected = tok.encode("the cat<|endoftext|>", allowed_special="all")
    assert asked("mine") == str(expected)
    assert registry.find("mine").spec == tok.spec
    (tmp_path / "tok" / "tokenizer.json").unlink()
    (tmp_path / "tok" / "tokenizer_config.json").unlink()
    (tmp_path / "tok").rmdir()
    assert "registered as 'mine', is not there any more; run `bpe-compat" in asked("mine")
    assert asked("yours").startswith("ValueError Unknown encoding yours")
    assert main(["register", "--remove", "mine"]) == 0
    assert registry.names() == {}
    assert asked("mine").startswith("ValueError Unknown encoding mine")


def test_what_a_rank_file_does_not_say(tmp_path: Path) -> None:
    tok = samples.trained(300)
    tok.save(tmp_path / "x.tiktoken", format="tiktoken")
    (tmp_path / "x.tiktoken.json").unlink()
    options = ["--pattern", "gpt2", "--special", "<|endoftext|>=299", "--from", "tiktoken"]
    assert main(["register", "mine", str(tmp_path / "x.tiktoken"), *options]) == 0
    expected = tok.encode("the cat<|endoftext|>", allowed_special="all")
    assert asked("mine") == str(expected)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["gpt2", "{tok}"], "tiktoken has an encoding 'gpt2' already"),
        ([" x", "{tok}"], "' x' is no name"),
        (["x", "{tok}/nothing"], "no such file or folder"),
        (["x", "{nfc}"], "tiktoken cannot hold: the normalizers nfc"),
        (["x"], "give NAME and PATH, or --list, or --remove NAME"),
        (["--remove", "x"], "no tokenizer is registered as 'x'; known: none"),
        (["--list", "x"], "give NAME and PATH"),
    ],
)
def test_what_is_refused(
    arguments: list[str], message: str, tmp_path: Path, file: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    samples.trained(300).save(tmp_path / "tok")
    tree = json.loads((tmp_path / "tok" / "tokenizer.json").read_text())
    (tmp_path / "nfc.json").write_text(json.dumps({**tree, "normalizer": {"type": "NFC"}}))
    names = {"tok": str(tmp_path / "tok"), "nfc": str(tmp_path / "nfc.json")}
    assert main(["register", *(argument.format(**names) for argument in arguments)]) == 2
    assert message in capsys.readouterr().err
    assert not file.exists()


@pytest.mark.parametrize(
    "content", ["{", "[]", '{"a": 5}', '{"a": {}}', '{"gpt2": {"path": "/x"}}']
)
def test_a_broken_registry_leaves_tiktoken_alone(content: str, file: Path) -> None:
    file.parent.mkdir()
    file.write_text(content)
    assert asked("a").startswith("ValueError Unknown encoding a")
    script = "import tiktoken; print(sorted(tiktoken.list_encoding_names()))"
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "'cl100k_base'" in done.stdout
    assert ("are left out" in done.stderr) == ("gpt2" not in content)


def test_where_the_registry_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(registry.VARIABLE)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    here = Path("bpe_compat") / "registry.json"
    assert registry.registry_file() == tmp_path / ".local" / "share" / here
    monkeypatch.setenv("XDG_DATA_HOME", "relative")
    assert registry.registry_file() == tmp_path / ".local" / "share" / here
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    assert registry.registry_file() == tmp_path / "data" / here


def test_the_plug_in_is_beside_those_of_tiktoken() -> None:
    assert "tiktoken_ext.bpe_compat" in tiktoken.registry._available_plugin_modules()


def test_a_live_processor(tmp_path: Path) -> None:
    sentencepiece = pytest.importorskip("sentencepiece")
    tok = bc.load(Path(__file__).resolve().parent / "golden" / "golden.sentencepiece")
    live = tok.to_sentencepiece()
    assert isinstance(live, sentencepiece.SentencePieceProcessor)
    text = "the cat and a girl named Lily, 2026"
    assert live.encode(text) == tok.encode(text)
    with pytest.raises(bc.errors.UnsupportedError, match="these tokens are bytes"):
        samples.trained(300).to_sentencepiece()
