#pragma once
// What the rounds keep on a device between their kernels. Internal to gpu_rounds/.
//
// Rows keep their numbers from the first round to the last, and columns theirs, unless a matching gives them those of
// other rows (match_level()): what is left of S is the rows in `active`.
// Entries of a row lie together in any order; nothing depends on it.

#include <algorithm>
#include <array>
#include <type_traits>
#include <vector>

#include "ilux/base/gpu/device_csr.hpp"
#include "ilux/base/gpu/value.hpp"
#include "ilux/precond/rounds/round_rules.hpp"
#include "ilux/sptrsv/gpu/device_arrays.hpp"

namespace ilux::rounds {

/// What is summed up as integers: units of a power of two, each part of a complex number by itself.
using Fixed = long long;
template <class V>
using FixedOf = std::conditional_t<is_complex<V>, cuda::Complex<Fixed>, Fixed>;

// V is double or cuda::Complex<double>, S the same as the host has it.

/// Where the rows of a matrix are, by number.
template <class V>
struct RowsView {
    const Offset* start;
    const Index*  length;
    const Index*  col;
    const V*      val;
};

/// Entries in device memory, with room for `capacity`.
template <class V>
struct Entries {
    explicit Entries(std::size_t capacity = 0) : col(capacity), val(capacity) {}
    std::size_t         capacity() const { return col.size(); }
    DeviceBuffer<Index> col;
    DeviceBuffer<V>     val;
};

/// What a row to be updated reads of a pivot: one sector of memory, or two.
template <class V>
struct alignas(32) Pivot {
    V      d;
    double largest_in_U;
    Offset U_start;
    Index  U_length;
};

/// Scales of an unknown: the test vector t, ‖t‖ where there are several, and √m |t|, m the largest entry of its row
/// when the round began.
struct alignas(16) Scale {
    double t, sized;
};

/// An array a quantity, by number of the row or column.
template <class V>
struct RowArrays {
    Scale*  scale;
    double* vectors;                                      ///< n × vector_count, by rows: several test vectors
    Index   vector_count;                                 ///< 0: scale has the only one
    double *row_scale, *col_scale;                        ///< of a level
    double *row_first, *col_first, *row_fold, *col_fold;  ///< those of the first level; the product of all later ones
    Index*  in_level;                                     ///< its place among the rows of the level
    FixedOf<V>*w_L, *w_U;                                 ///< (L y)_k − y_k in units of 2⁻³²; the same of Uᵀ
    V*         diagonal;
    double*    row_largest;  ///< off the diagonal
    double*    spare;        ///< |d| − Σ |s_kj t_j / t_k|, at least 0
    Status*    col_largest;  ///< its bits
    Index*     col_degree;
    Status *   priority, *status;        ///< and what became of it
    Status*    first;                    ///< of those in the row that wait, itself included
    Index*     blocker;                  ///< who that is
    long long *room, *used, *used_next;  ///< of weak couplings, relative to the pivot, in units of 2⁻⁴⁰
    Index *    doomed, *beaten;          ///< flags of a sweep
    V *        y, *z;
    Pivot<V>*  pivot;
    Offset*    L_start;             ///< in this round
    Index *    L_length, *L_total;  ///< in this round; in all rounds so far
    Index*     place;               ///< in the order of elimination
};

/// What the device counts, and the host reads now and then.
struct Counters {
    unsigned long long entries, L_entries, U_entries;          ///< cursors
    unsigned long long pivot_rows, pivot_cols;                 ///< Σ |row|, Σ |column| over the pivots
    unsigned long long largest, inverse_L, inverse_U, growth;  ///< bits of magnitudes
    unsigned long long smallest;                               ///< the complement of ordered_bits()
    unsigned long long cut;  ///< from pivots by others of their round, relative to them, in units of 2⁻³⁰
    Index              waiting[3], watching[3], fresh[3], pivots, rest;
    Index              bin[8];
    Index              small, not_positive, zero, dominant, even;  ///< diagonals; rows
    Index              changed, overflow, too_wide, not_finite, unsymmetric, not_hermitian, clipped;
};

/// An entry of L: the value number `slot` of a row, in the column of the pivot at `place`.
template <class V>
struct LEntry {
    V     val;
    Index row, slot, place;
};
/// What a round leaves: L in any order, rows of U of the pivots from place `first` on, without gaps.
template <class V>
struct RoundFactors {
    Index      first = 0, last = 0;
    Offset     L_count = 0, U_count = 0;
    LEntry<V>* L = nullptr;
    Index*     U_col = nullptr;
    V*         U_val = nullptr;
};

/// Memory in few large pieces, for rounds that know only how much they need at most. Nothing is given back.
template <class Item>
class Pieces {
public:
    /// Room for `most` items; at most `usual` go into a piece where they are not needed at once.
    Item* reserve(std::size_t most, std::size_t usual)
    {
        if (pieces_.empty() || pieces_.back().size() - used_ < most) {
            pieces_.emplace_back(std::max({most, usual, std::size_t{1}}));
            used_ = 0;
        }
        return pieces_.back().data() + used_;
    }
    void take(std::size_t count) { used_ += count; }

private:
    std::vector<DeviceBuffer<Item>> pieces_;
    std::size_t                     used_ = 0;
};

/// A on its way through the rounds: what is left of it, the factors so far, and all that kernels need between. Pointers
/// are to the device.
template <Scalar S>
struct RoundsState {
    using V = cuda::Value<S>;

    /// Takes a copy of A.
    RoundsState(Gpu& gpu, const DeviceCsr<S>& A);
    /// Instead of a constant. @param t  n × 1 or more, by rows
    void take_test_vectors(Gpu& gpu, std::span<const double> t);

    RowsView<V> rows() const { return {start[now], length[now], entries[now].col.data(), entries[now].val.data()}; }
    Counters    read(Gpu& gpu) const;
    void        clear(Gpu& gpu);  ///< all counters
    /// The next round works on what the last one left.
    void turn(Index rest);

    Index                     n = 0, active_count = 0;
    bool                      first_level = true;
    Offset                    nnz = 0;
    int                       now = 0;  ///< which of two
    std::array<Offset*, 2>    start;
    std::array<Index*, 2>     length;
    std::array<Entries<V>, 2> entries;
    std::array<Index*, 2>     active;                    ///< row numbers, ascending
    Index*                    pivots = nullptr;          ///< of a round, ascending
    std::array<Index*, 2>     waiting, watching, fresh;  ///< lists of a sweep, and of the one before or after
    std::array<Index*, 8>     bin;                       ///< rows by the size of their table
    RowArrays<V>              at = {};
    Counters*                 count = nullptr;
    std::byte*                scratch = nullptr;  ///< of CUB
    std::size_t               scratch_bytes = 0;
    DeviceArrays              arrays;
    DeviceBuffer<double>      test_vectors;

    // of all rounds so far, in the order of elimination
    Index  done = 0;
    Index* number = nullptr;  ///< n
    V*     pivot = nullptr;   ///< n
    Index* column = nullptr;  ///< n: the column of A that has the number of a row, once columns are matched to rows
    bool   matched = false;   ///< a level has matched columns
    std::vector<RoundFactors<V>> rounds;
    Pieces<LEntry<V>>            L;
    Pieces<Index>                U_col;
    Pieces<V>                    U_val;
    Offset                       L_entries = 0, U_entries = 0;
    double                       inverse_L = 1, inverse_U = 1;  ///< largest estimates of a pivot, of the level
    double                       cut = 0;                       ///< sum over its pivots of MlIluLevelReport::cut

    Entries<V> unsorted, sorted;  ///< L of a round by rows: scratch
};

/// `lanes` for rows of so many entries on average.
inline int lanes_for(Offset entries, Index rows)
{
    const double mean = rows > 0 ? static_cast<double>(entries) / rows : 0;
    return mean <= 12 ? 8 : mean <= 24 ? 16 : 32;
}

}  // namespace ilux::rounds
