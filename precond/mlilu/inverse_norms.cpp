#include "ilux/precond/mlilu/inverse_norms.hpp"

#include <algorithm>

namespace ilux {

double InverseNorms::look_ahead(Index k, std::span<const Index> i, std::span<const double> l) const
{
    const double plus = 1 - w_[k], minus = -1 - w_[k];
    double       sum_plus = std::abs(plus), sum_minus = std::abs(minus);
    for (std::size_t p = 0; p < i.size(); ++p) {
        sum_plus += std::abs(w_[i[p]] + l[p] * plus);
        sum_minus += std::abs(w_[i[p]] + l[p] * minus);
    }
    return sum_plus >= sum_minus ? plus : minus;
}

double InverseNorms::largest_after(double y, std::span<const Index> i, std::span<const double> l) const
{
    double largest = 0;
    for (std::size_t p = 0; p < i.size(); ++p) largest = std::max(largest, std::abs(w_[i[p]] + l[p] * y));
    return largest;
}

void InverseNorms::accept(double y, std::span<const Index> i, std::span<const double> l)
{
    for (std::size_t p = 0; p < i.size(); ++p) w_[i[p]] += l[p] * y;
}

}  // namespace ilux
