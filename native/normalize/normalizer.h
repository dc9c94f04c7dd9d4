// Steps that rewrite text before it is split.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "../scan/regex.h"
#include "forms.h"

namespace bpe::normalize {

struct Step {
    enum class Kind : uint8_t {
        nfc, nfd, nfkc, nfkd, lowercase, strip, strip_accents, prepend, replace
    };
    Kind kind;
    bool left = true, right = true;  // of strip
    std::string pattern;             // of replace: the text that is replaced if there is no regex
    std::string content;             // of prepend and replace
    std::shared_ptr<const scan::Regex> regex;
};

class Normalizer {
public:
    explicit Normalizer(std::vector<Step> steps) : steps_(std::move(steps)) {}

    // The rewritten text, which must be UTF-8: in `out` or, if nothing changes, the text itself. `spare`
    // is used on the way.
    Bytes apply(Bytes text, std::vector<uint8_t>& out, std::vector<uint8_t>& spare) const;
    // Whether all it does is Unicode's normalization.
    bool is_form() const;

private:
    std::vector<Step> steps_;
};

}  // namespace bpe::normalize
