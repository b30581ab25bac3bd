#pragma once
// Inverse-based multilevel ILU: the level loop, its report, and M⁻¹ as a preconditioner.

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ilux/base/cpu.hpp"
#include "ilux/base/matrix/csr.hpp"
#include "ilux/base/progress.hpp"
#include "ilux/base/matrix/operator.hpp"
#include "ilux/precond/mlilu/mlilu_options.hpp"
#include "ilux/precond/rounds/rounds_plan.hpp"

namespace ilux {

/// One level as built; inverse_L and inverse_U are the largest estimates of ‖e_kᵀL⁻¹‖₁ and ‖U⁻¹e_k‖₁ accepted.
struct MlIluLevelReport {
    Index  n = 0, accepted = 0, postponed = 0;
    Index  rounds = 0;  ///< 0: by Crout's sweep
    Offset nnz_L = 0, nnz_U = 0, nnz_G = 0, nnz_F = 0;
    double inverse_L = 0, inverse_U = 0;
    /// Longest chains of dependent rows, at most the depth bound unless `decisions` raise it.
    Index depth_L = 0, depth_U = 0;
    /// The cut of a level in rounds: Σ_j |s_kj t_j| over the other pivots of a pivot's round, which are cut, as a share
    /// of |s_kk t_k|; the mean of all its pivots.
    double cut = 0;
};

/// What the levels took, and what was found of the rank of A.
struct MlIluReport {
    std::vector<MlIluLevelReport> levels;  ///< the last one is dense when `dense` is set
    bool                          dense = false;
    double                        fill = 0;         ///< stored factor values, the dense level included, over nnz(A)
    Offset                        stored = 0;       ///< those values
    std::size_t                   bytes = 0;        ///< of the factors and the host's plans to solve with them
    std::optional<Index>          structural_rank;  ///< of A; nothing where neither matching nor diagonal told
    bool                          limited = false;  ///< entries were dropped to stay within the memory limit
    Index                         deficiency = 0;   ///< numerical rank missing from the last level; 0: nonsingular
    Index  overflowed = 0;  ///< > 0: this level's numbers left the range of double, and M is of no use
    double damping = 0;     ///< β, where M is of A with damping
    std::vector<std::string> decisions;
    double                   seconds_analyse = 0;  ///< scaling, matching, ordering
    double                   seconds_factor = 0;
    RoundSeconds             seconds_rounds;                    ///< of seconds_factor
    bool                     replayed = false;                  ///< by the rounds of an earlier matrix
    Compensation             compensation = Compensation::off;  ///< of the rounds
};

/// Whether M is A and what its rounds have lumped, and nothing else: then M ≥ A for a positive semidefinite A.
bool is_lumped(const MlIluReport& report);

struct SingleScales;
template <Scalar T = double>
struct MlIluFactors;  // the levels; immutable
template <Scalar T = double>
struct MlIluLevelPlans;  // how the host solves with a level's L_B and U_B

/// A finished multilevel factorization of a matrix with values of T. Cheap to copy (shared); immutable; serves any
/// number of threads.
template <Scalar T = double>
class MlIlu {
public:
    /// @param on_progress  told of every level before matching and ordering, with `done` = 0, and every few hundred
    /// columns
    /// @param stop     asked as often, and within matching and ordering; not within the dense level
    /// @throws InvalidInput unless A is square; OutOfMemory when memory_limit cannot hold even the sparsest factor;
    ///         Cancelled, OutOfTime
    static MlIlu build(Cpu& be, const CsrView<T>& A, const MlIluOptions& options,
                       const ProgressListener& on_progress = {}, const StopToken& stop = {});
    /// By the sets of pivots and the matching that an earlier setup found for another matrix; estimates and dropping
    /// are of this one. Takes 0.6 to 0.75 of the time of build(). Where a pivot, an estimate, an update or what is cut
    /// shows that they do not suit A, it is set up by build() after all, and `decisions` says why.
    /// @param plan  of a matrix of the same order and, for it to be of use, pattern; set up by the same options
    static MlIlu rebuild(Cpu& be, const CsrView<T>& A, const MlIluOptions& options, const RoundsPlan& plan,
                         const ProgressListener& on_progress = {}, const StopToken& stop = {});
    /// What rebuild() needs; nothing where the first level is not in rounds. Copies 4 bytes a row, 24 of a level that a
    /// matching has permuted.
    std::optional<RoundsPlan> rounds_plan() const;
    const MlIluReport&        report() const;
    const MlIluFactors<T>&    factors() const { return *factors_; }
    /// M of R A C for this M of A, its values and arithmetic in single precision: what the host applies. Its report
    /// counts its own bytes.
    /// @throws InvalidInput where a value is out of the range of float
    MlIlu<single_of<T>> in_single(const SingleScales& scales) const;
    /// By level, and shared by all copies.
    std::span<const MlIluLevelPlans<T>> host_plans() const;

private:
    template <Scalar>
    friend class MlIlu;
    using Built = std::pair<std::shared_ptr<const MlIluFactors<T>>, std::vector<MlIluLevelPlans<T>>>;
    static MlIlu finished(Built made);

    std::shared_ptr<const MlIluFactors<T>>                 factors_;
    std::shared_ptr<const std::vector<MlIluLevelPlans<T>>> host_plans_;
};

/// z ← M⁻¹ r with the scratch memory of one thread of calls.
template <Scalar T = double>
class MlIluPreconditioner final : public Preconditioner<Cpu, T> {
public:
    explicit MlIluPreconditioner(MlIlu<T> mlilu);
    Index size() const override;
    void  apply(Cpu& be, std::span<const T> r, std::span<T> z) override;
    void  apply_adjoint(Cpu& be, std::span<const T> r, std::span<T> z) override;
    /// A thread a column, with a workspace each; where columns are fewer than half of the threads, all threads for one
    /// after another.
    void apply_columns(Cpu& be, std::span<const T> R, std::span<T> Z) override;

private:
    MlIlu<T>       mlilu_;
    std::vector<T> work_, of_columns_;  // of a call; of a column for each thread
};

}  // namespace ilux
