"""The command `bpe-compat`.

Results go to stdout, progress and errors to stderr; the exit code is 2 for bad input. That of
`compare` is 0 for equal, 1 for different and 3 for undecided.
"""

import argparse
import os
import sys
import warnings
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from . import __version__, converters, registry
from .comparing import compare
from .errors import BPECompatError, FormatError
from .patterns import PATTERNS
from .summary import summary
from .tokenizer import Tokenizer, load
from .training import train
from .verify import convert

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command with these arguments (those of the process if None)."""
    options = _parse(arguments)
    code: int | None = None
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _show_warning
            code = options.run(options)
        sys.stdout.flush()
    except BrokenPipeError:  # the reader has seen enough; keep Python from complaining at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (BPECompatError, ValueError, KeyError, TypeError, OSError, ImportError) as error:
        message = error.args[0] if isinstance(error, KeyError) else error
        print(f"bpe-compat: error: {message}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    return code or 0


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """argparse gives up on files that come after an option; they are files nevertheless."""
    parser = _parser()
    options, rest = parser.parse_known_args(arguments)
    if rest and (not hasattr(options, "files") or any(item.startswith("-") for item in rest)):
        parser.error(f"unrecognized arguments: {' '.join(rest)}")
    if rest:
        options.files = [*options.files, *map(Path, rest)]
    return options


def _show_warning(message: Warning | str, *rest: object, **more: object) -> None:
    print(f"bpe-compat: warning: {message}", file=sys.stderr)


def _parser() -> argparse.ArgumentParser:
    formats = "\n".join(f"  {f.name:<12} {f.description}" for f in converters.FORMATS.values())
    parser = argparse.ArgumentParser(
        prog="bpe-compat",
        description="Train byte-pair encodings, use them, and move them between formats.",
        epilog=f"formats:\n{formats}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"bpe-compat {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    _add_train(commands.add_parser("train", help="train a tokenizer on text files"))
    _add_encode(commands.add_parser("encode", help="text to ids"))
    _add_decode(commands.add_parser("decode", help="ids to text"))
    _add_convert(
        commands.add_parser("convert", help="from format to format, without changing an id")
    )
    _add_inspect(commands.add_parser("inspect", help="what there is to know about a tokenizer"))
    _add_register(commands.add_parser("register", help="a name for tiktoken.get_encoding"))
    _add_compare(commands.add_parser("compare", help="whether two tokenizers give the same ids"))
    return parser


def _add_train(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "files",
        nargs="+",
        help="text, .jsonl or .parquet, also .gz, .zst, .xz, .bz2; folders; globs; - for stdin",
    )
    parser.add_argument("--vocab-size", type=int, required=True)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--format", choices=converters.FORMATS, default="huggingface")
    parser.add_argument(
        "--pattern", default="gpt2", help=f"{', '.join(PATTERNS)}, a regex, or none (default: gpt2)"
    )
    parser.add_argument(
        "--special", action="append", metavar="TOKEN", help="default: <|endoftext|>"
    )
    parser.add_argument("--no-special", action="store_true", help="no special tokens")
    parser.add_argument("--tie-break", choices=["bytes", "ids", "first"], default="bytes")
    parser.add_argument("--byte-order", choices=["raw", "gpt2"], default="raw")
    parser.add_argument("--special-ids", choices=["first", "after_bytes", "last"], default="last")
    parser.add_argument("--min-frequency", type=int, default=1)
    parser.add_argument("--max-token-length", type=int, metavar="BYTES")
    parser.add_argument("--unit", choices=["document", "line"], default="document")
    parser.add_argument("--text-column", default="text", help="of .jsonl and .parquet")
    parser.add_argument(
        "--errors", choices=["strict", "replace", "bytes"], default="strict",
        help="what to do with bytes that are no UTF-8 (default: refuse the file)",
    )  # fmt: skip
    parser.add_argument("--seed-token", action="append", default=[], metavar="TOKEN")
    parser.add_argument("--forbid", metavar="REGEX", help="tokens never to make")
    parser.add_argument("--extend", type=Path, metavar="TOKENIZER", help="go on from this one")
    parser.add_argument("--alphabet", choices=["bytes", "characters"], default="bytes")
    parser.add_argument("--end-of-word-suffix", default="", metavar="SUFFIX")
    parser.add_argument("--end-of-word", choices=["attached", "separate"], default="attached")
    parser.add_argument("--continuing-subword-prefix", default="", metavar="PREFIX")
    parser.add_argument("--unknown-token", metavar="TOKEN")
    parser.add_argument("--memory-limit", type=int, metavar="BYTES", help="of counting")
    parser.add_argument("--threads", type=int)
    parser.add_argument("--quiet", action="store_true", help="no progress bars")
    parser.set_defaults(run=_train)


def _train(options: argparse.Namespace) -> None:
    special = options.special or ["<|endoftext|>"]
    converters.check_target(options.output, options.format)
    if options.files != ["-"] and "-" in options.files:
        raise FormatError("- stands alone: stdin cannot be read together with files")
    stdin = options.files == ["-"]
    tokenizer = train(
        sys.stdin.buffer if stdin else [Path(name) for name in options.files],
        options.vocab_size,
        pattern=None if options.pattern == "none" else options.pattern,
        special_tokens=[] if options.no_special else special,
        tie_break=options.tie_break,
        byte_order=options.byte_order,
        special_ids=options.special_ids,
        min_frequency=options.min_frequency,
        max_token_length=options.max_token_length,
        unit=options.unit,
        text_column=options.text_column,
        errors=options.errors,
        seed_tokens=options.seed_token,
        forbid=options.forbid,
        extend=None if options.extend is None else load(options.extend),
        alphabet=options.alphabet,
        end_of_word_suffix=options.end_of_word_suffix,
        end_of_word=options.end_of_word,
        continuing_subword_prefix=options.continuing_subword_prefix,
        unknown_token=options.unknown_token,
        memory_limit=options.memory_limit,
        threads=options.threads,
        progress=False if options.quiet else None,
    )
    tokenizer.save(options.output, format=options.format)
    print(f"{options.output}: {tokenizer.n_vocab} ids, {len(tokenizer.spec.merges)} merges")


def _add_source(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("tokenizer", type=Path, help="a file or folder of any readable format")
    _add_reading(parser)


def _add_reading(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--from", dest="source_format", choices=converters.FORMATS)
    _add_for_ranks(parser)


def _add_for_ranks(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--pattern", help="for rank files: a name, a regex")
    parser.add_argument(
        "--special", action="append", metavar="TOKEN=ID", help="for rank files: a special token"
    )


def _special_tokens(options: argparse.Namespace) -> dict[str, int] | None:
    if options.special is None:
        return None
    found = {}
    for item in options.special:
        token, _, id = item.rpartition("=")
        if not token or not id.isdigit():
            raise ValueError(f"--special must be TOKEN=ID, not {item!r}")
        found[token] = int(id)
    return found


def _load(options: argparse.Namespace) -> Tokenizer:
    return load(
        options.tokenizer,
        format=options.source_format,
        pattern=options.pattern,
        special_tokens=_special_tokens(options),
    )


def _add_encode(parser: argparse.ArgumentParser) -> None:
    _add_source(parser)
    parser.add_argument("files", nargs="*", type=Path, help="UTF-8 text (default: stdin)")
    parser.add_argument("--lines", action="store_true", help="each line is a text of its own")
    parser.add_argument(
        "--specials", choices=["text", "encode"], default="text",
        help="special tokens in the text stay text (default), or become their ids",
    )  # fmt: skip
    parser.add_argument("--out", type=Path, help="a flat file of ids, for np.memmap")
    parser.add_argument("--separator", metavar="TOKEN", help="behind each file's ids in --out")
    parser.add_argument("--dtype", choices=["uint16", "uint32"], help="of --out")
    parser.add_argument("--threads", type=int)
    parser.epilog = (
        "Without --out, ids go to stdout as numbers, a line for each text. With it, they go there "
        "as little-endian numbers (uint16 if they fit); OUT.offsets.npy says where files begin."
    )
    parser.set_defaults(run=_encode)


def _encode(options: argparse.Namespace) -> None:
    if options.out is not None:
        _encode_files(options)
        return
    if options.separator is not None or options.dtype is not None:
        raise ValueError("--separator and --dtype are of --out")
    tokenizer = _load(options)
    texts = _inputs(options.files)
    if options.lines:
        texts = [line for text in texts for line in text.removesuffix(b"\n").split(b"\n")]
    ids, offsets = tokenizer.encode_arrays(
        texts, specials=options.specials, threads=options.threads, progress=None
    )
    for start, end in pairwise(offsets.tolist()):
        sys.stdout.write(" ".join(map(str, ids[start:end].tolist())) + "\n")


def _encode_files(options: argparse.Namespace) -> None:
    if not options.files or options.lines:
        raise ValueError("--out takes files, each of them one text: no stdin and no --lines")
    ids, offsets = _load(options).encode_files(
        options.files,
        separator=options.separator,
        dtype=options.dtype,
        out=options.out,
        specials=options.specials,
        threads=options.threads,
    )
    print(f"{options.out}: {len(ids)} ids of {len(offsets) - 1} files, {ids.dtype}")


def _inputs(files: list[Path]) -> list[bytes]:
    return [path.read_bytes() for path in files] if files else [sys.stdin.buffer.read()]


def _add_decode(parser: argparse.ArgumentParser) -> None:
    _add_source(parser)
    parser.add_argument("files", nargs="*", type=Path, help="ids as numbers (default: stdin)")
    parser.add_argument("--lines", action="store_true", help="each line is a text of its own")
    parser.set_defaults(run=_decode)


def _decode(options: argparse.Namespace) -> None:
    tokenizer = _load(options)
    for data in _inputs(options.files):
        text = data.decode()
        for line in text.splitlines() if options.lines else [text]:
            data = tokenizer.decode_bytes([_id(word) for word in line.split()])
            sys.stdout.buffer.write(data + b"\n" * options.lines)


def _id(word: str) -> int:
    if not word.isascii() or not word.isdigit():
        raise ValueError(f"{word[:40]!r} is no id; give numbers with white space between")
    return int(word[:20])


def _add_convert(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("src", type=Path)
    parser.add_argument("dst", type=Path)
    parser.add_argument("--to", required=True, choices=converters.FORMATS)
    _add_reading(parser)
    parser.add_argument(
        "--allow-loss",
        action="store_true",
        help="write what the format can hold, and list the rest on stderr",
    )
    parser.add_argument(
        "--no-verify",
        action="store_true",
        help="do not read back what was written, nor ask the format's own library",
    )
    parser.add_argument(
        "--pad-to", type=int, metavar="IDS", help="for gguf: as many ids as the model has rows"
    )
    parser.set_defaults(run=_convert)


def _convert(options: argparse.Namespace) -> None:
    if options.pad_to is not None and options.to != "gguf":
        raise ValueError("--pad-to is an option of the format gguf")
    padding = {} if options.pad_to is None else {"pad_to": options.pad_to}
    losses = convert(
        options.src,
        options.dst,
        to=options.to,
        source_format=options.source_format,
        pattern=options.pattern,
        special_tokens=_special_tokens(options),
        allow_loss=options.allow_loss,
        verify=not options.no_verify,
        progress=None,
        **padding,
    )
    for loss in losses:
        print(f"bpe-compat: lost: {loss}", file=sys.stderr)
    print(options.dst)


def _add_inspect(parser: argparse.ArgumentParser) -> None:
    _add_source(parser)
    parser.set_defaults(run=_inspect)


def _inspect(options: argparse.Namespace) -> None:
    print(summary(_load(options).spec))


def _add_register(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Gives a tokenizer a name by which tiktoken.get_encoding finds it. The names are kept in "
        f"{registry.registry_file()}, or in the file that ${registry.VARIABLE} names."
    )
    parser.add_argument("name", nargs="?")
    parser.add_argument(
        "path", nargs="?", type=Path, help="a file or folder of any readable format"
    )
    _add_reading(parser)
    group = parser.add_mutually_exclusive_group()
    group.add_argument("--list", action="store_true", help="show names and paths")
    group.add_argument("--remove", action="store_true", help="forget the name")
    parser.set_defaults(run=_register)


def _register(options: argparse.Namespace) -> None:
    if options.list and options.name is None:
        for name, path in registry.names().items():
            print(f"{name}\t{path}")
    elif options.remove and options.name is not None and options.path is None:
        registry.remove(options.name)
    elif options.path is not None and not options.list and not options.remove:
        registry.register(
            options.name,
            options.path,
            format=options.source_format,
            pattern=options.pattern,
            special_tokens=_special_tokens(options),
        )
    else:
        raise ValueError("give NAME and PATH, or --list, or --remove NAME")


def _add_compare(parser: argparse.ArgumentParser) -> None:
    for name in ("a", "b"):
        parser.add_argument(name, type=Path, help="a file or folder of any readable format")
    _add_for_ranks(parser)
    parser.set_defaults(run=_compare)


def _compare(options: argparse.Namespace) -> int:
    given = {"pattern": options.pattern, "special_tokens": _special_tokens(options)}
    a, b = (
        load(path, **(given if converters.detect(path) == "tiktoken" else {}))
        for path in (options.a, options.b)
    )
    found = compare(a, b)
    print(found)
    return {"equal": 0, "different": 1, "undecided": 3}[found.verdict]
