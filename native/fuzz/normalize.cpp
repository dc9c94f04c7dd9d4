// Normalization forms and the other rewriting steps: the identities of Unicode hold for any text, and
// no bytes lead out of bounds.
#include "../normalize/normalizer.h"
#include "fuzz.h"

namespace bpe::fuzz {
namespace {

using normalize::Form;

std::string in_form(Form form, const std::string& text) {
    std::vector<uint8_t> out;
    normalize::to_form(form, Exact(text), out);
    return string_of(out);
}

void check_forms(const std::string& text) {
    const std::string nfc = in_form(Form::nfc, text), nfd = in_form(Form::nfd, text);
    const std::string nfkc = in_form(Form::nfkc, text), nfkd = in_form(Form::nfkd, text);
    for (const std::string* form : {&nfc, &nfd, &nfkc, &nfkd})
        CHECK(first_invalid(bytes_of(*form)) == form->size());
    CHECK(in_form(Form::nfc, nfc) == nfc && in_form(Form::nfc, nfd) == nfc);
    CHECK(in_form(Form::nfd, nfd) == nfd && in_form(Form::nfd, nfc) == nfd);
    for (const std::string* form : {&nfc, &nfd, &nfkc, &nfkd}) {
        CHECK(in_form(Form::nfkc, *form) == nfkc);
        CHECK(in_form(Form::nfkd, *form) == nfkd);
    }
}

using Rewrite = void (*)(Bytes, std::vector<uint8_t>&);

void check_twice(Rewrite rewrite, const std::string& text) {
    std::vector<uint8_t> once, twice;
    rewrite(Exact(text), once);
    CHECK(first_invalid(once) == once.size());
    rewrite(Exact(string_of(once)), twice);
    CHECK(once == twice);
}

normalize::Normalizer any_normalizer(Input& in) {
    using Kind = normalize::Step::Kind;
    static const std::string kTexts[] = {"", " ", "a", "aa", "\xE2\x96\x81", "\xCC\x81"};
    std::vector<normalize::Step> steps;
    for (size_t count = in.below(5); count > 0; --count) {
        normalize::Step step{};
        step.kind = static_cast<Kind>(in.below(static_cast<size_t>(Kind::replace) + 1));
        step.left = in.flag();
        step.right = in.flag();
        step.pattern = kTexts[in.below(std::size(kTexts))];
        step.content = kTexts[in.below(std::size(kTexts))];
        steps.push_back(step);
    }
    return normalize::Normalizer(std::move(steps));
}

}  // namespace

void run(Input in) {
    const normalize::Normalizer normalizer = any_normalizer(in);
    const std::string text = text_of(in, 4096);
    const bool valid = first_invalid(bytes_of(text)) == text.size();
    std::vector<uint8_t> out, spare;
    const Exact exact(text);
    const Bytes rewritten = normalizer.apply(exact, out, spare);
    CHECK(!valid || first_invalid(rewritten) == rewritten.size());
    for (const Form form : {Form::nfc, Form::nfd, Form::nfkc, Form::nfkd}) in_form(form, text);
    if (!valid) return;
    check_forms(text);
    check_twice(normalize::to_lower, text);
    check_twice(normalize::strip_accents, text);
}

}  // namespace bpe::fuzz
