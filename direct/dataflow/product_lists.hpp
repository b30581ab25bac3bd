#pragma once
// The products of one part of a walk, entry by entry, in the order in which they are known. Internal to
// direct/dataflow.

#include <cstdint>
#include <span>
#include <utility>

#include "ilux/direct/dataflow/dataflow_units.hpp"

namespace ilux {

/// Sorts products of one part after another, in memory of its own. A unit's level is one above the last of its
/// products.
class ProductLists {
public:
    using Product = DataflowUnits::Product;
    struct Record {
        Product      product;
        std::int32_t level;  ///< at which its unit can be known, as far as this goes
    };

    /// @param records  memory for the products of a part
    ProductLists(DataflowUnits& units, std::span<std::int32_t> level, std::span<Record> records)
        : units_(units), level_(level), records_(records)
    {}

    /// @param list, unit  where the part's products and partial sums begin
    void start_part(Offset list, Offset unit)
    {
        list_ = list;
        unit_ = unit;
    }
    Record* records() { return records_.data(); }
    /// All products of an entry, in the order of subtraction, are records first … first + count − 1.
    void complete(Offset entry, std::uint32_t first, std::uint32_t count)
    {
        Record* const r = records_.data() + first;
        level_[entry] = count <= DataflowUnits::chunk ? put_sum(entry, r, count) : put_long_sum(entry, r, count);
    }

private:
    std::int32_t put_sum(Offset unit, Record* r, Offset count);
    std::int32_t put_long_sum(Offset entry, Record* r, Offset count);
    /// @param late  of the records, the last ones. @return the level of the last one, 0 where there is none
    std::int32_t put(Offset unit, const Record* r, Offset count, Offset late);
    Record       added(Offset unit) const
    {
        return {{DataflowUnits::minus_one, static_cast<DataflowEntry>(unit)}, level_[unit] + 1};
    }

    DataflowUnits&          units_;
    std::span<std::int32_t> level_;
    std::span<Record>       records_;
    Offset                  list_ = 0, unit_ = 0;  // the next ones
};

}  // namespace ilux
