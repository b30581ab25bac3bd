#pragma once
// Factors of one sequence of pivots on a GPU, by entries or by fronts, and what solves with them.

#include <array>
#include <memory>
#include <optional>
#include <string_view>

#include "ilux/base/gpu/gpu_graph.hpp"
#include "ilux/direct/lu/gpu_refactor.hpp"
#include "ilux/direct/solve/gpu_lu_solve.hpp"
#include "ilux/direct/supernodal_gpu/gpu_front_solve.hpp"

namespace ilux {

template <Scalar S>
class GpuLu;

/// x ← A⁻¹ b or A⁻ᵀ b, by entries or by fronts. As GpuLuSolve and GpuFrontSolve: only enqueued, each right-hand side
/// with the bits it has alone.
template <Scalar S = double>
class GpuLuSubstitution {
public:
    GpuLuSubstitution(Gpu& gpu, const GpuRefactor<S>& numbers, Transpose transpose);
    GpuLuSubstitution(Gpu& gpu, const GpuFrontRefactor<S>& numbers, Transpose transpose);

    void run(Gpu& gpu, const S* b, S* x, Index rhs = 1);
    /// Fronts are read where they are; entries are taken over. Once after each refactorization; only enqueued.
    void refill(Gpu& gpu);

    /// Right-hand sides of one run; fronts have room for any number.
    Index       room() const;
    void        make_room(Gpu& gpu, Index rhs);
    std::size_t room_bytes() const;  ///< on the device, of each further right-hand side
    std::size_t bytes() const;

private:
    const S*                        val_ = nullptr;  // of entries
    std::optional<GpuLuSolve<S>>    entries_;
    std::optional<GpuFrontSolve<S>> fronts_;
};

/// What GpuLu refactors and solves with. It stays where it is.
template <Scalar S = double>
class GpuLuFactors {
public:
    /// Costs what GpuRefactor and GpuLuSolve cost, or GpuFrontRefactor and GpuFrontSolve, once for the pivots.
    /// @param fronts  null: by entries
    /// @throws OutOfMemory; InvalidInput for fronts that are too large (gpu_front_schedule)
    GpuLuFactors(Gpu& gpu, std::shared_ptr<const LuPattern> pattern, std::shared_ptr<const FrontPlan> fronts,
                 const LuOptions& options, Cpu host);
    GpuLuFactors(const GpuLuFactors&) = delete;
    GpuLuFactors& operator=(const GpuLuFactors&) = delete;

    std::string_view method() const;  ///< as GpuRefactor has it, or supernodes
    /// The numbers of `factors`, which must be of the same pattern and fronts; waits.
    void        download(Gpu& gpu, LuFactors<S>& factors) const;
    std::size_t bytes() const;

private:
    friend class GpuLu<S>;
    void         run(Gpu& gpu, const S* values);
    PivotMonitor monitor(Gpu& gpu) const;
    bool         makes_graphs() const { return entries_ && entries_->makes_graphs(); }
    /// Made when first needed. @param filled  else the caller refills it
    GpuLuSubstitution<S>& solve(Gpu& gpu, Transpose transpose, bool filled = true);

    std::optional<GpuRefactor<S>>                        entries_;
    std::optional<GpuFrontRefactor<S>>                   fronts_;
    std::array<std::unique_ptr<GpuLuSubstitution<S>>, 2> solve_;        // with A and Aᵀ
    std::array<bool, 2>                                  filled_ = {};  // with the numbers of the last refactorization
    std::array<GpuGraph, 2>                              refactor_graph_, step_graph_;  // by slot of the values
};

}  // namespace ilux
