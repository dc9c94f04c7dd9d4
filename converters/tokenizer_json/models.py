"""The sections `model` and `added_tokens`: tokens, ids and merges."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from ...bytelevel import from_characters, to_characters
from ...ranks import merges_of
from ...spec import AddedToken, TokenizerSpec, TokenKind
from ..json_tree import Node

__all__ = [
    "Model",
    "check_family",
    "losses",
    "read",
    "read_added_token",
    "read_added_tokens",
    "spelling_losses",
    "spellings",
    "write",
    "write_added_token",
    "write_added_tokens",
]

# No vocabulary is near this; a file that says so is broken, and must not fill the memory.
MAX_ID = 1 << 24
_KNOWN = (
    "type", "dropout", "unk_token", "continuing_subword_prefix", "end_of_word_suffix", "fuse_unk",
    "byte_fallback", "ignore_merges", "vocab", "merges",
)  # fmt: skip


@dataclass(slots=True)
class Model:
    """What the two sections say, in terms of a spec."""

    tokens: list[bytes]
    kinds: list[TokenKind]
    merges: tuple[tuple[int, int], ...] = ()
    added_tokens: tuple[AddedToken, ...] = ()
    options: dict[str, Any] = field(default_factory=dict)


def read(node: Node, added: list[AddedToken], *, byte_level: bool) -> Model:
    """Reads the model; `added` are the added tokens with the ids that the file gives them."""
    node.only(*_KNOWN)
    vocab = _read_vocab(node)
    unknown = node.get("unk_token", str, None)
    if unknown is not None and unknown not in vocab:
        raise node.error(f"the unk_token {unknown!r} is not in the vocab")
    prefix = node.get("continuing_subword_prefix", str, "")
    suffix = node.get("end_of_word_suffix", str, "")
    byte_fallback = node.get("byte_fallback", bool, False)
    ignore_merges = node.get("ignore_merges", bool, False)
    pairs, made = _read_merges(node, vocab, len(prefix))
    resolved = tuple(_resolved(node, token, vocab) for token in added)
    controls = {token.content for token in resolved if token.content in vocab}
    if not ignore_merges:
        controls -= made
        controls -= {c for c in controls if len(c.removeprefix(prefix).removesuffix(suffix)) <= 1}
    else:
        controls.clear()

    size = 1 + max([*vocab.values(), *(token.id for token in resolved)], default=-1)
    model = Model([b""] * size, [TokenKind.UNUSED] * size, added_tokens=resolved)
    for content, id in vocab.items():
        bytes_ = from_characters(content) if byte_level else content.encode()
        if content == unknown:
            model.kinds[id] = TokenKind.UNKNOWN
        elif content in controls or not bytes_:
            model.kinds[id], bytes_ = TokenKind.CONTROL, content.encode()
        elif byte_fallback and (byte := _byte_of(content)) is not None:
            model.kinds[id], bytes_ = TokenKind.BYTE, bytes([byte])
        else:
            model.kinds[id] = TokenKind.NORMAL
        model.tokens[id] = bytes_ or content.encode()
    for token in resolved:
        if model.kinds[token.id] is TokenKind.UNUSED:
            model.tokens[token.id] = token.content.encode()
            model.kinds[token.id] = TokenKind.CONTROL
    model.merges = _merge_ids(node, pairs, vocab, model)
    model.options = {
        "ignore_merges": ignore_merges,
        "byte_fallback": byte_fallback,
        "fuse_unknown": node.get("fuse_unk", bool, False),
        "unknown": None if unknown is None else vocab[unknown],
        "prefix": prefix,
        "suffix": suffix,
    }
    return model


def check_family(node: Node) -> None:
    """Refuses models that are not BPE by their name; old files do not say it."""
    unigram = isinstance(node.value.get("vocab"), list)
    family = node.get("type", str, "Unigram" if unigram else "BPE")
    if family != "BPE":
        raise node.unsupported(f"a {family} model, which is not BPE,")


def _read_vocab(node: Node) -> dict[str, int]:
    vocab: dict[str, int] = node.get("vocab", dict)
    owners: dict[int, str] = {}
    for content, id in vocab.items():
        if not isinstance(id, int) or isinstance(id, bool) or not 0 <= id < MAX_ID:
            raise node.error(f"the id of {content!r} in the vocab is {id!r}")
        if owners.setdefault(id, content) != content:
            raise node.error(
                f"id {id} is used twice in the vocab, by {owners[id]!r} and {content!r}"
            )
    return vocab


def _read_merges(
    node: Node, vocab: dict[str, int], prefix_length: int
) -> tuple[list[tuple[str, str]], set[str]]:
    """The merges as pairs of strings, the last of equal ones kept, and the strings they make."""
    pairs: list[tuple[str, str]] = []
    made: set[str] = set()
    form = None
    for index, merge in enumerate(node.get("merges", list)):
        form = form or type(merge)
        pair = merge.split(" ") if isinstance(merge, str) else merge
        if type(merge) is not form or not _is_pair(pair):
            raise node.error(
                f"merges[{index}] is {merge!r}, not two tokens in the form of merges[0]"
            )
        left, right = pair
        joined = left + right[prefix_length:]
        for part in (left, right, joined):
            if part not in vocab:
                raise node.error(f"merges[{index}] ({left!r}, {right!r}): {part!r} is no token")
        pairs.append((left, right))
        made.add(joined)
    if len(set(pairs)) < len(pairs):  # tokenizers gives a repeated pair its last place
        last = {pair: index for index, pair in enumerate(pairs)}
        pairs = [pair for index, pair in enumerate(pairs) if last[pair] == index]
    return pairs, made


def _is_pair(pair: Any) -> bool:
    return isinstance(pair, list) and len(pair) == 2 and all(isinstance(p, str) and p for p in pair)


def _merge_ids(
    node: Node, pairs: list[tuple[str, str]], vocab: dict[str, int], model: Model
) -> tuple[tuple[int, int], ...]:
    merges = tuple((vocab[left], vocab[right]) for left, right in pairs)
    normal = TokenKind.NORMAL
    for index, (left, right) in enumerate(merges):
        for id in (left, right):
            if model.kinds[id] is not normal:
                raise node.unsupported(
                    f"merge ({pairs[index][0]!r}, {pairs[index][1]!r}) of a {model.kinds[id]} token"
                )
    return merges


def _byte_of(content: str) -> int | None:
    if len(content) == 6 and content.startswith("<0x") and content.endswith(">"):
        digits = content[3:5]
        return int(digits, 16) if set(digits) <= set("0123456789ABCDEF") else None
    return None


def read_added_tokens(nodes: Iterable[Node]) -> list[AddedToken]:
    """The list `added_tokens`."""
    return [read_added_token(node, node.get("id", int)) for node in nodes]


def read_added_token(node: Node, id: int) -> AddedToken:
    """One added token, also as tokenizer_config.json has it."""
    node.only("id", "content", "single_word", "lstrip", "rstrip", "normalized", "special", "__type")
    if not 0 <= id < MAX_ID:
        raise node.error(f"the id is {id}")
    special = node.get("special", bool, False)
    return AddedToken(
        node.get("content", str),
        id,
        lstrip=node.get("lstrip", bool, False),
        rstrip=node.get("rstrip", bool, False),
        single_word=node.get("single_word", bool, False),
        normalized=node.get("normalized", bool, not special),
        special=special,
    )


def _resolved(node: Node, token: AddedToken, vocab: dict[str, int]) -> AddedToken:
    """The token with the id that tokenizers gives it: the vocab's if it is there."""
    id = vocab.get(token.content, token.id)
    if id != token.id:
        raise node.error(
            f"the added token {token.content!r} has id {token.id} but the vocab says {id}"
        )
    return token


def write_added_tokens(spec: TokenizerSpec) -> list[dict[str, Any]]:
    """The list `added_tokens`, by id."""
    ordered = sorted(spec.added_tokens, key=lambda token: token.id)
    return [{"id": token.id, **write_added_token(token)} for token in ordered]


def write_added_token(token: AddedToken) -> dict[str, Any]:
    """One added token without its id."""
    return {
        "content": token.content,
        "single_word": token.single_word,
        "lstrip": token.lstrip,
        "rstrip": token.rstrip,
        "normalized": token.normalized,
        "special": token.special,
    }


def write(spec: TokenizerSpec) -> dict[str, Any]:
    """The section `model`."""
    recovered = merges_of(spec)
    spelled = spellings(spec)
    outside = _outside_vocab(spec)
    return {
        "type": "BPE",
        "dropout": None,
        "unk_token": None if spec.unknown is None else spelled[spec.unknown],
        "continuing_subword_prefix": spec.prefix or None,
        "end_of_word_suffix": spec.suffix or None,
        "fuse_unk": spec.fuse_unknown,
        "byte_fallback": spec.byte_fallback,
        "ignore_merges": recovered.ignore_merges,
        "vocab": {
            token: id
            for id, token in enumerate(spelled)
            if spec.kinds[id] is not TokenKind.UNUSED and id not in outside
        },
        "merges": [[spelled[left], spelled[right]] for left, right in recovered.merges],
    }


def losses(spec: TokenizerSpec) -> list[str]:
    """What the two sections cannot hold."""
    found = spelling_losses(spec)
    inside = {t.id for t in spec.added_tokens} - _outside_vocab(spec)
    exposed = [id for id in sorted(inside) if spec.kinds[id] is TokenKind.CONTROL]
    if exposed and merges_of(spec).ignore_merges:
        found.append(
            f"the special token {spec.tokens[exposed[0]]!r} with the id {exposed[0]}: behind a gap "
            "of ids it must stand in the vocab, where ignore_merges lets ordinary text become it"
        )
    return found


def spelling_losses(spec: TokenizerSpec) -> list[str]:
    """What a map from strings to ids cannot hold."""
    found: list[str] = []
    owners: dict[str, int] = {}
    for id, token in enumerate(spellings(spec)):
        if token and owners.setdefault(token, id) != id:
            found.append(
                f"ids {owners[token]} and {id} as different tokens: both are spelled {token!r}"
            )
    ids: dict[int, str] = {}
    for added in spec.added_tokens:
        if ids.setdefault(added.id, added.content) != added.content:
            found.append(f"id {added.id} for both {ids[added.id]!r} and {added.content!r}")
    if not spec.byte_level:
        texts = (token for token in spec.normal_ids() if not _is_utf8(token))
        found += [f"the token {token!r}: it is not UTF-8" for token in islice(texts, 1)]
    return found


def _is_utf8(token: bytes) -> bool:
    try:
        token.decode()
    except UnicodeDecodeError:
        return False
    return True


def spellings(spec: TokenizerSpec) -> list[str]:
    """The string of each id; empty for those that nobody owns."""
    contents = {token.id: token.content for token in reversed(spec.added_tokens)}
    spelled = []
    for id, (token, kind) in enumerate(zip(spec.tokens, spec.kinds, strict=True)):
        if kind is TokenKind.BYTE:
            spelled.append(f"<0x{token[0]:02X}>")
        elif kind is TokenKind.NORMAL and spec.byte_level:
            spelled.append(to_characters(token))
        elif kind in (TokenKind.NORMAL, TokenKind.UNUSED):
            spelled.append(token.decode("utf-8", "replace"))
        else:
            spelled.append(contents.get(id) or token.decode("utf-8", "replace"))
    return spelled


def _outside_vocab(spec: TokenizerSpec) -> set[int]:
    """Ids of added tokens that need not stand in the vocab: the last ones, without a gap.

    tokenizers numbers added tokens that the vocab lacks from the size of the vocab on, whatever id
    the file gives them, so every other one must be in it to keep its id.
    """
    added = {t.id for t in spec.added_tokens if spec.kinds[t.id] is TokenKind.CONTROL}
    end = len(spec.tokens)
    first = end
    while first - 1 in added:
        first -= 1
    without_gap = TokenKind.UNUSED not in spec.kinds[:first]
    return set(range(first, end)) if without_gap else set()
