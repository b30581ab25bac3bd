#include "ilux/base/unset_vector.hpp"

#include <gtest/gtest.h>

#include <complex>
#include <cstdint>

namespace ilux {
namespace {

template <class Vector>
void expect_a_vector()
{
    using T = typename Vector::value_type;
    constexpr std::size_t large = detail::large_bytes / sizeof(T);
    for (const std::size_t n : {std::size_t{0}, std::size_t{1}, std::size_t{33}, large - 1, large, large + 1}) {
        Vector v(n, T(3));
        for (const T& x : v) ASSERT_EQ(x, T(3));
        v.resize(n + 5);  // what was there stays
        for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(v[i], T(3));
        const Vector copy = v;
        EXPECT_EQ(copy.size(), n + 5);
        v.push_back(T(4));
        EXPECT_EQ(v.back(), T(4));
    }
}

TEST(UnsetVector, KeepsWhatItIsGivenAtEverySize)
{
    expect_a_vector<UnsetVector<double>>();
    expect_a_vector<UnsetVector<std::complex<double>, Pages::usual>>();
    expect_a_vector<UnsetVector<std::uint8_t>>();
}

TEST(UnsetVector, OfMoreThanCanBeCountedThrows)
{
    UnsetVector<double> v;
    EXPECT_THROW(v.resize(v.max_size() + 1), std::length_error);
    EXPECT_TRUE(v.empty());
}

TEST(UnsetVector, LeavesMemoryAsItWas)
{
    UnsetVector<std::complex<double>> v(8, {1, 2});
    v.resize(0);
    v.resize(8);  // the same memory, which nothing has set
    EXPECT_EQ(v[7], (std::complex<double>{1, 2}));
}

}  // namespace
}  // namespace ilux
