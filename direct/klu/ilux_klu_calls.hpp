#pragma once
// The calls of ilux_klu.h and ilux_klu_z.h for either integer type and either Scalar, whose numbers come as pairs of
// doubles where they are complex. Failures are thrown; what else the calls do, ilux_klu.h says.

#include <cmath>
#include <span>
#include <type_traits>

#include "ilux/direct/klu/ilux_klu_objects.hpp"

namespace ilux::klu {

template <class Int>
using Common = typename Types<Int>::Common;
template <class Int>
using Symbolic = typename Types<Int>::Symbolic;
template <class Int>
using Numeric = typename Types<Int>::Numeric;

inline LuScaling scaling(const auto& common) { return common.scale > 0 ? LuScaling::rows : LuScaling::none; }
/// @throws InvalidInput for NaN
inline double pivot_tol(const auto& common)
{
    require_arguments(!std::isnan(common.tol));
    return std::clamp(common.tol, 0.0, 1.0);
}

/// With the threads of ilux_klu_set_threads; a negative number is as 0, one beyond all sense as 4096.
Cpu host();
/// What ilux_klu_set_repivot says.
bool may_repivot();

/// memusage counts `now` bytes of an object instead of `counted`.
inline void count(auto& common, std::size_t& counted, std::size_t now)
{
    common.memusage += now - counted;
    common.mempeak = std::max(common.mempeak, common.memusage);
    counted = now;
}

template <class Int>
bool defaults(Common<Int>& common);

/// malloc, free and realloc that count. A failure of the last leaves p as it was: the status is OUT_OF_MEMORY or
/// TOO_LARGE.
template <class Int>
void* allocate(std::size_t n, std::size_t size, Common<Int>& common);
template <class Int>
void* deallocate(void* p, std::size_t n, std::size_t size, Common<Int>& common);
template <class Int>
void* reallocate(std::size_t n_new, std::size_t n_old, std::size_t size, void* p, Common<Int>& common);

template <class Int>
Symbolic<Int>* analyze(Int n, const Int* Ap, const Int* Ai, Common<Int>& common);
template <class Int>
Symbolic<Int>* analyze_given(Int n, const Int* Ap, const Int* Ai, const Int* P, const Int* Q, Common<Int>& common);

/// The caller's doubles as numbers, re and im of a complex one side by side.
template <Scalar S>
const S* numbers(const double* x)
{
    return reinterpret_cast<const S*>(x);  // std::complex is laid out so
}
template <Scalar S>
S* numbers(double* x)
{
    return reinterpret_cast<S*>(x);
}

template <class Int, Scalar S>
Numeric<Int>* factor(const Int* Ap, const Int* Ai, const double* Ax, const Symbolic<Int>* symbolic,
                     Common<Int>& common);
template <class Int, Scalar S>
bool refactor(const Int* Ap, const Int* Ai, const double* Ax, const Symbolic<Int>* symbolic, Numeric<Int>* numeric,
              Common<Int>& common);
template <class Int, Scalar S>
bool solve(const Symbolic<Int>* symbolic, Numeric<Int>* numeric, Int ldim, Int nrhs, double* B, Transpose transpose,
           Common<Int>& common);
template <class Int, Scalar S>
bool rcond(const Symbolic<Int>* symbolic, Numeric<Int>* numeric, Common<Int>& common);
template <class Int, Scalar S>
bool rgrowth(const Int* Ap, const Int* Ai, const double* Ax, const Symbolic<Int>* symbolic, Numeric<Int>* numeric,
             Common<Int>& common);
template <class Int, Scalar S>
bool condest(const Int* Ap, const double* Ax, const Symbolic<Int>* symbolic, Numeric<Int>* numeric,
             Common<Int>& common);
template <class Int, Scalar S>
bool flops(const Symbolic<Int>* symbolic, Numeric<Int>* numeric, Common<Int>& common);
/// size[i] ← the largest modulus in row i, or with `sums` the sum of all; 1 for a row of zeros. These are KLU's scales.
template <class Row, Scalar S>
void row_sizes(bool sums, std::span<const Row> row, const S* value, std::span<double> size)
{
    std::fill(size.begin(), size.end(), 0.0);
    for (std::size_t p = 0; p < row.size(); ++p) {
        double& r = size[row[p]];
        r = sums ? r + std::abs(value[p]) : std::max(r, std::abs(value[p]));
    }
    std::replace(size.begin(), size.end(), 0.0, 1.0);
}
template <class Int, Scalar S>
bool scale(Int scale, Int n, const Int* Ap, const Int* Ai, const double* Ax, double* Rs, Int* W);

/// Real parts of some numbers, and their imaginary parts, or NULL.
struct Parts {
    double *re, *im = nullptr;
};
/// Arrays of the caller; those that are NULL are not wanted.
template <class Int>
struct Extract {
    Int *   Lp, *Li;
    Parts   Lx;
    Int *   Up, *Ui;
    Parts   Ux;
    Int *   Fp, *Fi;
    Parts   Fx;
    Int *   P, *Q;
    double* Rs;
    Int*    R;
};
template <class Int, Scalar S>
bool extract(Numeric<Int>* numeric, const Symbolic<Int>* symbolic, const Extract<Int>& to);

/// Destroys *object, which is an Owner. @throws InvalidInput for one that this library did not make
template <class Owner, class Base>
bool release(Base** object, auto& common)
{
    if (object == nullptr || *object == nullptr) return true;
    require_arguments(is_ours(**object));
    const std::unique_ptr<Owner> owner(static_cast<Owner*>(*object));
    count(common, owner->counted, 0);
    *object = nullptr;
    return true;
}

}  // namespace ilux::klu
