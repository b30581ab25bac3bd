#pragma once
// A second opinion on x, which does not come from M: made once for the numbers of A, asked for every x.

#include <string>
#include <vector>

#include "ilux/solver/witness/undetermined.hpp"

namespace ilux {

/// What is known of A besides M.
template <Scalar S = double>
class Witness {
public:
    /// Looks at vectors of ones. @param A  must stand, with these numbers, as long as this
    Witness(Cpu& be, const CsrView<S>& A);

    /// The row-wise backward error that keeps what M may not see below `etol`; within 1e-12 and 1e-6.
    double rowwise_limit(double etol) const;
    /// A may be singular in a way that ones do not show: a system with a known solution should be solved.
    bool wants_known_answer() const { return !constants_.regular && !answered_; }
    /// There is something to say, or to mend, of any x: only the host can.
    bool concerns_x() const { return !constants_.loose.empty() || !missed_.empty(); }

    /// z_i ← ± |x_i|, or what is usual among x where that is 0 or hardly more: the solution of a system with a known answer.
    static void known_answer(std::span<const S> x, std::span<S> z);
    /// The share of an unknown that may be missed where that system counts as solved. It is smaller for large n, as random signs have
    /// little of any one vector.
    static double enough(Index n);
    void        note_answered() { answered_ = true; }
    /// z − y, where y is what was found: what the iteration with M has not seen. @param residual  of x
    void take(std::vector<S> missed, std::span<const S> x, const Residual<S>& residual);

    /// d ← d + c t for each loose set t, so that Σ_i∈t (r − A d)_i = 0: the constant that M has lost. O(nnz) where there are any.
    void add_lost_constants(std::span<const S> r, std::span<S> d) const;

    /// Which unknowns are not determined, or which may be off by more than etol for all that the rows tell; or "".
    std::string warning(std::span<const S> x, const Residual<S>& residual, const Accuracy& accuracy,
                        double etol) const;

private:
    std::string of_loose_sets(std::span<const S> x, const Residual<S>& residual) const;

    const CsrView<S>& A_;
    ConstantVectors   constants_;
    std::vector<S>    sums_;              // Σ_ij a_ij over the rows and columns of each loose set; 0: not to be divided by
    std::vector<S>    missed_;            // of the system with a known answer; none: it was solved
    double            reach_ = 0;         // how much of itself an unknown may change by missed_, over the change of rows
    bool              answered_ = false;  // that system was looked at
};

}  // namespace ilux
