#pragma once
// What the tests of rounds share: a system with its transpose and test vector, and the set a round would take.

#include <utility>
#include <vector>

#include "ilux/precond/rounds/round_set.hpp"
#include "ilux/tests/precond/mlilu/level_checks.hpp"

namespace ilux::test::precond {

/// Owns what a RoundSystem refers to. No pivot before, so all estimates are 1.
struct OwnedSystem {
    explicit OwnedSystem(CsrMatrix<> matrix)
        : S(std::move(matrix)), St(transpose(S)), w_L(S.rows(), 0), w_U(S.rows(), 0), t(S.rows(), 1)
    {}
    RoundSystem<double> system() const { return {S, St, w_L, w_U, TestVectors(t, S.rows())}; }
    RoundSet<double>    set(const RoundBounds& bounds, int threads = 1) const
    {
        Cpu be(threads);
        return choose_pivots(be, system(), bounds);
    }

    CsrMatrix<> S, St;
    Vector      w_L, w_U, t;
};

/// Every row of a matrix with a diagonal may be a pivot.
constexpr RoundBounds lenient{.inverse = 1e300, .growth = 0};

}  // namespace ilux::test::precond
