#include "patterns.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>

namespace bpe::fuzz {
namespace {

// Reads what scripts/make_fuzz_patterns.py has written.
class File {
public:
    explicit File(const char* path) {
        std::ifstream in(path, std::ios::binary);
        data_.assign(std::istreambuf_iterator<char>(in), {});
        if (!data_.empty()) return;
        std::fprintf(stderr, "%s is missing: scripts/make_fuzz_patterns.py writes it\n", path);
        std::abort();
    }

    bool at_end() const { return at_ == data_.size(); }
    int64_t number() {
        int64_t value;
        std::memcpy(&value, bytes(sizeof value).data(), sizeof value);
        return value;
    }
    Bytes sized() { return bytes(static_cast<size_t>(number())); }

private:
    Bytes bytes(size_t size) {
        if (data_.size() - at_ < size) std::abort();
        const Bytes found = as_bytes(data_).subspan(at_, size);
        at_ += size;
        return found;
    }

    std::string data_;
    size_t at_ = 0;
};

scan::Step read_step(File& file) {
    const auto behavior = static_cast<scan::Behavior>(file.number());
    const bool invert = file.number() != 0, mapped = file.number() != 0;
    const auto first = static_cast<size_t>(file.number());
    const Bytes code = file.sized(), sets = file.sized();
    std::vector<int32_t> instructions(code.size() / sizeof(int32_t));
    std::memcpy(instructions.data(), code.data(), code.size());
    std::vector<scan::Regex::Set> members(sets.size() / sizeof(scan::Regex::Set));
    std::memcpy(members.data(), sets.data(), sets.size());
    const auto regex = std::make_shared<scan::Regex>(std::move(instructions), std::move(members),
                                                     file.sized(), first);
    return {regex, behavior, invert, mapped};
}

std::map<std::string, Preparation, std::less<>> read_all() {
    std::map<std::string, Preparation, std::less<>> all;
    for (File file(BPE_COMPAT_PATTERNS); !file.at_end();) {
        const Bytes name = file.sized();
        std::vector<scan::Step> steps;
        for (int64_t count = file.number(); count > 0; --count) steps.push_back(read_step(file));
        all.try_emplace(std::string(name.begin(), name.end()), normalize::Normalizer({}), false,
                        std::move(steps));
    }
    return all;
}

}  // namespace

const Preparation* regexes_of(std::string_view scanner) {
    static const auto all = read_all();
    const auto found = all.find(scanner);
    return found == all.end() ? nullptr : &found->second;
}

}  // namespace bpe::fuzz
