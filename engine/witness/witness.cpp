#include "ilux/engine/witness/witness.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <complex>

#include "ilux/base/instances.hpp"
#include "ilux/base/matrix/row_sum.hpp"
#include "ilux/engine/report/lu_facts.hpp"
#include "ilux/engine/witness/known_answer.hpp"

namespace ilux {
namespace {

/// Loose sets that are looked at one by one; of more the first ones speak for all.
constexpr std::size_t most_looked_at = 16;

/// 1 on the members of these sets.
template <Scalar S>
std::vector<S> ones_on(std::span<const Index> members, std::size_t n)
{
    std::vector<S> t(n);
    for (const Index j : members) t[j] = 1;
    return t;
}

/// Σ_i a_ij and Σ_i |a_ij| over the rows i of a set, for each column j.
template <Scalar S>
struct ColumnSums {
    ColumnSums(const CsrView<S>& A, const LooseSet& set)
        : sum(static_cast<std::size_t>(A.cols())), size(static_cast<std::size_t>(A.cols()))
    {
        for (const Index i : set.members)
            for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p) {
                sum[A.col()[p]] += A.val()[p];
                size[A.col()[p]] += std::abs(A.val()[p]);
            }
    }
    std::vector<S>      sum;
    std::vector<double> size;
};

/// Σ_i Σ_j a_ij over i and j in the set; 0 where sums of rows or of columns are not all small, or their sum is
/// rounding.
template <Scalar S>
S sum_within(const ColumnSums<S>& columns, const LooseSet& set)
{
    S      sum = 0;
    double sizes = 0, sums = 0;
    for (const Index j : set.members) {
        sum += columns.sum[j];
        sums += std::abs(columns.sum[j]);
        sizes += columns.size[j];
    }
    const bool both = sums <= 1e-6 * sizes;
    return both && std::abs(sum) > 1e-15 * sizes ? sum : S(0);
}

/// Whether some a_ii has no positive real part: a constraint, a source, a pressure.
template <Scalar S>
bool has_constraints(const CsrView<S>& A)
{
    for (Index i = 0; i < A.rows(); ++i)
        if (!(std::real(A.at(i, i)) > 0)) return true;
    return false;
}

/// Whether Σ_i a_ij over the rows i of the set is rounding for each column j, as Σ_j a_ij is.
template <Scalar S>
bool is_closed(const ColumnSums<S>& columns, const LooseSet& set)
{
    if (set.pinned != 0) return false;
    for (std::size_t j = 0; j < columns.sum.size(); ++j)
        if (std::abs(columns.sum[j]) > 1e-13 * columns.size[j]) return false;
    return true;
}

}  // namespace

template <Scalar S>
Witness<S>::Witness(Cpu& be, const CsrView<S>& A, const NullSpace<S>* null_space, Proof proof)
    : A_(A),
      null_space_(null_space),
      leads_to_(proof == Proof::kept ? static_cast<std::size_t>(A.rows()) : 0),
      constants_(look_at_constants<S>(be, A, leads_to_))
{
    if (!constants_.regular || A.rows() <= few_unknowns) leads_to_ = {};
    if (null_space_) leave_out_null_space();
    for (const LooseSet& one : constants_.loose) {
        closed_.push_back(0);
        sums_.push_back(0);
        if (one.kind != UnknownKind::all) continue;     // whose rows are others than those of its unknowns
        if (closed_.size() > most_looked_at) continue;  // each look takes O(n)
        const ColumnSums<S> columns(A, one);
        closed_.back() = is_closed<S>(columns, one);
        sums_.back() = sum_within<S>(columns, one);
    }
    if (!null_space_) lu_ = LuWitness<S>::make(be, A);
    constrained_ = !constants_.regular && A.rows() > few_unknowns && has_constraints<S>(A);
}

template <Scalar S>
bool Witness<S>::holds_for(Gpu& gpu, const DeviceCsr<S>& A_there)
{
    if (leads_to_.empty()) return false;
    try {
        if (!proof_there_) proof_there_ = std::make_unique<GpuDominance<S>>(gpu, leads_to_);
    } catch (const OutOfMemory&) {
        return false;
    }
    const std::optional<RowTotals> sums = proof_there_->prove_regular(gpu, A_there);
    if (sums) constants_.pinned = std::min(1., sums->pinned());
    return sums.has_value();
}

/// Sets whose ones are in the null space are not looked at.
template <Scalar S>
void Witness<S>::leave_out_null_space()
{
    constexpr double inside = 1e-8;
    Cpu              serial(1);
    std::erase_if(constants_.loose, [&](const LooseSet& one) {
        std::vector<S> t = ones_on<S>(one.members, static_cast<std::size_t>(A_.rows()));
        null_space_->project(serial, t);
        return norm2<S>(serial, t) <= inside * std::sqrt(static_cast<double>(one.members.size()));
    });
}

template <Scalar S>
double Witness<S>::rowwise_limit(double etol) const
{
    constexpr double loosest = 1e-6, share = 0.1;  // of etol
    if (lu_) return loosest;                       // which knows the error
    if (constrained_) return lu_tolerance;
    double pinned = constants_.pinned;
    for (const LooseSet& one : constants_.loose) pinned = std::min(pinned, one.pinned);
    pinned = std::min(pinned, 1 / reach_);
    return std::clamp(share * etol * pinned, lu_tolerance, loosest);
}

template <Scalar S>
std::string Witness<S>::why_no_solution(std::span<const S> b, double rtol) const
{
    if (!doubts_b()) return "";
    double norm = 0;
    for (const S one : b) norm = std::hypot(norm, std::abs(one));
    for (std::size_t k = 0; k < closed_.size(); ++k) {
        if (!closed_[k]) continue;
        const std::vector<Index>& members = constants_.loose[k].members;
        S                         sum = 0;
        for (const Index i : members) sum += b[i];
        const double least = std::abs(sum) / std::sqrt(static_cast<double>(members.size()));
        if (!(least > 1.1 * rtol * norm)) continue;
        const std::string where =
            static_cast<Index>(members.size()) == A_.rows()
                ? "all its rows"
                : fmt::format("{} rows, the first of them {} (counted from 1),", members.size(), members.front() + 1);
        return fmt::format(
            "no x solves A x = b: {} sum to 0, and so do the columns there, but b sums to {:.2e}; the residual cannot be less than {:.1e} of b",
            where, std::abs(sum), least / norm);
    }
    return "";
}

template <Scalar S>
void Witness<S>::known_answer(std::span<const S> x, std::span<S> z) const
{
    const double largest = largest_of<S>(x);
    ilux::known_answer<S>(x, least_unknown * largest, largest, z);
    if (!null_space_) return;
    Cpu serial(1);
    null_space_->project(serial, z);
}

template <Scalar S>
double Witness<S>::enough(Index n)
{
    // random numbers have a hundred-thousandth of a vector, or less, once in so many
    return n <= few_unknowns ? found_share : std::min(uncertain_from, 0.3 / std::sqrt(static_cast<double>(n)));
}

template <Scalar S>
void Witness<S>::take(std::vector<S> missed, bool unclear)
{
    answered_ = true;
    unclear_ = unclear;
    const bool finite = std::ranges::all_of(missed, [](S one) { return is_finite(one); });
    if (!finite) return;
    missed_ = std::move(missed);
}

template <Scalar S>
void Witness<S>::note(const Missed& missed)
{
    const double share = std::isfinite(missed.share) ? std::min(missed.share, 1.) : 1;  // more is noise
    reach_ = std::max(reach_, share / std::max(missed.rows, rounding_share));
}

template <Scalar S>
void Witness<S>::add_lost_constants(std::span<const S> r, std::span<S> d) const
{
    for (std::size_t k = 0; k < sums_.size(); ++k) {
        if (sums_[k] == S(0)) continue;
        S left = 0;
        for (const Index i : constants_.loose[k].members) {
            const auto      first = static_cast<std::size_t>(A_.row_ptr()[i]), count = A_.row_ptr()[i + 1] - first;
            const RowSum<S> row = row_sum<S>(A_.col().subspan(first, count), A_.val().subspan(first, count), d, r[i]);
            left += times_power(row.r, row.exponent);
        }
        const S c = left / sums_[k];
        if (!is_finite(c)) continue;
        for (const Index j : constants_.loose[k].members) d[j] += c;
    }
}

template <Scalar S>
std::string Witness<S>::of_loose_sets(std::span<const S> x, const Residual<S>& residual) const
{
    const auto                   n = static_cast<std::size_t>(A_.rows());
    std::vector<const LooseSet*> open;
    double                       share = INFINITY;
    for (std::size_t k = 0; k < constants_.loose.size(); ++k) {
        const LooseSet& one = constants_.loose[k];
        if (k >= most_looked_at) {
            if (one.pinned == 0) open.push_back(&one);
            continue;
        }
        const Undetermined found = undetermined_along<S>(A_, ones_on<S>(one.members, n), x, residual);
        if (!found.any()) continue;
        open.push_back(&one);
        share = std::min(share, found.share);
    }
    return undetermined_text(open, share, A_.rows());
}

template <Scalar S>
std::string Witness<S>::warning(std::span<const S> x, const Residual<S>& residual, const Accuracy& accuracy,
                                double etol)
{
    if (std::string said = of_loose_sets(x, residual); !said.empty()) return said;
    if (lu_) return lu_->warning(x, residual);
    if (!missed_.empty())
        if (const Undetermined found = undetermined_along<S>(A_, missed_, x, residual); found.any())
            return undetermined_text(found, A_.rows());
    if (unclear_)
        return "whether x is determined is not certain: iterations with this preconditioner do not solve a system with a known solution";
    const double off = reach_ * accuracy.rowwise_counting;
    if (!(off > etol)) return "";
    return fmt::format(
        "unknowns may be uncertain by {:.0g} times their size: those of a system with a known solution were, where its rows were solved to {:.1e}, too",
        off, accuracy.rowwise_counting);
}

#define ILUX_INSTANTIATE(S) template class Witness<S>;
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
