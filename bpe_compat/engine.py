"""The ways to run a spec: all native, or with normalizers and splits in Python.

All take texts that are valid UTF-8, and a mask that says which added tokens take part.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from . import _core, pipeline
from .errors import FormatError
from .models import model_of
from .offsets import Located, Locator
from .plan import native_plan
from .spec import TokenizerSpec
from .texts import valid

__all__ = ["Engine", "Text", "make_engine"]

Text = str | bytes
Ids = npt.NDArray[np.uint32]
Report = Callable[[int, int], None]


class Engine(Protocol):
    """What a `Tokenizer` needs to encode and decode."""

    core: _core.Encoder

    def encode(self, text: Text, enabled: bytes) -> list[int]:
        """The ids of a text."""

    def encode_array(self, text: Text, enabled: bytes) -> Ids:
        """The ids of a text as an array."""

    def encode_lists(self, texts: Sequence[Text], enabled: bytes, threads: int) -> list[list[int]]:
        """The ids of each text."""

    def encode_batch(
        self, texts: Sequence[Text], enabled: bytes, threads: int, progress: Report | None = None
    ) -> tuple[Ids, npt.NDArray[np.int64]]:
        """The ids of all texts and m + 1 offsets of the texts in them.

        `progress(done, total)` is told of bytes now and then.
        """

    def count_batch(
        self, texts: Sequence[Text], enabled: bytes, threads: int
    ) -> npt.NDArray[np.int64]:
        """The number of ids of each text."""

    def encode_column(
        self, data: Any, offsets: npt.NDArray[np.int64], enabled: bytes, threads: int
    ) -> tuple[Ids, npt.NDArray[np.int64]]:
        """The ids and offsets of m texts that lie in one buffer, at m + 1 offsets."""

    def locate(self, text: str, enabled: bytes) -> Located:
        """The ids of a text, the characters that each covers, and its piece."""

    def pieces(self, text: str) -> list[bytes]:
        """The pieces of a text without added tokens."""


def make_engine(spec: TokenizerSpec) -> Engine:
    """The fastest engine that this spec allows."""
    plan = native_plan(spec)
    if plan is None:
        return PythonEngine(spec)
    if plan.preparation is None:
        return NativeEngine(plan.scan, make_core(spec, plan.scan))
    return PreparedEngine(spec, plan.scan, plan.preparation)


def make_core(
    spec: TokenizerSpec,
    scanner: str | _core.Scan,
    normalize: Callable[[str], str] = str,
    preparation: _core.Preparation | None = None,
) -> _core.Encoder:
    """The native encoder of a spec; `normalize` is what some added tokens go through, too."""
    added = [
        (
            (normalize(t.content) if t.normalized else t.content).encode(),
            *(t.id, t.lstrip, t.rstrip, t.single_word, t.normalized),
        )
        for t in spec.added_tokens
    ]
    return _core.Encoder(model_of(spec), scanner, added, preparation)


class NativeEngine:
    """A native scanner makes the pieces."""

    def __init__(self, scan: str | _core.Scan, core: _core.Encoder) -> None:
        self.scan = scan
        self.core = core
        self.encode = self.core.encode
        self.encode_array = self.core.encode_array
        self.encode_lists = self.core.encode_lists
        self.encode_batch = self.core.encode_batch
        self.encode_column = self.core.encode_column
        self.count_batch = self.core.count_batch

    def locate(self, text: str, enabled: bytes) -> Located:
        ids, offsets, words, places = self.core.locate(text, enabled)
        return Located(ids, offsets, words, {i: text[slice(*offsets[i])] for i in places})

    def pieces(self, text: str) -> list[bytes]:
        return _pieces(text.encode(), self.scan)


def _pieces(data: bytes, scan: str | _core.Scan) -> list[bytes]:
    ends = _core.piece_ends(data, scan).tolist()
    return [data[a:b] for a, b in zip([0, *ends], ends, strict=False)]


class PreparedEngine(NativeEngine):
    """Texts are rewritten first, and split by more than a scanner: native, but for offsets."""

    def __init__(
        self, spec: TokenizerSpec, scan: str | _core.Scan, preparation: _core.Preparation
    ) -> None:
        def normalize(text: str) -> str:
            return preparation.normalize(text).decode()

        super().__init__(scan, make_core(spec, scan, normalize, preparation))
        self.preparation = preparation
        self._locator = Locator(spec, self.core)

    def locate(self, text: str, enabled: bytes) -> Located:
        return self._locator.locate(text, enabled)

    def pieces(self, text: str) -> list[bytes]:
        segments = self.preparation.segments(text)
        return [piece for segment in segments for piece in _pieces(segment, self.scan)]


def _column(data: Any, offsets: npt.NDArray[np.int64]) -> list[bytes]:
    """The texts that lie in one buffer."""
    view = memoryview(data)
    return [bytes(view[begin:end]) for begin, end in pairwise(offsets.tolist())]


class PythonEngine:
    """Python makes the pieces; merging and added tokens are native."""

    def __init__(self, spec: TokenizerSpec) -> None:
        self.spec = spec
        self.normalize = pipeline.normalizer(spec.normalizers)
        self.split = pipeline.splitter(spec.splits)
        self.core = make_core(spec, "none", self.normalize)
        self.locate = Locator(spec, self.core).locate

    def encode(self, text: Text, enabled: bytes) -> list[int]:
        ids: list[int] = []
        for segment, token in self._segments(text, enabled):
            if token >= 0:
                ids.append(self.spec.added_tokens[token].id)
            else:
                ids += self.core.encode_pieces(self.pieces(segment, normalized=True))
        return ids

    def encode_array(self, text: Text, enabled: bytes) -> Ids:
        return np.array(self.encode(text, enabled), np.uint32)

    def encode_lists(self, texts: Sequence[Text], enabled: bytes, threads: int) -> list[list[int]]:
        return [self.encode(text, enabled) for text in texts]

    def encode_batch(
        self, texts: Sequence[Text], enabled: bytes, threads: int, progress: Report | None = None
    ) -> tuple[Ids, npt.NDArray[np.int64]]:
        lists = []
        decoded = [_decoded(text) for text in texts]
        total, done = sum(map(len, decoded)), 0
        for text in decoded:
            lists.append(self.encode(text, enabled))
            done += len(text)
            if progress:
                progress(done, total)
        offsets = np.zeros(len(lists) + 1, np.int64)
        np.cumsum([len(ids) for ids in lists], out=offsets[1:])
        return np.array([id for ids in lists for id in ids], np.uint32), offsets

    def count_batch(
        self, texts: Sequence[Text], enabled: bytes, threads: int
    ) -> npt.NDArray[np.int64]:
        return np.array([len(self.encode(text, enabled)) for text in texts], np.int64)

    def encode_column(
        self, data: Any, offsets: npt.NDArray[np.int64], enabled: bytes, threads: int
    ) -> tuple[Ids, npt.NDArray[np.int64]]:
        return self.encode_batch(_column(data, offsets), enabled, threads)

    def pieces(self, text: str, *, normalized: bool = False) -> list[bytes]:
        text = text if normalized else self.normalize(text)
        text = pipeline.prefixed(text, prefix_space=self.spec.prefix_space)
        return [pipeline.to_bytes(piece) for piece, _, _ in self.split(text)]

    def _segments(self, text: Text, enabled: bytes) -> Iterator[tuple[str, int]]:
        """Segments, and the place of the added token that each is, or -1.

        Segments may overlap: a stripped space may itself be an added token.
        """
        for raw, token in self._cut(_decoded(text), enabled, normalized=False):
            if token >= 0:
                yield raw, token
            else:
                yield from self._cut(self.normalize(raw), enabled, normalized=True)

    def _cut(self, text: str, enabled: bytes, *, normalized: bool) -> list[tuple[str, int]]:
        """The same for one pass."""
        data = text.encode()
        return [
            (data[begin:end].decode(), token)
            for begin, end, token in self.core.cut(data, enabled, normalized)
        ]


def _decoded(text: Text) -> str:
    if isinstance(text, str):
        return valid(text)
    if not isinstance(text, bytes | bytearray | memoryview):
        raise TypeError(f"text must be str or bytes, not {type(text).__name__}")
    try:
        return bytes(text).decode()
    except UnicodeDecodeError as error:
        raise FormatError(
            f"byte {error.start} of the text is not UTF-8; this tokenizer has a normalizer or a "
            "split that needs characters"
        ) from error
