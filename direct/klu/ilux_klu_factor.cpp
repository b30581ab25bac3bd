#include <cstdint>
#include <utility>

#include "ilux/direct/analysis/lu_input.hpp"
#include "ilux/direct/factor/gilbert_peierls.hpp"
#include "ilux/direct/klu/ilux_klu_calls.hpp"
#include "ilux/direct/refactor_cpu/refactor.hpp"

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

/// What a factorization ended in, for the caller and for later solves. The ranks of a success are factor's to tell.
template <class Int, Scalar S>
void conclude(Factorization<Int, S>& f, const LuReport& report, Common<Int>& common)
{
    const MatrixView<S> A = f.lu.matrix();
    common.numerical_rank = common.singular_col = -1;
    if (report.outcome == Outcome::converged) {
        f.status = ILUX_KLU_OK;
        f.pivots = true;
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

/// What halt_if_singular = 0 asks for: factors of a singular matrix, bad pivots included.
/// @param chosen  made for these values; null: by the former pivots
template <class Int, Scalar S>
void keep_singular(Factorization<Int, S>& f, const LuOptions* chosen, Common<Int>& common)
{
    const auto   values = f.lu.matrix().val;
    LuFactors<S> made;
    if (chosen != nullptr) {
        made = gilbert_peierls<S>(f.analysed, *chosen, values, {}, Cpu(1), {.bad = BadPivots::keep});
        f.lu.take_pivots(made.pattern, 1);
    } else {
        const LuPattern& P = *f.pattern;
        made = {f.analysed, f.pattern, LuValues<S>(P.nnz()), std::vector<S>(P.nnz_F())};
        refactor_serial<S>(values, made, BadPivots::keep);
    }
    const Index bad = std::exchange(made.monitor, {}).bad_column;
    common.numerical_rank = bad;
    common.singular_col = bad < 0 ? bad : made.pattern->col_perm[bad];
    f.singular = std::move(made);
}

template <class Int>
void describe_factors(AnyFactorization<Int>& f, const LuPattern& P)
{
    double lnz = 0, unz = 0;
    f.max_lnz_block = f.max_unz_block = 0;
    f.llen.resize(P.n);
    f.ulen.resize(P.n);
    for (Index k = 0; k < P.n; ++k) {
        f.llen[k] = static_cast<Int>(P.lower_count(k));
        f.ulen[k] = static_cast<Int>(P.upper_count(k));
    }
    for (Index b = 0; b < P.blocks(); ++b) {
        double lower = 0, upper = 0;
        for (Index k = P.block_ptr[b]; k < P.block_ptr[b + 1]; ++k) {
            lower += 1.0 + P.lower_count(k);
            upper += 1.0 + P.upper_count(k);
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
    f.offp.assign(P.f_col_ptr.begin(), P.f_col_ptr.end());
    f.offi.assign(P.f_row.begin(), P.f_row.end());
    f.offp.resize(P.n + 1);  // where there is no F, its pointers may not be there either
    f.rs.clear();
    if (!P.row_scale.empty())
        for (const Index i : P.row_perm) f.rs.push_back(1 / P.row_scale[i]);
}

/// The numbers of the public part. Those of F are where the factors have them.
template <class Int, Scalar S>
void show_values(Factorization<Int, S>& f, const LuFactors<S>& factors)
{
    const LuPattern& P = *factors.pattern;
    f.udiag.resize(P.n);
    for (Index k = 0; k < P.n; ++k) f.udiag[k] = factors.val[P.diag[k]];
    f.Udiag = f.udiag.data();
    f.Offx = const_cast<S*>(factors.f_val.data());  // KLU's field is not const; nothing is written there
}

/// Fills the public part, after pivots were chosen.
template <class Int, Scalar S>
void describe(Factorization<Int, S>& f, const LuFactors<S>& factors)
{
    const LuPattern& P = *factors.pattern;
    f.pattern = factors.pattern;
    f.n = P.n;
    f.nblocks = P.blocks();
    describe_factors<Int>(f, P);
    const auto [pnum, pinv] =
        f.rows.assign(static_cast<Numeric<Int>*>(&f), P.row_perm, inverse_permutation(P.row_perm));
    f.Pnum = pnum;
    f.Pinv = pinv;
    const auto shown = [](auto& array) { return array.empty() ? nullptr : array.data(); };
    f.Rs = shown(f.rs);
    f.Llen = shown(f.llen);
    f.Ulen = shown(f.ulen);
    f.Offp = shown(f.offp);
    f.Offi = shown(f.offi);
    show_values(f, factors);
}

template <class Int, Scalar S>
std::size_t bytes(const Factorization<Int, S>& f)
{
    std::size_t integers = f.rows.size();
    for (const auto* array : {&f.llen, &f.ulen, &f.offp, &f.offi}) integers += array->size();
    return sizeof f + f.lu.status().bytes + integers * sizeof(Int) + f.rs.size() * sizeof(double) +
           f.udiag.size() * sizeof(S) + f.singular.bytes();
}

/// Transpositions that lead from the analysed order of rows to that of the pivots: n less the number of cycles.
template <class Int>
Int exchanges(const AnyFactorization<Int>& f, const LuSymbolic& s)
{
    Index             cycles = 0;
    std::vector<bool> seen(s.n);
    for (Index start = 0; start < s.n; ++start) {
        cycles += !seen[start];
        for (Index k = start; !seen[k]; k = static_cast<Index>(f.Pinv[s.row_perm[k]])) seen[k] = true;
    }
    return s.n - cycles;
}

/// max_i |b − A x|_i / (‖A_i‖₁ ‖x‖∞ + |b_i|) of a solution that is not refined, b_i = ±‖A_i‖₁: what pivots are good
/// for.
template <class Int, Scalar S>
double backward_error(Factorization<Int, S>& f)
{
    const MatrixView<S> A = f.lu.matrix();
    const auto          n = static_cast<std::size_t>(A.n);
    std::vector<double> size(n);
    row_sizes<Index, S>(true, A.idx, A.val.data(), size);
    std::vector<S> b(n), x(n);
    for (std::size_t i = 0; i < n; ++i) b[i] = i % 3 == 0 ? -size[i] : size[i];
    Cpu be = host();
    f.workspaces.with(1, [&](Scratch<S>& scratch) { lu_solve<S>(be, f.lu.factors(), b, x, scratch.ws); });
    double largest = 0;
    for (const S v : x) largest = std::max(largest, std::abs(v));
    for (Index j = 0; j < A.n; ++j)
        for (Offset p = A.ptr[j]; p < A.ptr[j + 1]; ++p) b[A.idx[p]] -= A.val[p] * x[j];
    double most = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const double error = std::abs(b[i]) / (size[i] * largest + size[i]);
        if (!(error <= most)) most = error;  // NaN is the worst
    }
    return most;
}

/// Numbers by the former pivots. Where those may be exchanged, they are if they fail, or if the monitors doubt them and
/// a solution shows why: growth alone does no harm where the entries that grew are not needed.
template <class Int, Scalar S>
LuReport renew(Factorization<Int, S>& f, std::span<const S> values)
{
    constexpr double good_enough = 1e-10;
    if (!f.pivots) return f.lu.refactor_or_factor(values);
    LuReport report = f.lu.refactor(values);
    if (!may_repivot() || report.outcome == Outcome::out_of_memory) return report;
    if (report.outcome == Outcome::converged) {
        const bool trusted = judge_pivots(f.lu.pivots(), f.lu.pivots().monitor).action == LuAction::refactor;
        if (trusted || backward_error(f) <= good_enough) return report;
    }
    return f.lu.refactor_or_factor(values);
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
    auto f = std::make_unique<Factorization<Int, S>>(host(), s, options);
    f->scale = static_cast<int>(common.scale);
    conclude(*f, f->lu.factor(values), common);
    if (f->status < 0 || (f->status == ILUX_KLU_SINGULAR && common.halt_if_singular)) return nullptr;
    if (f->status == ILUX_KLU_SINGULAR) keep_singular<Int, S>(*f, &options, common);
    else common.numerical_rank = common.singular_col = s->n;
    describe(*f, *f->factors());
    common.noffdiag = exchanges<Int>(*f, *s);
    count(common, f->counted, bytes(*f));
    return f.release();
}

template <class Int, Scalar S>
bool refactor(const Int* Ap, const Int* Ai, const double* Ax, const Symbolic<Int>* symbolic, Numeric<Int>* numeric,
              Common<Int>& common)
{
    spoil<Int>(numeric);  // also where what follows is refused
    auto&      f = behind<Int, S>(symbolic, numeric);
    const auto values = values_of<S>(*f.analysed, Ap, Ai, Ax);
    f.singular = {};
    f.scale = static_cast<int>(common.scale);
    const bool     had_pivots = f.pivots;
    const LuReport report = renew<Int, S>(f, values);
    conclude(f, report, common);
    if (f.status == ILUX_KLU_SINGULAR && !common.halt_if_singular) keep_singular<Int, S>(f, nullptr, common);
    const LuFactors<S>* const factors = f.factors();
    if (f.status == ILUX_KLU_OK && report.action != LuAction::refactor) {
        f.repivots += had_pivots && report.action == LuAction::repivot;
        f.status = ILUX_KLU_TOO_LARGE;  // until all numbers fit
        describe(f, *factors);
        f.status = ILUX_KLU_OK;
    } else if (factors != nullptr) {
        show_values(f, *factors);
    }
    count(common, f.counted, bytes(f));
    return factors != nullptr;
}

#define ILUX_INSTANTIATE(Int, S)                                                                                        \
    template Numeric<Int>* factor<Int, S>(const Int*, const Int*, const double*, const Symbolic<Int>*, Common<Int>&);   \
    template bool          refactor<Int, S>(const Int*, const Int*, const double*, const Symbolic<Int>*, Numeric<Int>*, \
                                   Common<Int>&);
ILUX_KLU_KINDS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux::klu
