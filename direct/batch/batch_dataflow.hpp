#pragma once
// A DataflowProgram (dataflow_program.hpp) level by level, as warps compute it for many systems of one pattern at once.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ilux/direct/dataflow/dataflow_program.hpp"

namespace ilux {

/// An item computes one slot for some members, a lane each; the lanes of a warp compute the `width` items of a task
/// side by side, which have one shape. An item sums up 2^log2_leaves leaves of `steps` products each, which are lanes
/// of the program in bit-reversed order: leaf 0 starts from the input, and a sum is added to its neighbour as soon as
/// both are there. Then it subtracts its late products, and divides.
///
/// Nearly all products of an entry are known long before the last two. So that no level takes longer than a few
/// products do, long sums are cut into subtrees, whose sums are items one level earlier; the entry's leaves are those
/// then. And whoever divides by an entry of its own level computes it once more, from the sum of all but its late
/// products, which is shared. Such sums have places of their own, which are double where slots are float. The bits are
/// run_serial's: what is missing of a lane would have subtracted 0 · 0, which changes nothing, not even −0.
struct BatchDataflow {
    using Slot = DataflowProgram::Slot;
    using Product = DataflowProgram::Operand;
    enum class Divide : std::uint8_t { none, by_slot, by_sum };
    struct Item {
        Slot          slot = 0;     ///< or place, where the task makes sums
        Slot          divisor = 0;  ///< by_sum: the place of what divisor_late is subtracted from
        std::int32_t  source = -1;  ///< position of its input; −1: none
        std::uint32_t pad = 0;
        double        scale = 0;  ///< of the input
        double        pad2 = 0;
        Product       late[2], divisor_late[2];
    };
    struct Task {
        std::uint32_t first = 0;  ///< of its rows of products, an even number of them
        std::uint8_t  log2_leaves = 0, steps = 0;
        Divide        divide = Divide::none;
        bool          late : 1 = false;        ///< some item has late products
        bool          adds_sums : 1 = false;   ///< leaves are the sums at places b; steps is 1
        bool          makes_sums : 1 = false;  ///< items go to places
        bool          early : 1 = false;       ///< leaves read nothing of the level before, but older ones only

        constexpr std::uint32_t products() const { return std::uint32_t{steps} << log2_leaves; }
    };
    static constexpr Slot          spare_slot = DataflowProgram::first_slot - 1;  ///< where idle lanes write
    static constexpr Slot          spare_place = 0;
    static constexpr std::uint32_t longest = 16;  ///< products of an item of those that are cut

    int                  width = 1;
    std::vector<Task>    task;         ///< by level, long ones first
    std::vector<Item>    item;         ///< tasks · width; idle lanes copy the first item of their task
    std::vector<Product> product;      ///< two rows side by side: row r of item g at (r / 2 · width + g) · 2 + r % 2
    std::vector<std::uint32_t> level;  ///< levels + 1; first tasks
    std::size_t                places = 1;    ///< of sums
    std::size_t                products = 0;  ///< with late ones and sums of sums, without padding

    Index          depth() const { return static_cast<Index>(level.size()) - 1; }
    const Product& operand(std::size_t t, std::uint32_t row, int g) const
    {
        return product[((task[t].first + row) / 2 * width + g) * 2 + row % 2];
    }
};

/// Items read only what earlier levels wrote, and no place is written in a level that reads it; slots that nobody needs
/// are left out. O(products).
/// @param width  items of a task, a power of two
/// @throws InvalidInput when slots or products pass what 31 bits can count
BatchDataflow batch_dataflow(const DataflowProgram& program, int width);

}  // namespace ilux
