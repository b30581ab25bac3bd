#include "ilux/engine/witness/constant_vectors.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "ilux/base/instances.hpp"
#include "ilux/base/tasks.hpp"
#include "ilux/base/united_sets.hpp"
#include "ilux/engine/witness/dominance.hpp"

namespace ilux {
namespace {

constexpr double tied = 1e-6;         // an entry of this share of the largest in its row connects unknowns
constexpr double pins = 1e-3;         // a row whose sum is this share of its terms holds a constant by itself
constexpr double loose_below = 1e-7;  // of all rows together
constexpr Offset worth_threads = 50'000;
constexpr double cancels = 1e-15;  // of the terms of a sum that is 0 but for rounding

/// The sets of one way to tell unknowns apart: rows are taken kind by kind. Large entries of a row connect its unknowns
/// of a kind, and a row whose sum is large holds them.
template <Scalar S>
class KindSets {
public:
    /// @param kind  of each unknown, 0 … count − 1
    KindSets(Cpu& be, const CsrView<S>& A, std::span<const std::uint8_t> kind, int count)
        : be_(be), A_(A), kind_(kind), count_(count), held_(kind.size()), set_(kind.size() + 3)
    {}

    /// @return the unknowns of loose sets, by set; the sums of all others go to `pinned`
    std::vector<LooseSet> find(double& pinned)
    {
        connect(pinned);
        set_.flatten();
        for (Index j = 0; j < A_.rows(); ++j) held_[j] = set_.at(j) == holder(kind_[j]);
        return std::ranges::find(held_, 0) == held_.end() ? std::vector<LooseSet>{} : measured(pinned);
    }

private:
    struct OfRow {
        S      sum = 0;
        double size = 0, largest = 0;
    };
    using Rows = std::array<OfRow, 3>;
    using Totals = std::array<RowTotals, 3>;

    /// Stands for all unknowns of a kind that are held.
    Index holder(int kind) const { return A_.rows() + kind; }

    Rows sums_of(Index i) const
    {
        Rows rows{};
        for (Offset p = A_.row_ptr()[i]; p < A_.row_ptr()[i + 1]; ++p) {
            OfRow&       row = rows[kind_[A_.col()[p]]];
            const double size = std::abs(A_.val()[p]);
            row.sum += A_.val()[p];
            row.size += size;
            row.largest = std::max(row.largest, size);
        }
        return rows;
    }

    /// Also sums what each kind as a whole is held by.
    void connect(double& pinned)
    {
        std::vector<Totals> of_piece(pieces_of(A_.rows()));
        with_tasks(be_, A_.nnz() >= worth_threads, [&] {
            for_pieces(A_.rows(), [&](Index piece, Index begin, Index end) {
                for (Index i = begin; i < end; ++i) connect_row(i, of_piece[piece]);
            });
        });
        for (int k = 0; k < count_; ++k) {
            RowTotals all;
            for (const Totals& part : of_piece) {
                all.sum += part[k].sum;
                all.size += part[k].size;
            }
            if (const double of_kind = all.pinned(); of_kind >= loose_below) pinned = std::min(pinned, of_kind);
        }
    }

    /// From the last column on, which is new where rows follow a mesh: the others then find their root at once.
    void connect_row(Index i, Totals& totals)
    {
        const Rows           rows = sums_of(i);
        std::array<Index, 3> one{-1, -1, -1};
        for (int k = 0; k < count_; ++k) {
            const double sum = std::abs(rows[k].sum);
            if (sum > pins * rows[k].size) one[k] = holder(k);
            totals[k].sum += sum;
            totals[k].size += rows[k].size;
        }
        for (Offset p = A_.row_ptr()[i + 1]; p-- > A_.row_ptr()[i];) {
            const Index  j = A_.col()[p];
            const int    k = kind_[j];
            const double size = std::abs(A_.val()[p]);
            if (!(size > 0 && size >= tied * rows[k].largest)) continue;
            if (one[k] < 0) one[k] = set_.root(j);
            else if (set_.at(j) != one[k]) one[k] = set_.unite(one[k], j);
        }
    }

    bool all_held(Index i) const
    {
        const auto of_row = A_.col().subspan(A_.row_ptr()[i], A_.row_ptr()[i + 1] - A_.row_ptr()[i]);
        return std::ranges::all_of(of_row, [&](Index j) { return held_[j] != 0; });
    }

    std::vector<LooseSet> measured(double& pinned)
    {
        const std::vector<RowTotals> of = sums_by_set();
        std::vector<Index>           place(kind_.size(), -1);
        std::vector<LooseSet>        loose;
        for (Index j = 0; j < A_.rows(); ++j) {
            if (held_[j]) continue;
            const Index  r = set_.at(j);
            const double by = of[r].pinned();
            if (by >= loose_below) {
                pinned = std::min(pinned, by);
                continue;
            }
            if (place[r] < 0) {
                place[r] = static_cast<Index>(loose.size());
                loose.push_back({.pinned = by});
            }
            loose[place[r]].members.push_back(j);
        }
        return loose;
    }

    /// The sums by the root of each set: over rows of |Σ a_ij| and Σ |a_ij|, j in the set.
    std::vector<RowTotals> sums_by_set()
    {
        struct Part {
            Index  root;
            S      sum;
            double size;
        };
        std::vector<RowTotals> of(kind_.size());
        std::vector<Part>      parts;
        for (Index i = 0; i < A_.rows(); ++i) {
            if (all_held(i)) continue;
            parts.clear();
            for (Offset p = A_.row_ptr()[i]; p < A_.row_ptr()[i + 1]; ++p) {
                if (held_[A_.col()[p]]) continue;
                const Index r = set_.at(A_.col()[p]);
                auto        part = std::ranges::find(parts, r, &Part::root);
                if (part == parts.end()) part = parts.insert(part, {r, S(0), 0});
                part->sum += A_.val()[p];
                part->size += std::abs(A_.val()[p]);
            }
            for (const Part& part : parts) {
                const double sum = std::abs(part.sum);
                of[part.root].sum += sum > cancels * part.size ? sum : 0;
                of[part.root].size += part.size;
            }
        }
        return of;
    }

    Cpu&                          be_;
    const CsrView<S>&             A_;
    std::span<const std::uint8_t> kind_;
    int                           count_;
    std::vector<std::uint8_t>     held_;  // by a row, or by a neighbour that is
    UnitedSets                    set_;   // of unknowns, and the holder of each kind
};

template <Scalar S>
std::vector<std::uint8_t> has_zero_diagonal(Cpu& be, const CsrView<S>& A)
{
    std::vector<std::uint8_t> zero(static_cast<std::size_t>(A.rows()));
    with_tasks(be, A.nnz() >= worth_threads, [&] {
        for_pieces(A.rows(), [&](Index, Index begin, Index end) {
            for (Index i = begin; i < end; ++i) zero[i] = A.at(i, i) == S(0);
        });
    });
    return zero;
}

}  // namespace

template <Scalar S>
ConstantVectors look_at_constants(Cpu& be, const CsrView<S>& A, std::span<Index> leads_to)
{
    ConstantVectors found;
    const auto      n = static_cast<std::size_t>(A.rows());
    {
        Dominance<S> dominance(be, A, leads_to);
        found.regular = dominance.proves_regular();
        if (found.regular) {
            found.pinned = std::min(1., dominance.sums().pinned());
            return found;
        }
    }
    const auto look = [&](std::span<const std::uint8_t> kind, int count, auto&& name) {
        for (LooseSet& one : KindSets<S>(be, A, kind, count).find(found.pinned)) {
            one.kind = name(kind[one.members.front()]);
            found.loose.push_back(std::move(one));
        }
    };
    std::vector<std::uint8_t> kind(n, 0);
    look(kind, 1, [](int) { return UnknownKind::all; });
    if (!found.loose.empty()) return found;
    kind = has_zero_diagonal(be, A);
    if (const auto zeros = std::ranges::count(kind, 1); zeros > 0 && zeros < std::ssize(kind))
        look(kind, 2, [](int k) { return k == 1 ? UnknownKind::zero_diagonal : UnknownKind::nonzero_diagonal; });
    for (const int period : {2, 3}) {
        if (!found.loose.empty() || n % static_cast<std::size_t>(period) != 0) continue;
        for (std::size_t j = 0; j < n; ++j) kind[j] = static_cast<std::uint8_t>(j % static_cast<std::size_t>(period));
        look(kind, period, [&](int) { return period == 2 ? UnknownKind::of_two : UnknownKind::of_three; });
    }
    return found;
}

#define ILUX_INSTANTIATE(S) template ConstantVectors look_at_constants(Cpu&, const CsrView<S>&, std::span<Index>);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
