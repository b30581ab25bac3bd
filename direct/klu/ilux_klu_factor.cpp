#include <cstdint>

#include "ilux/base/instances.hpp"
#include "ilux/direct/analysis/lu_input.hpp"
#include "ilux/direct/klu/ilux_klu_calls.hpp"

namespace ilux::klu {
namespace {

template <Scalar S, class Int>
std::span<const S> values_of(const LuSymbolic& s, const Int* Ap, const Int* Ai, const double* Ax)
{
    require_arguments(Ap != nullptr && Ai != nullptr && Ax != nullptr);
    require_arguments(std::equal(s.input_ptr.begin(), s.input_ptr.end(), Ap));
    require_arguments(std::equal(s.input_idx.begin(), s.input_idx.end(), Ai));
    return {numbers<S>(Ax), s.input_idx.size()};
}

/// What a factorization ended in, for the caller and for later solves.
template <class Int, Scalar S>
void conclude(Factorization<Int, S>& f, const LuReport& report, Common<Int>& common)
{
    const MatrixView<S> A = f.lu.matrix();
    common.numerical_rank = common.singular_col = -1;
    if (report.outcome == Outcome::converged) {
        f.status = ILUX_KLU_OK;
        f.pivots = true;
        common.numerical_rank = common.singular_col = A.n;
    } else if (report.outcome == Outcome::out_of_memory) {
        f.status = ILUX_KLU_OUT_OF_MEMORY;
    } else if (!all_finite<S>(A.val)) {
        f.status = ILUX_KLU_INVALID;
    } else {
        f.status = ILUX_KLU_SINGULAR;
        common.numerical_rank = report.pivot;
        common.singular_col = report.column;
    }
    set_status(&common, f.status);
}

template <class Int>
void describe_factors(AnyFactorization<Int>& f, const LuPattern& P)
{
    double lnz = 0, unz = 0;
    f.max_lnz_block = f.max_unz_block = 0;
    for (Index b = 0; b < P.blocks(); ++b) {
        double lower = 0, upper = 0;
        for (Index k = P.block_ptr[b]; k < P.block_ptr[b + 1]; ++k) {
            lower += 1 + P.lower_count(k);
            upper += 1 + P.upper_count(k);
        }
        f.max_lnz_block = std::max(f.max_lnz_block, fit<Int>(lower));
        f.max_unz_block = std::max(f.max_unz_block, fit<Int>(upper));
        lnz += lower;
        unz += upper;
    }
    f.lnz = fit<Int>(lnz);
    f.unz = fit<Int>(unz);
    f.nzoff = fit<Int>(static_cast<double>(P.nnz_F()));
    f.flops = P.flops();
    f.pnum.assign(P.row_perm.begin(), P.row_perm.end());
    f.rs.clear();
    if (!P.row_scale.empty())
        for (const Index i : P.row_perm) f.rs.push_back(1 / P.row_scale[i]);
}

/// Fills the public part, after pivots were chosen or none were found.
template <class Int, Scalar S>
void describe(Factorization<Int, S>& f, const LuSymbolic& s)
{
    f.n = s.n;
    f.nblocks = s.report.blocks;
    f.pnum.assign(s.row_perm.begin(), s.row_perm.end());
    if (f.pivots) describe_factors<Int>(f, *f.lu.factors().pattern);
    f.pinv.resize(s.n);
    for (Index k = 0; k < s.n; ++k) f.pinv[f.pnum[k]] = k;
    f.Pnum = f.pnum.data();
    f.Pinv = f.pinv.data();
    f.Rs = f.rs.empty() ? nullptr : f.rs.data();
}

template <class Int, Scalar S>
std::size_t bytes(const Factorization<Int, S>& f)
{
    const auto own = (f.pnum.size() + f.pinv.size()) * sizeof(Int) + f.rs.size() * sizeof(double);
    return sizeof f + f.lu.bytes() + own;
}

/// Transpositions that lead from the analysed order of rows to that of the pivots: n less the number of cycles.
template <class Int>
Int exchanges(const AnyFactorization<Int>& f, const LuSymbolic& s)
{
    Index             cycles = 0;
    std::vector<bool> seen(s.n);
    for (Index start = 0; start < s.n; ++start) {
        cycles += !seen[start];
        for (Index k = start; !seen[k]; k = static_cast<Index>(f.pinv[s.row_perm[k]])) seen[k] = true;
    }
    return s.n - cycles;
}

}  // namespace

template <class Int, Scalar S>
Numeric<Int>* factor(const Int* Ap, const Int* Ai, const double* Ax, const Symbolic<Int>* symbolic, Common<Int>& common)
{
    const auto& s = behind<Int>(symbolic).lu;
    const auto  values = values_of<S>(*s, Ap, Ai, Ax);
    LuOptions   options = s->options;
    options.scaling = scaling(common);
    options.pivot_tol = pivot_tol(common);
    common.noffdiag = -1;
    auto f = std::make_unique<Factorization<Int, S>>(host(common), s, options);
    conclude(*f, f->lu.factor(values), common);
    if (f->status < 0 || (f->status == ILUX_KLU_SINGULAR && common.halt_if_singular)) return nullptr;
    f->nzoff = symbolic->nzoff;
    describe(*f, *s);
    if (f->pivots) common.noffdiag = exchanges<Int>(*f, *s);
    count(common, f->counted, bytes(*f));
    return f.release();
}

template <class Int, Scalar S>
bool refactor(const Int* Ap, const Int* Ai, const double* Ax, const Symbolic<Int>* symbolic, Numeric<Int>* numeric,
              Common<Int>& common)
{
    spoil<Int>(numeric);  // also where what follows is refused
    auto&             f = behind<Int, S>(symbolic, numeric);
    const LuSymbolic& s = *f.analysed;
    const auto        values = values_of<S>(s, Ap, Ai, Ax);
    const bool        may_repivot = common.repivot || !f.pivots;
    const LuReport    report = may_repivot ? f.lu.refactor_or_factor(values) : f.lu.refactor(values);
    conclude(f, report, common);
    if (f.status == ILUX_KLU_OK && report.action != LuAction::refactor) {
        common.repivots += report.action == LuAction::repivot;
        f.status = ILUX_KLU_TOO_LARGE;  // until all numbers fit
        describe(f, s);
        f.status = ILUX_KLU_OK;
        count(common, f.counted, bytes(f));
    }
    return f.status == ILUX_KLU_OK || (f.status == ILUX_KLU_SINGULAR && !common.halt_if_singular);
}

#define ILUX_INSTANTIATE_FOR(Int, S)                                                                                    \
    template Numeric<Int>* factor<Int, S>(const Int*, const Int*, const double*, const Symbolic<Int>*, Common<Int>&);   \
    template bool          refactor<Int, S>(const Int*, const Int*, const double*, const Symbolic<Int>*, Numeric<Int>*, \
                                   Common<Int>&);
#define ILUX_INSTANTIATE(S)      \
    ILUX_INSTANTIATE_FOR(int, S) \
    ILUX_INSTANTIATE_FOR(std::int64_t, S)
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE
#undef ILUX_INSTANTIATE_FOR

}  // namespace ilux::klu
