#include "free_cuts.h"

namespace bpe {
namespace {

class FreeCuts : public Program {
public:
    explicit FreeCuts(const Model& model) : is_cut_(1 << 16) {
        for (size_t pair = 0; pair < is_cut_.size(); ++pair) {
            const auto left = static_cast<uint8_t>(pair >> 8), right = static_cast<uint8_t>(pair);
            is_cut_[pair] = (right & 0xC0) != 0x80 && !model.in_a_token(left, right);
        }
    }

    size_t scan(Bytes text, size_t& at, bool by_line, size_t* ends) const override {
        if (at == text.size()) return 0;
        size_t count = 0, i = at + 1;
        for (; i < text.size() && count + 2 < kScanCapacity; ++i) {
            ends[count] = i;  // stays if this is an end
            count += is_cut_[text[i - 1] << 8 | text[i]] | (by_line && text[i - 1] == '\n');
        }
        if (i == text.size()) ends[count++] = i;
        at = ends[count - 1];
        return count;
    }

private:
    std::vector<uint8_t> is_cut_;  // by two bytes
};

}  // namespace

std::optional<Scan> free_cuts(const Model& model) {
    const ModelOptions& options = model.options();
    if (options.ignore_merges || !options.prefix.empty() || !options.suffix.empty())
        return std::nullopt;
    const bool unknown_stays_apart = !options.byte_level && options.unknown != kNoId &&
                                     !options.fuse_unknown && !model.merges_unknown();
    if (!model.keeps_all() && !unknown_stays_apart) return std::nullopt;
    return Scan(std::make_shared<FreeCuts>(model));
}

}  // namespace bpe
