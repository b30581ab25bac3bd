// A level in rounds, and whether rounds are worth while.

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "ilux/base/instances.hpp"
#include "ilux/precond/mlilu/mlilu_builder.hpp"
#include "ilux/precond/mlilu/mlilu_choice.hpp"
#include "ilux/precond/rounds/round_replay.hpp"
#include "ilux/precond/rounds/row_blocks.hpp"

namespace ilux::detail {
namespace {

/// The test vectors in the unknowns of a level.
std::vector<double> scaled_test_vectors(std::span<const double> t, std::span<const Index> q,
                                        std::span<const double> col_scale)
{
    auto              scaled = picked_rows(t, static_cast<Index>(q.size()), q);
    const std::size_t count = q.empty() ? 1 : t.size() / q.size();
    for (std::size_t i = 0; i < scaled.size(); ++i) scaled[i] /= col_scale[q[i / count]];
    return scaled;
}

/// Rows that couple unknowns of like t alone: in scaled unknowns t jumps where coefficients do, by the root of their
/// ratio.
template <class T>
Index even_rows(Cpu& be, const CsrView<T>& A, TestVectors t)
{
    std::vector<Index> found(row_blocks(A.rows()), 0);
    for_row_blocks(be, A.rows(), [&](Index b, Index begin, Index end, int) {
        for (Index i = begin; i < end; ++i) {
            double least = t.size(i), most = least;
            for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p) {
                least = std::min(least, t.size(A.col()[p]));
                most = std::max(most, t.size(A.col()[p]));
            }
            found[b] += most <= rounds_like_size * least;
        }
    });
    return std::accumulate(found.begin(), found.end(), Index{0});
}

}  // namespace

template <class T>
void MlIluBuilder<T>::decide_setup(const Preprocessed<T>& pre)
{
    const auto        values = scaled_test_vectors(t_, pre.q, pre.col_scale);
    const TestVectors t(values, pre.A.rows());
    RoundsChoice      choice = choose_rounds(opt_, {.n = pre.A.rows(),
                                                    .nnz = pre.A.nnz(),
                                                    .dominant = dominant_rows<T>(be_, pre.A, t),
                                                    .even = even_rows<T>(be_, pre.A, t),
                                                    .moved = moves_rows(pre.q),
                                                    .positive = pre.positive,
                                                    .saddle_point = pre.saddle_point});
    setup_ = choice.rounds ? Setup::rounds : Setup::crout;
    report_.compensation = choice.compensation;
    for (auto& decision : choice.decisions) report_.decisions.push_back(std::move(decision));
    if (plan_) why_not_ = why_not_again(choice, plan_->compensation);
}

/// The rounds of the level to come, where a plan has them.
template <class T>
const RoundsOfLevel* MlIluBuilder<T>::kept_rounds() const
{
    const std::size_t level = factors_->levels.size();
    return plan_ && level < plan_->levels.size() ? &plan_->levels[level] : nullptr;
}

template <class T>
CsrMatrix<T> MlIluBuilder<T>::add_rounds(Preprocessed<T>& pre)
{
    const Index   n = pre.A.rows();
    RoundsOptions options =
        rounds_options(opt_, report_.compensation,
                       {.mirror = pre.mirror, .saddle_point = pre.saddle_point, .largest = largest_entry(pre.A)});
    options.enough = tail_;
    options.most_entries = static_cast<double>(std::max<Offset>(1, budget_.entries_left(n)));
    options.kept = kept_rounds();
    if (options.kept) options.bounds = bounds_of_replay(options.bounds, largest_entry(pre.A));
    auto made = rounds_ilu(be_, std::move(pre.A), scaled_test_vectors(t_, pre.q, pre.col_scale), options,
                           [&](Index k) { tell(k, n); });
    report_.seconds_rounds.sets += made.seconds.sets;
    report_.seconds_rounds.eliminate += made.seconds.eliminate;
    report_.seconds_rounds.assemble += made.seconds.assemble;
    if (!made.why_not.empty()) {
        why_not_ = fmt::format("on level {} {}", level_number(), made.why_not);
        return {};
    }
    const auto accepted = static_cast<Index>(made.factors.accepted.size());
    if (!options.kept && (made.full || accepted < rounds_stall * n)) {
        report_.decisions.push_back(fmt::format("crout from level {} on: {}", level_number() + (accepted > 0),
                                                made.full
                                                    ? "the memory limit leaves no room for further rounds"
                                                    : fmt::format("rounds found {} pivots in {} rows", accepted, n)));
        setup_ = Setup::crout;
    }
    if (accepted == 0) {
        if (pre.saddle_point) {  // the sweep wants a matching of it as it came
            for (auto* scale : {&pre.row_scale, &pre.col_scale})
                std::ranges::transform(*scale, scale->begin(), [](double r) { return 1 / r; });
            scale_rows_cols(made.S, pre.row_scale, pre.col_scale);
            pre = prepare(std::move(made.S));
            return add_level(pre);
        }
        pre.A = std::move(made.S);
        put_in_order(pre, opt_.ordering, stop_);
        return add_level(pre);
    }
    t_ = std::move(made.t);
    FactoredLevel<T> level{std::move(made.factors), {}};
    store(pre, level, true);
    report_.levels.back().rounds = made.rounds();
    report_.levels.back().cut = made.cut;
    factors_->levels.back().round_ends = std::move(made.round_ends);
    factors_->levels.back().cut_when_chosen = options.kept ? options.kept->cut : made.cut;
    factors_->full = factors_->full || made.full;
    if (options.kept && !kept_rounds() && plan_->crout_follows) setup_ = Setup::crout;
    return std::move(made.S);
}

#define ILUX_INSTANTIATE(T)                                                              \
    template void                 MlIluBuilder<T>::decide_setup(const Preprocessed<T>&); \
    template CsrMatrix<T>         MlIluBuilder<T>::add_rounds(Preprocessed<T>&);         \
    template const RoundsOfLevel* MlIluBuilder<T>::kept_rounds() const;
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux::detail
