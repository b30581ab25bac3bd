#pragma once
// What device memory holds: real values as they are, complex ones as a pair whose arithmetic runs on a device. Host
// code that keeps such memory sees the types; what kernels do with them is device_value.hpp.

#include <complex>

#include "ilux/base/host_device.hpp"
#include "ilux/base/scalar.hpp"

namespace ilux::cuda {

/// A complex number with the layout of std::complex, loaded and stored as one piece of 2·sizeof(R) bytes.
/// Products are the textbook's: no second try where Inf meets NaN.
template <class R>
struct alignas(2 * sizeof(R)) Complex {
    R re, im;

    ILUX_HOST_DEVICE friend Complex operator+(Complex a, Complex b) { return {a.re + b.re, a.im + b.im}; }
    ILUX_HOST_DEVICE friend Complex operator-(Complex a, Complex b) { return {a.re - b.re, a.im - b.im}; }
    ILUX_HOST_DEVICE friend Complex operator*(Complex a, Complex b)
    {
        return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
    }
    ILUX_HOST_DEVICE friend Complex operator*(R a, Complex b) { return {a * b.re, a * b.im}; }
    ILUX_HOST_DEVICE Complex&       operator+=(Complex b) { return *this = *this + b; }
    ILUX_HOST_DEVICE Complex&       operator-=(Complex b) { return *this = *this - b; }
};

}  // namespace ilux::cuda

namespace ilux::detail {
/// real_of, working_of and is_complex hold for values in kernels too.
template <class R>
struct ScalarTraits<cuda::Complex<R>> {
    using Real = R;
    using Working = cuda::Complex<double>;
    using Single = cuda::Complex<float>;
    static constexpr bool complex = true;
};

template <class T>
struct ValueOf {
    using type = T;
};
template <class R>
struct ValueOf<std::complex<R>> {
    using type = cuda::Complex<R>;
};
}  // namespace ilux::detail

namespace ilux::cuda {

static_assert(sizeof(Complex<double>) == sizeof(std::complex<double>));

/// What kernels have for a T of the host: Complex<R> for std::complex<R>, T itself where it is real.
template <class T>
using Value = typename ilux::detail::ValueOf<T>::type;

}  // namespace ilux::cuda
