#include "ilux/direct/supernodal_gpu/gpu_front_schedule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "ilux/base/error.hpp"

namespace ilux {
namespace {

Index pieces(Index count, Index each) { return (count + each - 1) / each; }

void find_levels(const FrontTree& tree, GpuFrontSchedule& s)
{
    const Index fronts = tree.fronts();
    s.level.assign(fronts, 0);
    s.child_ptr.assign(static_cast<std::size_t>(fronts) + 1, 0);
    for (Index f = 0; f < fronts; ++f)
        if (const Index up = tree.parent[f]; up >= 0) {
            s.level[up] = std::max(s.level[up], s.level[f] + 1);
            ++s.child_ptr[up + 1];
        }
    std::partial_sum(s.child_ptr.begin(), s.child_ptr.end(), s.child_ptr.begin());
    s.child.resize(s.child_ptr.back());
    std::vector<Index> next(s.child_ptr.begin(), s.child_ptr.end() - 1);
    for (Index f = 0; f < fronts; ++f)
        if (tree.parent[f] >= 0) s.child[next[tree.parent[f]]++] = f;
    const Index levels = fronts == 0 ? 0 : *std::ranges::max_element(s.level) + 1;
    s.levels.resize(levels);
}

/// Pieces of memory that are in use, by where they begin.
class Room {
public:
    Offset take(Offset size)
    {
        Offset at = 0;
        for (const auto& [begin, end] : used_) {
            if (begin - at >= size) break;
            at = end;
        }
        used_[at] = at + size;
        most_ = std::max(most_, at + size);
        return at;
    }
    void   leave(Offset at) { used_.erase(at); }
    Offset most() const { return most_; }

private:
    std::map<Offset, Offset> used_;
    Offset                   most_ = 0;
};

/// Fronts of one level whose parents are of one level, too, are given room together: until then.
void lay_out_rests(const FrontTree& tree, GpuFrontSchedule& s)
{
    std::map<std::pair<Index, Index>, Offset> size;
    s.rest_ptr.assign(tree.fronts(), 0);
    for (Index f = 0; f < tree.fronts(); ++f) {
        if (tree.parent[f] < 0) continue;
        const Offset u = tree.updates(f);
        Offset&      all = size[{s.level[f], s.level[tree.parent[f]]}];
        s.rest_ptr[f] = all;
        all += u * u;
    }
    Room                                      room;
    std::map<std::pair<Index, Index>, Offset> begin;
    std::vector<std::vector<Offset>>          ends(s.levels.size());
    Index                                     now = 0;
    for (const auto& [levels, numbers] : size) {
        for (; now < levels.first; ++now)
            for (const Offset at : ends[now]) room.leave(at);
        if (numbers == 0) continue;
        begin[levels] = room.take(numbers);
        ends[levels.second].push_back(begin[levels]);
    }
    for (Index f = 0; f < tree.fronts(); ++f)
        if (tree.parent[f] >= 0) s.rest_ptr[f] += begin[{s.level[f], s.level[tree.parent[f]]}];
    s.rests = room.most();
}

class StepList {
public:
    StepList(const FrontTree& tree, const FrontClasses& classes, GpuFrontSchedule& s)
        : tree_(tree), panel_(classes.panel), s_(s)
    {}

    void add(FrontLevel& level)
    {
        level.assembly.begin = level.assembly.end = static_cast<Index>(s_.assembly.size());
        if (level.large.empty()) return;
        for (Index i = level.large.begin; i < level.large.end; ++i) assemble(s_.large[i]);
        level.assembly.end = static_cast<Index>(s_.assembly.size());
        const Index most = tree_.pivots(s_.large[level.large.begin]);
        for (Index p = 0; p * panel_ < most; ++p) level.steps.push_back(step(level.large, p));
    }

private:
    void assemble(Index f)
    {
        const Index tiles = pieces(tree_.size(f), front_tile);
        for (Index col = 0; col < tiles; ++col)
            for (Index row = 0; row < tiles; ++row) s_.assembly.push_back(item(f, row, col));
    }
    static FrontItem item(Index f, Index row, Index col)
    {
        return {f, static_cast<std::uint16_t>(row), static_cast<std::uint16_t>(col)};
    }

    PanelStep step(FrontRange large, Index p)
    {
        PanelStep   step{.panel = p, .by_cluster = {}, .beside = {}, .update = {}};
        const Index done = p * panel_;
        step.beside.begin = static_cast<Index>(s_.beside.size());
        step.update.begin = static_cast<Index>(s_.update.size());
        step.by_cluster.assign(6, {large.begin, large.begin});
        for (Index i = large.begin; i < large.end && tree_.pivots(s_.large[i]) > done; ++i) {
            const Index f = s_.large[i], blocks = pieces(tree_.pivots(f) - done, GpuFrontSchedule::panel_rows);
            Index       size = 0;
            while ((Index{1} << size) < blocks) ++size;
            auto& range = step.by_cluster[size];
            if (range.empty()) range.begin = i;
            range.end = i + 1;
            around(f, done);
        }
        step.beside.end = static_cast<Index>(s_.beside.size());
        step.update.end = static_cast<Index>(s_.update.size());
        return step;
    }

    void around(Index f, Index done)
    {
        const Index k = tree_.pivots(f), m = tree_.size(f), end = std::min(done + panel_, k);
        const auto  add = [&](BesidePanel kind, Index count) {
            for (Index i = 0; i < count; ++i) s_.beside.push_back(item(f, static_cast<Index>(kind), i));
        };
        add(BesidePanel::below, pieces(m - k, rows_below));
        add(BesidePanel::right, pieces(m - end, right_columns));
        add(BesidePanel::left, pieces(done, left_columns));
        const Index tiles = pieces(k - end, front_tile) + pieces(m - k, front_tile);
        for (Index col = 0; col < tiles; ++col)
            for (Index row = 0; row < tiles; ++row) s_.update.push_back(item(f, row, col));
    }

    const FrontTree&  tree_;
    Index             panel_;
    GpuFrontSchedule& s_;
};

void require_sizes(const FrontPlan& plan)
{
    const FrontTree& tree = plan.tree;
    Index            most = 0;
    for (Index f = 0; f < tree.fronts(); ++f) most = std::max(most, tree.pivots(f));
    constexpr Index limit = 2 * GpuFrontSchedule::panel_rows * GpuFrontSchedule::most_cluster;
    require(plan.largest_front <= 65535 && most <= limit, [&] {
        return fmt::format("a front of {} rows, and one of {} pivots: a GPU takes 65535 and {}", plan.largest_front,
                           most, limit);
    });
}

void sort_fronts(const FrontTree& tree, const FrontClasses& classes, GpuFrontSchedule& s)
{
    const auto                      kinds = classes.limits.size();
    std::vector<std::vector<Index>> of(s.levels.size() * (kinds + 1));
    for (Index f = 0; f < tree.fronts(); ++f) {
        const auto kind = std::ranges::lower_bound(classes.limits, tree.size(f)) - classes.limits.begin();
        of[s.level[f] * (kinds + 1) + kind].push_back(f);
    }
    for (std::size_t l = 0; l < s.levels.size(); ++l) {
        FrontLevel& level = s.levels[l];
        const auto  append = [](std::vector<Index>& to, const std::vector<Index>& from) {
            const Index begin = static_cast<Index>(to.size());
            to.insert(to.end(), from.begin(), from.end());
            return FrontRange{begin, static_cast<Index>(to.size())};
        };
        for (std::size_t c = 0; c < kinds; ++c) level.small.push_back(append(s.small, of[l * (kinds + 1) + c]));
        auto& large = of[l * (kinds + 1) + kinds];
        std::ranges::stable_sort(large, [&](Index a, Index b) { return tree.pivots(a) > tree.pivots(b); });
        level.large = append(s.large, large);
    }
}

}  // namespace

GpuFrontSchedule gpu_front_schedule(const FrontPlan& plan, const FrontClasses& classes)
{
    require_sizes(plan);
    GpuFrontSchedule s;
    find_levels(plan.tree, s);
    lay_out_rests(plan.tree, s);
    sort_fronts(plan.tree, classes, s);
    StepList steps(plan.tree, classes, s);
    for (FrontLevel& level : s.levels) {
        steps.add(level);
        for (const FrontRange& range : level.small) s.launches += !range.empty();
        s.launches += !level.assembly.empty();
        for (const PanelStep& step : level.steps) {
            for (const FrontRange& range : step.by_cluster) s.launches += !range.empty();
            s.launches += !step.beside.empty() + !step.update.empty();
        }
    }
    return s;
}

}  // namespace ilux
