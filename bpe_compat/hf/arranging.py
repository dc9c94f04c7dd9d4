"""Methods of `PreTrainedTokenizer` that work on ids alone."""

# mypy: disable-error-code="no-untyped-call,misc"

from typing import Any

from transformers import PreTrainedTokenizer
from transformers.tokenization_utils_base import TruncationStrategy

from .assembly import Assembly, shares
from .vocabulary import Vocabulary

__all__ = ["Arranging"]


class Arranging(PreTrainedTokenizer):
    """Puts special tokens around ids, and cuts ids to size."""

    _vocabulary: Vocabulary
    _assembly: Assembly

    def num_special_tokens_to_add(self, pair: bool = False) -> int:
        """How many special tokens are put around one text or a pair."""
        return self._assembly.added(pair=pair)

    def build_inputs_with_special_tokens(
        self, token_ids_0: list[int], token_ids_1: list[int] | None = None
    ) -> list[int]:
        """The ids of a text or a pair with the special tokens that the template puts around."""
        return [id for id, _, _ in self._arranged(token_ids_0, token_ids_1)]

    def get_special_tokens_mask(
        self,
        token_ids_0: list[int],
        token_ids_1: list[int] | None = None,
        already_has_special_tokens: bool = False,
    ) -> list[int]:
        """1 for each id that the template adds, 0 for the others.

        Of ids that have them already, 1 for those in `all_special_ids`.
        """
        if already_has_special_tokens:
            mask: list[int] = super().get_special_tokens_mask(
                token_ids_0, token_ids_1, already_has_special_tokens=True
            )
            return mask
        return [int(is_added) for _, _, is_added in self._arranged(token_ids_0, token_ids_1)]

    def create_token_type_ids_from_sequences(
        self, token_ids_0: list[int], token_ids_1: list[int] | None = None
    ) -> list[int]:
        """The type of each id as the template says it."""
        return [type_id for _, type_id, _ in self._arranged(token_ids_0, token_ids_1)]

    def _arranged(self, first: list[int], second: list[int] | None) -> list[tuple[int, int, bool]]:
        """(id, type id, whether the template adds it) for a text or a pair."""
        arranged: list[tuple[int, int, bool]] = []
        for item in self._assembly.items(pair=second is not None, specials=True):
            if isinstance(item.value, int):
                arranged.append((item.value, item.type_id, True))
            else:
                ids = first if item.value == "A" else second or ()
                arranged += [(id, item.type_id, False) for id in ids]
        return arranged

    def truncate_sequences(
        self,
        ids: list[int],
        pair_ids: list[int] | None = None,
        num_tokens_to_remove: int = 0,
        truncation_strategy: str | TruncationStrategy = "longest_first",
        stride: int = 0,
        **kwargs: Any,
    ) -> tuple[list[int], list[int], list[int]]:
        """Cuts ids to size; `longest_first` shares what is left as tokenizers does.

        transformers' slow classes take turns between the two texts instead, which gives other ids
        than its fast ones.
        """
        strategy = TruncationStrategy(truncation_strategy)
        if pair_ids is None or strategy != TruncationStrategy.LONGEST_FIRST:
            return super().truncate_sequences(
                ids, pair_ids, num_tokens_to_remove, truncation_strategy, stride, **kwargs
            )
        room = len(ids) + len(pair_ids) - max(0, num_tokens_to_remove)
        first, second = shares(len(ids), len(pair_ids), room)
        if self.truncation_side == "left":
            return ids[len(ids) - first :], pair_ids[len(pair_ids) - second :], []
        return ids[:first], pair_ids[:second], []
