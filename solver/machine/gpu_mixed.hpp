#pragma once
// What krylov.precision=mixed puts on a GPU beside A in double: A and M in single precision, their vectors, and the corrections.

#include <memory>
#include <optional>
#include <span>

#include "ilux/base/gpu/device_csr.hpp"
#include "ilux/krylov/refinement.hpp"
#include "ilux/precond/gpu_rounds/gpu_rounds.hpp"
#include "ilux/precond/jacobi.hpp"
#include "ilux/solver/machine/single_matrix.hpp"

namespace ilux {

/// A x = b by refinement on a GPU; S is the scalar of A, b and x.
template <Scalar S = double>
class GpuMixed {
    using Single = single_of<S>;

public:
    /// R A C and the vectors. @param on_device  A; where it fits single precision as it is, it is rounded there
    /// @throws OutOfMemory, DeviceError
    GpuMixed(Gpu& gpu, const CsrView<S>& A, const DeviceCsr<S>& on_device, Method method, const KrylovOptions& krylov);

    std::size_t matrix_bytes() const { return A_.bytes(); }
    std::size_t workspace_bytes() const;  ///< of vectors; with those of M once it is put

    /// M of A, once; null is M = I. In single precision throughout, but for `made`: that computes in double, between vectors that are rounded.
    void put(Gpu& gpu, const GpuRounds<S>& rounds);
    void put(Gpu& gpu, const Jacobi<S>* jacobi);
    void put(Gpu& gpu, std::unique_ptr<Preconditioner<Gpu, S>> made);

    /// Solves A x = b, or D A x = D b with A so scaled. @param D_inverse  n powers of two, or none
    IterationReport solve(Gpu& gpu, const LinearOperator<Gpu, S>& A, DeviceSpan<const S> D_inverse,
                          DeviceSpan<const S> b, DeviceSpan<S> x, const KrylovOptions& krylov,
                          const ProgressListener& on_progress, const StopToken& stop);
    void            precondition(Gpu& gpu, DeviceSpan<const S> r, DeviceSpan<S> z);

private:
    GpuMatrixOperator<Single> in_single(Gpu& gpu, const CsrView<S>& A, const DeviceCsr<S>& on_device);

    SingleSystem<Gpu, S> system(DeviceSpan<const S> row_scale) { return {A_, *M_, row_scale, column_}; }

    Method                                       method_;
    std::vector<double>                          host_row_, host_column_;  // scales; none: ones
    DeviceBuffer<S>                              row_, column_;
    GpuMatrixOperator<Single>                    A_;
    std::unique_ptr<Preconditioner<Gpu, Single>> M_;
    std::size_t                                  scratch_bytes_ = 0;  // of M
    RefinementWorkspace<Gpu, S>                  workspace_;
};

/// Device memory of all that but M: an estimate. @param n, nnz  of A
template <Scalar S>
std::size_t mixed_bytes(Index n, Offset nnz, Method method, const KrylovOptions& krylov);

}  // namespace ilux
