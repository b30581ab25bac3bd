// A level in rounds, and whether rounds are worth while.

#include <fmt/format.h>

#include <algorithm>

#include "ilux/precond/mlilu/instances.hpp"
#include "ilux/precond/mlilu/mlilu_builder.hpp"
#include "ilux/precond/mlilu/rounds_ilu.hpp"

namespace ilux::detail {
namespace {

constexpr double dominant_share = 0.95;  // of the rows: then what is dropped is compensated
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

}  // namespace

/// Compensation wants rows that are dominant in the test vector; where most are, rounds with it take fewer steps than Crout's
/// sweep, where few are, more.
template <class T>
void MlIluBuilder<T>::decide_setup(const Preprocessed<T>& pre)
{
    const auto   t = scaled_test_vector(t_, pre.q, pre.col_scale);
    const Index  n = pre.A.rows();
    const double share = static_cast<double>(dominant_rows<T>(be_, pre.A, t)) / n;
    const bool   dominant = share >= dominant_share;
    compensates_ = opt_.compensation == Compensation::automatic ? dominant : opt_.compensation == Compensation::on;
    const bool saves = opt_.off_diagonal == OffDiagonal::save;
    setup_ = opt_.setup == MlIluSetup::rounds || (dominant && !saves) ? Setup::rounds : Setup::crout;
    const auto rows = fmt::format("{:.4g} % of the rows are diagonally dominant", 100 * share);
    if (opt_.setup == MlIluSetup::automatic)
        report_.decisions.push_back(
            fmt::format("setup=auto: {}, {}", setup_ == Setup::rounds ? "rounds" : "crout", rows));
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
    report_.seconds_rounds.sets += made.seconds.sets;
    report_.seconds_rounds.eliminate += made.seconds.eliminate;
    report_.seconds_rounds.assemble += made.seconds.assemble;
    const auto accepted = static_cast<Index>(made.factors.accepted.size());
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
