#include "ilux/base/cpu.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "ilux/tests/support/checks.hpp"

namespace ilux::test {
namespace {

// Short, about the length where threads and chunks begin, and past 128 chunks of it.
const std::vector<Index> lengths{0, 1, 2, 31, 32, 33, 4095, 4096, 4097, 16383, 16384, 16385, 600'001};

long double exact_dot(std::span<const double> x, std::span<const double> y)
{
    long double sum = 0;
    for (std::size_t i = 0; i < x.size(); ++i) sum += static_cast<long double>(x[i]) * y[i];
    return sum;
}

TEST(Cpu, CountsItsThreads)
{
    EXPECT_EQ(Cpu(3).threads(), 3);
    EXPECT_GE(Cpu().threads(), 1);
    EXPECT_GE(Cpu(-1).threads(), 1);
}

TEST(Reductions, AgreeWithLongDoubleSums)
{
    Cpu be(2);
    for (Index n : lengths) {
        const auto x = random_vector(n, 1), y = random_vector(n, 2);
        EXPECT_NEAR(dot(be, x, y), static_cast<double>(exact_dot(x, y)), eps * (n + 1)) << "n = " << n;
        EXPECT_NEAR(norm2(be, x), static_cast<double>(std::sqrt(exact_dot(x, x))), 10 * eps * std::sqrt(n + 1))
            << "n = " << n;
    }
}

TEST(Reductions, GiveTheSameBitsForAnyNumberOfThreads)
{
    for (Index n : lengths) {
        const auto x = random_vector(n, 1), y = random_vector(n, 2), block = random_vector(3 * n, 3);
        auto       huge = x;
        for (double& value : huge) value *= 1e200;
        Cpu                 one(1);
        std::vector<double> expected_h(3);
        const double        expected[] = {dot(one, x, y), norm2(one, x), norm2(one, huge)};
        multi_dot(one, block, x, expected_h);
        for (int threads : {2, 3, 8}) {
            Cpu                 be(threads);
            std::vector<double> h(3);
            const double        found[] = {dot(be, x, y), norm2(be, x), norm2(be, huge)};
            multi_dot(be, block, x, h);
            EXPECT_TRUE(identical(found, expected)) << "n = " << n << ", " << threads << " threads";
            EXPECT_TRUE(identical(h, expected_h)) << "n = " << n << ", " << threads << " threads";
        }
    }
}

TEST(Norm2, NeitherOverflowsNorUnderflows)
{
    Cpu be(1);
    for (double scale : {1., 1e200, 1e-200, 1e300, 1e-300, 1e-310})
        EXPECT_NEAR(norm2(be, std::vector<double>{3 * scale, 0, -4 * scale}) / scale, 5, 1e-13) << scale;
    EXPECT_EQ(norm2(be, std::vector<double>{5e-324}), 5e-324);
    EXPECT_EQ(norm2(be, std::vector<double>{1e200, 1e-200}), 1e200);
    EXPECT_EQ(norm2(be, std::vector<double>(40'000, 1e200)), 200 * 1e200);
    EXPECT_EQ(norm2(be, std::vector<double>{}), 0);
    EXPECT_EQ(norm2(be, std::vector<double>{0, -0.}), 0);
}

TEST(Norm2, PassesOnNanAndInf)
{
    Cpu be(1);
    EXPECT_TRUE(std::isnan(norm2(be, std::vector<double>{1, nan, 2})));
    EXPECT_TRUE(std::isnan(norm2(be, std::vector<double>{nan, 1e200})));
    EXPECT_TRUE(std::isnan(norm2(be, std::vector<double>{0, nan})));  // not 0, which would be a perfect residual
    EXPECT_TRUE(std::isnan(norm2(be, std::vector<double>{infinity, nan})));
    EXPECT_EQ(norm2(be, std::vector<double>{1, -infinity}), infinity);
}

TEST(IsFinite, SeesOneNanOrInfAnywhere)
{
    for (Index n : {1, 31, 32, 33, 4097, 50'000})
        for (int threads : {1, 3})
            for (Index at : {Index{0}, n / 2, n - 1})
                for (double bad : {nan, -nan, infinity, -infinity}) {
                    Cpu  be(threads);
                    auto x = random_vector(n, 1);
                    EXPECT_TRUE(is_finite(be, x));
                    x[at] = bad;
                    EXPECT_FALSE(is_finite(be, x)) << bad << " at " << at << " of " << n;
                }
    Cpu be(1);
    EXPECT_TRUE(is_finite(be, std::vector<double>{}));
    EXPECT_TRUE(is_finite(be, std::vector<double>{std::numeric_limits<double>::max(), 5e-324}));
}

TEST(VectorUpdates, AreElementwiseForEveryLengthAndThreadCount)
{
    for (Index n : lengths)
        for (int threads : {1, 2, 3}) {
            Cpu                 be(threads);
            const auto          x = random_vector(n, 1), y0 = random_vector(n, 2);
            std::vector<double> y = y0, z(n), w(n, nan), u = y0, s = y0, v(n);
            axpy(be, 0.5, x, y);
            copy(be, x, z);
            fill(be, 7, w);
            axpby(be, 2, x, -0.25, u);
            scale(be, -3, s);
            multiply(be, x, y0, v);
            double wrong = 0;  // powers of two times values: each result is one rounding, whatever the compiler fuses
            for (Index i = 0; i < n; ++i)
                wrong += (y[i] != 0.5 * x[i] + y0[i]) + (z[i] != x[i]) + (w[i] != 7) +
                         (u[i] != 2 * x[i] + -0.25 * y0[i]) + (s[i] != -3 * y0[i]) + (v[i] != x[i] * y0[i]);
            EXPECT_EQ(wrong, 0) << "n = " << n << ", " << threads << " threads";
        }
}

TEST(MultiDotAndMultiAxpy, AreTheSingleOperationsInOrder)
{
    for (Index n : {0, 1, 33, 2047, 2048, 2049, 20'000})
        for (int vectors : {0, 1, 5})
            for (int threads : {1, 3}) {
                Cpu        be(threads);
                const auto block = random_vector(n * vectors, 1), w = random_vector(n, 2),
                           c = random_vector(vectors, 3);
                std::vector<double> h(vectors, nan), y = w, expected = w;
                multi_dot(be, block, w, h);
                multi_axpy(be, c, block, y);
                for (int k = 0; k < vectors; ++k) {
                    const std::span<const double> v(block.data() + static_cast<std::size_t>(k) * n, n);
                    EXPECT_NEAR(h[k], static_cast<double>(exact_dot(v, w)), eps * (n + 1));
                    axpy(be, c[k], v, expected);
                }
                EXPECT_TRUE(identical(y, expected)) << "n = " << n << ", " << vectors << " vectors";
            }
}

TEST(Primitives, AllocateNothing)
{
    const Index         n = 40'000;
    const auto          x = random_vector(n, 1), block = random_vector(4 * n, 2), c = random_vector(4, 3);
    std::vector<double> y = x, h(4);
    Cpu                 be(2);
    axpy(be, 1, x, y);  // OpenMP makes its threads here
    const AllocationCounter counter;
    dot(be, x, y), norm2(be, x), is_finite(be, x);
    copy(be, x, y), fill(be, 1, y), scale(be, 2, y), axpy(be, 1, x, y), axpby(be, 1, x, 2, y);
    multi_dot(be, block, x, h), multi_axpy(be, c, block, y);
    EXPECT_EQ(counter.count(), 0);
}

TEST(Dot, IsSymmetricAndHomogeneous)
{
    EXPECT_TRUE(rc::check("(x, y) = (y, x), (2x, y) = 2 (x, y)", [] {
        const auto n = *rc::gen::inRange<Index>(0, 20'000);
        const auto x = random_vector(n, *rc::gen::arbitrary<std::uint64_t>()), y = random_vector(n, 2);
        Cpu        be(*rc::gen::inRange(1, 4));
        auto       twice = x;
        scale(be, 2, twice);
        RC_ASSERT(dot(be, x, y) == dot(be, y, x));
        RC_ASSERT(dot(be, twice, y) == 2 * dot(be, x, y));
    }));
}

}  // namespace
}  // namespace ilux::test
