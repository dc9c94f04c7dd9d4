"""Which added tokens take part in a call: tiktoken's allowed and disallowed special tokens."""

from collections.abc import Collection, Set
from typing import TYPE_CHECKING, Literal

from .errors import SpecialTokenError
from .spec import TokenizerSpec

if TYPE_CHECKING:
    from .engine import Engine

__all__ = ["AllowedSpecial", "DisallowedSpecial", "Specials"]

AllowedSpecial = Literal["all"] | Set[str]
DisallowedSpecial = Literal["all"] | Collection[str]

_DISALLOWED = (
    "Encountered text corresponding to disallowed special token {token!r}.\n"
    "To encode it as the special token, pass `allowed_special={{{token!r}, ...}}`. To encode it as "
    "ordinary text, pass `disallowed_special=(enc.special_tokens_set - {{{token!r}}})`, or "
    "`disallowed_special=()` for all special tokens."
)


class Specials:
    """The special tokens of a spec, and masks over its added tokens: one byte each, 1 to match.

    Added tokens that are not special match in every mask.
    """

    def __init__(self, spec: TokenizerSpec) -> None:
        self.added_tokens = spec.added_tokens
        self.ids = spec.special_tokens
        self.names = frozenset(self.ids)
        self.as_ids = bytes([1]) * len(self.added_tokens)
        self.as_text = bytes(not token.special for token in self.added_tokens)

    def mode(self, specials: str) -> bytes:
        """The mask for `specials="text"` or `specials="encode"`."""
        if specials == "text":
            return self.as_text
        if specials == "encode":
            return self.as_ids
        raise ValueError(f'specials must be "text" or "encode", not {specials!r}')

    def allowed(self, allowed: AllowedSpecial) -> bytes:
        """The mask under which these special tokens match."""
        if not allowed:
            return self.as_text
        if allowed == "all" or self.names <= allowed:
            return self.as_ids
        return bytes(not t.special or t.content in allowed for t in self.added_tokens)

    def check(
        self, engine: "Engine", text: str, allowed: AllowedSpecial, disallowed: DisallowedSpecial
    ) -> None:
        """Raises `SpecialTokenError` if a token of `disallowed` is in the text."""
        if disallowed == "all":
            if allowed == "all":
                return
            refused: Collection[str] = self.names - allowed
        else:
            refused = disallowed
        if not refused:
            return
        if self.names.issuperset(refused):
            self._check_known(engine, text, frozenset(refused))
            return
        for token in refused:
            if token in text:
                raise SpecialTokenError(_DISALLOWED.format(token=token))

    def _check_known(self, engine: "Engine", text: str, refused: frozenset[str]) -> None:
        mask = bytes(t.special and t.content in refused for t in self.added_tokens)
        for normalized in (False, True):
            for _, _, place in engine.core.cut(text, mask, normalized):
                if place >= 0:
                    token = self.added_tokens[place].content
                    raise SpecialTokenError(_DISALLOWED.format(token=token))
