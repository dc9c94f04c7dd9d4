"""Native core of bpe_compat; use the package, not this module."""

from collections.abc import Sequence
from typing import Annotated

import numpy
import numpy.typing
from numpy.typing import NDArray


unicode_version: str = '16.0.0'

def scanners() -> list[str]:
    """Names of the native scanners."""

def scanner_versions() -> list[str]:
    """
    Versions of the scanners that this processor can run, the fastest first.
    """

def use_scanner_version(version: str) -> None:
    """Chooses one of them, for tests: all give the same."""

def piece_ends(text: object, scanner: object, by_line: bool = False) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]:
    """
    Byte offsets of the ends of a text's pieces, or of the pieces of its lines.
    """

def category_names() -> str:
    """
    The general categories, separated by spaces, in the order of their numbers.
    """

def categories() -> bytes:
    """The general category of each code point, as a number."""

def first_invalid(text: object) -> int:
    """
    Offset of the first byte that is not UTF-8, or the size if there is none.
    """

def first_invalid_text(texts: object) -> int:
    """Number of the first text that is not UTF-8, or how many there are."""

def pairs(rows: NDArray[numpy.uint32]) -> tuple[tuple[int, int], ...]:
    """The first two columns of some rows."""

def rank_lines(data: bytes) -> StringIds | None:
    """
    The numbers of tokens in lines of base64, a space and a number of at most nine digits; None if a line is anything else, or a token there twice.
    """

class Strings:
    def __len__(self) -> int: ...

    def __getitem__(self, place: int) -> str: ...

    def to_list(self) -> list[str]: ...

    def are_distinct(self) -> bool:
        """Whether no two are the same, empty ones aside."""

    def joined_pairs(self, rows: NDArray[numpy.uint32], between: str, behind: str) -> bytes:
        """
        One text of the two strings at the first two places of each row, with text between and behind them.
        """

    def json_model(self, inside: NDArray[numpy.uint32], rows: NDArray[numpy.uint32], before: str, behind: str) -> NDArray[numpy.uint8]:
        """
        `{STRING:PLACE,…},"merges":[[STRING,STRING],…]` in UTF-8, of the strings inside and of those at the first two places of each row, with text before and behind it.
        """

class Regex:
    def __init__(self, code: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], sets: bytes, letters: bytes, first: int) -> None: ...

    def find_all(self, text: object, mapped: bool = False) -> list[tuple[int, int]]:
        """Byte offsets of the matches in a text."""

class Scan:
    pass

def step_scan(step: tuple[Regex, int, bool, bool]) -> Scan:
    """The scanner of a split step that removes nothing."""

class Preparation:
    def __init__(self, normalizers: Sequence[tuple[int, bool, bool, str, str, Regex | None]], prefix_space: bool, splits: Sequence[tuple[Regex, int, bool, bool]]) -> None: ...

    def normalize(self, text: object) -> bytes: ...

    def segments(self, text: object) -> list[bytes]:
        """
        Segments of a text without added tokens, which goes through the normalizer first.
        """

class Model:
    def __init__(self, vocabulary: Vocabulary, *, byte_level: bool, by_ranks: bool, ignore_merges: bool, byte_fallback: bool, fuse_unknown: bool, unknown: int | None, prefix: bytes, suffix: bytes, suffix_apart: bool) -> None: ...

class Encoder:
    def __init__(self, model: Model, scanner: object, added: Sequence[tuple[bytes, int, bool, bool, bool, bool]], preparation: Preparation | None = None) -> None: ...

    def encode(self, text: object, enabled: bytes) -> list[int]: ...

    def encode_array(self, text: object, enabled: bytes) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,))]: ...

    def encode_column(self, data: object, offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], enabled: bytes, threads: int) -> tuple[Annotated[NDArray[numpy.uint32], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))]]:
        """
        The same for m texts that lie in one buffer, and the m + 1 offsets of them in it.
        """

    def locate(self, text: str, enabled: bytes) -> tuple[list[int], list[tuple[int, int]], list[int], list[int]]:
        """
        Ids, the characters that each covers, the number of its piece; and the places of added tokens among them.
        """

    def encode_batch(self, texts: object, enabled: bytes, threads: int, progress: object | None = None) -> tuple[Annotated[NDArray[numpy.uint32], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))]]:
        """Ids of all texts, and m + 1 offsets of the texts in them."""

    def count_batch(self, texts: object, enabled: bytes, threads: int) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]:
        """The number of ids of each text."""

    def encode_lists(self, texts: object, enabled: bytes, threads: int) -> list[list[int]]: ...

    def encode_pieces(self, pieces: Sequence[bytes]) -> list[int]:
        """Ids of pieces that were cut elsewhere."""

    def encode_piece_with_offsets(self, piece: bytes) -> tuple[list[int], list[tuple[int, int]]]:
        """Ids of a piece and the bytes of it that each covers."""

    def cut(self, text: object, enabled: bytes, normalized: bool) -> list[tuple[int, int, int]]:
        """
        Segments (begin, end, place of the added token or -1) of one pass over a text.
        """

    def find(self, token: bytes) -> int | None:
        """The id of a normal token."""

    def last_merges(self) -> Annotated[NDArray[numpy.uint32], dict(shape=(None, None))]:
        """
        Rows (left, right, merged, priority): the last merge of each token that its own bytes become, by id.
        """

    def token(self, id: int) -> bytes: ...

    def decode(self, ids: object) -> bytes: ...

    def decode_text(self, ids: object, errors: str) -> str: ...

    def decode_batch(self, batch: object, threads: int) -> list[bytes]: ...

    def decode_text_batch(self, batch: object, threads: int, errors: str) -> list[str]: ...

    def decode_arrays(self, ids: object, offsets: NDArray[numpy.int64], threads: int, errors: str) -> list[str]:
        """
        The texts whose ids lie one after the other in an array, at m + 1 offsets.
        """

def id_lists(encoder: Encoder, ids: numpy.typing.NDArray[numpy.uint32], offsets: numpy.typing.NDArray[numpy.int64], front: Sequence[int], back: Sequence[int], most: int, left: bool) -> list[list[int]]:
    """
    The ids of m texts at m + 1 offsets as lists, each between those of `front` and `back`;
    at most `most` of a text's own, its last ones if `left`.
    """

def ones(lists: list[list[int]]) -> list[list[int]]:
    """A list of ones for each list, as long as it."""

def flat(lists: list[object]) -> tuple[numpy.typing.NDArray[numpy.int64], numpy.typing.NDArray[numpy.int32]] | None:
    """
    The ints of m lists and the m + 1 offsets of the lists in them; None if there are none,
    if there is anything else, or too much for offsets of 32 bits.
    """

def canonical_merges(model: Model) -> tuple[Annotated[NDArray[numpy.uint32], dict(shape=(None, None))], Annotated[NDArray[numpy.uint32], dict(shape=(None,))]]:
    """
    Rows (left, right, merged) by merged id, and the ids that no two tokens make, of a model by ranks.
    """

def all_pairs(model: Model) -> Annotated[NDArray[numpy.uint32], dict(shape=(None, None))]:
    """Rows (left, right, merged) by merged, left, right."""

class StringIds:
    @staticmethod
    def of(vocab: dict[str, int] | dict[bytes, int]) -> StringIds | None:
        """Strings and their ids; None if anything in the dict is something else."""

    def __len__(self) -> int: ...

    def find(self, string: str | bytes) -> int | None:
        """The id of a string, or None."""

    @property
    def end(self) -> int:
        """One more than the greatest id."""

    def has_distinct_ids(self) -> bool: ...

    def to_dict(self) -> dict[str, int]: ...

    def to_dict_of_bytes(self) -> dict[bytes, int]: ...

    def merge_ids(self, merges: list[object]) -> Annotated[NDArray[numpy.uint32], dict(shape=(None, None))] | None:
        """
        Rows (left, right, made) of merges of strings, all pairs or all strings with a space; None if one is not that, or names or makes what is not here.
        """

class JsonPart:
    @property
    def begin(self) -> int: ...

    @property
    def end(self) -> int: ...

class JsonModel:
    @property
    def vocab(self) -> JsonPart: ...

    @property
    def merges(self) -> JsonPart: ...

    @property
    def strings(self) -> StringIds: ...

    def rows(self) -> Annotated[NDArray[numpy.uint32], dict(shape=(None, None))]:
        """Rows (left, right, made) of the merges; to be asked for once."""

def find_model(json: object) -> JsonModel | None:
    """
    The vocab and the merges of a tokenizer.json, which make strings of the vocab, and where in it they are; None if there is anything unusual about them.
    """

def last_rows(rows: NDArray[numpy.uint32]) -> NDArray[numpy.uint32]:
    """The rows without those whose first two columns come again."""

class Spelling:
    def __init__(self, strings: StringIds, size: int, alphabet: str | None, byte_fallback: bool) -> None: ...

    def kinds(self) -> Annotated[NDArray[numpy.uint8], dict(shape=(None,))]:
        """The number of each token's kind."""

    def tokens(self, replaced: dict[int, bytes]) -> list[bytes]:
        """By their ids; some may be replaced."""

    def vocabulary(self, kinds: NDArray[numpy.uint8], replaced: dict[int, bytes], merges: NDArray[numpy.uint32], cut: int) -> Vocabulary | None:
        """
        With these kinds, tokens replaced, and merges in rows (left, right) or (left, right, merged); None as from `Vocabulary.of`.
        """

class PieceCounter:
    def __init__(self, scanner: str, specials: Sequence[bytes], by_line: bool, memory_limit: int | None = None) -> None: ...

    def add(self, documents: object, threads: int, progress: object | None = None) -> None: ...

    def add_column(self, data: object, offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], threads: int, progress: object | None = None) -> None:
        """Documents that lie in one buffer, each from one offset to the next."""

    def reserve(self, size: int) -> int:
        """The place of so many bytes that come next."""

    def add_at(self, documents: object, place: int, worker: int, progress: object | None = None) -> None:
        """`add` on this thread, for several at once: each a worker of its own."""

    def add_column_at(self, data: object, offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], place: int, worker: int, progress: object | None = None) -> None:
        """`add_column` in the same way."""

    def add_pieces(self, blob: bytes, ends: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], counts: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """Pieces that were cut elsewhere."""

    def last_cut(self, text: object) -> int:
        """
        The last offset where a text may be cut whatever follows it; 0 if none.
        """

    def __len__(self) -> int: ...

    @property
    def forgotten(self) -> int: ...

    def pieces(self) -> tuple[bytes, NDArray[numpy.int64], NDArray[numpy.uint64]]:
        """
        Pieces in the order of their first appearance: bytes, their ends, counts.
        """

class TrainOptions:
    def __init__(self, tie_break: str, merges: int, min_frequency: int = 1, max_token_length: int = 18446744073709551615, first: Sequence[tuple[int, int]] = [], forbids: object | None = None, may_clash: bool = False, threads: int = 1) -> None: ...

def train(counter: PieceCounter, byte_order: bytes, options: TrainOptions, consume: bool = False, progress: object | None = None) -> Annotated[NDArray[numpy.uint32], dict(shape=(None, None))]:
    """
    Rows (left, right): ids below 256 are places in byte_order, 256 + i is merge i. If it may consume the counts, their memory is used again.
    """

def train_from(counter: PieceCounter, encoder: Encoder, options: TrainOptions, consume: bool = False, progress: object | None = None) -> Annotated[NDArray[numpy.uint32], dict(shape=(None, None))]:
    """
    The same from the tokens of an encoder on: ids below its size are its own.
    """

class Vocabulary:
    @staticmethod
    def of(tokens: tuple[bytes, ...], kinds: bytes, merges: tuple[tuple[int, int], ...], cut: int) -> Vocabulary | None:
        """
        None unless normal tokens differ, kinds go with tokens, and merges of tokens make normal ones after `cut` bytes of the right one are dropped; also for what would need a closer look.
        """

    @staticmethod
    def grown(tokens: list[bytes], behind: list[bytes], kinds: bytes, pairs: NDArray[numpy.uint32], cut: int) -> Vocabulary | None:
        """
        Of tokens, of what merges of them make in turn, and of the tokens behind these; None as from `of`.
        """

    def __len__(self) -> int: ...

    def __getitem__(self, id: int) -> bytes: ...

    def byte_ids(self) -> tuple[int | None, ...]:
        """Of each byte, the normal token that it alone is."""

    def sizes(self) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,))]:
        """The bytes of each token."""

    def not_utf8(self) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,))]:
        """The ids of tokens that are no text."""

    def same_tokens(self, other: Vocabulary) -> bool:
        """Whether each id is the same, and of one kind."""

    def same_merges(self, other: Vocabulary) -> bool:
        """Whether the pairs are the same, and their order."""

    def strings(self, alphabet: str | None, replaced: dict[int, str]) -> Strings:
        """
        Of each token, its bytes in the characters of an alphabet, or as UTF-8, which they must be; some may be replaced.
        """

    def tokens(self) -> tuple[bytes, ...]: ...

    def merges(self) -> tuple[tuple[int, int], ...]: ...

    def rows(self) -> Annotated[NDArray[numpy.uint32], dict(shape=(None, None))]:
        """Rows (left, right, merged) of the merges."""

    def has_merges(self) -> bool: ...

    def kinds(self) -> bytes:
        """The number of each token's kind."""
