#include "ilux/sptrsv/gpu/forward_system.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "ilux/sptrsv/sptrsv.hpp"
#include "ilux/tests/sptrsv/systems.hpp"
#include "ilux/tests/support/checks.hpp"

using namespace ilux;
using test::Shape;

namespace {

/// The solution by dense elimination: an oracle that knows nothing of triangles.
std::vector<double> dense_solution(const CsrMatrix<double>& A, Diagonal diagonal, const std::vector<double>& b)
{
    test::Dense dense = test::to_dense(A);
    if (diagonal == Diagonal::unit)
        for (Index i = 0; i < A.rows(); ++i) dense(i, i) = 1;
    return test::dense_solve(dense, b);
}

}  // namespace

TEST(ForwardSystem, SolvesBothTrianglesAsDenseEliminationDoes)
{
    for (Index n : {0, 1, 2, 31, 60})
        for (const Shape& shape : test::shapes()) {
            const auto                  A = test::random_triangle(n, 4, shape, n);
            const auto                  b = test::random_vector(n, 3);
            const ForwardSystem<double> system = forward_system<double>(A, shape.triangle, shape.diagonal);
            std::vector<double>         x(n);
            solve_serial<double>(system, b, x);
            EXPECT_LE(test::relative_difference(x, dense_solution(A, shape.diagonal, b)), 1e-11) << n;
        }
}

TEST(ForwardSystem, IsStrictlyLowerWhateverTheTriangle)
{
    for (const Shape& shape : test::shapes()) {
        const auto system =
            forward_system<double>(test::random_triangle(50, 6, shape, 1), shape.triangle, shape.diagonal);
        EXPECT_EQ(test::broken_invariant(system.L), "");
        for (Index i = 0; i < 50; ++i)
            for (Offset p = system.L.row_ptr()[i]; p < system.L.row_ptr()[i + 1]; ++p) EXPECT_LT(system.L.col()[p], i);
        EXPECT_EQ(system.inv_diag.size(), shape.diagonal == Diagonal::stored ? 50u : 0u);
    }
}

TEST(ForwardSystem, ReadsAndWritesThroughItsFrame)
{
    const Index n = 40;
    for (const Shape& shape : test::shapes()) {
        const auto          A = test::random_triangle(n, 4, shape, 5);
        const auto          b = test::random_vector(n, 6);
        const SolveFrame<>  frame = test::random_frame(n, 7);
        const auto          system = forward_system<double>(A, shape.triangle, shape.diagonal, frame);
        std::vector<double> r(n), out(n), expected(n);
        for (Index i = 0; i < n; ++i) r[i] = frame.in_scale[i] * b[frame.in_index[i]];
        const auto x = dense_solution(A, shape.diagonal, r);
        for (Index i = 0; i < n; ++i) expected[frame.out_index[i]] = frame.out_scale[i] * x[i];
        solve_serial<double>(system, b, out);
        EXPECT_LE(test::relative_difference(out, expected), 1e-11);
    }
}

TEST(ForwardSystem, TakesAnyPartOfAFrame)
{
    const Index n = 12;
    for (const Shape& shape : test::shapes())
        for (int part = 0; part < 4; ++part) {
            const auto   full = test::random_frame(n, 9);
            SolveFrame<> some, filled;  // the same frame, once with the identity spelled out
            filled.in_index = filled.out_index = test::identity(n);
            filled.in_scale = filled.out_scale = std::vector<double>(n, 1);
            if (part == 0) some.in_index = filled.in_index = full.in_index;
            if (part == 1) some.in_scale = filled.in_scale = full.in_scale;
            if (part == 2) some.out_index = filled.out_index = full.out_index;
            if (part == 3) some.out_scale = filled.out_scale = full.out_scale;
            const auto          A = test::random_triangle(n, 3, shape, 2);
            const auto          b = test::random_vector(n, 1);
            std::vector<double> out(n), expected(n);
            solve_serial<double>(forward_system<double>(A, shape.triangle, shape.diagonal, some), b, out);
            solve_serial<double>(forward_system<double>(A, shape.triangle, shape.diagonal, filled), b, expected);
            EXPECT_TRUE(test::identical(out, expected)) << part;
        }
}

TEST(ForwardSystem, RoundsValuesButNotPivotsToSingle)
{
    const auto A = CsrMatrix<double>::from_triplets(2, 2, std::vector<Index>{0, 1, 1}, std::vector<Index>{0, 0, 1},
                                                    std::vector<double>{3, 0.1, 3});
    const auto system = forward_system<float>(A, Triangle::lower, Diagonal::stored);
    EXPECT_EQ(system.L.val()[0], 0.1f);
    EXPECT_EQ(system.inv_diag, (std::vector<double>{1. / 3, 1. / 3}));
}

TEST(ForwardSystem, ShowsAZeroOrMissingPivotAsInfinity)
{
    const auto A =
        CsrMatrix<double>::from_triplets(2, 2, std::vector<Index>{0}, std::vector<Index>{0}, std::vector<double>{0});
    for (Triangle triangle : {Triangle::lower, Triangle::upper})
        for (double inverse : forward_system<double>(A, triangle, Diagonal::stored).inv_diag)
            EXPECT_TRUE(std::isinf(inverse));
}

TEST(ForwardSystem, RefusesFramesOfAnotherLengthAndEntriesOutsideTheTriangle)
{
    const auto I = CsrMatrix<double>::identity(3);
    const auto with = [&](SolveFrame<> frame) {
        return [&I, frame] { forward_system<double>(I, Triangle::lower, Diagonal::stored, frame); };
    };
    test::expect_refusal(with({.in_index = {0, 1}}), {"in_index", "2", "3"});
    test::expect_refusal(with({.in_scale = {1}}), {"in_scale", "1", "3"});
    test::expect_refusal(with({.out_index = {0, 1, 2, 3}}), {"out_index", "4", "3"});
    test::expect_refusal(with({.out_scale = {1, 1}}), {"out_scale", "2", "3"});
    test::expect_refusal([&] { forward_system<double>(I, Triangle::upper, Diagonal::unit); },
                         {"(1, 1)", "strict upper"});
}

TEST(Levels, AreOneAboveTheHighestRowRead)
{
    const auto L = CsrMatrix<double>::from_triplets(5, 5, std::vector<Index>{1, 3, 3, 4},
                                                    std::vector<Index>{0, 1, 2, 2}, std::vector<double>(4, 1.));
    EXPECT_EQ(levels(L), (std::vector<Index>{0, 1, 0, 2, 1}));
    EXPECT_TRUE(levels(CsrMatrix<double>()).empty());
}
