#pragma once
// Many systems of one pattern at once on a GPU: A_m x_m = b_m with the pivots of one factorization.

#include <cstddef>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "ilux/direct/batch/gpu_batch_monitor.hpp"
#include "ilux/direct/batch/gpu_dataflow_batch.hpp"
#include "ilux/direct/dataflow/gpu_dense_tail.hpp"
#include "ilux/direct/factor/lu_factors.hpp"
#include "ilux/direct/solve/lu_solve.hpp"

namespace ilux {

/// What a batch may take of the device.
struct BatchMemory {
    std::size_t bytes = std::numeric_limits<std::size_t>::max();
    std::size_t beside = 0;  ///< of these, for each member, what the caller needs besides
};

/// @tparam T  double, or float: what factors are stored as. Arithmetic, right-hand sides and solutions are double;
///            factors in float halve memory and traffic, and their solutions ask for refinement. Factors and solutions
///            of a member have the same bits whoever its neighbours are; in double those of GpuRefactor's dot products
///            and dense tail. A singular member, or one that holds NaN, harms itself only. Serves one stream at a
///            time. Repeatable: bitwise.
template <class T>
class GpuLuBatch {
public:
    /// @param members  at least 1; multiples of 32 leave no lane idle, and up to 32 take the memory of 32
    /// @param memory   where it is limited, members() may be fewer, as many as fit with what solve(…, Transpose::no)
    /// needs
    /// @throws InvalidInput for no members, or where 30 bits cannot count the factors; OutOfMemory, with the bytes,
    /// where
    ///         not even 32 fit
    GpuLuBatch(Gpu& gpu, std::shared_ptr<const LuPattern> pattern, Index members, const BatchTuning& tuning = {},
               const BatchMemory& memory = {});

    /// L and U of all members, and their monitors; only enqueued, allocates nothing.
    /// @param values  on the device, member after member, each in the caller's order
    void refactor(Gpu& gpu, const double* values);

    /// What was seen of the last refactor, by member; waits for it. It is as refactor_serial has it.
    std::vector<PivotMonitor> monitors(Gpu& gpu) const { return monitor_.result(gpu); }

    /// Makes what solve needs, once for each kind; solve does so itself where this was not called before.
    void prepare(Gpu& gpu, Transpose transpose);

    /// x_m ← A_m⁻¹ b_m or A_m⁻ᵀ b_m; only enqueued, allocates nothing once prepared. What members with a bad column get
    /// is not defined, but ends.
    /// @param b, x  on the device, member after member
    void solve(Gpu& gpu, const double* b, double* x, Transpose transpose = Transpose::no);

    Index       members() const { return factor_.members(); }
    std::size_t bytes() const;  ///< on the device

    /// Entry e of the pattern, those of F behind those of L + U, of member m is val()[slot_of()[e] · stride() + m].
    const T*                               val() const { return space_.v.data(); }
    std::span<const DataflowProgram::Slot> slot_of() const { return slot_of_; }
    Index                                  stride() const { return factor_.stride(); }

private:
    struct Substitution {
        GpuDataflowBatch           dataflow;
        DataflowBatchSpace<double> space;
    };

    Substitution substitution(Gpu& gpu, Transpose transpose) const;
    void         fit(Gpu& gpu, const BatchMemory& memory);

    std::shared_ptr<const LuPattern>   pattern_;
    BatchTuning                        tuning_;
    UnsetVector<DataflowProgram::Slot> slot_of_;
    GpuDataflowBatch                   factor_;
    GpuDenseTail                       tail_;
    DataflowBatchSpace<T>              space_;
    GpuBatchMonitor                    monitor_;
    std::optional<Substitution>        plain_, transposed_;
};

}  // namespace ilux
