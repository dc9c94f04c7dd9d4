#include "added.h"

#include <algorithm>

namespace bpe {

AddedTokens::AddedTokens(const std::vector<AddedToken>& tokens, bool normalized)
    : tokens_(tokens), nodes_(1), same_(tokens.size(), kNoId) {
    std::vector<uint32_t> sorted;
    for (uint32_t i = 0; i < tokens_.size(); ++i)
        if (tokens_[i].normalized == normalized && !tokens_[i].content.empty()) sorted.push_back(i);
    std::stable_sort(sorted.begin(), sorted.end(), [&](uint32_t a, uint32_t b) {
        return tokens_[a].content < tokens_[b].content;
    });
    build(sorted, 0, 0);
    for (uint32_t e = 0; e < nodes_[0].edges; ++e) root_[edge_bytes_[e]] = edge_nodes_[e];
}

// Makes the children of `node`, whose tokens are `sorted` and share their first `depth` bytes. The
// depth of the recursion is the number of branches and ends on a path, not its length: a chain of
// nodes with one child each is walked in a loop.
void AddedTokens::build(std::span<const uint32_t> sorted, size_t depth, uint32_t node) {
    for (;;) {
        size_t ending = 0;
        while (ending < sorted.size() && tokens_[sorted[ending]].content.size() == depth) ++ending;
        for (size_t i = 0; i + 1 < ending; ++i) same_[sorted[i]] = sorted[i + 1];
        if (ending) nodes_[node].index = sorted.front();
        sorted = sorted.subspan(ending);
        if (sorted.empty()) return;
        const auto byte_of = [&](uint32_t i) -> uint8_t { return tokens_[i].content[depth]; };
        struct Group {
            size_t begin, end;
        };
        std::vector<Group> groups;
        for (size_t i = 0; i < sorted.size(); ++i) {
            if (i == 0 || byte_of(sorted[i]) != byte_of(sorted[i - 1])) groups.push_back({i, i});
            groups.back().end = i + 1;
        }
        const auto first = static_cast<uint32_t>(edge_bytes_.size());
        nodes_[node].first_edge = first;
        nodes_[node].edges = static_cast<uint32_t>(groups.size());
        for (const Group& group : groups) {
            edge_bytes_.push_back(byte_of(sorted[group.begin]));
            edge_nodes_.push_back(static_cast<uint32_t>(nodes_.size()));
            nodes_.emplace_back();
        }
        for (size_t g = 0; g + 1 < groups.size(); ++g)
            build(sorted.subspan(groups[g].begin, groups[g].end - groups[g].begin), depth + 1,
                  edge_nodes_[first + g]);
        node = edge_nodes_[first + groups.size() - 1];
        sorted = sorted.subspan(groups.back().begin);
        ++depth;
    }
}

uint32_t AddedTokens::child(uint32_t node, uint8_t byte) const {
    const auto begin = edge_bytes_.begin() + nodes_[node].first_edge;
    const auto end = begin + nodes_[node].edges;
    const auto found = std::lower_bound(begin, end, byte);
    return found != end && *found == byte ? edge_nodes_[found - edge_bytes_.begin()] : 0;
}

bool AddedTokens::stands_alone(Bytes text, Match match) const {
    const auto word = [&](size_t at) { return character_at(text, at).properties().word(); };
    if (match.begin > 0 && word(previous_start(text, 0, match.begin))) return false;
    return match.end == text.size() || !word(match.end);
}

Match AddedTokens::stripped(Bytes text, Match match, size_t taken, Run& run) const {
    if (tokens_[match.index].lstrip) {
        match.begin = std::max(match.begin, taken);
        while (match.begin > taken) {
            const size_t start = previous_start(text, taken, match.begin);
            if (!character_at(text, start).properties().space()) break;
            match.begin = start;
        }
        match.end = std::max(match.begin, match.end);
    }
    if (tokens_[match.index].rstrip) {
        if (run.begin <= match.end && match.end < run.end) match.end = run.end;
        run.begin = match.end;
        while (match.end < text.size()) {
            const Character c = character_at(text, match.end);
            if (!c.properties().space()) break;
            match.end += c.length;
        }
        run.end = match.end;
    }
    return match;
}

}  // namespace bpe
