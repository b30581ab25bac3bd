#pragma once
// Makes a DataflowProgram of entries, their inputs, and a walk over all products. For the .cpp files that know such entries.

#include <array>
#include <cstddef>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "ilux/direct/dataflow/dataflow_program.hpp"

namespace ilux {

/// What the entries are. The divisor of an entry is an entry with an empty `given`, or else one of the given ones.
struct DataflowEntries {
    static constexpr Offset none = -1;
    static constexpr Offset minus_one = -2;  ///< as the a of a product: adds its b

    struct Group {
        Offset leader = 0;  ///< leader + 1 … leader + size − 1 have it as divisor, and itself has none
        int    size = 2;    ///< 2 to 32; lanes of one task compute as many of them together as it has room for
    };
    Offset                                 count = 0;
    std::vector<Offset>                    source;   ///< count; or none
    std::vector<double>                    scale;    ///< count
    std::vector<Offset>                    divisor;  ///< count; or none
    std::vector<Group>                     groups;   ///< leaders ascending; none where `given` is not empty
    std::span<const DataflowProgram::Slot> given =
        {};  ///< slot of each entry of the array that a and divisors come from

    bool a_given() const { return !given.empty(); }
};

/// Entry `target` subtracts a b. b is an entry; a is one of DataflowEntries::given, or an entry where that is empty, or minus_one.
struct DotProduct {
    Offset target, a, b;
};

/// What a walk calls. Products are handed on in batches, for a call through a function object costs more than a product.
class DataflowVisitor {
public:
    using Products = std::function<void(std::span<const DotProduct>)>;
    using Complete = std::function<void(Offset first, Offset last)>;

    explicit DataflowVisitor(Products products, Complete complete = nullptr)
        : products_(std::move(products)), complete_(std::move(complete))
    {}

    void product(Offset target, Offset a, Offset b)
    {
        if (size_ == batch_.size()) flush();
        batch_[size_++] = {target, a, b};
    }
    void complete(Offset first, Offset last)
    {
        if (!complete_) return;
        flush();
        complete_(first, last);
    }
    void flush()
    {
        products_({batch_.data(), size_});
        size_ = 0;
    }

private:
    Products                     products_;
    Complete                     complete_;
    std::array<DotProduct, 1024> batch_;  // stays in a first-level cache
    std::size_t                  size_ = 0;
};

/// Calls product for every product, an entry's products in the order of subtraction and all of them before the first use of
/// the entry; and complete(first, last) once the entries first … last − 1 have all theirs, before they are used where they
/// are of a group or have a divisor among the entries. The same at every call.
using DataflowWalk = std::function<void(DataflowVisitor&)>;

/// Three walks. @throws InvalidInput when slots or operands pass what 32 bits can count
DataflowProgram build_dataflow(const DataflowEntries& entries, const DataflowWalk& walk);

}  // namespace ilux
