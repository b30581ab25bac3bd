// A level by Crout's sweep, within κ, γ, the depth bound and the memory limit.

#include <fmt/format.h>

#include <algorithm>

#include "ilux/base/instances.hpp"
#include "ilux/precond/mlilu/mlilu_builder.hpp"
#include "ilux/precond/crout/schur.hpp"

namespace ilux::detail {

/// Where F and G may be stored, the sweep has the room that they leave; where that is too little, the room of U_F and
/// L_G.
template <class T>
FactoredLevel<T> MlIluBuilder<T>::factor(const Preprocessed<T>& pre)
{
    const bool save = opt_.off_diagonal != OffDiagonal::keep;
    if (!save) return factor_within(pre, false);
    FactoredLevel<T> level = factor_within(pre, true);
    if (budget_.saved_fits(level.factors, level.blocks) || budget_.kept_fits(level.factors)) return level;
    level = {};
    return factor_within(pre, false);
}

/// @param save  the limit is to count G and F instead of L_G and U_F
template <class T>
FactoredLevel<T> MlIluBuilder<T>::factor_within(const Preprocessed<T>& pre, bool save)
{
    using Relief = PivotBounds::Relief;
    const Index  n = pre.A.rows(), depth_before = bounds_.depth();
    CroutOptions options = crout_options(pre, save);
    const auto   tell = [&](Index k) { this->tell(k, n); };
    for (;;) {
        options.inverse_bound = bounds_.kappa();
        options.growth_bound = bounds_.gamma();
        options.depth_bound = bounds_.depth();
        CroutLevel<T>     crout = crout_ilu(pre.A, pre.mirror != Mirror::none ? pre.A : pre.At, options, tell);
        const SweepCounts sweep{.n = n,
                                .accepted = static_cast<Index>(crout.accepted.size()),
                                .postponed = static_cast<Index>(crout.postponed.size()),
                                .too_deep = crout.too_deep};
        if (bounds_.relax(sweep) != Relief::none) continue;
        if (crout.truncated) note_limit("factor entries");
        note_depth(depth_before);
        LevelBlocks<T> blocks = split_blocks(pre.A, crout.accepted, crout.postponed);
        return {std::move(crout), std::move(blocks)};
    }
}

/// An entry dropped at (i, k) changes L⁻¹ by l_ik (L⁻¹ e_i)(e_kᵀ L⁻¹); the first factor is bounded by κ, so τ/κ in the
/// sweep's rule keeps the change below τ. That κ is the one asked for, also where a level raises it.
template <class T>
CroutOptions MlIluBuilder<T>::crout_options(const Preprocessed<T>& pre, bool save) const
{
    const Index n = pre.A.rows();
    return {.drop_tol = opt_.drop_tol / opt_.inverse_bound,
            .pivot_floor = pivot_noise * largest_entry(pre.A),
            .look_ahead = opt_.estimator == Estimator::look_ahead,
            .mirror = pre.mirror,
            .positive = opt_.definite,
            .candidates = n,
            .max_entries = std::max<Offset>(1, budget_.entries_left(n)),
            .postponed_cost = LevelBudget<T>::postponed_cost,
            .save = save};
}

/// S, with τ_S raised tenfold while it is larger than what memory is left.
template <class T>
CsrMatrix<T> MlIluBuilder<T>::next_matrix(const FactoredLevel<T>& level, bool mirrored)
{
    const auto& [crout, blocks] = level;
    const Index n = crout.L_B.rows() + blocks.C.rows();
    for (double drop_tol = opt_.tau_S();; drop_tol = std::max(1e-3, 10 * drop_tol)) {
        auto S =
            schur_complement(be_, blocks.C, crout.L_G, crout.d, crout.U_F, drop_tol, mirrored, [&] { tell(n, n); });
        if (budget_.next_fits(S) || drop_tol >= 1) return S;
        note_limit("entries of the next level");
    }
}

/// The depth bound may have been raised.
template <class T>
void MlIluBuilder<T>::note_depth(Index before)
{
    if (bounds_.depth() == before) return;
    report_.decisions.push_back(
        fmt::format("precond.depth_bound {} raised to {} from level {} on: it postponed more than {:.0f} % of its rows",
                    before, bounds_.depth(), level_number(), 100 * PivotBounds::stalled_share));
}

#define ILUX_INSTANTIATE(T)                                                    \
    template FactoredLevel<T> MlIluBuilder<T>::factor(const Preprocessed<T>&); \
    template CsrMatrix<T>     MlIluBuilder<T>::next_matrix(const FactoredLevel<T>&, bool);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux::detail
