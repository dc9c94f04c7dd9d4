"""`convert`: what happens to a destination that is there already."""

import json
from pathlib import Path
from typing import Any

import pytest

import bpe_compat as bc

TEXT = ["the cat and the hat, it's naïve 中文"] * 3
FORMATS = ["gpt2", "huggingface", "tiktoken"]


def target(folder: Path, format: str) -> Path:
    return folder / ("x.tiktoken" if format == "tiktoken" else format)


def tree(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


@pytest.fixture
def lossy(tmp_path: Path) -> Path:
    """A source that gpt2 and tiktoken cannot hold."""
    bc.train(TEXT, 280, pattern="cl100k").save(tmp_path / "source")
    path = tmp_path / "source" / "tokenizer.json"
    content = json.loads(path.read_text(encoding="utf-8"))
    content["normalizer"] = {"type": "Lowercase"}
    path.write_text(json.dumps(content))
    return tmp_path / "source"


@pytest.fixture
def there(tmp_path: Path) -> Path:
    """Tokenizers of all formats and a file of somebody else's."""
    folder = tmp_path / "there"
    for format in FORMATS:
        bc.train(["xyz xyz"], 258, special_tokens=()).save(target(folder, format), format=format)
        (folder / f"{format}.note").write_text("kept")
    return folder


@pytest.mark.parametrize("to", ["gpt2", "tiktoken"])
def test_a_lossy_conversion_leaves_the_destination(to: str, lossy: Path, there: Path) -> None:
    before = tree(there)
    with pytest.raises(bc.errors.LossyConversionError, match="lowercase"):
        bc.convert(lossy, target(there, to), to=to)
    assert tree(there) == before
    bc.convert(lossy, target(there, to), to=to, allow_loss=True)
    assert tree(there) != before
    assert tree(there).keys() >= before.keys()


@pytest.mark.parametrize("to", FORMATS)
@pytest.mark.parametrize("content", [b"{", b'{"model": {"type": "WordPiece", "vocab": {}}}', b""])
def test_a_bad_source_leaves_the_destination(
    to: str, content: bytes, tmp_path: Path, there: Path
) -> None:
    (tmp_path / "bad.json").write_bytes(content)
    before = tree(there)
    with pytest.raises((bc.errors.FormatError, bc.errors.UnsupportedError)):
        bc.convert(tmp_path / "bad.json", target(there, to), to=to, source_format="huggingface")
    assert tree(there) == before


@pytest.mark.parametrize("to", FORMATS)
def test_a_target_of_the_wrong_kind_is_refused_before_anything_is_read(
    to: str, there: Path
) -> None:
    folder = bc.converters.FORMATS[to].folder
    wrong = target(there, "tiktoken" if folder else "gpt2")
    before = tree(there)
    with pytest.raises(bc.errors.FormatError, match=rf"is a f\w+; the format {to} is a"):
        bc.convert(there / "nothing", wrong, to=to)
    assert tree(there) == before


@pytest.mark.parametrize("format", FORMATS)
def test_a_tokenizer_is_converted_onto_itself(format: str, there: Path) -> None:
    before = tree(there)
    options: Any = {"to": format}
    bc.convert(target(there, format), target(there, format), **options)
    assert tree(there) == before


def test_a_trial_for_the_folder_above_stays_in_its_own(
    tmp_path: Path, there: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    temporary, inner = tmp_path / "temporary", tmp_path / "outer" / "inner"
    temporary.mkdir()
    inner.mkdir(parents=True)
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    monkeypatch.chdir(inner)
    bc.convert(target(there, "tiktoken"), "..", to="huggingface")
    assert not tree(temporary)
    assert bc.load(tmp_path / "outer").encode("xyz") == [257]
