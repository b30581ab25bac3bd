#pragma once
// Values have three roles: Scalar (A, b, x: real or complex), Stored (factors as stored: Scalar or its float), and Real
// (norms, tolerances, scales). What a template needs to know of them. The real versions are the plain operations: no
// std::complex is seen where all is real.

#include <cmath>
#include <complex>
#include <concepts>
#include <limits>
#include <type_traits>

namespace ilux {

namespace detail {
template <class T>
struct ScalarTraits {
    using Real = T;
    using Working = double;
    using Single = float;
    static constexpr bool complex = false;
};
template <class T>
struct ScalarTraits<std::complex<T>> {
    using Real = T;
    using Working = std::complex<double>;
    using Single = std::complex<float>;
    static constexpr bool complex = true;
};
}  // namespace detail

template <class T>
inline constexpr bool is_complex = detail::ScalarTraits<T>::complex;
/// The type of |z|.
template <class T>
using real_of = typename detail::ScalarTraits<T>::Real;
/// The Scalar of vectors beside values stored as T, unless another is given: double, or complex<double>.
template <class T>
using working_of = typename detail::ScalarTraits<T>::Working;
/// T in single precision: float, or complex<float>.
template <class T>
using single_of = typename detail::ScalarTraits<T>::Single;

template <class T>
concept Scalar = std::floating_point<real_of<T>>;

/// A parameter of this type leaves S to be given or to its default: dot<S>(be, x, y), or dot(be, x, y) for double.
template <class S>
using NotDeduced = std::type_identity_t<S>;

/// z̄, a real number itself. That of a complex number is found in std by its argument: call it without a namespace.
template <std::floating_point T>
constexpr T conj(T x)
{
    return x;
}

/// The real part.
template <Scalar T>
constexpr real_of<T> real_part(T z)
{
    if constexpr (is_complex<T>) return z.real();
    else return z;
}

/// The imaginary part, 0 of a real number.
template <Scalar T>
constexpr real_of<T> imaginary_part(T z)
{
    if constexpr (is_complex<T>) return z.imag();
    else return 0;
}

/// 2^exponent z
template <Scalar T>
T times_power(T z, int exponent)
{
    if constexpr (is_complex<T>) return {std::ldexp(z.real(), exponent), std::ldexp(z.imag(), exponent)};
    else return std::ldexp(z, exponent);
}

/// |Re z| + |Im z|: within a factor √2 of |z|, without a root.
template <Scalar T>
real_of<T> abs1(T z)
{
    if constexpr (is_complex<T>) return std::abs(z.real()) + std::abs(z.imag());
    else return std::abs(z);
}

/// |z|²; may over- and underflow.
template <Scalar T>
constexpr real_of<T> abs_squared(T z)
{
    if constexpr (is_complex<T>) return z.real() * z.real() + z.imag() * z.imag();
    else return z * z;
}

/// Neither NaN nor Inf, in either part, nor in |z|: what is larger has no size to be compared by.
template <Scalar T>
bool is_finite(T z)
{
    if constexpr (is_complex<T>) {
        constexpr auto safe = std::numeric_limits<real_of<T>>::max() / 2;
        const bool     small = std::abs(z.real()) <= safe && std::abs(z.imag()) <= safe;
        return small || std::isfinite(std::abs(z));
    } else return std::isfinite(z);
}

template <Scalar T>
bool is_nan(T z)
{
    if constexpr (is_complex<T>) return std::isnan(z.real()) || std::isnan(z.imag());
    else return std::isnan(z);
}

}  // namespace ilux
