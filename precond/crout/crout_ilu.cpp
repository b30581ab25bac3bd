#include "ilux/precond/crout/crout_ilu.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "ilux/base/instances.hpp"
#include "ilux/precond/crout/crout_factor.hpp"
#include "ilux/precond/crout/inverse_norms.hpp"
#include "ilux/precond/crout/sparse_accumulator.hpp"

namespace ilux {

template <class T>
void CroutFactor<T>::append(Index k, std::span<const Index> col, std::span<const T> val, std::size_t postponed)
{
    CroutRow<T>& row = at(k);
    row.start = entries();
    row.postponed = row.pending = static_cast<std::uint32_t>(postponed);
    row.length = static_cast<std::uint32_t>(col.size());
    postponed_entries_ += static_cast<Offset>(postponed);
    for (std::size_t p = 0; p < col.size(); ++p) entry_.push_back({val[p], col[p]});
    hang(k);
}

template <class T>
void CroutFactor<T>::pass(Index k, bool postponed)
{
    for (Index j = std::exchange(head_[k], none), after; j != none; j = after) {
        CroutRow<T>& row = at(j);
        after = row.next;
        if (postponed) {  // the entries between are never read again, so a swap may disorder them
            std::swap(entry_[row.start + row.pending], entry_[row.start + row.postponed++]);
            ++postponed_entries_;
        }
        ++row.pending;
        hang(j);
    }
}

template <class T>
void CroutFactor<T>::hang(Index j)
{
    CroutRow<T>& row = at(j);
    if (row.pending == row.length) return;
    const Entry& entry = entry_[row.start + row.pending];
    row.current = entry.value;
    row.next = std::exchange(head_[entry.column], j);
}

namespace {

constexpr Index columns_between_tells = 256;  // a long row may take milliseconds

/// Row u_k or column l_k: the accumulator it is formed in, and its entries in the order they are stored in.
template <class T>
struct CroutVector {
    explicit CroutVector(Index n) : entries(n) {}

    SparseAccumulator<T> entries;
    std::vector<T>       values;  // beside entries.index()

    /// max_j |u_kj d_k|, before the division by the pivot.
    double largest() const
    {
        double max = 0;
        for (Index j : entries.index()) max = std::max(max, std::abs(entries[j]));
        return max;
    }
    /// All quotients, for a look ahead at what drop() may yet remove.
    void divide(T d)
    {
        values.clear();
        for (Index j : entries.index()) values.push_back(entries[j] / d);
    }
    std::span<const Index> index() const { return entries.index(); }

    /// Divides by the pivot what the drop rule keeps, at most `limit` entries; orders it postponed first, then by
    /// index.
    /// @return the number of entries in postponed rows;  `truncated` is set when the limit cut something off
    std::size_t drop(T d, double y, double drop_tol, std::size_t limit, const std::vector<char>& is_postponed,
                     bool& truncated);
};

template <class T>
std::size_t CroutVector<T>::drop(T d, double y, double drop_tol, std::size_t limit,
                                 const std::vector<char>& is_postponed, bool& truncated)
{
    entries.erase_if([&](Index j) { return !keeps(entries[j], y, drop_tol * std::abs(d)) || entries[j] == T(0); });
    if (entries.index().size() > limit) {
        truncated = true;
        const auto larger = [&](Index a, Index b) {
            const double x = std::abs(entries[a]), z = std::abs(entries[b]);
            return x != z ? x > z : a < b;
        };
        const auto index = entries.index();
        std::nth_element(index.begin(), index.begin() + static_cast<std::ptrdiff_t>(limit), index.end(), larger);
        std::size_t position = 0;  // erase_if visits in order
        entries.erase_if([&](Index) { return position++ >= limit; });
    }
    const auto index = entries.index();
    const auto middle = std::partition(index.begin(), index.end(), [&](Index j) { return is_postponed[j] != 0; });
    std::sort(middle, index.end());
    values.clear();
    for (Index j : index) values.push_back(entries[j] /= d);
    return static_cast<std::size_t>(middle - index.begin());
}

/// The sweep: one object a level, one function a step.
template <class T>
class Crout {
public:
    Crout(const CsrView<T>& A, const CsrView<T>& At, const CroutOptions& options)
        : A_(A),
          At_(At),
          opt_(options),
          n_(A.rows()),
          rows_(2 * static_cast<std::size_t>(n_)),
          U_(rows_, 0, 2 * A.nnz()),
          L_own_(rows_, 1, options.mirror != Mirror::none ? 0 : 2 * A.nnz()),
          L_(options.mirror != Mirror::none ? U_ : L_own_),
          u_(n_),
          l_own_(options.mirror != Mirror::none ? 0 : n_),
          l_(options.mirror != Mirror::none ? u_ : l_own_),
          norms_U_(n_),
          norms_L_own_(options.mirror != Mirror::none ? 0 : n_),
          norms_L_(options.mirror != Mirror::none ? norms_U_ : norms_L_own_),
          chain_U_(options.depth_bound > 0 ? n_ : 0, 1),
          chain_L_own_(options.depth_bound > 0 && options.mirror == Mirror::none ? n_ : 0, 1),
          chain_L_(options.mirror != Mirror::none ? chain_U_ : chain_L_own_),
          d_(n_),
          accepted_(n_, 0),
          postponed_(n_, 0)
    {
        for (Index k = 0; k < n_; ++k) d_[k] = A.at(k, k);
    }

    CroutLevel<T> run(const std::function<void(Index)>& tell)
    {
        for (Index k = 0; k < n_; ++k) {
            if (tell && k % columns_between_tells == 0) tell(k);
            const bool accept = k < opt_.candidates && eliminate(k);
            (accept ? accepted_ : postponed_)[k] = 1;
            (accept ? level_.accepted : level_.postponed).push_back(k);
            if (accept) continue;
            if (opt_.save) count_saved(k);
            pass(k, true);
        }
        collect();
        return std::move(level_);
    }

private:
    bool        eliminate(Index k);
    bool        grows(T d) const;
    bool        too_deep(Index k);
    void        form(Index k, const CsrView<T>& A, const CroutFactor<T>& L, const CroutFactor<T>& U, CroutVector<T>& u);
    void        update_diagonal(T d);
    std::size_t entry_limit(Index k) const;
    void        count_saved(Index k);
    /// An entry of L, which is held as that of U when A is its own image.
    T    in_L(T value) const { return mirrored(opt_.mirror, value); }
    bool both() const { return opt_.mirror == Mirror::none; }  ///< L is computed, too
    void pass(Index k, bool postponed)
    {
        U_.pass(k, postponed);
        if (both()) L_.pass(k, postponed);
    }
    void collect();

    const CsrView<T>&        A_;
    const CsrView<T>&        At_;
    const CroutOptions&      opt_;
    const Index              n_;
    std::vector<CroutRow<T>> rows_;
    CroutFactor<T>           U_, L_own_;
    CroutFactor<T>&          L_;  // U itself when A is Hermitian: then its conjugate is meant
    CroutVector<T>           u_, l_own_;
    CroutVector<T>&          l_;  // likewise
    InverseNorms<T>          norms_U_, norms_L_own_;
    InverseNorms<T>&         norms_L_;
    std::vector<Index>       chain_U_, chain_L_own_;  // n or none; chain that ends in each column of U, row of L
    std::vector<Index>&      chain_L_;
    std::vector<Index>       updating_;  // rows of the current list, collected so that their entries load together
    std::vector<T>           d_;         // n; running diagonal
    std::vector<char>        accepted_, postponed_;  // n
    Offset                   saved_ = 0;             // entries of F and G
    CroutLevel<T>            level_;
};

/// u ← A(k, {j > k} ∪ postponed) − Σ_j l_kj d_j U(j, {> k} ∪ postponed); with A and L, U exchanged: column l.
template <class T>
void Crout<T>::form(Index k, const CsrView<T>& A, const CroutFactor<T>& L, const CroutFactor<T>& U, CroutVector<T>& u)
{
    updating_.clear();
    for (Index j = L.first(k); j != CroutFactor<T>::none; j = L.next(j)) {
        U.prefetch(j);
        updating_.push_back(j);
    }
    u.entries.start(k);
    typename SparseAccumulator<T>::Writer row(u.entries);
    for (Offset p = A.row_ptr()[k]; p < A.row_ptr()[k + 1]; ++p)
        if (const Index j = A.col()[p]; j != k && !accepted_[j]) row.add(j, A.val()[p]);
    for (Index j : updating_) {
        const T factor = in_L(L.value_in_current(j)) * d_[j];
        U.for_active(j, [&](Index i, T value) {
            if (i != k) row.add(i, -factor * value);
        });
    }
}

/// What the byte budget leaves for each of the two vectors of step k: four fair shares, so that a few long rows pass.
template <class T>
std::size_t Crout<T>::entry_limit(Index k) const
{
    if (opt_.max_entries == 0) return std::numeric_limits<std::size_t>::max();
    const auto counted = [&](const CroutFactor<T>& factor) {
        return factor.entries() - (opt_.save ? factor.postponed_entries() : 0);
    };
    const Offset used =
        counted(U_) + counted(L_) + saved_ + opt_.postponed_cost * static_cast<Offset>(level_.postponed.size());
    const Offset left = std::max<Offset>(0, opt_.max_entries - used);
    return static_cast<std::size_t>(std::min(2 * left / (n_ - k), left / 2));
}

/// Row and column k of A are now in F, G or C: counts those of F and G.
template <class T>
void Crout<T>::count_saved(Index k)
{
    for (const auto* A : {&A_, &At_})
        for (Offset p = A->row_ptr()[k]; p < A->row_ptr()[k + 1]; ++p)
            if (const Index j = A->col()[p]; j != k)
                saved_ += postponed_[j] ? -1 : 1;  // counted with j before, but in C
}

/// Would the update −l_k d_k u_k put an entry above γ into a matrix whose entries are about 1?
template <class T>
bool Crout<T>::grows(T d) const
{
    return opt_.growth_bound > 0 && u_.largest() * l_.largest() > opt_.growth_bound * std::abs(d);
}

template <class T>
bool Crout<T>::too_deep(Index k)
{
    if (opt_.depth_bound == 0 || std::max(chain_U_[k], chain_L_[k]) <= opt_.depth_bound) return false;
    ++level_.too_deep;
    return true;
}

/// The rows that read row k have longer chains than row k.
void lengthen(std::vector<Index>& chain, Index k, std::span<const Index> readers)
{
    if (chain.empty()) return;
    for (Index i : readers) chain[i] = std::max(chain[i], chain[k] + 1);
}

template <class T>
bool Crout<T>::eliminate(Index k)
{
    const T      d = d_[k];
    const double kappa = opt_.inverse_bound;
    if (!(std::abs(d) > opt_.pivot_floor) || (opt_.positive && real_part(d) <= 0)) return false;
    if (norms_L_.bound(k) > kappa || norms_U_.bound(k) > kappa || too_deep(k)) return false;

    form(k, A_, L_, U_, u_);
    if (both()) form(k, At_, U_, L_, l_);
    if (grows(d)) return false;
    T z = norms_U_.greedy(k), y = norms_L_.greedy(k);
    if (opt_.look_ahead) {
        u_.divide(d);
        if (both()) l_.divide(d);
        z = norms_U_.look_ahead(k, u_.index(), u_.values);
        y = norms_L_.look_ahead(k, l_.index(), l_.values);
        if (norms_U_.largest_after(z, u_.index(), u_.values) > kappa ||
            norms_L_.largest_after(y, l_.index(), l_.values) > kappa)
            return false;
    }
    level_.inverse_U = std::max(level_.inverse_U, std::abs(z));
    level_.inverse_L = std::max(level_.inverse_L, std::abs(y));

    pass(k, false);  // before append: row k reuses the link that heads column k
    const std::size_t limit = entry_limit(k);
    // max(1, |y|): every norm is at least 1, but look-ahead may pick a smaller |y|
    const std::size_t postponed_u =
        u_.drop(d, std::max(1., std::abs(z)), opt_.drop_tol, limit, postponed_, level_.truncated);
    norms_U_.accept(z, u_.index(), u_.values);
    lengthen(chain_U_, k, u_.index());
    U_.append(k, u_.index(), u_.values, postponed_u);
    if (both()) {
        const std::size_t postponed_l =
            l_.drop(d, std::max(1., std::abs(y)), opt_.drop_tol, limit, postponed_, level_.truncated);
        norms_L_.accept(y, l_.index(), l_.values);
        lengthen(chain_L_, k, l_.index());
        L_.append(k, l_.index(), l_.values, postponed_l);
    }
    update_diagonal(d);  // after dropping, so that diag(L D U) = diag(A) holds exactly
    return true;
}

/// d_i ← d_i − l_ik d_k u_ki, which is real where A is Hermitian.
template <class T>
void Crout<T>::update_diagonal(T d)
{
    for (std::size_t p = 0; p < u_.index().size(); ++p)
        if (const Index i = u_.index()[p]; l_.entries.has(i)) {
            d_[i] -= on_diagonal(opt_.mirror, in_L(l_.entries[i]) * d * u_.values[p]);
        }
}

/// Splits the rows of `factor` (columns of L) at accepted | postponed and numbers them anew.
template <class T>
struct SplitFactor {
    CsrMatrix<T> B, C;
};

template <class T>
SplitFactor<T> split(const CroutFactor<T>& factor, const CroutLevel<T>& level, std::span<const Index> position)
{
    const auto          nB = static_cast<Index>(level.accepted.size()), nC = static_cast<Index>(level.postponed.size());
    std::vector<Offset> ptr_B(nB + 1, 0), ptr_C(nB + 1, 0);
    std::vector<Index>  col_B, col_C;
    std::vector<T>      val_B, val_C;
    col_B.reserve(factor.entries());
    val_B.reserve(factor.entries());
    std::vector<typename CroutFactor<T>::Entry> row;
    for (Index t = 0; t < nB; ++t) {
        const auto entries = factor.row(level.accepted[t]);
        row.assign(entries.begin(), entries.end());
        for (auto& entry : row) entry.column = position[entry.column];
        std::ranges::sort(row, {}, &CroutFactor<T>::Entry::column);  // C is numbered behind B: one sort serves both
        for (const auto& [value, j] : row) {
            if (j < nB) {
                col_B.push_back(j);
                val_B.push_back(value);
            } else {
                col_C.push_back(j - nB);
                val_C.push_back(value);
            }
        }
        ptr_B[t + 1] = static_cast<Offset>(col_B.size());
        ptr_C[t + 1] = static_cast<Offset>(col_C.size());
    }
    return {CsrMatrix<T>::from_sorted(nB, nB, std::move(ptr_B), std::move(col_B), std::move(val_B)),
            CsrMatrix<T>::from_sorted(nB, nC, std::move(ptr_C), std::move(col_C), std::move(val_C))};
}

template <class T>
void Crout<T>::collect()
{
    std::vector<Index> position(n_);  // in the order accepted, postponed
    Index              next = 0;
    for (const auto* rows : {&level_.accepted, &level_.postponed})
        for (Index k : *rows) position[k] = next++;
    for (Index k : level_.accepted) level_.d.push_back(d_[k]);

    auto upper = split(U_, level_, position);
    if (!both()) {
        level_.L_B = image<T>(opt_.mirror, upper.B);
        level_.L_G = image<T>(opt_.mirror, upper.C);
    }
    level_.U_B = std::move(upper.B);
    level_.U_F = std::move(upper.C);
    if (both()) {
        const auto lower = split(L_, level_, position);
        level_.L_B = transpose(lower.B);
        level_.L_G = transpose(lower.C);
    }
}

}  // namespace

template <Scalar T>
CroutLevel<T> crout_ilu(const CsrView<T>& A, const CsrView<T>& At, const CroutOptions& options,
                        const std::function<void(Index)>& tell)
{
    return Crout<T>(A, At, options).run(tell);
}

#define ILUX_INSTANTIATE(T)                                                                     \
    template CroutLevel<T> crout_ilu(const CsrView<T>&, const CsrView<T>&, const CroutOptions&, \
                                     const std::function<void(Index)>&);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
