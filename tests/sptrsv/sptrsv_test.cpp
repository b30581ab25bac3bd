#include "ilux/sptrsv/sptrsv.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "ilux/base/error.hpp"
#include "ilux/sptrsv/serial.hpp"
#include "ilux/tests/support/checks.hpp"

namespace ilux {
namespace {

using test::eps;
using test::nan;
using Vector = std::vector<double>;

struct Engine {
    const char*   name;
    SpTrsvOptions options;
    int           threads;
};

/// wide_level = 1 makes every level a shared one; 40 mixes shared levels with chains of thin ones.
const Engine engines[] = {
    {"Serial", {.engine = SpTrsvEngine::serial}, 1},
    {"LevelSetOneThread", {.transposable = true}, 1},
    {"LevelSetDefaults", {.transposable = true}, 2},
    {"LevelSetEveryLevelShared", {.transposable = true, .wide_level = 1}, 2},
    {"LevelSetThinLevelsChained", {.transposable = true, .wide_level = 40}, 3},
    {"LevelSetTransposeByScattering", {.wide_level = 1}, 2},
};

/// Every orientation a triangular solve may have.
struct SystemShape {
    Triangle triangle;
    Diagonal diagonal;
    bool     transposed;
};
std::vector<SystemShape> shapes()
{
    std::vector<SystemShape> all;
    for (Triangle t : {Triangle::lower, Triangle::upper})
        for (Diagonal d : {Diagonal::unit, Diagonal::stored})
            for (bool transposed : {false, true}) all.push_back({t, d, transposed});
    return all;
}

/// A random triangular matrix with at most `per_row` entries off the diagonal; some rows have none.
template <class T = double>
CsrMatrix<T> random_triangle(Index n, Index per_row, SystemShape shape, unsigned seed)
{
    std::mt19937                     random(seed);
    std::uniform_real_distribution<> value(-1, 1);
    std::vector<Index>               row, col;
    std::vector<T>                   val;
    for (Index i = 0; i < n; ++i) {
        const Index room = shape.triangle == Triangle::lower ? i : n - 1 - i;
        for (Index e = 0; room > 0 && i % 7 != 3 && e < per_row; ++e) {
            const auto away = static_cast<Index>(1 + random() % room);
            row.push_back(i);
            col.push_back(shape.triangle == Triangle::lower ? i - away : i + away);
            val.push_back(static_cast<T>(value(random) / per_row));
        }
        if (shape.diagonal == Diagonal::unit) continue;
        row.push_back(i);
        col.push_back(i);
        val.push_back(static_cast<T>(1 + std::abs(value(random))));
    }
    return CsrMatrix<T>::from_triplets(n, n, row, col, val);
}

Vector random_vector(std::size_t n, unsigned seed)
{
    std::mt19937                     random(seed);
    std::uniform_real_distribution<> value(-1, 1);
    Vector                           x(n);
    for (double& xi : x) xi = value(random);
    return x;
}

/// max_i |b − op(T) x|_i / (|op(T)| |x| + |b|)_i: the componentwise backward error; 0/0 is 0.
template <class T>
double backward_error(const CsrMatrix<T>& A, SystemShape shape, const Vector& x, const Vector& b)
{
    const Index              n = A.rows();
    std::vector<long double> r(b.begin(), b.end()), size(n);
    for (Index i = 0; i < n; ++i) size[i] = std::abs(b[i]);
    const auto subtract = [&](Index i, Index j, double a) {
        r[i] -= static_cast<long double>(a) * x[j];
        size[i] += std::abs(static_cast<long double>(a) * x[j]);
    };
    for (Index i = 0; i < n; ++i) {
        if (shape.diagonal == Diagonal::unit) subtract(i, i, 1);
        for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p) {
            const Index j = A.col()[p];
            shape.transposed ? subtract(j, i, A.val()[p]) : subtract(i, j, A.val()[p]);
        }
    }
    double worst = 0;
    for (Index i = 0; i < n; ++i) {
        if (!std::isfinite(x[i])) return std::numeric_limits<double>::infinity();
        if (size[i] > 0) worst = std::max(worst, static_cast<double>(std::abs(r[i]) / size[i]));
    }
    return worst;
}

template <class T>
Vector solve_with(const Engine& engine, const CsrMatrix<T>& A, SystemShape shape, const Vector& b)
{
    Cpu                 be(engine.threads);
    const SpTrsvPlan<T> plan(A, shape.triangle, shape.diagonal, engine.options);
    Vector              x(b.size(), nan);  // whatever x held must not matter
    shape.transposed ? plan.solve_transpose(be, b, x) : plan.solve(be, b, x);
    return x;
}

bool same_bits(const Vector& x, const Vector& y)
{
    return x.size() == y.size() && (x.empty() || std::memcmp(x.data(), y.data(), x.size() * sizeof(double)) == 0);
}

class EverySpTrsv : public testing::TestWithParam<Engine> {};
INSTANTIATE_TEST_SUITE_P(Engines, EverySpTrsv, testing::ValuesIn(engines),
                         [](const auto& info) { return std::string(info.param.name); });

TEST_P(EverySpTrsv, SolvesAll64PatternsOfAStrict4x4Exactly)
{
    // Block diagonal, a block for each pattern. Small integers: every product and sum is exact.
    const std::pair<Index, Index> place[] = {{1, 0}, {2, 0}, {2, 1}, {3, 0}, {3, 1}, {3, 2}};
    for (const SystemShape& shape : shapes()) {
        std::vector<Index> row, col;
        Vector             val, x(256), b(256);
        for (Index i = 0; i < 256; ++i) x[i] = i % 11 - 5;
        const auto put = [&](Index i, Index j, double a) {
            row.push_back(i);
            col.push_back(j);
            val.push_back(a);
            shape.transposed ? b[j] += a * x[i] : b[i] += a * x[j];
        };
        for (Index pattern = 0; pattern < 64; ++pattern) {
            for (Index e = 0; e < 6; ++e) {
                const Index i = 4 * pattern + place[e].first, j = 4 * pattern + place[e].second;
                if (pattern >> e & 1) shape.triangle == Triangle::lower ? put(i, j, 2. + e) : put(j, i, -1. - e);
            }
            for (Index i = 4 * pattern; i < 4 * pattern + 4; ++i) {
                if (shape.diagonal == Diagonal::stored) put(i, i, i % 2 ? 2 : -4);
                else b[i] += x[i];
            }
        }
        const auto A = CsrMatrix<>::from_triplets(256, 256, row, col, val);
        EXPECT_EQ(solve_with(GetParam(), A, shape, b), x);
    }
}

TEST_P(EverySpTrsv, IsBackwardStableAcrossAwkwardSizes)
{
    for (Index n : {0, 1, 31, 32, 33, 1000})
        for (const SystemShape& shape : shapes()) {
            const auto A = random_triangle(n, 5, shape, n + 1);
            const auto b = random_vector(n, n);
            EXPECT_LE(backward_error(A, shape, solve_with(GetParam(), A, shape, b), b), 64 * eps) << "n = " << n;
            const auto Af = random_triangle<float>(n, 5, shape, n + 2);
            EXPECT_LE(backward_error(Af, shape, solve_with(GetParam(), Af, shape, b), b), 64 * eps)
                << "float, n = " << n;
        }
}

TEST_P(EverySpTrsv, AgreesBitwiseWithSerialInPlaceAndForManyRightHandSides)
{
    const Index n = 200;
    Cpu         be(GetParam().threads);
    for (const SystemShape& shape : shapes()) {
        const auto         A = random_triangle(n, 3, shape, 77);
        const SpTrsvPlan<> plan(A, shape.triangle, shape.diagonal, GetParam().options);
        const Vector       b = random_vector(5 * n, 5);
        Vector             expected(5 * n), x(5 * n), in_place = b;
        for (int r = 0; r < 5; ++r) {
            const auto from = std::span(b).subspan(r * n, n);
            const auto to = std::span(expected).subspan(r * n, n);
            shape.transposed ? solve_serial_transpose(A, shape.triangle, shape.diagonal, from, to)
                             : solve_serial(A, shape.triangle, shape.diagonal, from, to);
        }
        shape.transposed ? plan.solve_transpose(be, b, x) : plan.solve(be, b, x);
        shape.transposed ? plan.solve_transpose(be, in_place, in_place) : plan.solve(be, in_place, in_place);
        EXPECT_TRUE(same_bits(x, expected));
        EXPECT_TRUE(same_bits(in_place, expected));
    }
}

TEST_P(EverySpTrsv, LetsANaNReachExactlyTheRowsThatDependOnIt)
{
    // Unit lower; rows 0 <- 1 <- 3, and 2 stands alone.
    const auto   L = CsrMatrix<>::from_triplets(4, 4, std::vector<Index>{1, 3}, std::vector<Index>{0, 1}, Vector{1, 1});
    const Vector b = {nan, 1, 1, 1};
    const Vector x = solve_with(GetParam(), L, {Triangle::lower, Diagonal::unit, false}, b);
    EXPECT_TRUE(std::isnan(x[0]) && std::isnan(x[1]) && std::isnan(x[3]));
    EXPECT_EQ(x[2], 1);
    const Vector last = {1, 1, 1, nan};
    const Vector y = solve_with(GetParam(), L, {Triangle::lower, Diagonal::unit, true}, last);
    EXPECT_TRUE(std::isnan(y[0]) && std::isnan(y[1]) && std::isnan(y[3]));
    EXPECT_EQ(y[2], 1);
}

TEST_P(EverySpTrsv, ShowsAZeroOrMissingPivotInXAndInThePlan)
{
    const auto zero =
        CsrMatrix<>::from_triplets(2, 2, std::vector<Index>{0, 1, 1}, std::vector<Index>{0, 0, 1}, Vector{2, 1, 0});
    const auto missing =
        CsrMatrix<>::from_triplets(2, 2, std::vector<Index>{0, 1}, std::vector<Index>{0, 0}, Vector{2, 1});
    for (const auto& L : {zero, missing}) {
        const SpTrsvPlan<> plan(L, Triangle::lower, Diagonal::stored, GetParam().options);
        EXPECT_EQ(plan.zero_pivot(), 1);
        const Vector x = solve_with(GetParam(), L, {Triangle::lower, Diagonal::stored, false}, Vector{2, 5});
        EXPECT_EQ(x[0], 1);
        EXPECT_TRUE(std::isinf(x[1]));
        const Vector y = solve_with(GetParam(), L, {Triangle::lower, Diagonal::stored, true}, Vector{2, 0});
        EXPECT_TRUE(std::isnan(y[0]) && std::isnan(y[1]));
    }
    EXPECT_EQ(SpTrsvPlan<>(CsrMatrix<>::identity(3), Triangle::lower, Diagonal::stored).zero_pivot(), -1);
}

TEST_P(EverySpTrsv, RefusesEntriesOutsideTheTriangleAndWrongLengths)
{
    const auto options = GetParam().options;
    const auto I = CsrMatrix<>::identity(3);
    EXPECT_THROW(SpTrsvPlan<>(I, Triangle::lower, Diagonal::unit, options), InvalidInput);
    const auto full =
        CsrMatrix<>::from_triplets(2, 2, std::vector<Index>{0, 1}, std::vector<Index>{1, 0}, Vector{1, 1});
    EXPECT_THROW(SpTrsvPlan<>(full, Triangle::upper, Diagonal::stored, options), InvalidInput);
    const auto wide = CsrMatrix<>::from_triplets(2, 3, std::vector<Index>{1}, std::vector<Index>{0}, Vector{1});
    EXPECT_THROW(SpTrsvPlan<>(wide, Triangle::lower, Diagonal::unit, options), InvalidInput);
    Cpu                be(1);
    const SpTrsvPlan<> plan(I, Triangle::lower, Diagonal::stored, options);
    Vector             b(4), x(4), short_x(3);
    EXPECT_THROW(plan.solve(be, b, x), InvalidInput);
    EXPECT_THROW(plan.solve_transpose(be, b, short_x), InvalidInput);
}

TEST(LevelSets, OrderRowsSoThatEachReadsOnlyEarlierLevels)
{
    for (Triangle triangle : {Triangle::lower, Triangle::upper}) {
        const auto         A = random_triangle(300, 3, {triangle, Diagonal::stored, false}, 9);
        const LevelSets    levels(A, triangle);
        std::vector<Index> level(300, -1);
        for (Index l = 0; l < levels.depth(); ++l)
            for (Index s = levels.level_ptr()[l]; s < levels.level_ptr()[l + 1]; ++s) level[levels.order()[s]] = l;
        for (Index i = 0; i < 300; ++i) {
            Index deepest = -1;
            for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p)
                if (A.col()[p] != i) deepest = std::max(deepest, level[A.col()[p]]);
            EXPECT_EQ(level[i], deepest + 1);
        }
    }
}

TEST(LevelSets, ShareEveryRowOfAStageOnceAmongAnyNumberOfThreads)
{
    const auto      A = random_triangle(300, 3, {Triangle::lower, Diagonal::unit, false}, 4);
    const LevelSets levels(A, Triangle::lower, 20);
    Index           at = 0;
    for (const auto& stage : levels.stages()) {
        EXPECT_EQ(stage.begin, at);
        for (int parts : {1, 2, 7, 400}) {
            EXPECT_EQ(levels.part(stage, 0, parts), stage.begin);
            EXPECT_EQ(levels.part(stage, parts, parts), stage.end);
            for (int t = 0; t < parts; ++t) EXPECT_LE(levels.part(stage, t, parts), levels.part(stage, t + 1, parts));
        }
        at = stage.end;
    }
    EXPECT_EQ(at, 300);
}

TEST(DependencyDepth, IsTheLengthOfTheLongestChain)
{
    EXPECT_EQ(dependency_depth(CsrMatrix<>(), Triangle::lower), 0);
    EXPECT_EQ(dependency_depth(CsrMatrix<>::identity(5), Triangle::upper), 1);
    std::vector<Index> row, col;
    for (Index i = 1; i < 9; ++i) {
        row.push_back(i);
        col.push_back(i - 1);
    }
    const auto chain = CsrMatrix<>::from_triplets(9, 9, row, col, Vector(8, 1.));
    EXPECT_EQ(dependency_depth(chain, Triangle::lower), 9);
    EXPECT_EQ(dependency_depth(transpose(chain), Triangle::upper), 9);
    EXPECT_EQ(SpTrsvPlan<>(chain, Triangle::lower, Diagonal::unit).depth(), 9);
}

}  // namespace
}  // namespace ilux
