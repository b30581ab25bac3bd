// How the levels of a pattern are shared among threads.

#include <algorithm>

#include "ilux/sptrsv/level_set.hpp"

namespace ilux {

void LevelSets::make_stages(Offset wide)
{
    Offset shared = 0;
    for (Index l = 0; l < depth(); ++l) {
        const Index  begin = level_ptr_[l], end = level_ptr_[l + 1];
        const Offset work = work_[end] - work_[begin];
        const bool   shared_level = work >= wide;
        if (shared_level) shared += work;
        if (!shared_level && !stages_.empty() && !stages_.back().shared) stages_.back().end = end;
        else stages_.push_back({begin, end, shared_level});
    }
    worth_sharing_ = shared >= work_.back() / 4;  // else the thin part bounds the gain below 4/3
}

Index LevelSets::part(const Stage& stage, int t, int parts) const
{
    if (t >= parts) return stage.end;
    const Offset first = work_[stage.begin], all = work_[stage.end] - first;
    const auto   at = std::lower_bound(work_.begin() + stage.begin, work_.begin() + stage.end, first + all * t / parts);
    return static_cast<Index>(at - work_.begin());
}

std::size_t LevelSets::bytes() const
{
    return (order_.size() + level_ptr_.size()) * sizeof(Index) + work_.size() * sizeof(Offset) +
           stages_.size() * sizeof(Stage);
}

}  // namespace ilux
