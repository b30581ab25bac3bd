#pragma once
// The two operations of which every elimination consists. All factorizations on the host use these: equal bits.

#include <cmath>

#include "ilux/base/scalar.hpp"

namespace ilux {

/// c − l x. Of complex numbers Re first adds the product of the imaginary parts, so that numbers without any give the bits
/// of the real ones: Re ← fma(−Re l, Re x, fma(Im l, Im x, Re c)), Im ← fma(−Re l, Im x, fma(−Im l, Re x, Im c)).
/// Always inlined, so that it is compiled for the processor that the caller is compiled for.
template <Scalar S>
[[gnu::always_inline]] inline S minus_product(S c, S l, S x)
{
    if constexpr (is_complex<S>)
        return {std::fma(-l.real(), x.real(), std::fma(l.imag(), x.imag(), c.real())),
                std::fma(-l.real(), x.imag(), std::fma(-l.imag(), x.real(), c.imag()))};
    else return std::fma(-l, x, c);
}

}  // namespace ilux
