#pragma once
// Inverse-based multilevel ILU: the level loop, its report, and M⁻¹ as a preconditioner.

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ilux/base/cpu.hpp"
#include "ilux/base/csr.hpp"
#include "ilux/base/fields.hpp"
#include "ilux/base/progress.hpp"
#include "ilux/base/operator.hpp"
#include "ilux/reorder/ordering.hpp"

namespace ilux {

/// Whether large entries are permuted to the diagonal first; automatic: where diagonal entries are small.
enum class MatchingChoice { automatic, on, off };
/// Whether L_G and U_F are kept, or G and F in their place, which saves memory and costs a solve with B̃ each time M is applied.
enum class OffDiagonal { automatic, keep, save };
/// Sign rule of the estimates of ‖L⁻¹‖ and ‖U⁻¹‖.
enum class Estimator { greedy, look_ahead };

inline std::span<const std::string_view> names(MatchingChoice)
{
    static constexpr std::array<std::string_view, 3> all{"auto", "on", "off"};
    return all;
}
inline std::span<const std::string_view> names(OffDiagonal)
{
    static constexpr std::array<std::string_view, 3> all{"auto", "keep", "save"};
    return all;
}
inline std::span<const std::string_view> names(Estimator)
{
    static constexpr std::array<std::string_view, 2> all{"greedy", "look_ahead"};
    return all;
}

/// Longest chain of dependent rows in L_B and U_B; written auto, none or a whole number from 1 on.
struct DepthBound {
    Index                  rows = automatic;  ///< > 0: the bound
    static constexpr Index automatic = -1;    ///< none, unless who applies the factors resolves it: a GPU minds chains
    static constexpr Index none = 0;
    friend bool            operator==(DepthBound, DepthBound) = default;
};
/// @throws InvalidOption naming `path` and the text
void        parse_field(std::string_view path, std::string_view text, DepthBound& field);
std::string field_text(DepthBound field);

/// Options of the multilevel ILU; fields() has their ranges and meanings.
struct MlIluOptions {
    double         drop_tol = 1e-2;        ///< τ
    double         schur_drop_tol = 1e-3;  ///< τ_S
    double         inverse_bound = 5;      ///< κ
    double         growth_bound = 2;       ///< γ
    MatchingChoice matching = MatchingChoice::automatic;
    Ordering       ordering = Ordering::amd;
    OffDiagonal    off_diagonal = OffDiagonal::automatic;
    Estimator      estimator = Estimator::greedy;
    bool           scaling = true;
    bool           definite = false;
    DepthBound     depth_bound = {};
    Index          dense_order = 8;
    Bytes          memory_limit = {};
};

template <class Visit>
void fields(MlIluOptions& o, Visit&& visit)
{
    visit("drop_tol", o.drop_tol, within(0, 1),
          "τ: drop an entry that changes no entry of the inverse factors by more than about τ");
    visit("schur_drop_tol", o.schur_drop_tol, within(0, 1),
          "τ_S: drop entries of the next level's matrix, relative to their row");
    visit("inverse_bound", o.inverse_bound, at_least(1),
          "κ: postpone a pivot whose row of L⁻¹ or column of U⁻¹ would exceed it");
    visit("growth_bound", o.growth_bound, at_least(0),
          "γ: postpone a pivot whose update would exceed it, entries being about 1; 0: off");
    visit("matching", o.matching, anything(), "permute large entries to the diagonal first");
    visit("ordering", o.ordering, anything(), "fill-reducing ordering of every level");
    visit("off_diagonal", o.off_diagonal, anything(),
          "apply with the factors L_G, U_F (keep) or with the blocks G, F (save)");
    visit("estimator", o.estimator, anything(), "sign rule of the inverse-norm estimates");
    visit("scaling", o.scaling, anything(), "equilibrate the rows and columns of every level by powers of two");
    visit("definite", o.definite, anything(),
          "keep M symmetric positive definite, as CG needs; A symmetric with a positive diagonal");
    visit("depth_bound", o.depth_bound, anything(),
          "postpone a pivot whose chain in L or U would be longer: auto, none or a number; auto: none on a CPU");
    visit("dense_order", o.dense_order, at_least(0),
          "solve a level of at most this order densely, as any that is a third full");
    visit(
        "memory_limit", o.memory_limit, anything(),
        "bytes the factors may take; beyond it the smallest entries go, and the report says so; 0: 40 times A, at least 80 MB");
}

/// One level as built; inverse_L and inverse_U are the largest estimates of ‖e_kᵀL⁻¹‖₁ and ‖U⁻¹e_k‖₁ accepted.
struct MlIluLevelReport {
    Index  n = 0, accepted = 0, postponed = 0;
    Offset nnz_L = 0, nnz_U = 0, nnz_G = 0, nnz_F = 0;
    double inverse_L = 0, inverse_U = 0;
    /// Longest chains of dependent rows, at most the depth bound unless `decisions` raise it.
    Index depth_L = 0, depth_U = 0;
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
    Index overflowed = 0;  ///< > 0: this level's numbers left the range of double, and M is of no use
    std::vector<std::string> decisions;
    double                   seconds_analyse = 0;  ///< scaling, matching, ordering
    double                   seconds_factor = 0;
};

template <Scalar T = double>
struct MlIluFactors;  // the levels; immutable
template <Scalar T = double>
struct MlIluLevelPlans;  // how the host solves with a level's L_B and U_B

/// A finished multilevel factorization of a matrix with values of T. Cheap to copy (shared); immutable; serves any number of threads.
template <Scalar T = double>
class MlIlu {
public:
    /// @param on_progress  told of every level before matching and ordering, with `done` = 0, and every few hundred columns
    /// @param stop     asked as often, and within matching and ordering; not within the dense level
    /// @throws InvalidInput unless A is square; OutOfMemory when memory_limit cannot hold even the sparsest factor;
    ///         Cancelled, OutOfTime
    static MlIlu           build(Cpu& be, const CsrView<T>& A, const MlIluOptions& options,
                                 const ProgressListener& on_progress = {}, const StopToken& stop = {});
    const MlIluReport&     report() const;
    const MlIluFactors<T>& factors() const { return *factors_; }
    /// By level, and shared by all copies.
    std::span<const MlIluLevelPlans<T>> host_plans() const;

private:
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

private:
    MlIlu<T>       mlilu_;
    std::vector<T> work_;
};

}  // namespace ilux
