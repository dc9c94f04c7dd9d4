"""Native models of specs, shared by all who need one at a time."""

import weakref

from . import _core
from .spec import TokenizerSpec

__all__ = ["model_by_ranks", "model_of"]

_models: dict[int, tuple["weakref.ref[TokenizerSpec]", "weakref.ref[_core.Model]"]] = {}


def model_of(spec: TokenizerSpec) -> _core.Model:
    """The tokens and merges of a spec; built anew only if nobody holds the one that was built."""
    key = id(spec)
    known = _models.get(key)
    if known is not None and known[0]() is spec and (model := known[1]()) is not None:
        return model
    model = _core.Model(
        spec.vocabulary,
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
    return _core.Model(
        spec.vocabulary,
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
