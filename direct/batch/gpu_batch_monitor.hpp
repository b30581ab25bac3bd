#pragma once
// What the factorizations of a batch on a GPU saw of their pivots.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "ilux/base/gpu/gpu.hpp"
#include "ilux/direct/batch/batch_monitor.hpp"
#include "ilux/direct/factor/pivot_monitor.hpp"
#include "ilux/sptrsv/gpu/device_arrays.hpp"

namespace ilux {

/// What kernels get.
struct BatchMonitorView {
    /// What was seen of the columns of a piece, or of all of them.
    struct Seen {
        double        min_pivot = std::numeric_limits<double>::infinity(), max_pivot = 0;
        double        rgrowth = std::numeric_limits<double>::infinity(), max_multiplier = 0;
        std::int32_t  growth_column = -1, multiplier_column = -1;
        std::uint32_t bad = no_column;  ///< 2 k, or 2 k + 1 where it is not finite
        std::uint32_t pad = 0;
    };
    static constexpr std::uint32_t no_column = ~std::uint32_t{0};

    const BatchMonitorPlan::Column* column = nullptr;
    const DataflowProgram::Slot*    slot = nullptr;
    const BatchMonitorPlan::Input*  input = nullptr;
    const Index*                    piece = nullptr;
    const BatchMonitorPlan::Part*   part = nullptr;
    std::uint64_t*                  largest = nullptr;   ///< 3 × long columns × stride: magnitudes of U, L and B
    Seen*                           of_block = nullptr;  ///< blocks × stride
    Seen*                           seen = nullptr;      ///< stride
    Index                           pieces = 0, blocks = 0, parts = 0, longs = 0, members = 0, stride = 0;
};

/// The monitor of pivot_monitor.hpp for each member, gathered behind the factorization: the lanes of a warp are
/// members. Serves one stream at a time. Repeatable: bitwise; a member's monitor does not depend on its neighbours.
class GpuBatchMonitor {
public:
    GpuBatchMonitor() = default;
    GpuBatchMonitor(Gpu& gpu, const LuPattern& pattern, std::span<const DataflowProgram::Slot> slot_of, Index members);

    /// Looks at finished factors; only enqueued, allocates nothing.
    /// @param input  the caller's values, value i of member m at i · stride + m  @param v  slot s of it at s · stride +
    /// m
    template <class T>
    void watch(Gpu& gpu, const double* input, const T* v);

    /// What the last watch saw, by member; waits for it. It is as refactor_serial has it: where there is a bad column
    /// all else is as for no columns.
    std::vector<PivotMonitor> result(Gpu& gpu) const;

    std::size_t bytes() const { return arrays_.bytes(); }
    /// Those of a monitor of so many members, which is not made. O(nnz).
    static std::size_t bytes_for(const LuPattern& pattern, std::span<const DataflowProgram::Slot> slot_of,
                                 Index members);

private:
    void lay_out(const BatchMonitorPlan& plan, Index members);

    DeviceArrays     arrays_;
    BatchMonitorView view_;
};

}  // namespace ilux
