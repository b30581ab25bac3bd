#include "ilux/base/gpu/row_measures.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <vector>

#include "ilux/base/gpu/device_csr.hpp"
#include "ilux/base/gpu/host_transfers.hpp"
#include "ilux/base/gpu/stream_order.hpp"
#include "ilux/base/matrix/row_sum.hpp"
#include "ilux/tests/support/checks.hpp"
#include "ilux/tests/support/real_form.hpp"

namespace ilux {
namespace {

using namespace ilux::test;

template <class S>
class GpuRowMeasures : public testing::Test {
protected:
    void SetUp() override { ILUX_SKIP_WITHOUT_GPU(); }
};
using Scalars = testing::Types<double, std::complex<double>>;
TYPED_TEST_SUITE(GpuRowMeasures, Scalars);

template <class S>
std::vector<S> random_values(std::size_t n, std::uint64_t seed)
{
    Random         random(seed);
    std::vector<S> v(n);
    for (S& one : v) {
        if constexpr (is_complex<S>) {
            const double re = random.uniform();
            one = {re, random.uniform()};
        } else one = random.uniform();
    }
    return v;
}

/// A and vectors on the device, measured there.
template <class S>
struct Measured {
    Measured(const CsrView<S>& A, const std::vector<S>& x, const std::vector<S>& b)
        : n(x.size()), matrix(gpu, A), x_(n), b_(n), r_(n), size_(n), row_size_(n)
    {
        upload<S>(gpu, x, x_);
        upload<S>(gpu, b, b_);
        found = measure_rows<S>(gpu, {A.rows(), matrix.row_ptr(), matrix.col(), std::as_const(matrix).val()}, x_, b_,
                                1e-12, rows());
    }
    RowVectors<S> rows() { return {r_, size_, row_size_}; }
    template <class T>
    std::vector<T> on_host(const DeviceBuffer<T>& v)
    {
        std::vector<T> host(v.size());
        download<T>(gpu, v, host);
        return host;
    }

    Gpu                  gpu;
    std::size_t          n;
    DeviceCsr<S>         matrix;
    DeviceBuffer<S>      x_, b_, r_;
    DeviceBuffer<double> size_, row_size_;
    RowMeasures          found;
};

/// Rows of 0 to `longest` entries, the longest one last.
template <class S>
CsrMatrix<S> rows_up_to(Index n, Index longest, std::uint64_t seed)
{
    Random              random(seed);
    std::vector<Offset> ptr{0};
    std::vector<Index>  col;
    for (Index i = 0; i < n; ++i) {
        const Index count = i + 1 == n ? std::min(n, longest) : random.below(std::min<Index>(n, 9));
        const Index step = count > 0 ? n / count : 1, first = random.below(std::max(1, step));
        for (Index k = 0; k < count; ++k) col.push_back(std::min(n - 1, first + k * step));
        ptr.push_back(static_cast<Offset>(col.size()));
    }
    auto val = random_values<S>(col.size(), seed + 1);
    return CsrMatrix<S>::from_arrays(n, n, std::move(ptr), std::move(col), std::move(val));
}

TYPED_TEST(GpuRowMeasures, HaveTheBitsOfTheHostsRowSums)
{
    using S = TypeParam;
    for (const Index n : {0, 1, 31, 32, 33, 257, 3000}) {
        const auto  A = rows_up_to<S>(n, 60, 3 + n);
        const auto  x = random_values<S>(n, 1), b = random_values<S>(n, 2);
        Measured<S> measured(A, x, b);
        const auto  r = measured.on_host(measured.r_);
        const auto  size = measured.on_host(measured.size_);
        double      rowwise = 0, largest = 0;
        EXPECT_TRUE(measured.found.regular);
        for (Index i = 0; i < n; ++i) {
            const auto first = static_cast<std::size_t>(A.row_ptr()[i]), count = A.row_ptr()[i + 1] - first;
            const auto row = row_sum<S>(A.col().subspan(first, count), A.val().subspan(first, count), x, b[i]);
            EXPECT_EQ(r[i], row.r) << i;
            EXPECT_NEAR(size[i], row.size, 4 * eps * row.size);
            rowwise = std::max(rowwise, row.error());
            largest = std::max(largest, std::abs(x[i]));
        }
        EXPECT_NEAR(measured.found.rowwise, rowwise, 8 * eps * rowwise);
        EXPECT_NEAR(measured.found.largest_x, largest, 2 * eps * largest);
    }
}

TYPED_TEST(GpuRowMeasures, LongRowsAreSummedInTwiceThePrecision)
{
    using S = TypeParam;
    for (const Index longest : {64, 65, 96, 4000}) {
        const Index    n = 4000;
        const auto     A = rows_up_to<S>(n, longest, 5);
        const auto     x = random_values<S>(n, 1);
        std::vector<S> b(n);
        for (Index i = 0; i < n; ++i)  // so that b − A x is the rounding of b alone
            for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p) b[i] += A.val()[p] * x[A.col()[p]];
        Measured<S> measured(A, x, b);
        const auto  r = measured.on_host(measured.r_);
        for (Index i = 0; i < n; ++i) {
            const auto first = static_cast<std::size_t>(A.row_ptr()[i]), count = A.row_ptr()[i + 1] - first;
            const auto row = row_sum<S>(A.col().subspan(first, count), A.val().subspan(first, count), x, b[i]);
            EXPECT_LE(std::abs(r[i] - row.r), 2 * eps * std::abs(row.r) + 1e-28 * row.size) << i;
        }
    }
}

TYPED_TEST(GpuRowMeasures, LeaveToTheHostWhatNeedsScaledSums)
{
    using S = TypeParam;
    const auto regular = [](S a, S x, S b) {
        const auto A = CsrMatrix<S>::from_arrays(2, 2, {0, 1, 1}, {0}, {a});
        return Measured<S>(A, {x, S(1)}, {b, S(0)}).found.regular;
    };
    EXPECT_TRUE(regular(1, 1, 1));
    EXPECT_TRUE(regular(0, 1, 0));  // an empty row
    EXPECT_TRUE(regular(1, 0, 0));
    EXPECT_FALSE(regular(1e-200, 1e-200, 0));
    EXPECT_FALSE(regular(1e200, 1e200, 1));
    EXPECT_FALSE(regular(1e-310, 1, 0));
    EXPECT_FALSE(regular(1, nan, 1));
    EXPECT_FALSE(regular(1, infinity, 1));
    EXPECT_FALSE(regular(1, 1, nan));
    const auto unused = CsrMatrix<S>::from_arrays(2, 2, {0, 1, 2}, {0, 0}, {S(1), S(1)});
    EXPECT_FALSE(Measured<S>(unused, {S(1), S(nan)}, {S(1), S(1)}).found.regular);  // no row reads it
}

TYPED_TEST(GpuRowMeasures, EquilibrateRowsByPowersOfTwo)
{
    using S = TypeParam;
    const auto      A = rows_up_to<S>(33, 9, 4);
    Measured<S>     measured(A, random_values<S>(33, 1), random_values<S>(33, 2));
    DeviceBuffer<S> D(33), inverse(33);
    equilibrate_rows<S>(measured.gpu, measured.rows(), 0, D, inverse);
    const auto d = measured.on_host(D), of_d = measured.on_host(inverse);
    const auto size = measured.on_host(measured.size_);
    for (Index i = 0; i < 33; ++i) {
        EXPECT_EQ(d[i] * of_d[i], S(1));
        EXPECT_GE(std::abs(d[i]) * size[i], 1);
        EXPECT_LT(std::abs(d[i]) * size[i], 2);
    }
}

TYPED_TEST(GpuRowMeasures, ErrorsNameTheFirstOfTheWorstUnknowns)
{
    using S = TypeParam;
    Gpu            gpu;
    const Index    n = 1000;
    std::vector<S> x(n, S(1)), e(n, S(0.001));
    x[7] = 1e-14;  // below 1e-12 of the largest: it does not count
    e[7] = 1e-13;
    e[500] = e[600] = 0.5;
    const auto measured = [&](double own = 0) {
        DeviceBuffer<S>      dx(n), de(n);
        DeviceBuffer<double> scale(n);
        upload<S>(gpu, x, dx);
        upload<S>(gpu, e, de);
        fill<double>(gpu, 1000, scale);
        return measure_errors<S>(gpu, dx, de, own > 0 ? scale : DeviceSpan<const double>(), own, 1e-12, 1e-2);
    };
    ErrorMeasures seen = measured();
    EXPECT_DOUBLE_EQ(seen.largest, 1.5);
    EXPECT_DOUBLE_EQ(seen.largest_error, 0.5);
    EXPECT_DOUBLE_EQ(measured(0.01).worst, 0.5 / 10);  // of 0.01 · 1000
    EXPECT_DOUBLE_EQ(seen.worst, 0.5 / 1.5);
    EXPECT_EQ(seen.worst_at, 500);
    EXPECT_EQ(seen.uncertain, 2);
    e[2] = nan;
    seen = measured();
    EXPECT_EQ(seen.largest_error, infinity);
    EXPECT_EQ(seen.worst, infinity);
    EXPECT_EQ(seen.worst_at, 2);
    e.assign(n, S(0));
    EXPECT_EQ(measured().worst_at, -1);
}

TEST(GpuStreams, RunOneAfterAnother)
{
    ILUX_SKIP_WITHOUT_GPU();
    Gpu                  first, second;
    const std::size_t    n = 1 << 20;
    DeviceBuffer<double> a(n), b(n);
    for (int k = 1; k <= 20; ++k) {
        for (int again = 0; again < 50; ++again) fill<double>(first, again == 49 ? k : -1, a);
        run_after(second, first);
        copy<double>(second, a, b);
        run_after(first, second);
        fill<double>(first, 0, a);
        std::vector<double> seen(n);
        download<double>(second, b, seen);
        EXPECT_EQ(std::count(seen.begin(), seen.end(), double(k)), static_cast<std::ptrdiff_t>(n));
    }
}

TEST(HostTransfers, CountsBytesEitherWay)
{
    ILUX_SKIP_WITHOUT_GPU();
    Gpu                  gpu;
    std::vector<double>  host(1000);
    DeviceBuffer<double> device(1000), other(1000);
    const HostTransfers  before = host_transfers();
    upload<double>(gpu, host, device);
    copy<double>(gpu, device, other);
    download<double>(gpu, DeviceSpan<const double>(other).first(10), std::span(host).first(10));
    const HostTransfers after = host_transfers();
    EXPECT_EQ(after.to_device - before.to_device, 8000u);
    EXPECT_EQ(after.to_host - before.to_host, 80u);
}

}  // namespace
}  // namespace ilux
