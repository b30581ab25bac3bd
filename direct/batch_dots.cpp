#include "ilux/direct/batch_dots.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "ilux/base/error.hpp"

namespace ilux {
namespace {

using Slot = DotProgram::Slot;
using Operand = DotProgram::Operand;
using Item = BatchDots::Item;
using Product = BatchDots::Product;

bool missing(const Operand& o) { return o.a == DotProgram::zero_slot && o.b == DotProgram::zero_slot; }

/// The number whose `bits` bits are those of i backwards.
std::size_t reversed(std::size_t i, int bits)
{
    std::size_t r = 0;
    for (int bit = 0; bit < bits; ++bit) r |= (i >> bit & 1) << (bits - 1 - bit);
    return r;
}

class BatchMaker {
public:
    explicit BatchMaker(const DotProgram& program)
        : program_(program), task_of_(program.slots(), no_task), level_(program.slots(), -1), near_(program.slots(), 0)
    {}

    BatchDots make(Index pilot_distance)
    {
        find_tasks();
        find_levels();
        sort_slots();
        for (const Slot slot : order_) add_item(slot);
        set_pilots(pilot_distance);
        return std::move(made_);
    }

private:
    static constexpr std::uint32_t no_task = ~0u;

    const DotProgram::Task& task(Slot slot) const { return program_.task[task_of_[slot]]; }

    /// Row by row, the operands of a lane of a slot's.
    const Operand& operand(Slot slot, std::size_t row, std::size_t lane) const
    {
        const auto& t = task(slot);
        return program_.operand[32 * (t.first + row) + ((slot - t.slot) << t.log2_part) + lane];
    }

    /// Of every slot that is an entry or has products.
    void find_tasks()
    {
        for (std::uint32_t t = 0; t < program_.task.size(); ++t) {
            const auto& task = program_.task[t];
            for (Slot slot = task.slot; slot < task.slot + task.entries; ++slot) {
                task_of_[slot] = t;
                bool idle = true;
                for_each_product(slot, [&](const Operand&) { idle = false; });
                if (idle) task_of_[slot] = no_task;
            }
        }
        std::vector<bool> entry(program_.slots(), false);
        for (const Slot slot : program_.slot_of) entry[slot] = true;
        for (std::uint32_t t = 0; t < program_.task.size(); ++t)
            for (Slot slot = program_.task[t].slot; slot < program_.task[t].slot + program_.task[t].entries; ++slot)
                if (entry[slot]) task_of_[slot] = t;
    }

    template <class Visit>
    void for_each_product(Slot slot, Visit&& visit) const
    {
        const auto& t = task(slot);
        for (std::size_t row = 0; row < t.steps; ++row)
            for (std::size_t lane = 0; lane < std::size_t{1} << t.log2_part; ++lane)
                if (const Operand& o = operand(slot, row, lane); !missing(o)) visit(o);
        for (const Operand& o : program_.late[slot])
            if (!missing(o)) visit(o);
    }

    Slot divisor(Slot slot) const
    {
        const auto&       t = task(slot);
        const std::size_t group = std::size_t{1} << t.log2_group, r = slot - t.slot;
        const std::size_t leader = (r << t.log2_part) % group >> t.log2_part;
        if (leader > 0) return static_cast<Slot>(slot - leader);
        return t.divide ? program_.divisor[slot] : DotProgram::zero_slot;
    }

    /// Constants and what comes from another array are known at level −1. A divisor that its reader's task computes
    /// once more may belong to a later task of the same level, but then all that it reads belongs to earlier ones.
    Index level(Slot slot)
    {
        if (task_of_[slot] == no_task || level_[slot] >= 0) return level_[slot];
        Index known = -1;
        for_each_product(slot, [&](const Operand& o) {
            const Index at = program_.a_given ? level_[o.b] : std::max(level_[o.a], level_[o.b]);
            if (at < known) return;
            known = at;
            near_[slot] = o.b;
        });
        if (!program_.a_given) known = std::max(known, level(divisor(slot)));
        return level_[slot] = known + 1;
    }

    void find_levels()
    {
        for (const auto& t : program_.task)
            for (Slot slot = t.slot; slot < t.slot + t.entries; ++slot) level(slot);
    }

    void sort_slots()
    {
        for (Slot slot = 0; slot < program_.slots(); ++slot)
            if (level_[slot] >= 0) order_.push_back(slot);
        std::ranges::stable_sort(order_, {}, [this](Slot slot) { return std::pair(level_[slot], near_[slot]); });
        made_.depth = order_.empty() ? 0 : level_[order_.back()] + 1;
        made_.item.reserve(order_.size());
    }

    void add_item(Slot slot)
    {
        Item& item = made_.item.emplace_back();
        item.slot = slot;
        item.divisor = divisor(slot);
        item.source = program_.source[slot];
        item.scale = program_.scale[slot];
        stream_.clear();
        for (std::size_t leaf = 0; leaf < std::size_t{1} << task(slot).log2_part; ++leaf) add_leaf(slot, leaf);
        for (const Operand& o : program_.late[slot])
            if (!missing(o)) stream_.push_back({o.a, o.b});
        item.first = static_cast<std::uint32_t>(made_.product.size() / 2);
        if (stream_.size() % 2 != 0) made_.product.push_back({});  // first, for what is known last shall come last
        made_.product.insert(made_.product.end(), stream_.begin(), stream_.end());
        item.pairs = static_cast<std::uint32_t>(made_.product.size() / 2 - item.first);
    }

    void add_leaf(Slot slot, std::size_t leaf)
    {
        const auto&       t = task(slot);
        const std::size_t lane = reversed(leaf, t.log2_part), before = stream_.size();
        for (std::size_t row = 0; row < t.steps; ++row)
            if (const Operand& o = operand(slot, row, lane); !missing(o)) stream_.push_back({o.a, o.b});
        if (t.log2_part == 0) return;
        if (stream_.size() == before) stream_.push_back({});
        int merges = 0;
        while (leaf >> merges & 1) ++merges;
        const auto mark = merges == t.log2_part ? BatchDots::last(merges) : BatchDots::aside(merges);
        stream_.back().a |= mark >> 2 << BatchDots::slot_bits;
        stream_.back().b |= (mark & 3) << BatchDots::slot_bits;
    }

    void set_pilots(Index distance)
    {
        std::vector<std::int32_t> pilot(made_.depth, -1);
        for (Item& item : made_.item) {
            const Index at = level_[item.slot];
            pilot[at] = static_cast<std::int32_t>(item.slot);
            if (at >= distance) item.pilot = pilot[at - distance];
        }
    }

    const DotProgram&          program_;
    std::vector<std::uint32_t> task_of_;  // by slot; no_task: constants, and slots that nobody needs
    std::vector<Index>         level_;    // by slot
    std::vector<Slot>          near_;     // by slot; the b that is known last
    std::vector<Slot>          order_;
    std::vector<Product>       stream_;  // of one item
    BatchDots                  made_;
};

}  // namespace

BatchDots batch_dots(const DotProgram& program, Index pilot_distance)
{
    require(program.slots() <= BatchDots::slot_mask,
            [] { return "too many entries for a batch: their positions have 30 bits"; });
    require(pilot_distance >= 1, [] { return "a pilot is at least one level earlier"; });
    return BatchMaker(program).make(pilot_distance);
}

}  // namespace ilux
