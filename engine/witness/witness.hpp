#pragma once
// A second opinion on x, which does not come from M: made once for the numbers of A, asked for every x.

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "ilux/krylov/null_space.hpp"
#include "ilux/engine/witness/constant_vectors.hpp"
#include "ilux/engine/witness/dominance.hpp"
#include "ilux/engine/witness/lu_witness.hpp"
#include "ilux/engine/witness/undetermined.hpp"

namespace ilux {

/// Up to so many unknowns truth comes before time: a system with a known answer is solved to the end, and each unknown
/// is held to itself.
inline constexpr Index few_unknowns = 20'000;

/// Where max |A t|_i / (|A||t|)_i is above it t is not near the null space.
inline constexpr double doubtful = 1e-12;

/// What an iteration has not found of a known z: A t, where t is what is missed, tells how far such an iteration can be
/// trusted.
struct Missed {
    double share = 1;  ///< max |t|_i / |z|_i; 0: nothing can be asked
    double rows = 1;   ///< max |A t|_i / (|A||z|)_i
    Index  steps = 0;  ///< that the last iteration took
    double own = 1;    ///< max |A t|_i / (|A||t|)_i: at rounding t is in the null space, as far as it can be told
};

/// Whether a proof that A is regular is kept, to be checked for other numbers.
enum class Proof { once, kept };

/// What is known of A besides M.
template <Scalar S = double>
class Witness {
public:
    /// Looks at vectors of ones; factors an A of few unknowns. @param A  must stand, with these numbers, as long as
    /// this
    /// @param null_space  that x is kept clear of: nothing is said of it, nor asked; or null
    /// @param proof  kept: for holds_for(), n indices
    Witness(Cpu& be, const CsrView<S>& A, const NullSpace<S>* null_space = nullptr, Proof proof = Proof::once);

    /// Whether all of it holds for other numbers of A, which are on a GPU: A is large, and regular by its diagonal as
    /// it was. A proof must have been kept. Cost: a pass over A there.
    bool holds_for(Gpu& gpu, const DeviceCsr<S>& A_there);

    /// The row-wise backward error that keeps what M may not see below `etol`; within 1e-12 and 1e-6. It is 1e-12 for
    /// many unknowns with constraints: a few steps on a known answer do not find what such a circuit hides.
    double rowwise_limit(double etol) const;
    /// A may be singular in a way that ones do not show: a system with a known solution should be solved.
    bool wants_known_answer() const { return !lu_ && !answered_ && (!constants_.regular || A_.rows() <= few_unknowns); }
    /// Some b has no solution: worth a look at b.
    bool doubts_b() const { return std::ranges::find(closed_, 1) != closed_.end(); }
    /// There is something to say, or to mend, of any x: only the host can.
    bool concerns_x() const { return !constants_.loose.empty() || !missed_.empty() || lu_; }

    /// Why no x solves A x = b to ‖r‖₂ ≤ rtol ‖b‖₂, or "": A and its transpose take ones to 0, of all unknowns or of a
    /// part, and b has more of them than that. Costs nothing where there are no such sets.
    std::string why_no_solution(std::span<const S> b, double rtol) const;

    /// The solution of a system with a known answer: known_answer() of x, clear of the null space.
    void known_answer(std::span<const S> x, std::span<S> z) const;
    /// The share of an unknown that may be missed where that system counts as solved. It is smaller for large n, as
    /// random signs have little of any one vector.
    static double enough(Index n);
    void          note(const Missed& missed);  ///< on the way there
    void          note_answered() { answered_ = true; }
    /// z − y, where y is what was found: what iterations with M do not see. @param unclear  whether that is in the null
    /// space of A is not told by its rows
    void take(std::vector<S> missed, bool unclear);
    /// What M lacks need not be told: A is proven regular, or there is an LU that knows better, or M has solved a
    /// system with a known answer.
    bool knows_more_than_M() const { return constants_.regular || lu_ || (answered_ && missed_.empty()); }
    /// Neither solved nor shown to be singular: M is too crude to tell.
    bool is_unclear() const { return unclear_; }

    /// d ← A⁻¹ r by an LU. @return false, and nothing is done, where there is none
    bool estimate(std::span<const S> r, std::span<S> d) { return lu_ && lu_->estimate(r, d); }
    /// d ← d + c t for each loose set t, so that Σ_i∈t (r − A d)_i = 0: the constant that M has lost. O(nnz) where
    /// there are any.
    void add_lost_constants(std::span<const S> r, std::span<S> d) const;

    /// Which unknowns are not determined, or which may be off by more than etol for all that the rows tell; or "".
    std::string warning(std::span<const S> x, const Residual<S>& residual, const Accuracy& accuracy, double etol);

private:
    std::string of_loose_sets(std::span<const S> x, const Residual<S>& residual) const;

    void leave_out_null_space();

    const CsrView<S>&   A_;
    const NullSpace<S>* null_space_;
    std::vector<Index>  leads_to_;  // of a kept proof; else empty
    ConstantVectors     constants_;
    std::vector<char>   closed_;  // of each loose set: rows and columns of its unknowns sum to 0
    std::vector<S>      sums_;    // Σ_ij a_ij over the rows and columns of each loose set; 0: not to be divided by
    std::unique_ptr<LuWitness<S>>    lu_;           // of few unknowns
    std::unique_ptr<GpuDominance<S>> proof_there_;  // leads_to_, once it was asked for
    std::vector<S>                   missed_;       // of the system with a known answer; none: it was solved
    double reach_ = 1;         // the most that unknowns were off, as a share of them, over how far rows were
    bool   answered_ = false;  // that system was looked at
    bool   unclear_ = false;
    bool   constrained_ = false;  // large, not proven regular, and some diagonal entries are not positive
};

}  // namespace ilux
