#pragma once
// M⁻¹ of a factorization in rounds: each round is one sparse product, forward with L, backward with U, and the dense
// rest between.

#include <memory>
#include <vector>

#include "ilux/base/gpu/gpu.hpp"
#include "ilux/base/scalar.hpp"

namespace ilux {

/// Â ≈ L D U in the order of elimination, on the device; values stored as T. Rows of a round depend on earlier rounds
/// alone.
template <class T = double>
struct RoundsFactors {
    Index              n = 0, nB = 0;     ///< rows; those eliminated in rounds: the others are the dense rest
    std::vector<Index> round_begin;       ///< rounds + 1: the first row of every round, then nB
    std::vector<int>   lanes_L, lanes_U;  ///< threads a row of every round; of L also for the rest
    std::shared_ptr<const DeviceBuffer<Index>> number, column;  ///< n: places of every row in r, and of its x in z
    DeviceBuffer<double> row_scale, col_scale;  ///< n: Â = row_scale ∘ A ∘ col_scale, in the order of elimination
    DeviceBuffer<working_of<T>> inv_pivot;      ///< nB: D⁻¹
    DeviceBuffer<Offset>        L_ptr, U_ptr;   ///< n + 1, nB + 1
    DeviceBuffer<Index>         L_col, U_col;
    DeviceBuffer<T>             L_val, U_val;  ///< strictly lower and upper parts
    DeviceBuffer<T>             W;             ///< (n − nB)², by rows: the inverse of the rest

    std::size_t bytes() const;
};

constexpr int rounds_columns = 8;  ///< so many columns are solved together, or one

/// Other scales than those of the factors, in the order of elimination.
struct RoundsScales {
    DeviceBuffer<double> row, col;
};

/// What one stream of applications writes. Vectors and sums are of S.
template <class T = double, class S = working_of<T>>
class RoundsWorkspace {
public:
    /// Refers to `factors` and to `scales`. @param columns  1 or rounds_columns  @param scales  null: those of the
    /// factors
    /// @throws OutOfMemory, DeviceError
    RoundsWorkspace(Gpu& gpu, const RoundsFactors<T>& factors, int columns = 1, const RoundsScales* scales = nullptr);
    std::size_t bytes() const { return (x_.size() + rest_.size()) * sizeof(S); }

    /// z ← M⁻¹ r for all columns, one after another in memory. Only enqueued; nothing is allocated. Bitwise repeatable.
    void apply(Gpu& gpu, DeviceSpan<const S> r, DeviceSpan<S> z);

private:
    void enqueue(Gpu& gpu);

    const RoundsFactors<T>* factors_;
    const RoundsScales*     scales_;
    int                     columns_;
    DeviceBuffer<S>         x_, rest_;
    DeviceBuffer<std::byte> ends_;   // where a graph finds r and z
    std::shared_ptr<void>   graph_;  // null where the stream cannot be captured
};

}  // namespace ilux
