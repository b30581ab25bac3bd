#include "ilux/precond/crout/inverse_norms.hpp"

#include <algorithm>

#include "ilux/base/instances.hpp"

namespace ilux {

template <Scalar T>
T InverseNorms<T>::look_ahead(Index k, std::span<const Index> i, std::span<const T> l) const
{
    T e = 1;
    if constexpr (is_complex<T>)  // that direction of the line which is nearer to 1
        if (w_[k] != T(0)) e = (w_[k].real() < 0 ? -1. : 1.) * direction(w_[k]);
    const T plus = e - w_[k], minus = -e - w_[k];
    double  sum_plus = std::abs(plus), sum_minus = std::abs(minus);
    for (std::size_t p = 0; p < i.size(); ++p) {
        sum_plus += std::abs(w_[i[p]] + l[p] * plus);
        sum_minus += std::abs(w_[i[p]] + l[p] * minus);
    }
    return sum_plus >= sum_minus ? plus : minus;
}

template <Scalar T>
double InverseNorms<T>::largest_after(T y, std::span<const Index> i, std::span<const T> l) const
{
    double largest = 0;
    for (std::size_t p = 0; p < i.size(); ++p) largest = std::max(largest, std::abs(w_[i[p]] + l[p] * y));
    return largest;
}

template <Scalar T>
void InverseNorms<T>::accept(T y, std::span<const Index> i, std::span<const T> l)
{
    for (std::size_t p = 0; p < i.size(); ++p) w_[i[p]] += l[p] * y;
}

#define ILUX_INSTANTIATE(T) template class InverseNorms<T>;
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
