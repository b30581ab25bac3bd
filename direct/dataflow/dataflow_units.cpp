#include "ilux/direct/dataflow/dataflow_units.hpp"

#include <omp.h>

#include <atomic>
#include <limits>
#include <utility>

#include "ilux/base/barrier.hpp"
#include "ilux/base/error.hpp"
#include "ilux/base/region_failure.hpp"
#include "ilux/direct/dataflow/counting_sort.hpp"
#include "ilux/direct/dataflow/sum_rules.hpp"
#include "ilux/direct/dataflow/product_lists.hpp"

namespace ilux {
namespace {

using namespace sum_rule;
constexpr int    parts_at_once = 16;  // that a thread takes where they do not wait for one another
constexpr Offset many = 1 << 13;      // entries or units: fewer are done before threads have started
constexpr Offset ticket_work = 2000;  // products and entries of the parts that a thread takes where they do

/// What is known of a part before anything is of levels.
struct Part {
    Offset list = 0, units = 0,
           saved = 0;  ///< sizes, then beginnings: products, partial sums, members of groups but one
    Offset products = 0, entries = 0;
    Shape  group = {};  ///< as far as it fits a task; meaningless without one
};

template <class Walk>
class UnitFinder {
public:
    UnitFinder(Cpu& be, const DataflowEntries& entries, const Walk& walk, std::span<const Index> order)
        : be_(be), e_(entries), walk_(walk), order_(order), part_(walk.parts())
    {}

    DataflowUnits find()
    {
        count_products();
        number_units();
        list_products();
        make_shapes();
        sort_shapes();
        return std::move(units_);
    }

private:
    DataflowWalk::Rows memory_of(UnsetVector<std::uint32_t>& all, int thread) const
    {
        const auto rows = static_cast<std::size_t>(walk_.rows());
        return DataflowWalk::Rows(all).subspan(rows * thread, rows);
    }

    void count_products()
    {
        count_.resize(e_.count);
        const int                  team = be_.team(e_.count >= many);
        UnsetVector<std::uint32_t> rows_of(static_cast<std::size_t>(walk_.rows()) * team);
        RegionFailure              failure;
        const Index                parts = walk_.parts();
#pragma omp parallel num_threads(team)
        {
            const auto rows_here = memory_of(rows_of, omp_get_thread_num());
#pragma omp for schedule(dynamic, parts_at_once)
            for (Index k = 0; k < parts; ++k) failure.run([&] { count_part(k, rows_here); });
        }
        failure.rethrow();
    }

    void count_part(Index k, DataflowWalk::Rows rows_here)
    {
        Part& part = part_[k];
        for (const EntryRange& range : walk_.entries(k)) {
            std::fill_n(count_.begin() + range.first, range.size(), 0);
            part.entries += range.size();
        }
        walk_.walk(
            k, rows_here, [](Index) {}, [this](Offset t, Offset, Offset) { ++count_[t]; }, [](Offset) {});
        for (const EntryRange& range : walk_.entries(k))
            for (Offset t = range.first; t < range.last; ++t) {
                part.products += count_[t];
                const LongSum s = cut_long_sum(count_[t]);
                require(s.fits(), [] { return "an entry has too many products; take another method"; });
                part.units += s.units();
            }
        require(part.products < std::numeric_limits<std::uint32_t>::max(),
                [] { return "a column has too many products for positions of 32 bits; take another method"; });
        part.list = part.products + part.units;
        if (const EntryGroup group = walk_.group(k); !group.empty()) {
            part.group = group_shape(group);
            part.saved = part.group.size - 1;
        }
    }

    Shape group_shape(const EntryGroup& group) const
    {
        const auto early = [&](Offset t) { return early_operands(count_[t]); };
        const auto longest = [&](Offset end) {
            std::uint32_t found = 0;
            for (Offset t = group.leader; t < end; ++t) found = std::max(found, early(t));
            return found;
        };
        Shape made =
            sum_rule::group_shape(group.leader, group.end - group.leader, early(group.leader), longest(group.end));
        made.steps = narrow(rows(longest(group.leader + made.size), made.log2_part));
        return made;
    }

    void number_units()
    {
        Offset list = 0, units = e_.count;
        for (Part& part : part_) {
            units_.products += double(part.list);
            list = std::exchange(part.list, list) + list;
            units = std::exchange(part.units, units) + units;
            saved_ = std::exchange(part.saved, saved_) + saved_;
            in_parts_ += part.entries;
        }
        require(units < DataflowWalk::minus_one,
                [] { return "too many entries or products for positions of 32 bits; take another method"; });
        units_.product.resize(list);
        units_.first.resize(units);
        units_.early.resize(units);
        units_.late.resize(units);
        level_.resize(units);
        for (Offset t = in_parts_; t < e_.count; ++t) {  // inputs
            units_.first[t] = 0;
            units_.early[t] = units_.late[t] = 0;
            level_[t] = 0;
        }
    }

    /// Parts of one ticket follow one another in the order. @return where each begins, and the end
    std::vector<Index> cut_tickets() const
    {
        std::vector<Index> ticket{0};
        Offset             work = 0;
        for (Index at = 0; at < walk_.parts(); ++at) {
            const Part& part = part_[part_at(at)];
            work += part.products + part.entries;
            if (work < ticket_work && at + 1 < walk_.parts()) continue;
            ticket.push_back(at + 1);
            work = 0;
        }
        return ticket;
    }
    Index part_at(Index at) const { return order_.empty() ? at : order_[at]; }

    /// Ends: a ticket waits for parts of earlier ones, each held by a thread that runs or is finished, and for its own.
    void list_products()
    {
        const auto most = std::ranges::max_element(part_, {}, &Part::products);
        const auto records = part_.empty() ? std::size_t{0} : static_cast<std::size_t>(most->products);
        const auto ticket = cut_tickets();
        const int  team = be_.team(ticket.size() > 2 && e_.count >= many);
        const auto tickets = static_cast<Index>(ticket.size()) - 1;
        next_.resize(e_.count);
        std::vector<std::atomic<bool>>    done(part_.size());
        UnsetVector<std::uint32_t>        rows_of(static_cast<std::size_t>(walk_.rows()) * team);
        UnsetVector<ProductLists::Record> records_of(records * team);
        std::atomic<Index>                claimed{0};
#pragma omp parallel num_threads(team)
        {
            const int    thread = omp_get_thread_num();
            const auto   rows_here = memory_of(rows_of, thread);
            ProductLists lists(units_, level_, std::span(records_of).subspan(records * thread, records));
            for (Index t; (t = claimed.fetch_add(1, std::memory_order_relaxed)) < tickets;)
                for (Index at = ticket[t]; at < ticket[t + 1]; ++at) {
                    list_part(part_at(at), rows_here, lists, done);
                    done[part_at(at)].store(true, std::memory_order_release);
                }
        }
    }

    void list_part(Index k, DataflowWalk::Rows rows_here, ProductLists& lists, std::vector<std::atomic<bool>>& done)
    {
        constexpr int patience = 2000;  // polls of a thread that has a processor; some columns take 100 µs
        const Part&   part = part_[k];
        lists.start_part(part.list, part.units);
        std::uint32_t at = 0;
        for (const EntryRange& range : walk_.entries(k))
            for (Offset t = range.first; t < range.last; ++t) {
                next_[t] = at;
                at += count_[t];
            }
        ProductLists::Record* const r = lists.records();
        walk_.walk(
            k, rows_here,
            [&](Index i) { spin_until([&] { return done[i].load(std::memory_order_acquire); }, patience); },
            [&](Offset t, Offset a, Offset b) {
                const std::int32_t of_a = a == DataflowWalk::minus_one || e_.a_given() ? -1 : level_[a];
                r[next_[t]++] = {{static_cast<DataflowEntry>(a), static_cast<DataflowEntry>(b)},
                                 std::max(of_a, level_[b]) + 1};
            },
            [&](Offset t) { lists.complete(t, next_[t] - count_[t], count_[t]); });
        complete_levels(k);
    }

    /// Members of a group share its level; whoever computes its divisor once more waits for what that waits for.
    void complete_levels(Index k)
    {
        const EntryGroup group = walk_.group(k);
        if (group.empty()) return;
        const Shape& shape = part_[k].group;
        const auto   begin = level_.begin() + group.leader, end = begin + shape.size;
        std::fill(begin, end, *std::max_element(begin, end));
        for (Offset t = group.leader + shape.size; t < group.end; ++t)
            level_[t] = std::max(level_[t], level_[group.leader] + (has_twin(t, shape) ? 0 : 1));
    }

    bool has_twin(Offset t, const Shape& group) const
    {
        return sum_rule::has_twin(units_.early[t], units_.early[group.first], group.log2_part);
    }

    /// One entry or partial sum. What divides it is known already, or is summed up beside it.
    Shape single_shape(Offset unit, const Shape& group) const
    {
        const auto own = units_.early[unit];
        if (unit >= e_.count || e_.divisor[unit] < 0) return lone_shape(unit, own, 0);
        if (e_.a_given() || !has_twin(unit, group)) return lone_shape(unit, own, DataflowProgram::by_slot);
        return twin_shape(unit, own, units_.early[group.first], group.log2_part);
    }

    void put_shape(Offset at, Shape shape)
    {
        shape.level = level_[shape.first];
        units_.shapes[at] = shape;
    }

    void make_shapes()
    {
        units_.shapes.resize(units_.count() - saved_);
        const Index parts = walk_.parts();
#pragma omp parallel num_threads(be_.team(units_.shapes.size() >= many))
        {
#pragma omp for schedule(static) nowait
            for (Index k = 0; k < parts; ++k) {
                const Shape& group = part_[k].group;
                const auto   ranges = walk_.entries(k);
                const Offset leader = walk_.group(k).empty() ? ranges[0].last : walk_.group(k).leader;
                for (Offset t = ranges[0].first; t < leader; ++t) put_shape(t - part_[k].saved, single_shape(t, group));
                if (leader == ranges[0].last) continue;
                put_shape(leader - part_[k].saved, group);
                const Offset saved = part_[k].saved + group.size - 1;
                for (Offset t = leader + group.size; t < ranges[0].last; ++t)
                    put_shape(t - saved, single_shape(t, group));
            }
#pragma omp for schedule(static)
            for (Offset unit = first_lone(); unit < units_.count(); ++unit)
                put_shape(unit - saved_, single_shape(unit, {}));
        }
    }
    /// Behind the entries of groups.
    Offset first_lone() const { return part_.empty() ? 0 : walk_.entries(walk_.parts() - 1)[0].last; }

    void sort_shapes()
    {
        auto& shapes = units_.shapes;
        for (const Shape& shape : shapes) units_.depth = std::max(units_.depth, shape.level + 1);
        UnsetVector<Shape> sorted(shapes.size());
        counting_sort<Shape>(be_, shapes, sorted, lane_keys, lane_key);
        counting_sort<Shape>(be_, sorted, shapes, units_.depth, [](const Shape& s) { return s.level; });
    }

    Cpu&                       be_;
    const DataflowEntries&     e_;
    const Walk&                walk_;
    std::span<const Index>     order_;
    DataflowUnits              units_;
    std::vector<Part>          part_;
    UnsetVector<std::uint32_t> count_, next_;  // by entry: products, and where in a thread's records the next one goes
    UnsetVector<std::int32_t>  level_;         // by unit
    Offset                     saved_ = 0, in_parts_ = 0;
};

}  // namespace

template <class Walk>
DataflowUnits find_units(Cpu& be, const DataflowEntries& entries, const Walk& walk, std::span<const Index> order)
{
    return UnitFinder<Walk>(be, entries, walk, order).find();
}
template DataflowUnits find_units(Cpu&, const DataflowEntries&, const FactorWalk&, std::span<const Index>);
template DataflowUnits find_units(Cpu&, const DataflowEntries&, const SolveWalk&, std::span<const Index>);

}  // namespace ilux
