#pragma once
// An LU of a small A, which knows what M cannot: it costs less than doubt.

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ilux/direct/lu/lu.hpp"
#include "ilux/engine/witness/known_answer.hpp"

namespace ilux {

/// Factors that only judge.
template <Scalar S = double>
class LuWitness {
public:
    /// Factors A, where that takes no more than a moment; null where A has more unknowns, or its L and U take more
    /// flops.
    /// @param A  must stand, with these numbers, as long as this
    static std::unique_ptr<LuWitness> make(Cpu& be, const CsrView<S>& A);

    /// d ← A⁻¹ r; false, and nothing is done, where A is singular.
    bool estimate(std::span<const S> r, std::span<S> d);
    /// Which unknowns A leaves open, or that it is singular; or "".
    std::string warning(std::span<const S> x, const Residual<S>& residual);

private:
    LuWitness(Cpu& be, const CsrView<S>& A, const std::shared_ptr<const LuSymbolic>& symbolic);
    void substitute(std::span<const S> r, std::span<S> z);

    Cpu                    be_;
    const CsrView<S>&      A_;
    std::unique_ptr<Lu<S>> lu_;
    LuWorkspace<S>         workspace_;
    std::vector<S>         room_;
    std::string            singular_;  // why there are no factors, or ""
};

}  // namespace ilux
