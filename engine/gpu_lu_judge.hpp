#pragma once
// x of a direct solution, judged on the GPU where the factors are.

#include <optional>

#include "ilux/base/matrix/csr.hpp"
#include "ilux/direct/lu/lu.hpp"
#include "ilux/engine/report/attempt.hpp"
#include "ilux/engine/report/gpu_accuracy.hpp"
#include "ilux/engine/system_vectors.hpp"

namespace ilux {

/// The pattern of A by rows, and vectors, in device memory.
template <Scalar S>
class GpuLuJudge {
public:
    /// @throws OutOfMemory, DeviceError
    GpuLuJudge(Gpu& gpu, const CsrView<S>& A);

    /// Solves A x = b or Aᴴ x = b, as long as x is good at once: then tried.x becomes empty, as x was delivered.
    /// @param lu  with values and factors of A on this GPU  @param A  of that pattern
    /// @return false, and all is as it was, where x needs more than that: corrections, other pivots, a look at the
    /// factors. The host does it then, from the beginning.
    bool solve(Lu<S>& lu, const CsrView<S>& A, Transpose transpose, SystemVectors<S>& given, double rtol,
               const SolverOptions& options, Attempt& tried);
    /// z ← A⁻¹ r or A⁻ᴴ r by the factors. @return false, and nothing is delivered, where the host has to do it
    bool apply(Lu<S>& lu, Transpose transpose, SystemVectors<S>& given);

private:
    /// Aᴴ by rows.
    struct Adjoint {
        DeviceBuffer<Offset> row_ptr, from;
        DeviceBuffer<Index>  col;
        DeviceBuffer<S>      val;
    };
    std::optional<DeviceRows<S>> rows(const CsrView<S>& A, DeviceSpan<const S> val, Transpose transpose);
    LuSolveReport substitute(Lu<S>& lu, DeviceSpan<S> r, DeviceSpan<S> z, Transpose transpose, double tolerance);
    bool          find_known_answer(Lu<S>& lu, GpuAccuracy<S>& measured, Transpose transpose);

    Gpu&                   gpu_;
    DeviceBuffer<Offset>   row_ptr_;
    DeviceBuffer<Index>    col_;
    DeviceBuffer<S>        b_, x_, r_, error_;
    DeviceBuffer<double>   size_, row_size_;
    std::optional<Adjoint> adjoint_;
};

}  // namespace ilux
