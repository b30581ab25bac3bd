#include <algorithm>
#include <cstdint>

#include "ilux/direct/klu/ilux_klu_calls.hpp"

namespace ilux::klu {
namespace {

/// The caller's pattern in our types.
struct Pattern {
    std::vector<Offset> ptr;
    std::vector<Index>  idx;

    MatrixView<> view() const
    {
        const auto n = static_cast<Index>(ptr.size() - 1);
        return {.n = n, .ptr = ptr, .idx = idx, .val = {}, .layout = MatrixLayout::columns};
    }
};

template <class Int>
Pattern pattern(Int n, const Int* Ap, const Int* Ai)
{
    require_arguments(n > 0 && Ap != nullptr && Ai != nullptr);
    if (n >= std::numeric_limits<Index>::max()) throw TooLarge{};
    require_arguments(Ap[0] == 0 && std::is_sorted(Ap, Ap + n + 1));
    Pattern A{{Ap, Ap + n + 1}, std::vector<Index>(Ap[n])};
    for (std::size_t p = 0; p < A.idx.size(); ++p) {
        require_arguments(Ai[p] >= 0 && Ai[p] < n);
        A.idx[p] = static_cast<Index>(Ai[p]);
    }
    return A;
}

/// @param P  NULL: the identity
template <class Int>
std::vector<Index> permutation(Int n, const Int* P)
{
    std::vector<Index> perm(n);
    for (Int k = 0; k < n; ++k) {
        require_arguments(P == nullptr || (P[k] >= 0 && P[k] < n));
        perm[k] = static_cast<Index>(P == nullptr ? k : P[k]);
    }
    static_cast<void>(inverse_permutation(perm));  // refuses what is none
    return perm;
}

/// Analyses A(P, Q) as it is ordered; the result is of A itself.
std::shared_ptr<const LuSymbolic> analyse_given(const Pattern& A, std::span<const Index> P, std::span<const Index> Q,
                                                LuOptions options)
{
    const auto          inv_P = inverse_permutation(P);
    Pattern             B = A;
    std::vector<Offset> source(A.idx.size());
    Offset              q = 0;
    for (std::size_t j = 0; j < Q.size(); ++j) {
        for (Offset p = A.ptr[Q[j]]; p < A.ptr[Q[j] + 1]; ++p, ++q) {
            B.idx[q] = inv_P[A.idx[p]];
            source[q] = p;
        }
        B.ptr[j + 1] = q;
    }
    options.ordering = LuOrdering::none;
    auto given = std::make_shared<LuSymbolic>(*analyse(B.view(), options));
    for (Index& i : given->row_perm) i = P[i];
    for (Index& j : given->col_perm) j = Q[j];
    for (Offset& p : given->source) p = source[p];
    given->input_ptr = A.ptr;
    given->input_idx.assign(A.idx.begin(), A.idx.end());
    return given;
}

template <class Int>
std::shared_ptr<const LuSymbolic> analyse_ordered(Int n, const Int* Ap, const Int* Ai, const Pattern& A,
                                                  LuOptions options, Common<Int>& common)
{
    constexpr LuOrdering orderings[] = {LuOrdering::amd, LuOrdering::colamd, LuOrdering::none, LuOrdering::none,
                                        LuOrdering::automatic};
    require_arguments(common.ordering >= 0 && common.ordering <= 4);
    options.ordering = orderings[common.ordering];
    if (common.ordering != 3) return analyse(A.view(), options);

    require_arguments(common.user_order != nullptr);
    std::vector<Int> perm(n), ptr(Ap, Ap + n + 1), idx(Ai, Ai + Ap[n]);
    require_arguments(common.user_order(n, ptr.data(), idx.data(), perm.data(), &common) != 0);
    const auto order = permutation<Int>(n, perm.data());
    return analyse_given(A, order, order, options);
}

LuOptions options_of(const auto& common)
{
    LuOptions options;
    options.supernodes = LuSupernodes::off;  // KLU's programs read L and U by entries
    options.blocks = common.btf != 0;
    options.scaling = scaling(common);
    options.pivot_tol = pivot_tol(common);
    return options;
}

Offset entries_above_blocks(const LuSymbolic& s)
{
    Offset count = 0;
    for (Index b = 0; b < s.report.blocks; ++b)
        for (Index k = s.block_ptr[b]; k < s.block_ptr[b + 1]; ++k)
            for (Offset p = s.col_ptr[k]; p < s.col_ptr[k + 1] && s.row[p] < s.block_ptr[b]; ++p) ++count;
    return count;
}

template <class Int>
Symbolic<Int>* finished(std::shared_ptr<const LuSymbolic> symbolic, Int ordering, Common<Int>& common)
{
    auto              a = std::make_unique<Analysis<Int>>();
    const LuSymbolic& s = *symbolic;
    a->lu = std::move(symbolic);
    for (Index b = 0; b < s.report.blocks; ++b)
        a->block_lnz.push_back(s.block_ptr[b + 1] - s.block_ptr[b] == 1 ? 1 : -1);
    a->Lnz = a->block_lnz.data();
    a->symmetry = -1;
    a->est_flops = s.report.flops;
    a->lnz = a->unz = (s.report.nnz + s.n) / 2;
    a->n = s.n;
    const auto [p, q, r] = a->pqr.assign(static_cast<Symbolic<Int>*>(a.get()), s.row_perm, s.col_perm, s.block_ptr);
    a->P = p;
    a->Q = q;
    a->R = r;
    a->nz = fit<Int>(static_cast<double>(s.input_nnz));
    a->nzoff = fit<Int>(static_cast<double>(entries_above_blocks(s)));
    a->nblocks = s.report.blocks;
    a->maxblock = s.report.largest_block;
    a->ordering = ordering;
    a->do_btf = common.btf;
    a->structural_rank = common.btf ? s.report.structural_rank : -1;
    common.structural_rank = a->structural_rank;
    const auto numbers = s.input_idx.size() + s.row_perm.size() + s.col_perm.size() + s.block_ptr.size() + s.row.size();
    const auto positions = s.input_ptr.size() + s.col_ptr.size() + s.source.size();
    count(common, a->counted,
          sizeof *a + numbers * sizeof(Index) + positions * sizeof(Offset) + a->pqr.size() * sizeof(Int) +
              a->block_lnz.size() * sizeof(double));
    return a.release();
}

}  // namespace

template <class Int>
Symbolic<Int>* analyze(Int n, const Int* Ap, const Int* Ai, Common<Int>& common)
{
    common.structural_rank = -1;
    const Pattern A = pattern(n, Ap, Ai);
    return finished<Int>(analyse_ordered(n, Ap, Ai, A, options_of(common), common), common.ordering, common);
}

template <class Int>
Symbolic<Int>* analyze_given(Int n, const Int* Ap, const Int* Ai, const Int* P, const Int* Q, Common<Int>& common)
{
    common.structural_rank = -1;
    const Pattern A = pattern(n, Ap, Ai);
    return finished<Int>(analyse_given(A, permutation(n, P), permutation(n, Q), options_of(common)), 2, common);
}

template Symbolic<int>*          analyze<int>(int, const int*, const int*, Common<int>&);
template Symbolic<std::int64_t>* analyze<std::int64_t>(std::int64_t, const std::int64_t*, const std::int64_t*,
                                                       Common<std::int64_t>&);
template Symbolic<int>*          analyze_given<int>(int, const int*, const int*, const int*, const int*, Common<int>&);
template Symbolic<std::int64_t>* analyze_given<std::int64_t>(std::int64_t, const std::int64_t*, const std::int64_t*,
                                                             const std::int64_t*, const std::int64_t*,
                                                             Common<std::int64_t>&);

}  // namespace ilux::klu
