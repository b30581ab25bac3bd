#include "ilux/direct/dataflow/dataflow_units.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "ilux/base/error.hpp"

namespace ilux {
namespace {

using Split = DataflowUnits::Split;
using Position = DataflowUnits::Position;
using Latest = DataflowUnits::Latest;
using Shape = DataflowUnits::Shape;
constexpr Offset chunk = DataflowUnits::chunk;
constexpr Offset latest_count = 2;

Offset ceil_div(Offset x, Offset y) { return (x + y - 1) / y; }

Split cut(Offset products, Offset first)
{
    Split s{.first = first};
    s.parts = ceil_div(products - chunk, chunk - 1);  // each takes `chunk` operands from the entry and gives it one
    if (s.parts > chunk / 2) {  // then their sums are added; the entry keeps half of its products for the last ones
        s.parts = ceil_div(products - chunk / 2, chunk);
        s.sums = ceil_div(s.parts, chunk);
        require(s.sums <= chunk / 2, [] { return "an entry has too many products; take another method"; });
    }
    s.early = std::min(products, s.parts * chunk);
    return s;
}

/// Operands that are not late ones, of a sum of `added` partial sums, which never are late, and `products`.
std::uint32_t early_operands(Offset added, Offset products)
{
    return static_cast<std::uint32_t>(added + std::max<Offset>(0, products - latest_count));
}

/// The fewest lanes that need at most DataflowProgram::steps operands in each.
int log2_lanes(std::uint32_t operands)
{
    return std::bit_width(std::max(1u, (operands + DataflowProgram::steps - 1) / DataflowProgram::steps) - 1);
}

/// Steps of 2^log2_part lanes.
int rows(std::uint32_t operands, int log2_part)
{
    return static_cast<int>((operands + (1u << log2_part) - 1) >> log2_part);
}

std::uint8_t narrow(int small) { return static_cast<std::uint8_t>(small); }

Shape lone_shape(Offset first, std::uint32_t operands, std::uint8_t divide)
{
    Shape made{.first = first, .divide = divide};
    made.log2_part = made.log2_lanes = narrow(log2_lanes(operands));
    made.steps = narrow(rows(operands, made.log2_part));
    return made;
}

/// A later one of the same level takes the place of an earlier one.
void note_late(Latest& late, Offset number, std::int32_t level)
{
    const int older = late.level[0] <= late.level[1] ? 0 : 1;
    if (level < late.level[older]) return;
    if (older == 0) {
        late.number[0] = late.number[1];
        late.level[0] = late.level[1];
    }
    late.number[1] = static_cast<std::int32_t>(number);
    late.level[1] = level;
}

class UnitFinder {
public:
    UnitFinder(const DataflowEntries& entries, const DataflowWalk& walk) : e_(entries), walk_(walk), count_(e_.count, 0)
    {}

    DataflowUnits find()
    {
        count_products();
        cut_long_sums();
        count_operands();
        shape_groups();
        find_levels();
        sort_shapes();
        return std::move(units_);
    }

private:
    void count_products()
    {
        DataflowVisitor visitor([this](std::span<const DotProduct> products) {
            for (const DotProduct& product : products) ++count_[product.target];
        });
        walk_(visitor);
        visitor.flush();
    }

    void cut_long_sums()
    {
        units_.split_of.assign(e_.count, -1);
        Offset units = e_.count;
        for (Offset t = 0; t < e_.count; ++t) {
            units_.products += double(count_[t]);
            if (count_[t] <= chunk) continue;
            const Split split = cut(count_[t], units);
            units += split.parts + split.sums;
            units_.products += double(split.parts + split.sums);
            units_.split_of[t] = static_cast<std::int32_t>(units_.splits.size());
            units_.splits.push_back(split);
        }
        units_.level.assign(units, 0);
        units_.latest.assign(units, {});
        units_.operands.assign(units, 0);
    }

    void count_operands()
    {
        auto& operands = units_.operands;
        for (Offset t = 0; t < e_.count; ++t) {
            if (units_.split_of[t] < 0) {
                operands[t] = early_operands(0, count_[t]);
                continue;
            }
            const Split& split = units_.splits[units_.split_of[t]];
            operands[t] = early_operands(split.added(), count_[t] - split.early);
            for (Offset p = 0; p < split.parts; ++p)
                operands[split.first + p] = early_operands(0, std::min(chunk, split.early - p * chunk));
            for (Offset p = 0; p < split.parts && split.sums > 0; ++p) ++operands[split.sum_of(p)];
        }
    }

    /// As much of a group as one task can hold, with lanes enough for every entry that divides by its leader to compute it
    /// once more.
    Shape group_shape(const DataflowEntries::Group& group) const
    {
        const auto& operands = units_.operands;
        const auto  own = operands[group.leader];
        auto        most = own;
        for (Offset t = group.leader + 1; t < e_.count && e_.divisor[t] == group.leader; ++t)
            most = std::max(most, operands[t]);
        int part = log2_lanes(own);
        while (part < 5 && rows(own, part) + rows(most, part) > DataflowProgram::max_steps) ++part;
        Shape made{.first = group.leader};
        made.size = narrow(std::min(group.size, 32 >> part));
        made.log2_part = narrow(part);
        made.log2_lanes = narrow(part + std::bit_width(made.size - 1u));
        const auto first = operands.begin() + group.leader;
        made.steps = narrow(rows(*std::max_element(first, first + made.size), part));
        return made;
    }

    void shape_groups()
    {
        leader_part_.assign(e_.a_given() ? 0 : e_.count, 0);
        for (const auto& group : e_.groups) {
            groups_.push_back(group_shape(group));
            leader_part_[group.leader] = groups_.back().log2_part;
        }
    }

    /// Whether t's divisor is computed once more beside t. It must have the bits that it has in its slot, hence its lanes: a
    /// quotient by another rounding of a pivot that suffered cancellation is not backward stable.
    bool has_twin(Offset t, Offset divisor) const
    {
        if (divisor < 0 || e_.a_given()) return false;
        const int part = leader_part_[divisor];
        return rows(units_.operands[t], part) + rows(units_.operands[divisor], part) <= DataflowProgram::max_steps;
    }

    std::int32_t level_of(Offset entry) const { return entry < 0 ? -1 : units_.level[entry]; }
    std::int32_t raise(Offset unit, std::int32_t level)
    {
        return units_.level[unit] = std::max(units_.level[unit], level);
    }

    /// @return the level of what the entry at least waits for: a partial sum, or the sum that this is part of
    std::int32_t raise_partial(const Split& split, Offset unit, std::int32_t level)
    {
        const std::int32_t partial = raise(unit, level);
        return split.sums == 0 ? partial : raise(split.sum_of(unit - split.first), partial + 1);
    }

    void find_levels()
    {
        std::vector<std::uint32_t> seen(e_.count, 0);
        std::size_t                group = 0;
        DataflowVisitor            visitor(
            [&](std::span<const DotProduct> products) {
                for (const auto [t, a, b] : products) {
                    const auto     level = std::max(e_.a_given() ? -1 : level_of(a), level_of(b)) + 1;
                    const Position at = units_.position(t, seen[t]++);
                    note_late(units_.latest[at.unit], at.number, level);
                    raise(t, at.unit == t ? level : raise_partial(*at.split, at.unit, level) + 1);
                }
            },
            [&](Offset first, Offset last) { complete_levels(first, last, group); });
        walk_(visitor);
        visitor.flush();
    }

    /// Members of a group share its level; whoever computes its divisor once more waits for what that waits for.
    void complete_levels(Offset first, Offset last, std::size_t& group)
    {
        if (e_.a_given()) return;
        Offset t = first;
        if (group < groups_.size() && groups_[group].first == first) {
            const auto begin = units_.level.begin() + first, end = begin + groups_[group].size;
            std::fill(begin, end, *std::max_element(begin, end));
            t += groups_[group++].size;
        }
        for (; t < last; ++t) raise(t, level_of(e_.divisor[t]) + (has_twin(t, e_.divisor[t]) ? 0 : 1));
    }

    /// One entry or partial sum. What divides it is known already, or is summed up beside it.
    Shape single_shape(Offset unit) const
    {
        const auto   own = units_.operands[unit];
        const Offset divisor = unit < e_.count ? e_.divisor[unit] : DataflowEntries::none;
        if (divisor < 0) return lone_shape(unit, own, 0);
        if (!has_twin(unit, divisor)) return lone_shape(unit, own, DataflowProgram::by_slot);
        Shape made{.first = unit, .divide = DataflowProgram::by_twin};
        made.log2_part = made.log2_lanes = leader_part_[divisor];
        made.steps = narrow(rows(own, made.log2_part));
        made.divisor_steps = narrow(rows(units_.operands[divisor], made.log2_part));
        return made;
    }

    void sort_shapes()
    {
        auto& shapes = units_.shapes;
        shapes.reserve(units_.level.size());
        auto group = groups_.begin();
        for (Offset unit = 0; unit < units_.count(); unit += shapes.back().size) {
            const bool leads = group != groups_.end() && group->first == unit;
            shapes.push_back(leads ? *group++ : single_shape(unit));
            shapes.back().level = units_.level[unit];
        }
        std::ranges::stable_sort(shapes, [](const Shape& x, const Shape& y) {
            return x.key() != y.key() ? x.key() < y.key() : x.steps + x.divisor_steps > y.steps + y.divisor_steps;
        });
    }

    const DataflowEntries&     e_;
    const DataflowWalk&        walk_;
    DataflowUnits              units_;
    std::vector<std::uint32_t> count_;        // of products, by entry
    std::vector<Shape>         groups_;       // as far as they fit a task
    std::vector<std::uint8_t>  leader_part_;  // by entry, of leaders; log2
};

}  // namespace

DataflowUnits find_units(const DataflowEntries& entries, const DataflowWalk& walk)
{
    return UnitFinder(entries, walk).find();
}

}  // namespace ilux
