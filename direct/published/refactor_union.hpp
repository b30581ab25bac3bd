#pragma once
// Refactorization in compressed form by the member union, on a GPU [islu_24].

#include <memory>
#include <optional>

#include "ilux/direct/factor/levels.hpp"
#include "ilux/direct/gpu/gpu_member_union.hpp"
#include "ilux/direct/gpu/kernel_trial.hpp"
#include "ilux/direct/published/published_refactor.hpp"

namespace ilux {

/// How ISLU runs on a GPU.
struct UnionTuning {
    std::size_t               memory_limit = 0;  ///< bytes of the positions; 0: a quarter of what is free
    std::optional<UnionIndex> forced = {};
};

/// A block computes a column in place: for i in U(:,k), ascending, the entries at the union's positions minus L(:,i)
/// u_ik; a barrier; at last the division. One launch a level, all of them in a CUDA graph, which the first run makes.
/// The positions are made on the GPU, a warp for each u_ik.
/// A column's updates follow one another, so that a hub of 10⁴ updates takes 10⁴ barriers: [islu_24] has it so.
/// Bitwise equal to refactor_serial. Serves one stream at a time.
template <Scalar S = double>
class UnionRefactor final : public PublishedRefactor<S> {
public:
    /// @param trial  of tests: warps are late before a column and before each of its updates
    UnionRefactor(Gpu& gpu, std::shared_ptr<const GpuLuPattern> pattern, const UnionTuning& tuning = {},
                  const detail::KernelTrial& trial = {});
    ~UnionRefactor() override;
    UnionRefactor(UnionRefactor&&) noexcept;
    UnionRefactor& operator=(UnionRefactor&&) noexcept;

    /// L + U in place of the scattered inputs; only enqueued, allocates nothing. The graph is of one array: another
    /// `val` than before waits for the last run and makes a new one. A stream that is being captured takes the launches
    /// themselves. A zero or non-finite pivot runs through as IEEE arithmetic has it.
    /// @param val  GpuLuPattern::entries()
    /// @throws InvalidInput when val has fewer
    void run(Gpu& gpu, DeviceSpan<S> val) override;

    const GpuMemberUnion& members() const;
    const UnionPlan&      plan() const;
    double                build_seconds() const;   ///< of the positions, on the GPU
    std::size_t           bytes() const override;  ///< on the device, without the pattern

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace ilux
