#pragma once
// Many systems at once in the direct strategy: by the pivots of the last factorization, while these serve.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ilux/engine/direct_batch.hpp"
#include "ilux/engine/machine/device.hpp"

namespace ilux {

/// Makes a DirectBatch for the pivots of an Lu when one is first needed, and tells why there is none.
template <Scalar S = double>
class LuBatches {
public:
    LuBatches(const Machine& machine, const SolverOptions& options) : machine_(machine), options_(options) {}

    /// Whether systems can be solved together by the pivots of the last factorization, of which there must be one.
    /// @param members  that are to come  @param decisions  why not, or how many at a time where that is not all of them
    bool  prepare(const Lu<S>& lu, const std::shared_ptr<const LuSymbolic>& symbolic, Index members,
                  std::vector<std::string>& decisions);
    Index room() const { return batch_->room(); }  ///< once prepared
    /// Systems of A's pattern together, at most room(), each held to what DirectSolver::solve() holds x to. What there
    /// is of A stays.
    /// @param facts  of the factors, as a try has them  @return a try each, without x, which is in systems.x; it is a
    /// success unless it is alone
    std::vector<BatchAttempt> solve(const CsrView<S>& A, const BatchSystems<S>& systems, double rtol,
                                    const Attempt& facts);
    void release() { batch_.reset(); }  ///< the next batch is by the pivots of the last factorization
    void refuse(const Lu<S>& lu);       ///< there is no batch by the pivots of the last factorization
    void forget()                       ///< there are no factors any longer
    {
        release();
        none_for_.reset();
    }

private:
    std::size_t most_bytes(const Lu<S>& lu) const;
    std::string make(const Lu<S>& lu, const std::shared_ptr<const LuSymbolic>& symbolic, Index members);

    const Machine&                   machine_;
    const SolverOptions&             options_;
    std::optional<DirectBatch<S>>    batch_;
    std::shared_ptr<const LuPattern> none_for_;  // pivots by which there is none
};

}  // namespace ilux
