#pragma once
// Systems of one pattern on a GPU: their values and vectors there, factors by given pivots, refined solutions.
// What Lu uses where there is a GPU; the policy is Lu's.

#include <array>
#include <memory>
#include <optional>
#include <span>

#include "ilux/base/gpu_graph.hpp"
#include "ilux/base/host_buffer.hpp"
#include "ilux/direct/gpu_lu_refine.hpp"
#include "ilux/direct/gpu_lu_solve.hpp"
#include "ilux/direct/gpu_refactor.hpp"

namespace ilux {

/// Factors of one sequence of pivots on a GPU, and what solves with them.
class GpuLuFactors {
public:
    /// Costs what GpuRefactor and GpuLuSolve cost, once for the pivots.
    GpuLuFactors(Gpu& gpu, std::shared_ptr<const LuPattern> pattern, const LuOptions& options);

    const GpuRefactor& numbers() const { return numbers_; }
    std::size_t        bytes() const;

private:
    friend class GpuLu;
    /// Made when first needed. @param filled  else the caller refills it
    GpuLuSolve& solve(Gpu& gpu, Transpose transpose, bool filled = true);

    GpuRefactor                                numbers_;
    std::array<std::unique_ptr<GpuLuSolve>, 2> solve_;
    std::array<bool, 2>                        filled_ = {};  // with the numbers of the last refactorization
    std::array<GpuGraph, 2>                    refactor_graph_, step_graph_;  // by slot of the values
};

/// Values of two systems have room, so that those of the next can travel while the former are worked on. Serves one host thread
/// at a time.
class GpuLu {
public:
    GpuLu(Gpu& gpu, std::shared_ptr<const LuSymbolic> symbolic);

    Gpu& gpu() { return gpu_; }

    /// Where the next system's values are to be written, page-locked.
    std::span<double> next() { return values_[1 - slot_].host.span(); }
    /// Begins to upload next(), which must not change until the call after use_next.
    void upload_next();
    /// next() becomes current(), and current() next(). Uploads unless upload_next or copy_next did.
    void use_next();
    /// next() ← values that are on the device already, and for the host, too.
    void                    copy_next(DeviceSpan<const double> values);
    std::span<const double> current() const { return values_[slot_].host.span(); }

    /// Refactors current(); waits.
    PivotMonitor refactor(GpuLuFactors& factors);

    struct Step {
        PivotMonitor monitor;
        RefineReport refine;  ///< meaningless where the monitor has a bad column
    };
    /// Refactors current(), solves and measures in one launch of a graph, and refines further where that is needed.
    Step refactor_and_solve(GpuLuFactors& factors, std::span<const double> b, std::span<double> x);

    /// x ← A⁻¹ b or A⁻ᵀ b for one right-hand side, refined as lu_refine does. finite = false also where scaling would be needed to
    /// measure the backward error, as the host does it.
    RefineReport solve(GpuLuFactors& factors, std::span<const double> b, std::span<double> x, Transpose transpose);

    std::size_t bytes() const;

private:
    struct Values {
        HostBuffer<double>   host;
        DeviceBuffer<double> device;
        bool                 uploaded = false;
    };
    GpuResidual& residual(Transpose transpose);
    RefineReport refine(GpuLuFactors& factors, Transpose transpose, bool measured);
    void         take_x(std::span<double> x);

    Gpu&                                        gpu_;
    Gpu                                         copier_;  // a stream for what travels meanwhile
    std::shared_ptr<const LuSymbolic>           symbolic_;
    std::array<Values, 2>                       values_;
    int                                         slot_ = 0;
    HostBuffer<double>                          host_b_, host_x_;
    DeviceBuffer<double>                        b_, x_, r_, d_;
    std::array<std::unique_ptr<GpuResidual>, 2> residual_;
};

}  // namespace ilux
