#pragma once
// A DotProgram (dot_program.hpp) as a warp computes it for 32 systems of one pattern at once, a lane each.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ilux/direct/dot_program.hpp"

namespace ilux {

/// An item is one slot: x ← s · input, x ← x − a b over its products in their order, x ← x / d. All lanes of a warp
/// take the same product at the same time; so the partial sums that were 2^log2_part lanes' are summed one after the
/// other, the lanes in bit-reversed order, and a sum is added to its neighbour as soon as both are there. The bits are
/// run_serial's: what is missing of a lane would have subtracted 0 · 0, which changes nothing, not even −0; a lane of
/// which all is missing keeps one such product, for its +0 does change −0. A divisor that a task of the program
/// computes once more is read here instead, where it is: as many bits, half the work.
struct BatchDots {
    using Slot = DotProgram::Slot;
    struct Item {
        std::uint32_t first = 0;  ///< of its pairs of products
        std::uint32_t pairs = 0;
        Slot          slot = 0;
        Slot          divisor = DotProgram::zero_slot;  ///< zero_slot: none
        double        scale = 1;
        std::int32_t  source = -1;  ///< position of its input; −1: none
        std::int32_t  pilot = -1;   ///< a slot some levels earlier; −1: none
    };
    /// Slots in the low 30 bits; above them, the mark: two bits in a, two in b.
    struct Product {
        std::uint32_t a = 0, b = 0;
    };
    static constexpr int           slot_bits = 30;
    static constexpr std::uint32_t slot_mask = (1u << slot_bits) - 1;
    static constexpr int           most_merges = 5;
    /// Marks of a lane's last product. m ≤ most_merges sums put aside are added to this one: mark m + 1 puts the result
    /// aside under m and starts the next lane with 0, mark most_merges + m goes on with it: that was the last lane. 0:
    /// neither.
    static constexpr std::uint32_t aside(int merges) { return static_cast<std::uint32_t>(merges + 1); }
    static constexpr std::uint32_t last(int merges) { return static_cast<std::uint32_t>(most_merges + merges); }
    static constexpr std::uint32_t mark(Product p) { return p.a >> slot_bits << 2 | p.b >> slot_bits; }

    std::vector<Item>    item;     ///< each reads only slots of earlier items
    std::vector<Product> product;  ///< two for each pair
    Index                depth = 0;
};

/// Items by level, those that read the same late operand side by side; slots that nobody needs are left out.
/// O(products).
/// @param pilot_distance  levels between an item and its pilot
/// @throws InvalidInput when 30 bits cannot count the slots
BatchDots batch_dots(const DotProgram& program, Index pilot_distance);

}  // namespace ilux
