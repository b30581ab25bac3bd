#include "ilux/direct/lu_dots.hpp"

#include <algorithm>

#include "ilux/base/error.hpp"
#include "ilux/direct/dot_builder.hpp"

namespace ilux {
namespace {

constexpr Offset most_in_group = 32;  // a task's lanes

/// First inputs of all entries; further ones get entries of their own.
struct Inputs {
    DotEntries          entries;
    Offset              first_extra = 0;
    std::vector<Offset> extra_of;   // by extra input: the entry that it is added to, ascending by column
    std::vector<Offset> extra_ptr;  // n + 1
};

Inputs assign_inputs(const LuPattern& pattern)
{
    Inputs              in;
    const Offset        nnz = pattern.nnz();
    std::vector<Offset> at(pattern.n, 0), extra_source;  // at: of row i in column k, its entry
    std::vector<double> extra_scale;
    auto&               source = in.entries.source;
    auto&               scale = in.entries.scale;
    in.first_extra = nnz + pattern.nnz_F();
    source.assign(in.first_extra, DotEntries::none);
    scale.assign(in.first_extra, 1);
    in.extra_ptr.assign(std::size_t(pattern.n) + 1, 0);
    for (Index k = 0; k < pattern.n; ++k) {
        for (Offset p = pattern.col_ptr[k]; p < pattern.col_ptr[k + 1]; ++p) at[pattern.row[p]] = p;
        for (Offset p = pattern.f_col_ptr[k]; p < pattern.f_col_ptr[k + 1]; ++p) at[pattern.f_row[p]] = nnz + p;
        for (Offset e = pattern.in_ptr[k]; e < pattern.in_ptr[k + 1]; ++e) {
            const Offset t = at[pattern.in_row[e]];
            if (source[t] == DotEntries::none) {
                source[t] = pattern.in_source[e];
                scale[t] = pattern.in_scale[e];
            } else {
                in.extra_of.push_back(t);
                extra_source.push_back(pattern.in_source[e]);
                extra_scale.push_back(pattern.in_scale[e]);
            }
        }
        in.extra_ptr[k + 1] = static_cast<Offset>(in.extra_of.size());
    }
    source.insert(source.end(), extra_source.begin(), extra_source.end());
    scale.insert(scale.end(), extra_scale.begin(), extra_scale.end());
    in.entries.count = static_cast<Offset>(source.size());
    return in;
}

/// u_kk and the first entries of L(:,k) are computed together; the rest of a long column waits for u_kk as for any entry.
void divide_columns(const LuPattern& pattern, DotEntries& entries)
{
    entries.divisor.assign(entries.count, DotEntries::none);
    for (Index k = 0; k < pattern.n; ++k) {
        const Offset d = pattern.diag[k], end = pattern.col_ptr[k + 1];
        if (end - d > 1) entries.groups.push_back({d, static_cast<int>(std::min(end - d, most_in_group))});
        for (Offset p = d + 1; p < end; ++p) entries.divisor[p] = d;
    }
}

/// Products of L + U, column by column, as the left-looking method meets them. Inputs beyond the first of an entry come
/// before its products, as entries of their own.
void walk_factors(const LuPattern& pattern, const Inputs& in, DotVisitor& visitor)
{
    std::vector<Offset> at(pattern.n, 0);  // position of row i in column k
    for (Index k = 0; k < pattern.n; ++k) {
        for (Offset e = in.extra_ptr[k]; e < in.extra_ptr[k + 1]; ++e)
            visitor.product(in.extra_of[e], DotEntries::minus_one, in.first_extra + e);
        for (Offset p = pattern.col_ptr[k]; p < pattern.col_ptr[k + 1]; ++p) at[pattern.row[p]] = p;
        for (Offset q = pattern.col_ptr[k]; q < pattern.diag[k]; ++q) {
            const Index i = pattern.row[q];
            for (Offset s = pattern.diag[i] + 1; s < pattern.col_ptr[i + 1]; ++s)
                visitor.product(at[pattern.row[s]], s, q);  // (r, k): l_ri u_ik
        }
        visitor.complete(pattern.diag[k], pattern.col_ptr[k + 1]);
    }
}

/// Substitution with B: blocks from the last to the first, F x of later blocks, then L, then U.
void walk_solve(const LuPattern& pattern, DotVisitor& visitor)
{
    const Offset n = pattern.n, nnz = pattern.nnz();
    for (Index b = pattern.blocks() - 1; b >= 0; --b) {
        const Index first = pattern.block_ptr[b], last = pattern.block_ptr[b + 1];
        for (Index k = first; k < last; ++k)
            for (Offset p = pattern.diag[k] + 1; p < pattern.col_ptr[k + 1]; ++p) visitor.product(pattern.row[p], p, k);
        // first, so that x_k starts from y_k and only then subtracts what columns to its right give it
        for (Index k = last - 1; k >= first; --k) visitor.product(n + k, DotEntries::minus_one, k);
        for (Index k = last - 1; k >= first; --k) {
            for (Offset p = pattern.col_ptr[k]; p < pattern.diag[k]; ++p) visitor.product(n + pattern.row[p], p, n + k);
            for (Offset p = pattern.f_col_ptr[k]; p < pattern.f_col_ptr[k + 1]; ++p)
                visitor.product(pattern.f_row[p], nnz + p, n + k);
        }
    }
}

/// With Bᵀ: blocks from the first to the last, Fᵀ x of earlier blocks, then Uᵀ, then Lᵀ.
void walk_transposed_solve(const LuPattern& pattern, DotVisitor& visitor)
{
    const Offset n = pattern.n, nnz = pattern.nnz();
    for (Index b = 0; b < pattern.blocks(); ++b) {
        const Index first = pattern.block_ptr[b], last = pattern.block_ptr[b + 1];
        for (Index k = first; k < last; ++k) {
            for (Offset p = pattern.f_col_ptr[k]; p < pattern.f_col_ptr[k + 1]; ++p)
                visitor.product(k, nnz + p, n + pattern.f_row[p]);
            for (Offset p = pattern.col_ptr[k]; p < pattern.diag[k]; ++p) visitor.product(k, p, pattern.row[p]);
        }
        for (Index k = last - 1; k >= first; --k) {
            visitor.product(n + k, DotEntries::minus_one, k);
            for (Offset p = pattern.diag[k] + 1; p < pattern.col_ptr[k + 1]; ++p)
                visitor.product(n + k, p, n + pattern.row[p]);
        }
    }
}

}  // namespace

DotProgram factor_dots(const LuPattern& pattern)
{
    require(pattern.in_source.size() < std::size_t{1} << 31,
            [] { return "too many input values for positions of 32 bits"; });
    Inputs in = assign_inputs(pattern);
    divide_columns(pattern, in.entries);
    return build_dots(in.entries, [&](DotVisitor& visitor) { walk_factors(pattern, in, visitor); });
}

SolveDots solve_dots(const LuPattern& pattern, const DotProgram& factor, Transpose transpose)
{
    const Offset n = pattern.n;
    const bool   plain = transpose == Transpose::no;
    const auto&  in_perm = plain ? pattern.row_perm : pattern.col_perm;
    const auto&  out_perm = plain ? pattern.col_perm : pattern.row_perm;
    const auto&  in_scale = plain ? pattern.row_scale : pattern.col_scale;
    const auto&  out_scale = plain ? pattern.col_scale : pattern.row_scale;
    DotEntries   entries;
    entries.count = 2 * n;
    entries.given = factor.slot_of;
    entries.source.assign(entries.count, DotEntries::none);
    entries.scale.assign(entries.count, 1);
    entries.divisor.assign(entries.count, DotEntries::none);
    for (Offset k = 0; k < n; ++k) {
        entries.source[k] = in_perm[k];
        if (!in_scale.empty()) entries.scale[k] = in_scale[in_perm[k]];
        entries.divisor[plain ? n + k : k] = pattern.diag[k];  // with Bᵀ, Uᵀ comes first
    }
    const auto walk = plain ? walk_solve : walk_transposed_solve;
    SolveDots  solve;
    solve.dots = build_dots(entries, [&](DotVisitor& visitor) { walk(pattern, visitor); });
    solve.out_index.assign(solve.dots.slots(), -1);
    solve.out_scale.assign(solve.dots.slots(), 1);
    for (Offset k = 0; k < n; ++k) {
        const auto slot = solve.dots.slot_of[n + k];
        solve.out_index[slot] = out_perm[k];
        if (!out_scale.empty()) solve.out_scale[slot] = out_scale[out_perm[k]];
    }
    return solve;
}

}  // namespace ilux
