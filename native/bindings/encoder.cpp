// `Encoder`: text to ids.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "../encode/counting.h"
#include "../encode/ranks.h"
#include "bound_encoder.h"

namespace bpe::bindings {
namespace {

// Added tokens come as tuples: content, id, lstrip, rstrip, single_word, normalized.
using AddedTuple = std::tuple<nb::bytes, Id, bool, bool, bool, bool>;

void make_model(Model* self, std::shared_ptr<Vocabulary> vocabulary, bool byte_level, bool by_ranks,
                bool ignore_merges, bool byte_fallback, bool fuse_unknown, std::optional<Id> unknown,
                const nb::bytes& prefix, const nb::bytes& suffix, bool suffix_apart) {
    ModelOptions options{byte_level, by_ranks, ignore_merges, byte_fallback, fuse_unknown,
                         unknown.value_or(kNoId), std::string(prefix.c_str(), prefix.size()),
                         std::string(suffix.c_str(), suffix.size()), suffix_apart};
    const nb::gil_scoped_release released;
    new (self) Model(std::move(vocabulary), std::move(options));
}

void make_encoder(BoundEncoder* self, std::shared_ptr<Model> model, nb::handle scanner,
                  const std::vector<AddedTuple>& added,
                  std::optional<std::shared_ptr<Preparation>> preparation) {
    std::vector<AddedToken> added_tokens;
    for (const auto& [content, id, lstrip, rstrip, single_word, normalized] : added)
        added_tokens.push_back({std::string(content.c_str(), content.size()), id, lstrip, rstrip,
                                single_word, normalized});
    new (self) BoundEncoder(std::move(model), std::move(added_tokens), scanner_of(scanner),
                           preparation.value_or(nullptr));
}

// Does `job(worker, beat)` on this thread, without the GIL; Ctrl-C ends it.
template <class Job>
void alone(const Encoder& encoder, Job&& job, size_t text_bytes = 0) {
    PythonWatch watch{nb::none()};
    const nb::gil_scoped_release released;
    parallel_for(
        1, 1, 0, watch, [&](Beat& beat) { return Encoder::Worker(encoder, &beat, text_bytes); },
        [&](size_t, Encoder::Worker& worker, Beat& beat) { job(worker, beat); });
}

IdBuffer encode(const Encoder& encoder, nb::handle text, const nb::bytes& enabled) {
    const Text bytes(text);
    IdBuffer ids;
    const Bytes mask = bytes_of(enabled);
    alone(encoder, [&](Encoder::Worker& worker, Beat& beat) {
        encoder.encode(bytes, mask, worker, beat, ids);
    }, Bytes(bytes).size());
    return ids;
}

Array<Id> id_array(IdBuffer&& ids) {
    auto* kept = new IdBuffer(std::move(ids));
    nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<IdBuffer*>(p); });
    return Array<Id>(kept->data(), {kept->size()}, owner);
}

// Texts that lie one after the other in a buffer, as in a column of Arrow.
Encoder::Batch encode_column(const Encoder& encoder, nb::handle data, ArrayView<int64_t> offsets,
                             const nb::bytes& enabled, unsigned threads) {
    const Text buffer(data);
    const auto all = span_of(offsets);
    std::vector<RawText> texts;
    if (!all.empty()) texts = column_of<RawText>(buffer, all.subspan(1), all[0]);
    PythonWatch watch{nb::none()};
    const Bytes mask = bytes_of(enabled);
    const nb::gil_scoped_release released;
    return encoder.encode_batch(texts, mask, threads, watch);
}

Encoder::Batch encode_batch(const Encoder& encoder, nb::handle texts, const nb::bytes& enabled,
                            unsigned threads, nb::object progress) {
    const RawTexts all(texts);
    PythonWatch watch(std::move(progress));
    const Bytes mask = bytes_of(enabled);
    const nb::gil_scoped_release released;
    return encoder.encode_batch(all.views(), mask, threads, watch);
}

// Byte offsets to characters: a token that covers part of a character covers the character.
void to_characters(Bytes text, std::vector<Span>& spans) {
    std::vector<uint64_t> character(text.size() + 1);  // that the byte belongs to
    uint64_t count = 0;
    for (size_t at = 0; at < text.size(); ++count) {
        const size_t end = at + character_at(text, at).length;
        while (at < end) character[at++] = count;
    }
    character[text.size()] = count;
    for (Span& span : spans)
        span = {character[span.begin],
                span.end > span.begin ? character[span.end - 1] + 1 : character[span.end]};
}

std::pair<Array<Id>, Array<int64_t>> arrays_of(Encoder::Batch batch) {
    batch.ends.insert(batch.ends.begin(), 0);
    return {id_array(std::move(batch.ids)), to_array(std::move(batch.ends))};
}

nb::list pairs_of(const std::vector<Span>& spans) {
    nb::list pairs;
    for (const Span span : spans) pairs.append(nb::make_tuple(span.begin, span.end));
    return pairs;
}

nb::tuple locate(const BoundEncoder& encoder, nb::handle text, const nb::bytes& enabled) {
    const Text bytes(text);
    const Bytes mask = bytes_of(enabled);
    Encoder::Located found;
    alone(encoder, [&](Encoder::Worker& worker, Beat& beat) {
        found = encoder.locate(bytes, mask, worker, beat);
        to_characters(bytes, found.spans);
    });
    const CollectorPause pause;
    return nb::make_tuple(to_list(found.ids, encoder.ints), pairs_of(found.spans),
                          to_list(found.words, encoder.ints), to_list(found.added, encoder.ints));
}

std::vector<std::tuple<size_t, size_t, int64_t>> cut(const Encoder& encoder, nb::handle text,
                                                     const nb::bytes& enabled, bool normalized) {
    const Text bytes(text);
    const Bytes mask = bytes_of(enabled);
    std::vector<std::tuple<size_t, size_t, int64_t>> segments;
    alone(encoder, [&](Encoder::Worker&, Beat& beat) {
        encoder.pass(normalized).cut(
            bytes, mask, beat,
            [&](size_t begin, size_t end) { segments.emplace_back(begin, end, -1); },
            [&](Match match) { segments.emplace_back(match.begin, match.end, match.index); });
    });
    return segments;
}

}  // namespace

void bind_encoder(nb::module_& m) {
    nb::class_<Model>(m, "Model", nb::is_weak_referenceable())
        .def("__init__", make_model, "vocabulary"_a, nb::kw_only(), "byte_level"_a, "by_ranks"_a,
             "ignore_merges"_a, "byte_fallback"_a, "fuse_unknown"_a, "unknown"_a.none(), "prefix"_a,
             "suffix"_a, "suffix_apart"_a);
    nb::class_<BoundEncoder> bound(m, "Encoder");
    bound
        .def("__init__", make_encoder, "model"_a, "scanner"_a, "added"_a,
             "preparation"_a = nb::none())
        .def("encode",
             [](const BoundEncoder& e, nb::handle text, const nb::bytes& enabled) {
                 return to_list(encode(e, text, enabled), e.ints);
             }, "text"_a, "enabled"_a,
             nb::sig("def encode(self, text: object, enabled: bytes) -> list[int]"))
        .def("encode_array",
             [](const BoundEncoder& e, nb::handle text, const nb::bytes& enabled) {
                 return id_array(encode(e, text, enabled));
             }, "text"_a, "enabled"_a)
        .def("encode_column",
             [](const BoundEncoder& e, nb::handle data, ArrayView<int64_t> offsets,
                const nb::bytes& enabled, unsigned threads) {
                 return arrays_of(encode_column(e, data, offsets, enabled, threads));
             }, "data"_a, "offsets"_a, "enabled"_a, "threads"_a,
             "The same for m texts that lie in one buffer, and the m + 1 offsets of them in it.")
        .def("locate", locate, "text"_a, "enabled"_a,
             "Ids, the characters that each covers, the number of its piece; and the places of added "
             "tokens among them.",
             nb::sig("def locate(self, text: str, enabled: bytes)"
                     " -> tuple[list[int], list[tuple[int, int]], list[int], list[int]]"))
        .def("encode_batch",
             [](const BoundEncoder& e, nb::handle texts, const nb::bytes& enabled, unsigned threads,
                nb::object progress) {
                 return arrays_of(encode_batch(e, texts, enabled, threads, progress));
             }, "texts"_a, "enabled"_a, "threads"_a, "progress"_a = nb::none(),
             "Ids of all texts, and m + 1 offsets of the texts in them.")
        .def("count_batch",
             [](const BoundEncoder& e, nb::handle texts, const nb::bytes& enabled, unsigned threads) {
                 const RawTexts all(texts);
                 PythonWatch watch{nb::none()};
                 const Bytes mask = bytes_of(enabled);
                 std::vector<int64_t> counts;
                 {
                     const nb::gil_scoped_release released;
                     counts = count_batch(e, all.views(), mask, threads, watch);
                 }
                 return to_array(std::move(counts));
             }, "texts"_a, "enabled"_a, "threads"_a, "The number of ids of each text.")
        .def("encode_lists",
             [](const BoundEncoder& e, nb::handle texts, const nb::bytes& enabled, unsigned threads) {
                 const Encoder::Batch batch = encode_batch(e, texts, enabled, threads, nb::none());
                 const CollectorPause pause;
                 nb::list lists;
                 size_t begin = 0;
                 for (const int64_t end : batch.ends) {
                     lists.append(to_list(std::span<const Id>(batch.ids).subspan(begin, end - begin),
                                           e.ints));
                     begin = static_cast<size_t>(end);
                 }
                 return lists;
             }, "texts"_a, "enabled"_a, "threads"_a,
             nb::sig("def encode_lists(self, texts: object, enabled: bytes, threads: int)"
                     " -> list[list[int]]"))
        .def("encode_pieces",
             [](const BoundEncoder& e, nb::handle pieces) {
                 const Texts bytes(pieces);
                 IdBuffer ids;
                 alone(e, [&](Encoder::Worker& worker, Beat& beat) {
                     for (const Bytes piece : bytes.views()) {
                         e.encode_piece(piece, worker, ids);
                         beat(piece.size());
                     }
                 });
                 return to_list(ids, e.ints);
             }, "pieces"_a, "Ids of pieces that were cut elsewhere.",
             nb::sig("def encode_pieces(self, pieces: Sequence[bytes]) -> list[int]"))
        .def("encode_piece_with_offsets",
             [](const BoundEncoder& e, const nb::bytes& piece) {
                 IdBuffer ids;
                 std::vector<Span> spans;
                 alone(e, [&](Encoder::Worker& worker, Beat&) {
                     e.encode_piece_with_spans(bytes_of(piece), 0, worker, ids, spans);
                 });
                 return nb::make_tuple(to_list(ids, e.ints), pairs_of(spans));
             }, "piece"_a, "Ids of a piece and the bytes of it that each covers.",
             nb::sig("def encode_piece_with_offsets(self, piece: bytes)"
                     " -> tuple[list[int], list[tuple[int, int]]]"))
        .def("cut",
             [](const BoundEncoder& e, nb::handle text, const nb::bytes& enabled, bool normalized) {
                 return cut(e, text, enabled, normalized);
             }, "text"_a, "enabled"_a, "normalized"_a,
             "Segments (begin, end, place of the added token or -1) of one pass over a text.")
        .def("find",
             [](const BoundEncoder& e, const nb::bytes& bytes) { return e.model().find(bytes_of(bytes)); },
             "token"_a, "The id of a normal token.")
        .def("last_merges",
             [](const BoundEncoder& e) {
                 PythonWatch watch{nb::none()};
                 std::vector<Id> values;
                 {
                     const nb::gil_scoped_release released;
                     for (const LastMerge& m : last_merges(e.model(), watch))
                         values.insert(values.end(), {m.left, m.right, m.merged, m.priority});
                 }
                 return to_matrix(std::move(values), 4);
             },
             "Rows (left, right, merged, priority): the last merge of each token that its own bytes "
             "become, by id.");
    bind_decoding(bound);
}

}  // namespace bpe::bindings
