// The Python module `bpe_compat._core`: arguments in, GIL released, results out. No algorithm here.
//
// This folder is the only one that knows Python. Standard exceptions become Python's by themselves.
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include "../encode/encoder.h"
#include "../scan/kernels.h"
#include "common.h"

using namespace bpe;
using namespace bpe::bindings;

NB_MODULE(_core, m) {
    m.doc() = "Native core of bpe_compat; use the package, not this module.";
    nb::register_exception_translator([](const std::exception_ptr& p, void*) {
        try {
            std::rethrow_exception(p);
        } catch (const BadId& e) {
            PyErr_SetString(PyExc_KeyError, e.what());
        } catch (const MissingByte& e) {
            const nb::object error = nb::module_::import_("bpe_compat.errors").attr("FormatError");
            PyErr_SetString(error.ptr(), e.what());
        }
    });
    m.attr("unicode_version") = kUnicodeVersion;
    m.def("scanners", [] {
        std::vector<std::string> names;
        for (const Scanner& s : scanners()) names.emplace_back(s.name);
        return names;
    }, "Names of the native scanners.");
    m.def("scanner_versions", [] {
        std::vector<std::string> names;
        for (const scan::Kernels& k : scan::all_kernels())
            if (k.supported()) names.emplace_back(k.name);
        return names;
    }, "Versions of the scanners that this processor can run, the fastest first.");
    m.def("use_scanner_version", &scan::use_kernels, "version"_a,
          "Chooses one of them, for tests: all give the same.");
    m.def("piece_ends",
          [](nb::handle text, nb::handle scanner, bool by_line) {
              const Text bytes(text);
              const Scan scan = scanner_of(scanner).scan;
              std::vector<int64_t> ends;
              {
                  const nb::gil_scoped_release released;
                  for_each_piece(
                      scan, bytes, by_line,
                      [&](size_t, size_t end) { ends.push_back(static_cast<int64_t>(end)); },
                      [](size_t) {});
              }
              return to_array(std::move(ends));
          }, "text"_a, "scanner"_a, "by_line"_a = false,
          "Byte offsets of the ends of a text's pieces, or of the pieces of its lines.");
    m.def("category_names", [] { return std::string(unicode::kCategories); },
          "The general categories, separated by spaces, in the order of their numbers.");
    m.def("categories", [] {
        std::vector<uint8_t> table(0x110000);
        for (uint32_t c = 0; c < table.size(); ++c) table[c] = Properties(c).category();
        return to_bytes(table);
    }, "The general category of each code point, as a number.");
    m.def("first_invalid",
          [](nb::handle text) {
              const Text bytes(text);
              const nb::gil_scoped_release released;
              return first_invalid(bytes);
          }, "text"_a, "Offset of the first byte that is not UTF-8, or the size if there is none.");
    m.def("first_invalid_text",
          [](nb::handle texts) {
              const Texts all(texts);
              const nb::gil_scoped_release released;
              size_t i = 0;
              while (i < all.views().size() && first_invalid(all.views()[i]) == all.views()[i].size())
                  ++i;
              return i;
          }, "texts"_a, "Number of the first text that is not UTF-8, or how many there are.");
    bind_flat(m);
    bind_prepare(m);
    bind_encoder(m);
    bind_lists(m);
    bind_ranks(m);
    bind_strings(m);
    bind_training(m);
    bind_vocabulary(m);
}
