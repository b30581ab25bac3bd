#include "ilux/solver/info/matrix_info.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "ilux/base/instances.hpp"
#include "ilux/direct/lu/lu.hpp"
#include "ilux/direct/refactor_cpu/refactor.hpp"
#include "ilux/krylov/stopping.hpp"
#include "ilux/reorder/matching.hpp"
#include "ilux/solver/policy/choice.hpp"
#include "ilux/engine/machine/machine_rates.hpp"
#include "ilux/solver/policy/retry.hpp"

namespace ilux {
namespace {

constexpr Index hub_updates = RefactorTuning{}.hub_updates;

template <Scalar S>
void scan_values(const CsrView<S>& A, MatrixInfo& info)
{
    for (const S value : A.val()) {
        const double size = std::abs(value);
        info.imaginary += imaginary_part(value) != 0;
        if (size == 0) {
            ++info.stored_zeros;
            continue;
        }
        info.smallest = info.smallest == 0 ? size : std::min(info.smallest, size);
        info.largest = std::max(info.largest, size);
    }
}

template <Scalar S>
void scan_rows(const CsrView<S>& A, MatrixInfo& info)
{
    const auto col = A.col();
    info.lengths.shortest = A.rows() > 0 ? A.cols() : 0;
    for (Index i = 0; i < A.rows(); ++i) {
        const Offset begin = A.row_ptr()[i], end = A.row_ptr()[i + 1];
        const auto   length = static_cast<Index>(end - begin);
        info.lengths.shortest = std::min(info.lengths.shortest, length);
        info.lengths.longest = std::max(info.lengths.longest, length);
        if (length == 0) {
            ++info.lengths.empty;
            continue;
        }
        info.lower_bandwidth = std::max(info.lower_bandwidth, i - col[begin]);
        info.upper_bandwidth = std::max(info.upper_bandwidth, col[end - 1] - i);
    }
    info.lengths.mean = A.rows() > 0 ? double(A.nnz()) / A.rows() : 0;
}

template <Scalar S>
void scan_diagonal(const CsrView<S>& A, DiagonalFacts& diagonal)
{
    for (Index i = 0; i < A.rows(); ++i) {
        double own = 0, others = 0, largest = 0;
        bool   stored = false;
        for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p) {
            const double size = std::abs(A.val()[p]);
            if (A.col()[p] == i) {
                own = size;
                stored = true;
            } else {
                others += size;
                largest = std::max(largest, size);
            }
        }
        diagonal.missing += !stored;
        diagonal.zeros += stored && own == 0;
        diagonal.largest_in_row += own > 0 && own >= largest;
        diagonal.dominant += own > 0 && own >= others;
    }
}

/// @param A  with a symmetric pattern
template <Scalar S>
bool is_skew_symmetric(const CsrView<S>& A)
{
    const auto At = transpose(A);
    return std::ranges::equal(A.val(), At.val(), [](S a, S mirrored) { return a == -mirrored; });
}

/// Rows on the longest chain of x_i waiting for x_j, j < i, a_ij stored.
template <Scalar S>
Index lower_depth(const CsrView<S>& A)
{
    std::vector<Index> depth(static_cast<std::size_t>(A.rows()), 0);
    Index              deepest = 0;
    for (Index i = 0; i < A.rows(); ++i) {
        for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1] && A.col()[p] < i; ++p)
            depth[i] = std::max(depth[i], depth[A.col()[p]]);
        deepest = std::max(deepest, ++depth[i]);
    }
    return deepest;
}

/// The rows and columns that hold entries, numbered anew; square, so that the last rows or columns may be empty.
template <Scalar S>
struct Core {
    CsrMatrix<S>       A;
    std::vector<Index> row, col;  ///< their old numbers
};

/// A matrix may have many more empty rows than others: what is known of those without looking needs no memory.
template <Scalar S>
Core<S> core_of(const CsrView<S>& A)
{
    Core<S>            core;
    std::vector<Index> new_col(static_cast<std::size_t>(A.cols()), -1);
    for (const Index j : A.col()) new_col[j] = 0;
    for (Index j = 0; j < A.cols(); ++j)
        if (new_col[j] == 0) {
            new_col[j] = static_cast<Index>(core.col.size());
            core.col.push_back(j);
        }
    std::vector<Offset> row_ptr{0};
    for (Index i = 0; i < A.rows(); ++i)
        if (A.row_ptr()[i] < A.row_ptr()[i + 1]) {
            core.row.push_back(i);
            row_ptr.push_back(A.row_ptr()[i + 1]);
        }
    const auto         n = std::max(core.row.size(), core.col.size());
    std::vector<Index> col;
    col.reserve(A.col().size());
    for (const Index j : A.col()) col.push_back(new_col[j]);
    row_ptr.resize(n + 1, A.nnz());
    core.A = CsrMatrix<S>::from_sorted(static_cast<Index>(n), static_cast<Index>(n), std::move(row_ptr), std::move(col),
                                       {A.val().begin(), A.val().end()});
    return core;
}

template <Scalar S>
Matched match(const CsrView<S>& A)
{
    auto [core, row, col] = core_of(A);
    const Matching    matching = maximum_product_matching(core);
    Matched           matched{.rank = matching.rank, .optimal = matching.optimal};
    std::vector<char> is_free(row.size(), 0);
    for (const Index i : matching.unmatched_rows)
        if (i < std::ssize(row)) is_free[i] = 1;
    for (Index i = 0; i < std::ssize(row); ++i) matched.moved += !is_free[i] && col[matching.col_of_row[i]] != row[i];
    for (Index i = 0, k = 0; i < A.rows() && matched.unmatched_rows.size() < most_unmatched; ++i) {
        const bool empty = A.row_ptr()[i] == A.row_ptr()[i + 1];
        if (empty || is_free[k]) matched.unmatched_rows.push_back(i);
        k += !empty;
    }
    scale_rows_cols(core, matching.row_scale, matching.col_scale);
    DiagonalFacts diagonal;
    scan_diagonal<S>(permute<S>(core, {}, matching.col_of_row), diagonal);
    matched.dominant = diagonal.dominant;
    return matched;
}

/// By the functions that decide for LinearSolver.
template <Scalar S>
Recommended recommend(const CsrView<S>& A, const StopToken& stop)
{
    const SolverOptions options;
    Choice              choice = choose_strategy<S>(
        A, options, 1, [&] { return gpu_is_open(options); }, machine_rates(), stop);
    Cpu        threads(options.threads);
    const Plan plan = first_plan(options, choice.direct, symmetry_facts(threads, A, true, false), choice.decisions);
    return {.method = plan.method,
            .precond = choice.direct ? PrecondKind::none : plan.precond.kind,
            .decisions = std::move(choice.decisions)};
}

/// Nothing for a singular matrix, or where memory does not suffice.
template <Scalar S>
void find_levels(const CsrView<S>& A, MatrixInfo& info, const StopToken& stop)
{
    Cpu       serial(1);
    LuOptions by_entries = info.lu->options;
    by_entries.supernodes = LuSupernodes::off;  // levels are of columns
    Lu<S> lu(serial, info.lu, by_entries);
    lu.stop_by(stop);
    const LuReport done = lu.factor(A.val());
    stop.check();
    if (done.outcome != Outcome::converged) {
        info.no_levels = fmt::format("none, since the factorization failed: {}, {}", name(done.outcome), done.reason);
        return;
    }
    const LuPattern&  pattern = *lu.factors().pattern;
    const auto        depth = [&](DependencyRule rule) { return lu_levels(pattern, rule).depth(); };
    const LuLevels    left = lu_levels(pattern, DependencyRule::left);
    LuLevelStatistics statistics = level_statistics(pattern, left, hub_updates);
    Levels            levels{.left = left.depth(),
                             .exact = depth(DependencyRule::exact),
                             .relaxed = depth(DependencyRule::relaxed),
                             .hubs = std::move(statistics.hubs)};
    for (const auto& level : statistics.levels) levels.sizes.push_back(level.columns);
    for (const auto& hub : levels.hubs) levels.hub_column.push_back(pattern.col_perm[hub.column]);
    info.levels = std::move(levels);
}

}  // namespace

template <Scalar S>
MatrixInfo examine(const CsrView<S>& A, bool factored, const StopToken& stop)
{
    MatrixInfo info;
    info.rows = A.rows();
    info.cols = A.cols();
    info.nnz = A.nnz();
    info.matrix_bytes = A.bytes();
    info.value_bytes = sizeof(S);
    info.complex = is_complex<S>;
    scan_values(A, info);
    scan_rows(A, info);
    if (A.rows() != A.cols()) return info;
    info.symmetric = is_symmetric(A);
    info.pattern_symmetric = info.symmetric || is_pattern_symmetric(A);
    info.hermitian = is_complex<S> ? is_hermitian(A) : info.symmetric;
    info.skew_symmetric = info.largest > 0 && info.pattern_symmetric && is_skew_symmetric(A);
    scan_diagonal(A, info.diagonal);
    info.depth_lower = lower_depth(A);
    info.matching = match(A);
    if (info.matching->rank < A.rows()) return info;  // it has no factors
    info.lu = analyse(view(A), within_memory({}), stop);
    info.recommended = recommend(A, stop);
    stop.check();  // the choice takes an analysis that was stopped for one that takes too long
    if (factored) find_levels(A, info, stop);
    return info;
}

std::vector<MemoryEstimate> estimates(const MatrixInfo& info)
{
    const double                value = info.value_bytes, per_entry = value + 4, per_row = 8, rows = info.rows;
    const double                nnz = info.nnz;
    const KrylovOptions         krylov;
    std::vector<MemoryEstimate> all{{"matrix", double(info.matrix_bytes)},
                                    {"ilu0", per_entry * nnz + per_row * rows},
                                    {"mlilu_fill_3", 3 * per_entry * nnz + 8 * per_row * rows},
                                    {"gmres_basis", value * rows * (krylov.restart + 2)}};
    all.push_back({"gpu_gmres_mlilu_fill_3", 4 * per_entry * nnz + value * rows * (krylov.restart + 15)});
    if (info.lu) all.push_back({"lu", predicted_bytes(*info.lu, info.value_bytes)});
    return all;
}

#define ILUX_INSTANTIATE(S) template MatrixInfo examine(const CsrView<S>&, bool, const StopToken&);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
