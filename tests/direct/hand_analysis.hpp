#pragma once
// An analysis written down instead of computed, so that tests of factorizations do not rest on analyse().

#include <algorithm>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "ilux/base/matrix/csr.hpp"
#include "ilux/direct/analysis/lu_symbolic.hpp"

namespace ilux::test {

/// Entries in any order, duplicates allowed: a matrix as a caller may hold it.
template <class S>
struct EntriesOf {
    Index               n = 0;
    std::vector<Offset> ptr;  ///< n + 1, by rows
    std::vector<Index>  col;
    std::vector<S>      val;
};
using Entries = EntriesOf<double>;

inline Entries entries_of(const CsrMatrix<double>& A)
{
    return {A.rows(),
            {A.row_ptr().begin(), A.row_ptr().end()},
            {A.col().begin(), A.col().end()},
            {A.val().begin(), A.val().end()}};
}

struct HandAnalysis {
    std::vector<Index>  row_perm = {}, col_perm = {};    ///< perm[new] = old; empty: the identity
    std::vector<Index>  block_ptr = {};                  ///< empty: one block
    std::vector<double> row_scale = {}, col_scale = {};  ///< by old number; empty: ones
    LuOptions           options = {.ordering = LuOrdering::none,
                                   .matching = LuMatching::off,
                                   .scaling = LuScaling::none,
                                   .blocks = false};
};

inline std::shared_ptr<const LuSymbolic> analysed(const Entries& A, const HandAnalysis& by = {})
{
    auto s = std::make_shared<LuSymbolic>();
    s->n = A.n;
    s->input_nnz = static_cast<Offset>(A.col.size());
    s->input_ptr = A.ptr;
    s->input_idx.assign(A.col.begin(), A.col.end());
    std::vector<Index> identity(A.n);
    std::iota(identity.begin(), identity.end(), 0);
    s->row_perm = by.row_perm.empty() ? identity : by.row_perm;
    s->col_perm = by.col_perm.empty() ? identity : by.col_perm;
    s->block_ptr = by.block_ptr;
    if (s->block_ptr.empty()) {
        s->block_ptr.push_back(0);
        if (A.n > 0) s->block_ptr.push_back(A.n);
    }
    s->row_scale = by.row_scale;
    s->col_scale = by.col_scale;
    s->options = by.options;

    const auto new_row = inverse_permutation(s->row_perm), new_col = inverse_permutation(s->col_perm);
    std::vector<std::vector<std::pair<Index, Offset>>> column(A.n);
    for (Index i = 0; i < A.n; ++i)
        for (Offset p = A.ptr[i]; p < A.ptr[i + 1]; ++p) column[new_col[A.col[p]]].emplace_back(new_row[i], p);
    s->col_ptr.push_back(0);
    for (auto& entries : column) {
        std::ranges::sort(entries);
        for (const auto& [i, p] : entries) {
            s->row.push_back(i);
            s->source.push_back(p);
        }
        s->col_ptr.push_back(static_cast<Offset>(s->row.size()));
    }
    return s;
}
inline std::shared_ptr<const LuSymbolic> analysed(const CsrMatrix<double>& A, const HandAnalysis& by = {})
{
    return analysed(entries_of(A), by);
}

}  // namespace ilux::test
