"""Native models of specs, shared by all who need one at a time."""

import weakref
from typing import Any

import numpy as np

from . import _core, flat
from .spec import TokenizerSpec, kind_numbers

__all__ = ["model_by_ranks", "model_of"]

_models: dict[int, tuple["weakref.ref[TokenizerSpec]", "weakref.ref[_core.Model]"]] = {}


def model_of(spec: TokenizerSpec) -> _core.Model:
    """The tokens and merges of a spec; built anew only if nobody holds the one that was built."""
    key = id(spec)
    known = _models.get(key)
    if known is not None and known[0]() is spec and (model := known[1]()) is not None:
        return model
    model = _built(
        spec,
        merges=flat.pair_array(spec.merges).reshape(-1),
        by_ranks=spec.merge_rule == "ranks",
        ignore_merges=spec.ignore_merges,
        byte_level=spec.byte_level,
        byte_fallback=spec.byte_fallback,
        fuse_unknown=spec.fuse_unknown,
        unknown=spec.unknown,
        prefix=spec.prefix.encode(),
        suffix=spec.suffix.encode(),
        suffix_apart=spec.suffix_apart,
    )
    _models[key] = weakref.ref(spec, lambda _: _models.pop(key, None)), weakref.ref(model)
    return model


def model_by_ranks(spec: TokenizerSpec) -> _core.Model:
    """What tiktoken would make of the ids of a byte-level spec, taken for ranks."""
    if spec.merge_rule == "ranks" and not spec.prefix and not spec.suffix:
        return model_of(spec)
    return _built(
        spec,
        merges=np.empty(0, np.uint32),
        by_ranks=True,
        ignore_merges=False,
        byte_level=True,
        byte_fallback=False,
        fuse_unknown=False,
        unknown=None,
        prefix=b"",
        suffix=b"",
        suffix_apart=False,
    )


def _built(spec: TokenizerSpec, **options: Any) -> _core.Model:
    tokens, ends = flat.joined(spec.tokens)
    return _core.Model(tokens=tokens, ends=ends, kinds=kind_numbers(spec.kinds), **options)
