#pragma once
// Tests that real and complex values share: TYPED_TEST_SUITE(Suite, BothScalars, ScalarName).

#include <gtest/gtest.h>

#include <concepts>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ilux/tests/direct/dataflow/dataflow_systems.hpp"
#include "ilux/tests/support/real_form.hpp"

namespace ilux::test {

using BothScalars = testing::Types<double, Complex>;
struct ScalarName {
    template <class S>
    static std::string GetName(int)
    {
        return is_complex<S> ? "complex" : "real";
    }
};

/// The numbers themselves, or real and imaginary parts in turns.
inline std::span<const double> parts_of(std::span<const double> x) { return x; }
inline std::span<const double> parts_of(std::span<const Complex> z)
{
    return {reinterpret_cast<const double*>(z.data()), 2 * z.size()};
}
template <class Numbers>
bool same_numbers(const Numbers& x, const Numbers& y)
{
    using S = std::remove_const_t<typename Numbers::value_type>;
    return identical(parts_of(std::span<const S>(x)), parts_of(std::span<const S>(y)));
}

template <class S>
std::vector<S> random_numbers(Index n, std::uint64_t seed)
{
    if constexpr (is_complex<S>) return random_complex_vector(n, seed);
    else return random_vector(n, seed);
}

/// The numbers turned by random angles where S is complex, with NaN and Inf as they are.
template <class S>
std::vector<S> turned_numbers(std::span<const double> x, std::uint64_t seed)
{
    Random         random(seed);
    std::vector<S> z;
    for (const double x_i : x) {
        if constexpr (is_complex<S>) z.push_back(std::polar(1., random.uniform(0, 6)) * x_i);
        else z.push_back(x_i);
    }
    return z;
}

/// A real system itself, or one of the same pattern whose values are turned, with pivots of its own.
template <class S>
SystemOf<S> system_of(DataflowSystem real)
{
    if constexpr (std::same_as<S, double>) return real;
    else {
        EntriesOf<S> A{real.A.n, real.A.ptr, real.A.col, turned_numbers<S>(real.A.val, 17)};
        auto         F = gilbert_peierls<S>(real.F.symbolic, A.val);
        return {std::move(real.name), std::move(A), std::move(F)};
    }
}
template <class S>
std::vector<SystemOf<S>> systems_of(std::vector<DataflowSystem> real)
{
    std::vector<SystemOf<S>> all;
    for (DataflowSystem& one : real) all.push_back(system_of<S>(std::move(one)));
    return all;
}

}  // namespace ilux::test
