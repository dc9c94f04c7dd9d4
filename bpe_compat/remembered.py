"""What is made of a spec more than once, kept as long as there is the spec."""

import functools
import weakref
from collections.abc import Callable
from typing import TypeVar

from .spec import TokenizerSpec

__all__ = ["remembered"]

T = TypeVar("T")


def remembered(make: Callable[[TokenizerSpec], T]) -> Callable[[TokenizerSpec], T]:
    """A function of a spec that is run once for each: told by identity, since specs are large.

    >>> spec = TokenizerSpec((b"a",))
    >>> listed = remembered(lambda spec: list(spec.tokens))
    >>> listed(spec) is listed(spec)
    True
    """
    made: dict[int, tuple[weakref.ref[TokenizerSpec], T]] = {}

    @functools.wraps(make)
    def once(spec: TokenizerSpec) -> T:
        key = id(spec)
        known = made.get(key)
        if known is not None and known[0]() is spec:
            return known[1]
        value = make(spec)
        made[key] = weakref.ref(spec, lambda _: made.pop(key, None)), value
        return value

    return once
