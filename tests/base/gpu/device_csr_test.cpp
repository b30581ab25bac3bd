#include "ilux/base/gpu/device_csr.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <vector>

#include "ilux/base/cpu.hpp"
#include "ilux/base/error.hpp"
#include "ilux/tests/support/checks.hpp"
#include "ilux/tests/support/gpu_test.hpp"

namespace ilux {
namespace {

using test::eps;
using Vector = std::vector<double>;
using test::nan;

std::vector<Offset> row_ptr_of(const std::vector<Offset>& lengths)
{
    std::vector<Offset> row_ptr{0};
    for (Offset length : lengths) row_ptr.push_back(row_ptr.back() + length);
    return row_ptr;
}

/// Every entry belongs to exactly one of: the lanes of its row, or one segment; every slot to exactly one split row.
void expect_to_cover_all(const detail::RowPlan& plan, const std::vector<Offset>& row_ptr)
{
    std::vector<int> visits(row_ptr.back()), written(detail::max_row_slots), read(detail::max_row_slots);
    const auto       rows = static_cast<Index>(row_ptr.size()) - 1;
    for (Index i = 0; i < rows; ++i)
        if (row_ptr[i + 1] - row_ptr[i] <= plan.longest)
            for (Offset p = row_ptr[i]; p < row_ptr[i + 1]; ++p) ++visits[p];
    for (const auto& segment : plan.segments) {
        ASSERT_LT(segment.begin, segment.end);
        ASSERT_GE(segment.begin, row_ptr[segment.row]);
        ASSERT_LE(segment.end, row_ptr[segment.row + 1]);
        for (Offset p = segment.begin; p < segment.end; ++p) ++visits[p];
        if (segment.slot >= 0) ++written.at(segment.slot);
        else EXPECT_EQ(segment.end - segment.begin, row_ptr[segment.row + 1] - row_ptr[segment.row]);
    }
    for (const auto& row : plan.split) {
        for (int slot = row.first; slot < row.last; ++slot) ++read.at(slot);
        for (const auto& segment : plan.segments)
            EXPECT_EQ(segment.row == row.row, segment.slot >= row.first && segment.slot < row.last);
    }
    EXPECT_EQ(visits, std::vector<int>(visits.size(), 1));
    EXPECT_EQ(written, read);
    for (int count : written) EXPECT_LE(count, 1);
}

TEST(RowPlan, SharesEveryEntryExactlyOnce)
{
    test::Random random(3);
    for (int lanes : {0, 1, 4, 32})
        for (Offset longest : {0, 3, 40, 1000, 5000, 20'000}) {
            std::vector<Offset> lengths(50);
            for (Offset& length : lengths)
                length = random.below(4) == 0 ? random.below(static_cast<Index>(longest) + 1) : random.below(5);
            lengths.push_back(longest);
            const auto row_ptr = row_ptr_of(lengths);
            expect_to_cover_all(detail::plan_rows(row_ptr, lanes), row_ptr);
        }
    expect_to_cover_all(detail::plan_rows(row_ptr_of({})), row_ptr_of({}));
}

TEST(RowPlan, NeedsNoMoreSlotsThanThereAre)
{
    // 40,000 rows just long enough to be split at the shortest segment length, were that not raised.
    const auto plan = detail::plan_rows(row_ptr_of(std::vector<Offset>(40'000, 4097)), 1);
    int        slots = 0;
    for (const auto& segment : plan.segments) slots += segment.slot >= 0;
    EXPECT_LE(slots, detail::max_row_slots);
    EXPECT_EQ(plan.segments.size(), 40'000u);
}

TEST(RowPlan, ChoosesLanesFromTheMeanLengthOfRows)
{
    const auto lanes = [](Offset length) {
        return detail::plan_rows(row_ptr_of(std::vector<Offset>(10, length))).lanes;
    };
    EXPECT_EQ(lanes(0), 1);
    EXPECT_EQ(lanes(2), 1);
    EXPECT_EQ(lanes(3), 2);
    EXPECT_EQ(lanes(7), 4);
    EXPECT_EQ(lanes(27), 16);
    EXPECT_EQ(lanes(1000), 32);
    for (int bad : {-1, 3, 64}) EXPECT_THROW(detail::plan_rows(row_ptr_of({1}), bad), InvalidOption);
}

/// Rows of all kinds: empty, short, long, and a hub of `hub` entries.
CsrMatrix<double> mixed_rows(Index rows, Index cols, Index hub, std::uint64_t seed)
{
    test::Random       random(seed);
    std::vector<Index> row, col;
    Vector             val;
    const auto         fill_row = [&](Index i, Index length) {
        for (Index k = 0; k < length && cols > 0; ++k) {
            row.push_back(i);
            col.push_back(random.below(cols));
            val.push_back(random.uniform());
        }
    };
    for (Index i = 0; i < rows; ++i) fill_row(i, i % 5 == 0 ? 0 : i % 17 == 0 ? 150 : i % 7);
    if (rows > 2) fill_row(rows / 2, hub);
    return CsrMatrix<double>::from_triplets(rows, cols, row, col, val);
}

class GpuSpmv : public test::GpuTest {
protected:
    DeviceBuffer<double> on_device(const Vector& host)
    {
        DeviceBuffer<double> device(host.size());
        upload<double>(gpu(), host, device);
        return device;
    }
    template <class T>
    Vector product(double a, const DeviceCsr<T>& A, const Vector& x, double b, const Vector& y)
    {
        auto   dx = on_device(x), dy = on_device(y);
        Vector result(y.size());
        spmv<T>(gpu(), a, A, dx, b, dy);
        download<double>(gpu(), dy, result);
        return result;
    }
};

/// |result − (a A x + b y)| against c·ε·Σ|terms| of each row, in long double.
void expect_product(const CsrMatrix<double>& A, double a, const Vector& x, double b, const Vector& y,
                    const Vector& result)
{
    for (Index i = 0; i < A.rows(); ++i) {
        long double  sum = b == 0 ? 0 : static_cast<long double>(b) * y[i], size = std::abs(sum);
        const Offset length = A.row_ptr()[i + 1] - A.row_ptr()[i];
        for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p) {
            const long double term = static_cast<long double>(a) * A.val()[p] * x[A.col()[p]];
            sum += term;
            size += std::abs(term);
        }
        ASSERT_NEAR(result[i], static_cast<double>(sum), static_cast<double>(size) * eps * (length + 4)) << "row " << i;
    }
}

TEST_F(GpuSpmv, MultipliesAsWrittenForEveryNumberOfLanes)
{
    for (int lanes : {0, 1, 2, 4, 8, 16, 32})
        for (Index n : {0, 1, 31, 32, 33, 1000})
            for (Index hub : {0, 3000, 30'000}) {
                const Index     cols = 40'000;  // the hub's columns are mostly different
                const auto      A = mixed_rows(n, cols, hub, n);
                const auto      x = test::random_vector(cols, 1), y = test::random_vector(n, 2);
                const DeviceCsr dA(gpu(), A, lanes);
                SCOPED_TRACE(testing::Message() << "lanes " << lanes << ", n " << n << ", hub " << hub);
                expect_product(A, 1, x, 0, y, product(1, dA, x, 0, y));
                expect_product(A, -0.7, x, 1.3, y, product(-0.7, dA, x, 1.3, y));
            }
}

TEST_F(GpuSpmv, TakesArraysThatAreOnTheDevice)
{
    const auto           A = test::random_dominant(500, 5, 3);
    DeviceBuffer<Offset> row_ptr(A.row_ptr().size());
    DeviceBuffer<Index>  col(A.col().size());
    DeviceBuffer<double> val(A.val().size());
    upload<Offset>(gpu(), A.row_ptr(), row_ptr);
    upload<Index>(gpu(), A.col(), col);
    upload<double>(gpu(), A.val(), val);
    const DeviceCsr<double> from_device(gpu(), A.rows(), A.cols(), row_ptr, col, val), from_host(gpu(), A);
    const Vector            x = test::random_vector(A.cols(), 1);
    DeviceBuffer<double>    dx(x.size()), first(x.size()), second(x.size());
    upload<double>(gpu(), x, dx);
    spmv(gpu(), 1, from_device, dx, 0, first);
    spmv(gpu(), 1, from_host, dx, 0, second);
    Vector a(x.size()), b(x.size());
    download<double>(gpu(), first, a);
    download<double>(gpu(), second, b);
    EXPECT_TRUE(test::identical(a, b));

    const auto refuses = [&](Index rows, Index cols, std::size_t entries, const std::string& why) {
        const auto some = DeviceSpan<const double>(val).first(entries);
        try {
            (void)DeviceCsr<double>(gpu(), rows, cols, row_ptr, col, some);
            FAIL() << why;
        } catch (const InvalidInput& error) {
            EXPECT_NE(std::string(error.what()).find(why), std::string::npos) << error.what();
        }
    };
    refuses(A.rows() + 1, A.cols(), val.size(), "row pointers do not ascend");
    refuses(A.rows(), A.cols(), val.size() - 1, "columns and");
    refuses(A.rows(), A.cols() - 1, val.size(), "do not ascend within 0 to 498");
    std::vector<Index> cols(A.col().begin(), A.col().end());
    std::swap(cols[A.row_ptr()[7]], cols[A.row_ptr()[7] + 1]);
    upload<Index>(gpu(), cols, col);
    refuses(A.rows(), A.cols(), val.size(), "the columns of row 7 ");
    std::vector<Offset> rows(A.row_ptr().begin(), A.row_ptr().end());
    std::swap(rows[3], rows[4]);
    upload<Offset>(gpu(), rows, row_ptr);
    refuses(A.rows(), A.cols(), val.size(), "row pointers do not ascend");
}

TEST_F(GpuSpmv, OverwritesWhateverYHeldWhenBIsZero)
{
    const auto      A = mixed_rows(100, 100, 9000, 3);
    const DeviceCsr dA(gpu(), A);
    const auto      x = test::random_vector(100, 1);
    EXPECT_TRUE(test::identical(product(1, dA, x, 0, Vector(100, nan)), product(1, dA, x, 0, Vector(100))));
}

TEST_F(GpuSpmv, SpreadsANaNToTheRowsThatUseItAndNoOther)
{
    const auto      A = mixed_rows(200, 200, 50, 3);
    const DeviceCsr dA(gpu(), A);
    auto            x = test::random_vector(200, 1);
    x[17] = nan;
    const auto y = product(1, dA, x, 0, Vector(200));
    for (Index i = 0; i < 200; ++i) {
        bool uses = false;
        for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p) uses |= A.col()[p] == 17;
        EXPECT_EQ(std::isnan(y[i]), uses) << "row " << i;
    }
}

TEST_F(GpuSpmv, AddsSinglePrecisionValuesInDouble)
{
    std::vector<Index> row, col;
    std::vector<float> val;
    Vector             wide;
    test::Random       random(3);
    for (Index i = 0; i < 300; ++i)
        for (Index k = 0; k < 6; ++k) {
            row.push_back(i);
            col.push_back((i + 31 * k) % 300);
            val.push_back(static_cast<float>(random.uniform()));
            wide.push_back(val.back());
        }
    const auto single = CsrMatrix<float>::from_triplets(300, 300, row, col, val);
    const auto A = CsrMatrix<double>::from_triplets(300, 300, row, col, wide);
    const auto x = test::random_vector(300, 1), y = test::random_vector(300, 2);
    expect_product(A, 2, x, 1, y, product(2, DeviceCsr<float>(gpu(), single), x, 1, y));
}

TEST_F(GpuSpmv, RepeatsBitForBit)
{
    const auto      A = mixed_rows(20'000, 20'000, 40'000, 3);
    const DeviceCsr dA(gpu(), A);
    const auto      x = test::random_vector(20'000, 1), y = test::random_vector(20'000, 2);
    const auto      first = product(0.3, dA, x, -2, y);
    for (int run = 0; run < 100; ++run)
        ASSERT_TRUE(test::identical(product(0.3, dA, x, -2, y), first)) << "run " << run;
}

TEST_F(GpuSpmv, ServesSeveralStreamsAtOnceWithOneMatrix)
{
    const auto               A = mixed_rows(5000, 5000, 20'000, 3);
    const GpuMatrixOperator  op(gpu(), A, true);
    const auto               x = test::random_vector(5000, 1);
    const auto               expected = product(1, op.matrix(), x, 0, Vector(5000));
    std::vector<std::thread> threads;
    std::vector<int>         wrong(4);
    for (int& count : wrong)
        threads.emplace_back([&] {
            Gpu                  mine;
            DeviceBuffer<double> dx(5000), dy(5000);
            Vector               y(5000);
            upload<double>(mine, x, dx);
            for (int run = 0; run < 50; ++run) {
                op.apply(mine, dx, dy);
                download<double>(mine, dy, y);
                count += !test::identical(y, expected);
            }
        });
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(wrong, std::vector<int>(4));
}

TEST_F(GpuSpmv, OperatorAppliesTheTransposeItWasMadeWith)
{
    const auto              A = test::random_matrix(70, 70, 5, 3);
    const auto              x = test::random_vector(70, 1);
    auto                    dx = on_device(x);
    DeviceBuffer<double>    dy(70);
    Vector                  y(70);
    const GpuMatrixOperator with(gpu(), A, true), without(gpu(), A);
    with.apply_adjoint(gpu(), dx, dy);
    download<double>(gpu(), dy, y);
    expect_product(transpose(A), 1, x, 0, y, y);
    EXPECT_EQ(with.size(), 70);
    EXPECT_GT(with.bytes(), without.bytes());
    EXPECT_THROW(without.apply_adjoint(gpu(), dx, dy), InvalidInput);
    EXPECT_THROW(GpuMatrixOperator(gpu(), test::random_matrix(3, 4, 2, 1)), InvalidInput);
}

TEST_F(GpuSpmv, TakesNewValuesForTheSamePattern)
{
    auto       A = test::random_matrix(50, 50, 4, 3);
    const auto x = test::random_vector(50, 1);
    DeviceCsr  dA(gpu(), A);
    EXPECT_EQ(dA.nnz(), A.nnz());
    EXPECT_GE(dA.bytes(), static_cast<std::size_t>(A.nnz()) * 12 + 51 * 8);
    for (double& value : A.val()) value *= -3;
    dA.upload_values(gpu(), A.val());
    expect_product(A, 1, x, 0, x, product(1, dA, x, 0, Vector(50)));
    EXPECT_THROW(dA.upload_values(gpu(), A.val().first(3)), InvalidInput);
}

}  // namespace
}  // namespace ilux
