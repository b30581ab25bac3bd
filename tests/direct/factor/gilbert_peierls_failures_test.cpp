#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ilux/tests/direct/factor_checks.hpp"
#include "ilux/tests/support/stop_at.hpp"

namespace ilux::test {
namespace {

/// Row 0, column 0 and the diagonal: a pattern that fills completely.
CsrMatrix<double> upward_arrow(Index n)
{
    Dense A = square(n, std::vector<double>(static_cast<std::size_t>(n) * n));
    for (Index i = 0; i < n; ++i) {
        A(0, i) = A(i, 0) = 1;
        A(i, i) = 2 * n;
    }
    return to_csr(A);
}

void expect_failure(const LuFactors<>& F, Index column, bool not_finite)
{
    EXPECT_EQ(F.monitor.bad_column, column);
    EXPECT_EQ(F.monitor.not_finite, not_finite);
    EXPECT_TRUE(F.val.empty());
    EXPECT_EQ(F.pattern->nnz(), 0);
    EXPECT_NO_THROW(inverse_permutation(F.pattern->row_perm));
    EXPECT_EQ(std::ssize(F.pattern->row_perm), F.pattern->n);
    EXPECT_EQ(F.pattern->col_perm, F.symbolic->col_perm);
}

TEST(GilbertPeierlsFailures, SingularMatricesNameTheColumnWithoutAPivot)
{
    expect_failure(factor(square(1, {0})), 0, false);
    expect_failure(factor(Entries{1, {0, 1}, {0}, {0.}}), 0, false);
    expect_failure(factor(square(3, {1, 0, 1, 0, 0, 1, 1, 0, 1})), 1, false);  // empty column
    expect_failure(factor(square(3, {1, 1, 1, 0, 0, 0, 1, 2, 1})), 2, false);  // empty row
    expect_failure(factor(square(3, {1, 0, 0, 1, 0, 0, 1, 1, 1})), 2, false);  // two columns share one row
    expect_failure(factor(square(3, {1, 2, 3, 4, 5, 6, 5, 7, 9})), 2, false);  // exactly singular
    expect_failure(factor(square(2, {1, 1, 1, 1}), {.col_perm = {1, 0}}), 1, false);
    expect_failure(factor(square(2, {1, 5, 0, 0}), {.block_ptr = {0, 1, 2}}), 1, false);  // F holds no pivot
}

TEST(GilbertPeierlsFailures, OverflowIsNotFiniteAndNamesItsColumn)
{
    constexpr double huge = 1e308;
    expect_failure(factor(square(2, {1e-10, huge, 1e-10, -huge})), 1, true);
    expect_failure(factor(square(3, {1, 0, huge, 10, 1, 0, 0, 0, 1})), 2, true);  // Inf in U only after x = −10 · 10³⁰⁸
    expect_failure(factor(square(2, {1e-300, 0, 1e10, 1}), {.options = with_tolerance(0)}), 0, true);  // l overflows
    const Entries sum{1, {0, 2}, {0, 0}, {huge, huge}};
    expect_failure(factor(sum), 0, true);  // duplicates overflow
}

TEST(GilbertPeierlsFailures, NanAndInfinityAreRefusedByRowAndColumn)
{
    const auto A = entries_of(upward_arrow(8));
    const auto s = analysed(A);
    for (const auto& [bad, word] : {std::pair{nan, "nan"}, {infinity, "inf"}, {-infinity, "-inf"}}) {
        auto values = A.val;
        values[A.ptr[5] + 1] = bad;  // (5, 5)
        expect_refusal([&] { (void)gilbert_peierls(s, values); }, {"row 5", "column 5", word});
    }
    auto columns = std::make_shared<LuSymbolic>(*s);
    columns->layout = MatrixLayout::columns;
    auto values = A.val;
    values[7] = nan;  // (0, 7) by rows
    expect_refusal([&] { (void)gilbert_peierls(s, values); }, {"row 0", "column 7"});
    expect_refusal([&] { (void)gilbert_peierls(columns, values); }, {"row 7", "column 0"});
    values.pop_back();
    expect_refusal([&] { (void)gilbert_peierls(s, values); }, {"21", "22"});
}

TEST(GilbertPeierlsFailures, MemoryLimitIsKeptOrItsBytesAreNamed)
{
    const auto A = upward_arrow(200);
    const auto free = factor(A);
    const auto needed = free.pattern->nnz() * 12;
    ASSERT_GT(needed, 200 * 200 * 12 - 1);

    HandAnalysis by;
    by.options.memory_limit.value = static_cast<std::uint64_t>(needed) / 2;
    expect_refusal<OutOfMemory>([&] { (void)factor(A, by); },
                                {std::to_string(by.options.memory_limit.value), "200 unknowns", "column"});
    by.options.memory_limit.value = 1;
    expect_refusal<OutOfMemory>([&] { (void)factor(A, by); }, {"memory_limit is 1"});

    by.options.memory_limit.value = needed + 100'000;  // pattern beside L + U: about 30 kB
    const auto F = factor(A, by);
    EXPECT_LE(F.bytes() + F.pattern->bytes(), by.options.memory_limit.value);
    EXPECT_EQ(F.val, free.val);
}

TEST(GilbertPeierlsFailures, StopsBetweenColumnsOnceItIsTold)
{
    const Index n = 200;  // 40000 entries
    const auto  A = upward_arrow(n);
    const auto  s = analysed(A);
    const auto  told_at = [&](int question, std::atomic<int>& asked) {
        return gilbert_peierls(s, A.val(), test::stop_at(question, asked));
    };
    std::atomic<int> asked;
    const auto       whole = told_at(0, asked);
    EXPECT_GE(asked, 3);
    EXPECT_LE(asked, n / 10);
    EXPECT_EQ(whole.monitor.bad_column, -1);
    EXPECT_EQ(whole.monitor.stopped, StopReason::none);
    EXPECT_EQ(whole.val, factor(A).val);

    Index reached = -1;
    for (int question = 1; question <= 3; ++question) {
        const auto  F = told_at(question, asked);
        const Index column = F.monitor.bad_column;
        EXPECT_EQ(asked, question);
        EXPECT_EQ(F.monitor.stopped, StopReason::cancelled);
        EXPECT_GT(column, reached);
        EXPECT_LT(column, n);
        expect_failure(F, column, false);
        EXPECT_EQ(column == 0, question == 1);
        reached = column;
    }
}

TEST(GilbertPeierlsFailures, EveryFailedAllocationIsReported)
{
    const auto A = entries_of(upward_arrow(40));
    const auto s = analysed(A, {.block_ptr = {0, 40}});
    EXPECT_GT(fail_each_allocation([&] { (void)gilbert_peierls(s, A.val); }), 5);
}

}  // namespace
}  // namespace ilux::test
