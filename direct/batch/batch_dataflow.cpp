#include "ilux/direct/batch/batch_dataflow.hpp"

#include <algorithm>
#include <span>
#include <string>
#include <tuple>
#include <utility>

#include "ilux/base/error.hpp"

namespace ilux {
namespace {

using Slot = DataflowProgram::Slot;
using Operand = DataflowProgram::Operand;
using Item = BatchDataflow::Item;
using Divide = BatchDataflow::Divide;

bool missing(const Operand& o) { return o.a == DataflowProgram::zero_slot && o.b == DataflowProgram::zero_slot; }

/// The number whose `bits` bits are those of i backwards.
std::size_t reversed(std::size_t i, int bits)
{
    std::size_t r = 0;
    for (int bit = 0; bit < bits; ++bit) r |= (i >> bit & 1) << (bits - 1 - bit);
    return r;
}

/// What an entry of the program, or a sum that another one needs, waits for; −1: nothing but inputs.
struct Known {
    Index tree = -1;  ///< its products but the late ones
    Index all = -1;   ///< those too
};

/// An item before it has a place in a task.
struct Draft {
    Item                 item;
    std::vector<Operand> products;
    Index                level = 0;
    std::uint8_t         log2_leaves = 0, steps = 0;
    Divide               divide = Divide::none;
    bool                 late = false, adds_sums = false, makes_sums = false, early = false;
    Slot                 near = 0;  // the b that is known last, for order

    auto shape() const
    {
        return std::tuple(std::uint32_t{steps} << log2_leaves, log2_leaves, divide, late, adds_sums, makes_sums, early);
    }
};

class BatchMaker {
public:
    explicit BatchMaker(const DataflowProgram& program)
        : program_(program),
          task_of_(program.slots(), no_task),
          level_(program.slots(), -1),
          known_(program.slots()),
          sum_of_(program.slots(), no_sum)
    {}

    BatchDataflow make(int width)
    {
        made_.width = width;
        find_tasks();
        for_each_needed([this](Slot slot) { level(slot); });
        for_each_needed([this](Slot slot) { draft_early_sum(slot); });
        for_each_needed([this](Slot slot) { draft_entry(slot); });
        place_sums();
        sort_drafts();
        pack();
        return std::move(made_);
    }

private:
    static constexpr std::uint32_t no_task = ~0u;
    static constexpr Slot          no_sum = ~Slot{0};

    const DataflowProgram::Task& task(Slot slot) const { return program_.task[task_of_[slot]]; }

    /// Row by row, the operands of a lane of a slot's.
    const Operand& operand(Slot slot, std::size_t row, std::size_t lane) const
    {
        const auto& t = task(slot);
        return program_.operand[32 * (t.first + row) + ((slot - t.slot) << t.log2_part) + lane];
    }

    bool row_missing(Slot slot, std::size_t row) const
    {
        for (std::size_t lane = 0; lane < std::size_t{1} << task(slot).log2_part; ++lane)
            if (!missing(operand(slot, row, lane))) return false;
        return true;
    }

    /// The first step in which some lane has a product: missing ones come first.
    std::size_t first_row(Slot slot) const
    {
        std::size_t row = 0;
        while (row < task(slot).steps && row_missing(slot, row)) ++row;
        return row;
    }

    /// Finds the task of every slot that is an entry or has products.
    void find_tasks()
    {
        std::vector<bool> entry(program_.slots(), false);
        for (const Slot slot : program_.slot_of) entry[slot] = true;
        for (std::uint32_t t = 0; t < program_.task.size(); ++t) {
            const auto& task = program_.task[t];
            for (Slot slot = task.slot; slot < task.slot + task.entries; ++slot) {
                task_of_[slot] = t;
                const auto& late = program_.late[slot];
                if (!entry[slot] && missing(late[0]) && missing(late[1]) && first_row(slot) == task.steps)
                    task_of_[slot] = no_task;
            }
        }
    }

    template <class Visit>
    void for_each_needed(Visit&& visit)
    {
        for (const auto& t : program_.task)
            for (Slot slot = t.slot; slot < t.slot + t.entries; ++slot)
                if (task_of_[slot] != no_task) visit(slot);
    }

    Slot divisor(Slot slot) const
    {
        const auto&       t = task(slot);
        const std::size_t group = std::size_t{1} << t.log2_group, r = slot - t.slot;
        const std::size_t leader = (r << t.log2_part) % group >> t.log2_part;
        if (leader > 0) return static_cast<Slot>(slot - leader);
        return t.divide ? program_.divisor[slot] : DataflowProgram::zero_slot;
    }

    Index level_of(const Operand& o) const
    {
        return program_.a_given ? level_[o.b] : std::max(level_[o.a], level_[o.b]);
    }

    /// Whether all but its late products can be summed up a level earlier.
    bool has_early_sum(Slot slot) const { return known_[slot].tree + 1 < level_[slot]; }

    /// Constants and what comes from another array are known at level −1. A divisor that its reader's task computes
    /// once more may belong to a later task of the same level, but then all that it reads belongs to earlier ones.
    Index level(Slot slot)
    {
        if (task_of_[slot] == no_task || level_[slot] >= 0) return level_[slot];
        const auto& t = task(slot);
        Known&      known = known_[slot];
        for (std::size_t row = first_row(slot); row < t.steps; ++row)
            for (std::size_t lane = 0; lane < std::size_t{1} << t.log2_part; ++lane)
                known.tree = std::max(known.tree, level_of(operand(slot, row, lane)));
        known.all = known.tree;
        for (const Operand& o : program_.late[slot]) known.all = std::max(known.all, level_of(o));
        Index       waits = known.all;
        const Slot  d = program_.a_given ? DataflowProgram::zero_slot : divisor(slot);
        const Index at = level(d);
        if (at > waits) waits = has_early_sum(d) ? at - 1 : at;
        return level_[slot] = waits + 1;
    }

    /// The leaves first … first + 2^log2 − 1 of a slot's sum.
    void add_leaves(Draft& draft, Slot slot, std::size_t first, int log2) const
    {
        const auto&       t = task(slot);
        const std::size_t row = first_row(slot);
        draft.steps = static_cast<std::uint8_t>(t.steps - row);
        draft.log2_leaves = static_cast<std::uint8_t>(draft.steps > 0 ? log2 : 0);
        for (std::size_t leaf = first; leaf < first + (std::size_t{1} << draft.log2_leaves); ++leaf)
            for (std::size_t r = row; r < t.steps; ++r)
                draft.products.push_back(operand(slot, r, reversed(leaf, t.log2_part)));
        if (first > 0) return;
        draft.item.source = program_.source[slot];
        draft.item.scale = draft.item.source < 0 ? 0 : program_.scale[slot];
    }

    /// A level's own barrier need not be waited for by what reads older levels only.
    void place_in(Draft& draft, Slot slot, Index level) const
    {
        draft.level = level;
        draft.early = !draft.adds_sums && known_[slot].tree + 1 < level;
    }

    Slot add_sum(Draft draft, Slot slot, Index level)
    {
        place_in(draft, slot, level);
        draft.makes_sums = true;
        draft.item.slot = sums_++;
        drafts_.push_back(std::move(draft));
        return drafts_.back().item.slot;
    }

    static void add_up(Draft& draft, const std::vector<Slot>& sums)
    {
        draft.adds_sums = true;
        draft.steps = 1;
        while (std::size_t{1} << draft.log2_leaves < sums.size()) ++draft.log2_leaves;
        for (const Slot sum : sums) draft.products.push_back({DataflowProgram::zero_slot, sum});
    }

    /// All but the late products; cut, if they are many and known before `level`.
    Draft draft_tree(Slot slot, Index level)
    {
        Draft             made;
        const int         log2 = task(slot).log2_part;
        const std::size_t steps = task(slot).steps - first_row(slot), leaves = std::size_t{1} << log2;
        if (steps * leaves <= BatchDataflow::longest || known_[slot].tree + 1 >= level) {
            add_leaves(made, slot, 0, log2);
            return made;
        }
        int cut = 0;
        while (cut + 1 < log2 && steps << (cut + 1) <= BatchDataflow::longest) ++cut;
        std::vector<Slot> sums;
        for (std::size_t leaf = 0; leaf < leaves; leaf += std::size_t{1} << cut) {
            Draft part;
            add_leaves(part, slot, leaf, cut);
            sums.push_back(add_sum(std::move(part), slot, level - 1));
        }
        add_up(made, sums);
        return made;
    }

    bool divides_by_sum(Slot slot) const { return !program_.a_given && level_[divisor(slot)] >= level_[slot]; }

    /// Drafts the early sum of what divides `slot`, where that is of its level.
    void draft_early_sum(Slot slot)
    {
        const Slot d = divisor(slot);
        if (!divides_by_sum(slot) || sum_of_[d] != no_sum) return;
        const Index before = level_[d] - 1;
        sum_of_[d] = add_sum(draft_tree(d, before), d, before);
    }

    void draft_entry(Slot slot)
    {
        Draft made;
        if (sum_of_[slot] == no_sum) made = draft_tree(slot, level_[slot]);
        else add_up(made, {sum_of_[slot]});
        place_in(made, slot, level_[slot]);
        made.item.slot = slot;
        const auto& late = program_.late[slot];
        std::ranges::copy(late, made.item.late);
        made.late = !missing(late[0]) || !missing(late[1]);
        made.near = !missing(late[1]) ? late[1].b : made.products.empty() ? 0 : made.products.back().b;
        if (const Slot d = divisor(slot); divides_by_sum(slot)) {
            made.divide = Divide::by_sum;
            made.item.divisor = sum_of_[d];
            std::ranges::copy(program_.late[d], made.item.divisor_late);
        } else if (d != DataflowProgram::zero_slot) {
            made.divide = Divide::by_slot;
            made.item.divisor = d;
        }
        drafts_.push_back(std::move(made));
    }

    /// A sum is read in the level that follows its own; its place is written again in the one after that at the
    /// earliest.
    void place_sums()
    {
        std::vector<std::vector<Slot>> of_level;
        for (const Draft& d : drafts_) {
            if (!d.makes_sums) continue;
            of_level.resize(std::max<std::size_t>(of_level.size(), d.level + 1));
            of_level[d.level].push_back(d.item.slot);
        }
        std::vector<Slot> place(sums_), free;
        for (std::size_t level = 0; level < of_level.size(); ++level) {
            if (level >= 2)
                for (const Slot sum : of_level[level - 2]) free.push_back(place[sum]);
            for (const Slot sum : of_level[level]) {
                if (free.empty()) free.push_back(static_cast<Slot>(made_.places++));
                place[sum] = free.back();
                free.pop_back();
            }
        }
        for (Draft& d : drafts_) {
            if (d.makes_sums) d.item.slot = place[d.item.slot];
            if (d.divide == Divide::by_sum) d.item.divisor = place[d.item.divisor];
            if (!d.adds_sums) continue;
            for (Operand& o : d.products) o.b = place[o.b];
        }
    }

    void sort_drafts()
    {
        order_.resize(drafts_.size());
        for (std::size_t i = 0; i < order_.size(); ++i) order_[i] = static_cast<std::uint32_t>(i);
        std::ranges::sort(order_, [this](std::uint32_t x, std::uint32_t y) {
            const Draft &l = drafts_[x], &r = drafts_[y];
            if (l.level != r.level) return l.level < r.level;
            if (l.shape() != r.shape()) return l.shape() > r.shape();
            return std::pair(l.near, x) < std::pair(r.near, y);
        });
    }

    void pack()
    {
        const auto alike = [&](const Draft& l, const Draft& r) { return l.level == r.level && l.shape() == r.shape(); };
        made_.level.push_back(0);
        for (std::size_t i = 0; i < order_.size();) {
            std::size_t  end = i;
            const Draft& first = drafts_[order_[i]];
            while (end < order_.size() && end - i < std::size_t(made_.width) && alike(first, drafts_[order_[end]]))
                ++end;
            if (first.level == made_.depth()) made_.level.push_back(0);
            add_task({order_.data() + i, end - i});
            made_.level.back() = static_cast<std::uint32_t>(made_.task.size());
            i = end;
        }
        require(made_.task.size() * made_.width < std::size_t{1} << 31 && made_.product.size() < std::size_t{1} << 31,
                [] { return "too many products for a batch"; });
    }

    void add_task(std::span<const std::uint32_t> items)
    {
        const Draft&      shape = drafts_[items[0]];
        const std::size_t width = made_.width, first = made_.product.size();
        made_.task.push_back({.first = static_cast<std::uint32_t>(first / width),
                              .log2_leaves = shape.log2_leaves,
                              .steps = shape.steps,
                              .divide = shape.divide,
                              .late = shape.late,
                              .adds_sums = shape.adds_sums,
                              .makes_sums = shape.makes_sums,
                              .early = shape.early});
        made_.product.resize(first + (shape.products.size() + 1) / 2 * 2 * width);
        for (std::size_t g = 0; g < width; ++g) {
            const bool   idle = g >= items.size();
            const Draft& draft = drafts_[items[idle ? 0 : g]];
            made_.item.push_back(draft.item);
            for (std::size_t r = 0; r < draft.products.size(); ++r)
                made_.product[first + (r / 2 * width + g) * 2 + r % 2] = draft.products[r];
            if (idle)
                made_.item.back().slot = draft.makes_sums ? BatchDataflow::spare_place : BatchDataflow::spare_slot;
            else made_.products += draft.products.size() + 2 * draft.late + 2 * (draft.divide == Divide::by_sum);
        }
    }

    const DataflowProgram&     program_;
    std::vector<std::uint32_t> task_of_;  // by slot; no_task: constants, and slots that nobody needs
    std::vector<Index>         level_;    // by slot
    std::vector<Known>         known_;    // by slot
    std::vector<Slot>          sum_of_;   // by slot; the number of its early sum, or no_sum
    std::vector<Draft>         drafts_;
    std::vector<std::uint32_t> order_;
    Slot                       sums_ = 0;
    BatchDataflow              made_;
};

}  // namespace

BatchDataflow batch_dataflow(const DataflowProgram& program, int width)
{
    require(program.slots() < std::size_t{1} << 30, [] { return "too many entries for a batch"; });
    require(width >= 1 && width <= 32 && (width & (width - 1)) == 0,
            [&] { return "a task of " + std::to_string(width) + " items"; });
    return BatchMaker(program).make(width);
}

}  // namespace ilux
