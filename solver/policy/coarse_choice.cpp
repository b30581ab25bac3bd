#include "ilux/solver/policy/coarse_choice.hpp"

#include <algorithm>
#include <atomic>

#include "ilux/base/instances.hpp"
#include "ilux/base/matrix/near_symmetry.hpp"
#include "ilux/direct/analysis/fill_estimate.hpp"
#include "ilux/precond/coarse/aggregates.hpp"
#include "ilux/precond/coarse/near_null.hpp"
#include "ilux/precond/mlilu/mlilu_choice.hpp"
#include "ilux/precond/rounds/row_blocks.hpp"

namespace ilux {
namespace {

/// Whether M is left to us but for what it drops, and for its vectors.
bool leaves_rounds(const MlIluOptions& asked)
{
    MlIluOptions       rest = asked;
    const MlIluOptions defaults;
    rest.drop_tol = defaults.drop_tol;
    rest.schur_drop_tol = defaults.schur_drop_tol;
    rest.near_null = defaults.near_null;
    rest.memory_limit = defaults.memory_limit;
    return rest == defaults;
}

/// Whether half of the rows have couplings of the diagonal's sign that add up to a twentieth of it.
template <Scalar S>
bool couplings_are_mixed(Cpu& cpu, const CsrView<S>& A)
{
    constexpr double   much = 0.05;
    std::atomic<Index> mixed = 0;
    for_row_blocks(cpu, A.rows(), [&](Index, Index begin, Index end, int) {
        Index found = 0;
        for (Index i = begin; i < end; ++i) {
            double own = 0, same = 0;
            for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p)
                if (A.col()[p] == i) own = real_part(A.val()[p]);
                else same += std::max<double>(0, real_part(A.val()[p]));
            found += same >= much * own;
        }
        mixed += found;
    });
    return 2 * Offset{mixed} >= A.rows();
}

template <Scalar S>
double largest_tie(const CsrView<S>& A, Index i)
{
    double largest = 0;
    for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p)
        if (A.col()[p] != i) largest = std::max<double>(largest, std::abs(A.val()[p]));
    return largest;
}

/// Whether it comes from a mesh in space: the graph of its strong ties grows neither as a plane's, or as that of lines,
/// to which a strong anisotropy leads, nor as that of a circuit, in which a coarse matrix has many entries. A wind
/// makes ties strong in one direction: they count in both.
template <Scalar S>
bool is_large_and_spatial(Cpu& cpu, const CsrView<S>& A)
{
    constexpr double least = 2.3, most = 3.6;
    constexpr Offset long_row = 256;  // each neighbour would look through it
    if (A.rows() < least_dominant_rows) return false;
    const auto is_strong_back = [&](Index i, Index j) {
        return A.row_ptr()[j + 1] - A.row_ptr()[j] < long_row && std::abs(A.at(j, i)) > strong_tie * largest_tie(A, j);
    };
    const auto strong_ties = [&](Index i, std::vector<Index>& next) {
        const double least_here = strong_tie * largest_tie(A, i);
        next.clear();
        for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p) {
            const Index j = A.col()[p];
            if (std::abs(A.val()[p]) > least_here || is_strong_back(i, j)) next.push_back(j);
        }
    };
    const double dimension = graph_dimension(cpu, {A.rows(), A.row_ptr(), A.col()}, strong_ties);
    return dimension >= least && dimension <= most;
}

}  // namespace

bool leaves_coarse(const SolverOptions& options)
{
    const MethodChoice method = options.method;
    return options.precond.coarse == CoarseChoice::automatic && options.precond.kind == PrecondKind::mlilu &&
           method != MethodChoice::minres && method != MethodChoice::sqmr && method != MethodChoice::cocg &&
           method != MethodChoice::lu && options.krylov.precision != KrylovPrecision::mixed &&
           options.precond.precision == Precision::in_double && options.krylov.null_space == "none" &&
           leaves_rounds(options.precond.mlilu);
}

template <Scalar S>
CoarseGain coarse_gain(Cpu& cpu, const CsrView<S>& A, const MlIluOptions& options, bool beside_gpu)
{
    constexpr double most_far = 0.2, most_far_of_flow = 0.35;  // of the rows: those at a boundary, in finite elements
    if (A.rows() < least_coarse_rows || nearly_dense(A.rows(), A.nnz())) return CoarseGain::none;
    const bool dominant = rounds_are_likely(cpu, A, options);
    if (dominant && (options.near_null || !is_large_and_spatial(cpu, A))) return CoarseGain::none;
    const bool saddle_point = !dominant && looks_like_saddle_point(cpu, A);
    if (!saddle_point && !has_positive_diagonal(cpu, A)) return CoarseGain::none;
    const NodeNumbering nodes = nodes_of(A);
    const Nearness      near = nodes.size == 1 && !saddle_point ? nearness_of_constant(cpu, A)
                                                                : nearness(cpu, A, constants(cpu, A, nodes, saddle_point));
    if (near.indefinite) return CoarseGain::none;
    if (options.near_null) return CoarseGain::rounds;
    if (near.far_rows > (saddle_point ? most_far_of_flow : most_far)) return CoarseGain::none;
    if (dominant) return CoarseGain::steps;
    const bool serves = saddle_point || nodes.size > 1 || beside_gpu || !couplings_are_mixed(cpu, A);
    return serves ? CoarseGain::rounds : CoarseGain::none;
}

#define ILUX_INSTANTIATE(S) template CoarseGain coarse_gain(Cpu&, const CsrView<S>&, const MlIluOptions&, bool);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
