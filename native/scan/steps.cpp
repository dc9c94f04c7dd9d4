#include "steps.h"

namespace bpe::scan {
namespace {

class StepScan : public Program {
public:
    explicit StepScan(Step step) : step_(std::move(step)) {}

    size_t scan(Bytes text, size_t& at, bool by_line, size_t* ends) const override {
        size_t count = 0;
        while (at < text.size() && count + 1 < kScanCapacity) {
            // A line begins wherever no piece of the last one goes on.
            const Bytes unit = by_line ? line_around(text, at) : text;
            const size_t offset = unit.data() - text.data();
            Cutter cutter(step_, unit, at - offset);
            while (count + 1 < kScanCapacity && cutter.next())
                ends[count++] = at = offset + cutter.end();
        }
        return count;
    }

private:
    static Bytes line_around(Bytes text, size_t at) {
        size_t begin = at;
        while (begin > 0 && text[begin - 1] != '\n') --begin;
        return text.subspan(begin, line_end(text, at) - begin);
    }

    Step step_;
};

}  // namespace

Cutter::Part Cutter::part_at(size_t at) {
    if (at >= next_.end) next_ = step_.regex->find(text_, at, step_.mapped, memory_);
    if (at < next_.begin) return {next_.begin, step_.invert};
    return {next_.end, !step_.invert};
}

bool Cutter::next() {
    while (at_ < text_.size()) {
        begin_ = at_;
        Part part = part_at(at_);
        at_ = part.end;
        if (step_.behavior == Behavior::isolated) return true;
        if (step_.behavior == Behavior::removed) {
            if (part.matched) continue;
            return true;
        }
        while (at_ < text_.size()) {
            const Part following = part_at(at_);
            const bool joins = step_.behavior == Behavior::contiguous
                                   ? following.matched == part.matched
                                   : step_.behavior == Behavior::merged_with_previous
                                         ? following.matched && !part.matched
                                         : part.matched && !following.matched;
            if (!joins) break;
            at_ = following.end;
            part = following;
            if (step_.behavior == Behavior::merged_with_next) break;
        }
        return true;
    }
    return false;
}

Scan step_scan(Step step) { return Scan(std::make_shared<StepScan>(std::move(step))); }

}  // namespace bpe::scan
