// A level in rounds, and whether rounds are worth while.

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "ilux/precond/mlilu/instances.hpp"
#include "ilux/precond/mlilu/mlilu_builder.hpp"
#include "ilux/precond/mlilu/rounds_ilu.hpp"
#include "ilux/precond/mlilu/row_blocks.hpp"

namespace ilux::detail {
namespace {

constexpr double dominant_share = 0.95;  // of the rows, and of even ones
constexpr double even_share = 0.8;       // so many: then what is dropped is compensated
constexpr double like_size = 8;          // of two entries of the test vector, at most
constexpr double compensated_drop = 5;   // times τ_S may go where it is not lost (docs/design/precond_rounds.md)
constexpr double stalled_share = 0.1;    // a level that accepts fewer of its rows has stalled

/// The test vector in the unknowns of a level.
std::vector<double> scaled_test_vector(std::span<const double> t, std::span<const Index> q,
                                       std::span<const double> col_scale)
{
    std::vector<double> scaled(t.size());
    for (std::size_t i = 0; i < t.size(); ++i) scaled[i] = t[q[i]] / col_scale[q[i]];
    return scaled;
}

/// Rows that couple unknowns of like t alone: in scaled unknowns t jumps where coefficients do, by the root of their ratio.
template <class T>
Index even_rows(Cpu& be, const CsrView<T>& A, std::span<const double> t)
{
    std::vector<Index> found(row_blocks(A.rows()), 0);
    for_row_blocks(be, A.rows(), [&](Index b, Index begin, Index end, int) {
        for (Index i = begin; i < end; ++i) {
            double least = t[i], most = t[i];
            for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p) {
                least = std::min(least, t[A.col()[p]]);
                most = std::max(most, t[A.col()[p]]);
            }
            found[b] += most <= like_size * least;
        }
    });
    return std::accumulate(found.begin(), found.end(), Index{0});
}

bool moves_rows(std::span<const Index> perm)
{
    for (std::size_t i = 0; i < perm.size(); ++i)
        if (perm[i] != static_cast<Index>(i)) return true;
    return false;
}

}  // namespace

/// Compensation wants rows that are dominant in the test vector; where most are, rounds with it take fewer steps than Crout's
/// sweep, where few are, more. Where a matching has moved rows, unknowns are of several kinds, such as volts and amperes, and
/// the constant test vector stands for nothing. Where coefficients jump at every turn, weak ties hold many islands.
template <class T>
void MlIluBuilder<T>::decide_setup(const Preprocessed<T>& pre)
{
    const auto   t = scaled_test_vector(t_, pre.q, pre.col_scale);
    const Index  n = pre.A.rows();
    const double share = static_cast<double>(dominant_rows<T>(be_, pre.A, t)) / n;
    const double even = static_cast<double>(even_rows<T>(be_, pre.A, t)) / n;
    const bool   moved = moves_rows(pre.q);
    const bool   dominant = share >= dominant_share && even >= even_share && !moved;
    compensates_ = opt_.compensation == Compensation::automatic ? dominant : opt_.compensation == Compensation::on;
    const bool saves = opt_.off_diagonal == OffDiagonal::save;
    setup_ = opt_.setup == MlIluSetup::rounds || (dominant && !saves) ? Setup::rounds : Setup::crout;
    const auto rows =
        fmt::format("{:.4g} % of the rows are diagonally dominant{}", 100 * share,
                    moved               ? ", after a matching that moved rows"
                    : even < even_share ? fmt::format(", but coefficients jump in {:.3g} %", 100 * (1 - even))
                                        : "");
    if (opt_.setup == MlIluSetup::automatic)
        report_.decisions.push_back(fmt::format("setup=auto: {}, {}{}", setup_ == Setup::rounds ? "rounds" : "crout",
                                                rows, dominant && saves ? ", but off_diagonal=save" : ""));
    if (setup_ == Setup::rounds && saves)
        report_.decisions.push_back("off_diagonal=save has no effect on rounds: they keep L_G and U_F");
    if (setup_ == Setup::rounds && opt_.compensation == Compensation::automatic)
        report_.decisions.push_back(
            fmt::format("compensation=auto: {}, {}{}", compensates_ ? "on" : "off", rows,
                        compensates_ ? "; M is exact for a constant x, so b = A·1 flatters it" : ""));
}

template <class T>
CsrMatrix<T> MlIluBuilder<T>::add_rounds(Preprocessed<T>& pre)
{
    const Index         n = pre.A.rows();
    const RoundsOptions options{.bounds = {.inverse = opt_.inverse_bound,
                                           .growth = opt_.growth_bound,
                                           .pivot_floor = pivot_noise * largest_entry(pre.A),
                                           .positive = opt_.definite,
                                           .weak_coupling =
                                               compensates_ && opt_.schur_drop_tol > 0 ? opt_.weak_coupling : 0},
                                .dropping = {.drop_tol = compensates_ ? compensated_drop * opt_.schur_drop_tol
                                                                      : opt_.schur_drop_tol,
                                             .compensate = compensates_,
                                             .hermitian = pre.hermitian},
                                .enough = tail_,
                                .most_entries = static_cast<double>(std::max<Offset>(1, budget_.entries_left(n))),
                                .most_rounds = std::max(DepthBound::none, opt_.depth_bound.rows)};
    auto                made = rounds_ilu(be_, std::move(pre.A), scaled_test_vector(t_, pre.q, pre.col_scale), options,
                                          [&](Index k) { tell(k, n); });
    const auto          accepted = static_cast<Index>(made.factors.accepted.size());
    if (made.full || accepted < stalled_share * n) {
        report_.decisions.push_back(fmt::format("crout from level {} on: {}", level_number() + (accepted > 0),
                                                made.full || n <= tail_
                                                    ? "the memory limit leaves no room for further rounds"
                                                    : fmt::format("rounds found {} pivots in {} rows", accepted, n)));
        setup_ = Setup::crout;
    }
    if (accepted == 0) {
        pre.A = std::move(made.S);
        put_in_order(pre, opt_.ordering, stop_);
        return add_level(pre);
    }
    t_ = std::move(made.t);
    FactoredLevel<T> level{std::move(made.factors), {}};
    store(pre, level, true);
    report_.levels.back().rounds = made.rounds;
    return std::move(made.S);
}

#define ILUX_INSTANTIATE(T)                                                      \
    template void         MlIluBuilder<T>::decide_setup(const Preprocessed<T>&); \
    template CsrMatrix<T> MlIluBuilder<T>::add_rounds(Preprocessed<T>&);
ILUX_MLILU_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux::detail
