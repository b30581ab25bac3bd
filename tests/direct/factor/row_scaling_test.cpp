#include "ilux/direct/factor/row_scaling.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "ilux/direct/factor/gilbert_peierls.hpp"
#include "ilux/direct/solve/lu_solve.hpp"
#include "ilux/tests/direct/series.hpp"

namespace ilux::test {
namespace {

constexpr double least = std::numeric_limits<double>::denorm_min(), largest = std::numeric_limits<double>::max();

/// diag(values), its columns being its rows too.
struct Diagonal {
    explicit Diagonal(std::vector<double> values) : val(std::move(values)), n(static_cast<Index>(val.size()))
    {
        for (Index i = 0; i < n; ++i) ptr.push_back(i + 1), idx.push_back(i);
    }
    MatrixView<> view(MatrixLayout layout) const { return {n, ptr, idx, val, layout}; }

    std::vector<double> val;
    Index               n;
    std::vector<Offset> ptr{0};
    std::vector<Index>  idx;
};

std::vector<double> scales(const Diagonal& D, MatrixLayout layout = MatrixLayout::rows, std::vector<double> c = {})
{
    return power_of_two_row_scales(D.view(layout), c);
}

TEST(RowScaling, IsThePowerOfTwoNearestToTheReciprocal)
{
    for (const double value : {1.0, 1.4142135623730950, 1.4142135623730952, 2.0, 3.0, -0.3, 1e300, 1e-300, -7e-5})
        for (const auto layout : {MatrixLayout::rows, MatrixLayout::columns}) {
            const double r = scales(Diagonal({value}), layout)[0];
            int          exponent = 0;
            EXPECT_EQ(std::frexp(r, &exponent), 0.5) << value;
            EXPECT_LE(std::abs(std::log2(std::abs(value)) + std::log2(r)), 0.5 + 1e-12) << value;
        }
}

TEST(RowScaling, OfTheLargestAndTheSmallestEntriesGoesAsFarAsPowersOfTwoDo)
{
    // √2·2¹⁰²³ = 1.27e308 is where the nearest power, 2⁻¹⁰²⁴, is no normal number.
    EXPECT_EQ(scales(Diagonal({1.2e308, 1.5e308, 1.79e308, largest, -1.5e308, 0x1p1022, 0x1.8p1022, 0x1p1023})),
              (std::vector<double>{0x1p-1022, 0x1p-1022, 0x1p-1022, 0x1p-1022, 0x1p-1022, 0x1p-1022, 0x1p-1022,
                                   0x1p-1022}));
    EXPECT_EQ(scales(Diagonal({least, 0x1.8p-1023, 1e-310, 0x1p-1022, 0x1p-1021, 0})),
              (std::vector<double>{0x1p1022, 0x1p1022, 0x1p1022, 0x1p1022, 0x1p1021, 1}));
    // Products that overflow are as large as any.
    EXPECT_EQ(scales(Diagonal({1.5e308, 1e-310}), MatrixLayout::columns, {0x1p10, 0x1p10})[0], 0x1p-1022);
}

TEST(RowScaling, LetsTheLargestAndTheSmallestEntriesBeFactoredTogether)
{
    const Diagonal            D({1.5e308, 1.79e308, 1e-300, 1e-308, 1, 1.2e308});
    const std::vector<double> b{1.5e308, 1, 2e-300, 3e-308, 5, 1.2e300};
    const auto                factors = gilbert_peierls(analyse(D.view(MatrixLayout::rows)), D.val);
    ASSERT_LT(factors.monitor.bad_column, 0);
    Cpu                 cpu(1);
    LuWorkspace<>       ws(D.n);
    std::vector<double> x(b.size());
    lu_solve(cpu, factors, b, x, ws);
    for (std::size_t i = 0; i < b.size(); ++i)  // x₂ = 1 / 1.79e308 is denormal
        EXPECT_NEAR(x[i], b[i] / D.val[i], std::max(2 * eps * std::abs(b[i] / D.val[i]), least)) << i;
}

}  // namespace
}  // namespace ilux::test
