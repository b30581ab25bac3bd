#pragma once
// The dot products of a refactorization and of the substitutions after it, entry by entry: what a DataflowProgram is
// made of. For the .cpp files that make one.

#include <array>
#include <cstdint>
#include <span>

#include "ilux/direct/factor/lu_factors.hpp"
#include "ilux/direct/gpu/entry_inputs.hpp"

namespace ilux {

using DataflowEntry = std::uint32_t;  ///< number of an entry

/// Entries with numbers next to one another.
struct EntryRange {
    Offset first = 0, last = 0;  ///< entries first … last − 1
    Offset size() const { return last - first; }
};

/// An entry and those behind it that it divides: leader + 1 … end − 1. Up to 32 of them are a group, which lanes of one
/// task compute together as far as it has room.
struct EntryGroup {
    Offset leader = 0, end = 0;
    bool   empty() const { return end - leader < 2; }
};

/// A walk is cut into parts, each of which finds all products of its own entries and reads entries of earlier parts.
/// Parts can be walked beside one another, once that `reach` waits for a part. It calls, the same at every time,
///     reach(part)         before it reads entries of another part
///     product(t, a, b)    entry t subtracts a b; an entry's products in the order of subtraction. b is an entry; a is
///     one
///                         of DataflowEntries::given, or an entry where there are none, or minus_one: it adds its b
///     complete(t)         once for each entry of the part: it has all products, and is read from now on
struct DataflowWalk {
    static constexpr DataflowEntry minus_one = ~DataflowEntry{0};
    using Rows = std::span<std::uint32_t>;  ///< memory of a walker: rows() numbers
};

/// Products of L + U, column by column, as the left-looking method meets them; a part is a column. Inputs beyond the
/// first of an entry come before its products, as entries of their own. A tail ends its block, so that columns of the
/// tail are applied to it alone.
class FactorWalk : public DataflowWalk {
public:
    /// @param tail_first, tail_last  columns that are neither divided nor applied
    FactorWalk(const LuPattern& pattern, const EntryInputs& inputs, Index tail_first, Index tail_last)
        : P_(pattern), in_(inputs), tail_first_(tail_first), tail_last_(tail_last)
    {}

    Index                     parts() const { return P_.n; }
    Index                     rows() const { return P_.n; }
    std::array<EntryRange, 2> entries(Index k) const
    {
        return {EntryRange{P_.col_ptr[k], P_.col_ptr[k + 1]},
                {P_.nnz() + P_.f_col_ptr[k], P_.nnz() + P_.f_col_ptr[k + 1]}};
    }
    EntryGroup group(Index k) const { return in_tail(k) ? EntryGroup{} : EntryGroup{P_.diag[k], P_.col_ptr[k + 1]}; }

    template <class Reach, class Product, class Complete>
    void walk(Index k, Rows at, Reach&& reach, Product&& product, Complete&& complete) const
    {
        const Offset extra = P_.nnz() + P_.nnz_F();
        for (Offset e = in_.extra_ptr[k]; e < in_.extra_ptr[k + 1]; ++e) product(in_.extra_of[e], minus_one, extra + e);
        const Offset first = P_.col_ptr[k], diag = P_.diag[k], last = P_.col_ptr[k + 1];
        for (Offset p = first; p < last; ++p) at[P_.row[p]] = static_cast<std::uint32_t>(p);  // of row i in column k
        for (Offset q = first; q < diag; ++q) {
            complete(q);
            const Index i = P_.row[q];
            if (in_tail(i)) continue;
            reach(i);
            for (Offset s = P_.diag[i] + 1; s < P_.col_ptr[i + 1]; ++s) product(at[P_.row[s]], s, q);  // l_ri u_ik
        }
        for (Offset p = diag; p < last; ++p) complete(p);
        for (Offset p = P_.f_col_ptr[k]; p < P_.f_col_ptr[k + 1]; ++p) complete(P_.nnz() + p);
    }

private:
    bool in_tail(Index k) const { return k >= tail_first_ && k < tail_last_; }

    const LuPattern&   P_;
    const EntryInputs& in_;
    Index              tail_first_, tail_last_;
};

/// Substitution in one part. Entries: y, then x, by rows of B.
class SolveWalk : public DataflowWalk {
public:
    SolveWalk(const LuPattern& pattern, bool transposed) : P_(pattern), transposed_(transposed) {}

    Index                     parts() const { return P_.n > 0; }
    Index                     rows() const { return 0; }
    std::array<EntryRange, 2> entries(Index) const { return {EntryRange{0, 2 * Offset{P_.n}}, {}}; }
    EntryGroup                group(Index) const { return {}; }

    template <class Reach, class Product, class Complete>
    void walk(Index, Rows, Reach&&, Product&& product, Complete&& complete) const
    {
        if (transposed_) walk_transposed(product, complete);
        else walk_plain(product, complete);
    }

private:
    /// With B: blocks from the last to the first, F x of later blocks, then L, then U.
    template <class Product, class Complete>
    void walk_plain(Product& product, Complete& complete) const
    {
        const Offset n = P_.n;
        for (Index b = P_.blocks() - 1; b >= 0; --b) {
            const Index first = P_.block_ptr[b], last = P_.block_ptr[b + 1];
            for (Index k = first; k < last; ++k) {
                complete(k);
                for (Offset p = P_.diag[k] + 1; p < P_.col_ptr[k + 1]; ++p) product(P_.row[p], p, k);
            }
            // first, so that x_k starts from y_k and only then subtracts what columns to its right give it
            for (Index k = last - 1; k >= first; --k) product(n + k, minus_one, k);
            for (Index k = last - 1; k >= first; --k) {
                complete(n + k);
                for (Offset p = P_.col_ptr[k]; p < P_.diag[k]; ++p) product(n + P_.row[p], p, n + k);
                for (Offset p = P_.f_col_ptr[k]; p < P_.f_col_ptr[k + 1]; ++p)
                    product(P_.f_row[p], P_.nnz() + p, n + k);
            }
        }
    }

    /// With Bᵀ: blocks from the first to the last, Fᵀ x of earlier blocks, then Uᵀ, then Lᵀ.
    template <class Product, class Complete>
    void walk_transposed(Product& product, Complete& complete) const
    {
        const Offset n = P_.n;
        for (Index b = 0; b < P_.blocks(); ++b) {
            const Index first = P_.block_ptr[b], last = P_.block_ptr[b + 1];
            for (Index k = first; k < last; ++k) {
                for (Offset p = P_.f_col_ptr[k]; p < P_.f_col_ptr[k + 1]; ++p)
                    product(k, P_.nnz() + p, n + P_.f_row[p]);
                for (Offset p = P_.col_ptr[k]; p < P_.diag[k]; ++p) product(k, p, P_.row[p]);
                complete(k);
            }
            for (Index k = last - 1; k >= first; --k) {
                product(n + k, minus_one, k);
                for (Offset p = P_.diag[k] + 1; p < P_.col_ptr[k + 1]; ++p) product(n + k, p, n + P_.row[p]);
                complete(n + k);
            }
        }
    }

    const LuPattern& P_;
    bool             transposed_;
};

}  // namespace ilux
