#pragma once
// L and U on the host, by entries or by fronts.

#include <memory>
#include <optional>

#include "ilux/direct/lu/lu_factored.hpp"
#include "ilux/direct/refactor_cpu/refactor.hpp"
#include "ilux/direct/supernodal/front_refactor.hpp"

namespace ilux {

/// Factors, and what renews them.
template <Scalar S = double>
class HostLu final : public LuFactored<S> {
public:
    HostLu(const Cpu& be, LuFactors<S> chosen) : LuFactored<S>(std::move(chosen)), be_(be) {}
    /// Numbers of these values by fronts, pivots chosen within each.
    /// @param fresh  pattern and plan, without numbers  @throws OutOfMemory, with the prediction where they would pass
    /// the analysis's memory_limit; no numbers are allocated then
    static std::unique_ptr<HostLu> by_fronts(const Cpu& be, LuFactors<S> fresh, const SystemValues<S>& values,
                                             const StopToken& stop);

    std::string_view method() const override { return this->fronts() ? "supernodes" : "cpu"; }
    std::size_t      bytes() const override;
    void             prepare() override;
    void             refactor(const SystemValues<S>& values, const StopToken& stop) override;
    RefineReport     solve(const LuHost<S>& host, const SystemValues<S>& values, std::span<const S> b, std::span<S> x,
                           Transpose transpose, double tolerance) override;

private:
    Cpu                             be_;
    std::optional<CpuRefactor<S>>   by_entries_;
    std::optional<FrontRefactor<S>> by_fronts_;
};

}  // namespace ilux
