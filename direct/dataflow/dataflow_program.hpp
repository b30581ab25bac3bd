#pragma once
// Many dot products that read one another's results, in an order in which warps can compute them.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "ilux/base/scalar.hpp"
#include "ilux/base/types.hpp"
#include "ilux/direct/gpu/value_slot.hpp"
#include "ilux/base/unset_vector.hpp"

namespace ilux {

/// Entries v_t = (s_t · input_t − Σ a b) / d_t, where each b, and each a and d unless they are given from outside, is
/// an earlier entry. Entries live in slots. A task is 32 lanes that compute `entries` entries of one level, slots
/// `slot`, slot + 1, …, with 2^log2_part lanes each, and reads only slots of earlier levels, which belong to earlier
/// tasks. The first 32 slots hold constants.
struct DataflowProgram {
    using Slot = ValueSlot;
    static constexpr Slot zero_slot = 0;       ///< holds 0: what missing products read
    static constexpr Slot minus_one_slot = 1;  ///< holds −1: v ← fma(−(−1), p, v) adds a partial sum
    static constexpr Slot first_slot = 32;

    /// An entry's last products to be known are its `late` ones: they are subtracted when all else is summed up and, if
    /// they can be, by the first lane alone, so that little remains to be done once they are there. Of the others,
    /// product `step` of lane `lane` is operand[32 (first + step) + lane], sorted by level along the lanes and then the
    /// steps, with missing ones first: a step is ready when its last lane is. Their sum is that over the lanes, halves
    /// added to halves.
    struct Task {
        std::uint32_t first = 0;
        Slot          slot = 0;
        std::int32_t  pilot = -1;  ///< a slot four levels earlier, known long before this task can go on; −1: none
        std::uint8_t  steps = 0;   ///< of every lane; with those for the divisor at most max_steps
        std::uint8_t  divisor_steps = 0;  ///< > 0: these follow, and sum up to the entry's divisor, computed once more
        std::uint8_t  log2_part : 4 = 0;
        std::uint8_t  log2_group : 4 = 0;  ///< lanes whose first entry divides the others, > log2_part; 0: no group
        std::uint8_t  entries : 6 = 0;
        std::uint8_t  divide : 2 = 0;  ///< what entries are divided by; beside, or instead of, the first of a group
    };
    struct Operand {
        Slot a = zero_slot, b = zero_slot;
    };
    static constexpr std::uint8_t by_slot = 1;  ///< the value in its divisor's slot
    static constexpr std::uint8_t by_twin = 2;  ///< the same, but computed here from divisor_steps: a wait less
    using Late = std::array<Operand, 2>;
    static constexpr int steps = 4;           ///< of a lane, where lanes suffice
    static constexpr int max_steps = 8;       ///< that a group may be squeezed to
    static constexpr int chunk = 32 * steps;  ///< products of a task but late ones; earlier ones become partial sums

    UnsetVector<Task>         task;
    UnsetVector<Operand>      operand;
    UnsetVector<Late>         late;     ///< slots
    UnsetVector<std::int32_t> source;   ///< slots; position of the input, −1: none
    UnsetVector<double>       scale;    ///< slots; of the input
    UnsetVector<Slot>         divisor;  ///< slots; read where the task says so
    UnsetVector<Slot>         slot_of;  ///< entries; where each is
    Index                     depth = 0;
    double                    products = 0;  ///< without padding, partial sums included
    bool                      a_given = false;

    std::size_t slots() const { return source.size(); }
    std::size_t bytes() const;
};

/// @throws InvalidInput when 32 bits cannot count rows of operands, or slots
void require_positions(Offset rows, Offset slots);

/// Computes all slots, one task after another, with the bits of every other method: what tests trust.
/// @tparam S  of all values, double or complex; minus_product and DividedBy are the steps
/// @param a   the array that a and the divisors are read from; null unless program.a_given
/// @param v   program.slots() values
template <Scalar S = double>
void run_serial(const DataflowProgram& program, std::span<const NotDeduced<S>> input, const NotDeduced<S>* a,
                std::span<NotDeduced<S>> v);

}  // namespace ilux
