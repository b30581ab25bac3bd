// Vectors that A takes to 0, or to little, as a C program names them. The oracle: x without a part in them is one
// alone.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>

#include "ilux/tests/c_api/c_system.hpp"

namespace ilux {
namespace {

using namespace ilux::test;

template <class S>
class CNullSpace : public testing::Test {};
using Values = testing::Types<double, std::complex<double>>;
TYPED_TEST_SUITE(CNullSpace, Values);

/// A line of points, each tied to its neighbours by `conductance`: rows and columns sum to 0.
template <class S>
CSystem<S> floating_line(std::int64_t n, S conductance)
{
    CSystem<S> A;
    A.n = n;
    for (std::int64_t i = 0; i < n; ++i) {
        for (const std::int64_t j : {i - 1, i, i + 1}) {
            if (j < 0 || j >= n) continue;
            A.col.push_back(static_cast<std::int32_t>(j));
            A.val.push_back(j != i ? -conductance : conductance * double(i == 0 || i == n - 1 ? 1 : 2));
        }
        A.ptr.push_back(static_cast<std::int64_t>(A.col.size()));
    }
    return A;
}

/// x of mean 0 and b = A x.
template <class S>
std::pair<std::vector<S>, std::vector<S>> balanced_system(const CSystem<S>& A)
{
    std::vector<S> x = right_hand_side<S>(A.n), b(x.size());
    const S        mean = std::accumulate(x.begin(), x.end(), S(0)) / double(A.n);
    for (S& one : x) one -= mean;
    for (std::int64_t i = 0; i < A.n; ++i)
        for (std::int64_t p = A.ptr[i]; p < A.ptr[i + 1]; ++p) b[i] += A.val[p] * x[A.col[p]];
    return {x, b};
}

TYPED_TEST(CNullSpace, OfVectorsIsKeptClearOf)
{
    using S = TypeParam;
    S conductance = 2;
    if constexpr (!std::is_same_v<S, double>) conductance = {2, 1};
    auto A = floating_line<S>(200, conductance);
    auto [want, b] = balanced_system(A);
    for (S& one : b) one += S(0.5);  // no part of A x
    const std::vector<S> ones(b.size(), S(3));
    const auto           solver = c_solver(values_of<S>);
    ASSERT_EQ(ilux_set_null_space(solver.get(), A.n, 1, ones.data()), ILUX_OK) << ilux_message(solver.get());
    const ilux_csr csr = A.csr();
    ASSERT_EQ(ilux_analyse(solver.get(), &csr, 1, 1), ILUX_OK) << ilux_message(solver.get());
    ASSERT_EQ(ilux_factor(solver.get(), nullptr), ILUX_OK) << ilux_message(solver.get());
    std::vector<S> x(b.size());
    ASSERT_EQ(ilux_solve(solver.get(), ILUX_PLAIN, 1, b.data(), A.n, x.data(), A.n), ILUX_OK)
        << ilux_message(solver.get());
    for (std::size_t i = 0; i < x.size(); ++i) EXPECT_LE(std::abs(x[i] - want[i]), 1e-5);
    std::vector<S> z(b.size());
    ASSERT_EQ(ilux_precondition(solver.get(), ILUX_PLAIN, 1, b.data(), A.n, z.data(), A.n), ILUX_OK);
    EXPECT_LE(std::abs(std::accumulate(z.begin(), z.end(), S(0))), 1e-9);

    ASSERT_EQ(ilux_set_null_space(solver.get(), 0, 0, nullptr), ILUX_OK);
    ASSERT_EQ(ilux_analyse(solver.get(), &csr, 1, 1), ILUX_OK);
    (void)ilux_factor(solver.get(), nullptr);
    EXPECT_NE(ilux_solve(solver.get(), ILUX_PLAIN, 1, b.data(), A.n, x.data(), A.n), ILUX_OK);  // b has none
}

TEST(CNullSpaceRefusals, SayWhatIsWrong)
{
    auto                      A = floating_line<double>(20, 1.0);
    const ilux_csr            csr = A.csr();
    const auto                solver = c_solver(ILUX_REAL);
    ilux_solver* const        s = solver.get();
    const std::vector<double> ones(21, 1.0), b(20);
    EXPECT_EQ(ilux_set_null_space(s, 20, -1, ones.data()), ILUX_BAD_INPUT);
    EXPECT_EQ(ilux_set_null_space(s, -1, 1, ones.data()), ILUX_BAD_INPUT);
    EXPECT_EQ(ilux_set_null_space(s, 20, 21, ones.data()), ILUX_BAD_INPUT);
    EXPECT_EQ(ilux_set_null_space(s, 20, 1, nullptr), ILUX_BAD_INPUT);
    EXPECT_EQ(ilux_set_null_space(s, INT64_MAX, 1, ones.data()), ILUX_BAD_INPUT);

    const auto told_by_factor = [&](std::int64_t n, const std::vector<double>& v) -> std::string {
        EXPECT_EQ(ilux_set_null_space(s, n, 1, v.data()), ILUX_OK);
        const int analysed = ilux_analyse(s, &csr, 1, 1);
        const int status = analysed == ILUX_OK ? ilux_factor(s, nullptr) : analysed;
        EXPECT_EQ(status, ILUX_BAD_INPUT);
        return ilux_message(s);
    };
    EXPECT_NE(told_by_factor(21, ones).find("null_space"), std::string::npos);
    std::vector<double> v(20, 1.0);
    v[7] = 2;
    EXPECT_NE(told_by_factor(20, v).find("A does not take vector 1 to 0"), std::string::npos);
    v[7] = NAN;
    EXPECT_NE(told_by_factor(20, v).find("not finite"), std::string::npos);

    ASSERT_EQ(ilux_set_null_space(s, 20, 1, ones.data()), ILUX_OK);
    ASSERT_EQ(ilux_set(s, "method", "lu"), ILUX_OK);
    EXPECT_EQ(ilux_analyse(s, &csr, 1, 1), ILUX_BAD_OPTION);
    EXPECT_NE(std::strstr(ilux_message(s), "krylov.null_space"), nullptr) << ilux_message(s);
    ASSERT_EQ(ilux_set(s, "method", "gmres"), ILUX_OK);
    const char* json = nullptr;
    EXPECT_EQ(ilux_compare(s, &csr, b.data(), nullptr, 1, &json), ILUX_BAD_INPUT);
    EXPECT_NE(std::strstr(ilux_message(s), "ilux_set_null_space"), nullptr) << ilux_message(s);
}

double unit_of(std::int64_t i) { return i % 2 == 0 ? 1 : 4; }

/// A grid of n × n points, each tied to its neighbours and the boundary, its unknowns in two units: the null space is
/// near 1 / unit.
template <class S>
CSystem<S> grid_in_other_units(std::int64_t n)
{
    CSystem<S> A;
    A.n = n * n;
    for (std::int64_t i = 0; i < A.n; ++i) {
        for (const auto& [dx, dy] : {std::pair{0, -1}, {-1, 0}, {0, 0}, {1, 0}, {0, 1}}) {
            const std::int64_t x = i % n + dx, y = i / n + dy, j = x + n * y;
            if (x < 0 || x == n || y < 0 || y == n) continue;
            A.col.push_back(static_cast<std::int32_t>(j));
            A.val.push_back(S((i == j ? 4 : -1) * unit_of(i) * unit_of(j)));
        }
        A.ptr.push_back(static_cast<std::int64_t>(A.col.size()));
    }
    return A;
}

/// Steps of GMRES with a coarse space of these vectors.
template <class S>
std::int64_t steps_with(CSystem<S>& A, const std::vector<double>& near_null)
{
    const auto         solver = c_solver(values_of<S>, {{"method", "gmres"},
                                                        {"precond.coarse", "on"},
                                                        {"precond.coarse_size", "50"},
                                                        {"precond.coarse_vectors", "0"}});
    const std::int64_t count = std::int64_t(near_null.size()) / A.n;
    EXPECT_EQ(ilux_set_near_null(solver.get(), A.n, count, near_null.data()), ILUX_OK) << ilux_message(solver.get());
    const ilux_csr csr = A.csr();
    EXPECT_EQ(ilux_analyse(solver.get(), &csr, 1, 1), ILUX_OK) << ilux_message(solver.get());
    EXPECT_EQ(ilux_factor(solver.get(), nullptr), ILUX_OK) << ilux_message(solver.get());
    const auto     b = right_hand_side<S>(A.n);
    std::vector<S> x(b.size());
    EXPECT_EQ(ilux_solve(solver.get(), ILUX_PLAIN, 1, b.data(), A.n, x.data(), A.n), ILUX_OK);
    ilux_result result{};
    result.size = sizeof result;
    EXPECT_EQ(ilux_result_of(solver.get(), 0, &result), ILUX_OK);
    return result.steps;
}

TYPED_TEST(CNullSpace, NearVectorsTakeStepsDown)
{
    using S = TypeParam;
    auto                A = grid_in_other_units<S>(100);
    std::vector<double> units(A.n), ones(A.n, 1.0), both;
    for (std::int64_t i = 0; i < A.n; ++i) units[i] = 1 / unit_of(i);
    both = ones;
    both.insert(both.end(), units.begin(), units.end());
    EXPECT_LT(1.5 * steps_with(A, units), steps_with(A, ones));
    EXPECT_LT(1.5 * steps_with(A, both), steps_with(A, ones));
}

TYPED_TEST(CNullSpace, VectorsOfTheCoarseSpaceAreHandedOut)
{
    using S = TypeParam;
    auto                A = grid_in_other_units<S>(30);
    std::vector<double> units(A.n);
    for (std::int64_t i = 0; i < A.n; ++i) units[i] = 1 / unit_of(i);
    std::int64_t count = -1;
    const void*  columns = nullptr;
    for (const char* coarse : {"on", "off"}) {
        const auto solver =
            c_solver(values_of<S>, {{"method", "gmres"}, {"precond.coarse", coarse}, {"precond.coarse_vectors", "0"}});
        EXPECT_EQ(ilux_near_null_of(solver.get(), &count, &columns), ILUX_BAD_INPUT);  // nothing is analysed
        EXPECT_EQ(ilux_set_near_null(solver.get(), A.n, 1, units.data()), ILUX_OK);
        const ilux_csr csr = A.csr();
        EXPECT_EQ(ilux_analyse(solver.get(), &csr, 1, 1), ILUX_OK);
        EXPECT_EQ(ilux_near_null_of(solver.get(), &count, &columns), ILUX_OK);
        EXPECT_EQ(count, 0);  // not factored yet
        EXPECT_EQ(ilux_factor(solver.get(), nullptr), ILUX_OK);
        EXPECT_EQ(ilux_near_null_of(solver.get(), &count, nullptr), ILUX_BAD_INPUT);
        EXPECT_EQ(ilux_near_null_of(solver.get(), &count, &columns), ILUX_OK);
        if (coarse == std::string("off")) break;
        ASSERT_EQ(count, 1);
        const auto* t = static_cast<const S*>(columns);
        for (std::int64_t i = 0; i < A.n; ++i) EXPECT_EQ(t[i], S(units[i])) << i;
    }
    EXPECT_EQ(count, 0);
    EXPECT_EQ(columns, nullptr);
    EXPECT_EQ(ilux_near_null_of(nullptr, &count, &columns), ILUX_BAD_INPUT);
}

TEST(CNullSpaceRefusals, SayWhatIsWrongWithNearVectors)
{
    auto                      A = floating_line<double>(20, 1.0);
    const ilux_csr            csr = A.csr();
    const auto                solver = c_solver(ILUX_REAL);
    ilux_solver* const        s = solver.get();
    const std::vector<double> ones(21 * 65, 1.0), zeros(20, 0.0), bad(20, NAN);
    EXPECT_EQ(ilux_set_near_null(nullptr, 20, 1, ones.data()), ILUX_BAD_INPUT);
    for (const auto& [n, count] : {std::pair{20, -1}, {-1, 1}, {20, 65}, {0, 1}})
        EXPECT_EQ(ilux_set_near_null(s, n, count, ones.data()), ILUX_BAD_INPUT) << n << ' ' << count;
    EXPECT_EQ(ilux_set_near_null(s, 20, 1, nullptr), ILUX_BAD_INPUT);
    EXPECT_EQ(ilux_set_near_null(s, 20, 1, zeros.data()), ILUX_BAD_INPUT);
    EXPECT_NE(std::strstr(ilux_message(s), "near_null"), nullptr) << ilux_message(s);
    EXPECT_EQ(ilux_set_near_null(s, 20, 1, bad.data()), ILUX_BAD_INPUT);
    EXPECT_EQ(ilux_analyse(s, &csr, 1, 1), ILUX_OK);  // nothing was taken
    EXPECT_EQ(ilux_set_near_null(s, 21, 1, ones.data()), ILUX_OK);
    EXPECT_EQ(ilux_analyse(s, &csr, 1, 1), ILUX_BAD_INPUT);
    EXPECT_NE(std::strstr(ilux_message(s), "vectors of 21 numbers, and A 20 rows"), nullptr) << ilux_message(s);
    EXPECT_EQ(ilux_set_near_null(s, 10, 2, ones.data()), ILUX_OK);
    EXPECT_EQ(ilux_analyse(s, &csr, 1, 1), ILUX_BAD_INPUT);  // though 20 numbers are there
    EXPECT_EQ(ilux_set_near_null(s, 0, 0, nullptr), ILUX_OK);
    EXPECT_EQ(ilux_analyse(s, &csr, 1, 1), ILUX_OK);
}

}  // namespace
}  // namespace ilux
