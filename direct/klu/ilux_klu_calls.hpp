#pragma once
// The calls of ilux_klu.h and ilux_klu_z.h for either integer type and either Scalar, whose numbers come as pairs of doubles
// where they are complex. Failures are thrown; what else the calls do, ilux_klu.h says.

#include <cmath>
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

/// The host with common.threads; a negative number is as 0, one beyond all sense as 4096.
inline Cpu host(const auto& common)
{
    using Int = std::remove_cvref_t<decltype(common.threads)>;
    return Cpu(static_cast<int>(std::clamp<Int>(common.threads, 0, 4096)));
}

/// memusage counts `now` bytes of an object instead of `counted`.
inline void count(auto& common, std::size_t& counted, std::size_t now)
{
    common.memusage += now - counted;
    common.mempeak = std::max(common.mempeak, common.memusage);
    counted = now;
}

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

/// Destroys *object, which is an Owner.
template <class Owner, class Base>
bool release(Base** object, auto& common)
{
    if (object == nullptr || *object == nullptr) return true;
    const std::unique_ptr<Owner> owner(static_cast<Owner*>(*object));
    count(common, owner->counted, 0);
    *object = nullptr;
    return true;
}

}  // namespace ilux::klu
