#include "ilux/direct/supernodal_gpu/front_inputs.hpp"

#include <algorithm>
#include <utility>

namespace ilux {
namespace {

/// Duplicates stand side by side in a plan.
class Inputs {
public:
    Inputs(const FrontPlan& plan, std::span<const double> scale, FrontInputArrays& arrays)
        : plan_(plan), scale_(scale), arrays_(arrays)
    {}

    /// The entries of a front as they stand, or by tile. @param large  whether by tile
    void add(Index f, bool large)
    {
        entries_.clear();
        const Offset end = plan_.in_ptr[f + 1];
        for (Offset q = plan_.in_ptr[f]; q < end;) {
            Offset next = q + 1;
            while (next < end && plan_.in_target[next] == plan_.in_target[q]) ++next;
            const std::uint32_t at = within(f, plan_.in_target[q] - plan_.val_ptr[f]);
            entries_.push_back({large ? tile_of(f, at) : 0, q, next, at});
            q = next;
        }
        if (large) std::ranges::stable_sort(entries_, {}, &Entry::tile);
        for (const Entry& e : entries_) append(e);
        arrays_.begin[f + 1] = arrays_.entries();
    }
    /// Items of a large front, its tiles by columns, from `item` on.
    void divide(AssemblyItem* item, Offset begin) const
    {
        for (const Entry& e : entries_) {
            AssemblyItem& one = item[e.tile];
            if (one.inputs++ == 0) one.input = begin;
            ++begin;
        }
    }

private:
    struct Entry {
        Index         tile;
        Offset        begin, end;
        std::uint32_t at;
    };

    std::uint32_t within(Index f, Offset target) const
    {
        const Offset k = plan_.tree.pivots(f), m = plan_.tree.size(f), beyond = target - m * k;
        const Offset i = beyond < 0 ? target % m : beyond % k, j = beyond < 0 ? target / m : k + beyond / k;
        return static_cast<std::uint32_t>(i) | static_cast<std::uint32_t>(j) << 16;
    }
    Index tile_of(Index f, std::uint32_t at) const
    {
        const Index tiles = (plan_.tree.size(f) + front_tile - 1) / front_tile;
        return static_cast<Index>(at & 0xFFFFu) / front_tile + static_cast<Index>(at >> 16) / front_tile * tiles;
    }
    void append(const Entry& e)
    {
        for (Offset q = e.begin; q < e.end; ++q) {
            arrays_.source.push_back(plan_.in_source[q]);
            arrays_.scale.push_back(scale_[q]);
        }
        arrays_.ptr.push_back(static_cast<Offset>(arrays_.source.size()));
        arrays_.col.push_back(plan_.in_col[e.begin]);
        arrays_.at.push_back(e.at);
    }

    const FrontPlan&        plan_;
    std::span<const double> scale_;
    FrontInputArrays&       arrays_;
    std::vector<Entry>      entries_;
};

}  // namespace

FrontInputArrays front_inputs(const FrontPlan& plan, const GpuFrontSchedule& schedule, std::span<const double> in_scale)
{
    FrontInputArrays arrays;
    const auto       most = plan.in_source.size() + plan.f_source.size();
    arrays.source.reserve(most);
    arrays.scale.reserve(most);
    for (auto* array : {&arrays.ptr}) array->reserve(plan.in_source.size() + 1);
    arrays.col.reserve(plan.in_source.size());
    arrays.at.reserve(plan.in_source.size());
    arrays.ptr.push_back(0);
    arrays.begin.assign(static_cast<std::size_t>(plan.fronts()) + 1, 0);
    arrays.items.resize(schedule.assembly.size());
    std::vector<Index> first_item(plan.fronts(), -1);
    for (std::size_t i = schedule.assembly.size(); i-- > 0;) {
        arrays.items[i].item = schedule.assembly[i];
        first_item[schedule.assembly[i].front] = static_cast<Index>(i);
    }
    Inputs inputs(plan, in_scale, arrays);
    for (Index f = 0; f < plan.fronts(); ++f) {
        const Offset begin = arrays.entries();
        inputs.add(f, first_item[f] >= 0);
        if (first_item[f] >= 0) inputs.divide(arrays.items.data() + first_item[f], begin);
    }
    const auto in = static_cast<std::ptrdiff_t>(plan.in_source.size());
    arrays.source.insert(arrays.source.end(), plan.f_source.begin(), plan.f_source.end());
    arrays.scale.insert(arrays.scale.end(), in_scale.begin() + in, in_scale.end());
    return arrays;
}

}  // namespace ilux
