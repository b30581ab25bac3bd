// What a stored plan has to keep so that nobody who follows it leaves an array or waits for ever.

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "ilux/base/error.hpp"
#include "ilux/direct/plan/plan_file.hpp"

namespace ilux::detail {
namespace {

/// Says what is wrong, behind the name of the section.
class Checks {
public:
    explicit Checks(const std::string& where) : where_(where) {}

    void operator()(bool holds, const char* wrong) const
    {
        require(holds, [&] { return where_ + ": " + wrong; });
    }

    /// ptr holds count + 1 positions of `end` things.
    template <class T>
    void positions(const std::vector<T>& ptr, std::size_t count, std::size_t end, const char* wrong) const
    {
        (*this)(ptr.size() == count + 1 && ptr.front() == 0 && ptr.back() == static_cast<T>(end) &&
                    std::ranges::is_sorted(ptr),
                wrong);
    }
    template <class V>
    void within(const V& values, std::int64_t least, std::int64_t end, const char* wrong) const
    {
        (*this)(std::ranges::all_of(values, [&](std::int64_t x) { return x >= least && x < end; }), wrong);
    }
    template <class V>
    void permutation(const V& perm, std::size_t count, const char* wrong) const
    {
        (*this)(perm.size() == count, wrong);
        within(perm, 0, static_cast<std::int64_t>(count), wrong);
        std::vector<bool> seen(count);
        for (const auto i : perm) seen[static_cast<std::size_t>(i)] = true;
        (*this)(std::ranges::find(seen, false) == seen.end(), wrong);
    }
    void scales(std::span<const double> scale, std::size_t count, bool may_be_empty, const char* wrong) const
    {
        const bool finite = std::ranges::all_of(scale, [](double x) { return std::isfinite(x) && x != 0; });
        (*this)((scale.size() == count || (may_be_empty && scale.empty())) && finite, wrong);
    }

private:
    const std::string& where_;
};

/// Every row of rows first … last − 1 of a column stands behind the one before.
bool ascends(const std::vector<Index>& row, Offset first, Offset last)
{
    return std::is_sorted(row.begin() + first, row.begin() + last, std::less_equal<>{});
}

/// Columns of L + U and F, block by block.
void check_columns(const LuPattern& P, const Checks& check)
{
    for (Index b = 0; b < P.blocks(); ++b)
        for (Index k = P.block_ptr[b]; k < P.block_ptr[b + 1]; ++k) {
            const Offset first = P.col_ptr[k], last = P.col_ptr[k + 1], f = P.f_col_ptr[k], f_last = P.f_col_ptr[k + 1];
            check(first < last && ascends(P.row, first, last) && P.row[first] >= P.block_ptr[b] &&
                      P.row[last - 1] < P.block_ptr[b + 1],
                  "rows of a column are out of order");
            check(P.diag[k] >= first && P.diag[k] < last && P.row[P.diag[k]] == k, "a diagonal is elsewhere");
            check(f == f_last ||
                      (ascends(P.f_row, f, f_last) && P.f_row[f] >= 0 && P.f_row[f_last - 1] < P.block_ptr[b]),
                  "rows of a column of F are out of order");
        }
}

/// Whatever is subtracted from a column, or read into it, has an entry there.
void check_closed(const LuPattern& P, const Checks& check)
{
    std::vector<Index> of(P.n, -1), of_f(P.n, -1);  // the last column that has this row
    for (Index k = 0; k < P.n; ++k) {
        for (Offset p = P.col_ptr[k]; p < P.col_ptr[k + 1]; ++p) of[P.row[p]] = k;
        for (Offset p = P.f_col_ptr[k]; p < P.f_col_ptr[k + 1]; ++p) of_f[P.f_row[p]] = k;
        bool closed = true;
        for (Offset q = P.col_ptr[k]; q < P.diag[k]; ++q)
            for (Offset s = P.diag[P.row[q]] + 1; s < P.col_ptr[P.row[q] + 1]; ++s)
                closed = closed && of[P.row[s]] == k;
        check(closed, "the pattern is not closed under fill");
        check(P.in_split[k] >= P.in_ptr[k] && P.in_split[k] <= P.in_ptr[k + 1], "a column's input is cut elsewhere");
        bool placed = true;
        for (Offset e = P.in_ptr[k]; e < P.in_ptr[k + 1]; ++e)
            placed = placed && (e < P.in_split[k] ? of : of_f)[P.in_row[e]] == k;
        check(placed, "a value has no entry of the factors");
    }
}

/// Column k of B holds column col_perm[k] of the input, by rows ascending, and none below its diagonal block.
void check_permuted(const LuSymbolic& s, const Checks& check)
{
    std::vector<Index> major(s.input_idx.size()), new_row(s.n);
    for (Index i = 0; i < s.n; ++i) std::fill(major.begin() + s.input_ptr[i], major.begin() + s.input_ptr[i + 1], i);
    for (Index i = 0; i < s.n; ++i) new_row[s.row_perm[i]] = i;
    const bool columns = s.layout == MatrixLayout::columns;
    for (Index b = 0; b + 1 < std::ssize(s.block_ptr); ++b)
        for (Index k = s.block_ptr[b]; k < s.block_ptr[b + 1]; ++k) {
            const auto first = s.row.begin() + s.col_ptr[k], last = s.row.begin() + s.col_ptr[k + 1];
            bool       placed = std::is_sorted(first, last) && (first == last || last[-1] < s.block_ptr[b + 1]);
            for (Offset p = s.col_ptr[k]; p < s.col_ptr[k + 1]; ++p) {
                const Offset e = s.source[p];
                const Index  row = columns ? s.input_idx[e] : major[e], col = columns ? major[e] : s.input_idx[e];
                placed = placed && new_row[row] == s.row[p] && s.col_perm[k] == col;
            }
            check(placed, "an entry is elsewhere than the permutations say");
        }
}

/// What is told, and what memory is predicted by.
void check_report(const LuSymbolic& s, const Checks& check)
{
    const LuSymbolicReport& report = s.report;
    for (const Index count : {report.structural_rank, report.blocks, report.largest_block})
        check(count >= 0 && count <= s.n, "a reported count is out of range");
    const double n = s.n;
    for (const auto& [figure, most] :
         {std::pair(report.nnz, n * n), std::pair(report.flops, 2 * n * n * n), std::pair(report.seconds, 1e18)})
        check(figure >= 0 && figure <= most, "a reported figure is out of range");
}

}  // namespace

void check_symbolic(const LuSymbolic& s, const std::string& where)
{
    const Checks check(where);
    check(s.n >= 0 && s.input_nnz >= 0, "sizes are negative");
    const auto n = static_cast<std::size_t>(s.n), nnz = static_cast<std::size_t>(s.input_nnz);
    check.positions(s.input_ptr, n, nnz, "input_ptr");
    check(s.input_idx.size() == nnz && s.row.size() == nnz && s.source.size() == nnz, "arrays of other lengths");
    check.within(s.input_idx, 0, s.n, "an index of the input is out of range");
    check.permutation(s.row_perm, n, "row_perm is no permutation");
    check.permutation(s.col_perm, n, "col_perm is no permutation");
    check(!s.block_ptr.empty() && s.block_ptr.size() <= n + 1, "block_ptr");
    check.positions(s.block_ptr, s.block_ptr.size() - 1, n, "block_ptr");
    check(std::ranges::adjacent_find(s.block_ptr) == s.block_ptr.end(), "a block is empty");
    check.scales(s.row_scale, n, true, "row_scale");
    check.scales(s.col_scale, n, true, "col_scale");
    check.positions(s.col_ptr, n, nnz, "col_ptr");
    check.within(s.row, 0, s.n, "a row is out of range");
    check.permutation(s.source, nnz, "source is no permutation");
    check_permuted(s, check);
    check_report(s, check);
}

void check_pattern(const LuPattern& P, const LuSymbolic& symbolic, const std::string& where)
{
    const Checks check(where);
    check(P.n == symbolic.n, "of another order than the analysis");
    const auto n = static_cast<std::size_t>(P.n), inputs = static_cast<std::size_t>(symbolic.input_nnz);
    check.permutation(P.row_perm, n, "row_perm is no permutation");
    check.permutation(P.col_perm, n, "col_perm is no permutation");
    check.scales(P.row_scale, n, true, "row_scale");
    check.scales(P.col_scale, n, true, "col_scale");
    check(!P.block_ptr.empty() && P.block_ptr.size() <= n + 1, "block_ptr");
    check.positions(P.block_ptr, P.block_ptr.size() - 1, n, "block_ptr");
    check.positions(P.col_ptr, n, P.row.size(), "col_ptr");
    check.positions(P.f_col_ptr, n, P.f_row.size(), "f_col_ptr");
    check(P.diag.size() == n && P.in_split.size() == n, "arrays of other lengths");
    check.positions(P.in_ptr, n, inputs, "in_ptr");
    check(P.in_source.size() == inputs && P.in_row.size() == inputs, "arrays of other lengths");
    check.within(P.in_source, 0, symbolic.input_nnz, "a source is out of range");
    check.within(P.in_row, 0, P.n, "a row is out of range");
    check.scales(P.in_scale, inputs, false, "in_scale");
    check_columns(P, check);
    check_closed(P, check);
}

}  // namespace ilux::detail
