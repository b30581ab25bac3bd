// Symmetric but for rounding: told apart from what is not symmetric, and turned into what is.

#include "ilux/base/matrix/near_symmetry.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <random>
#include <vector>

#include "ilux/base/cpu.hpp"
#include "ilux/tests/support/real_form.hpp"

namespace ilux {
namespace {

using test::Complex;
using test::eps;

Cpu threads(1);

/// Elements k kᴴ of four unknowns each, added up in an order of its own for every entry: a_ij and ā_ji differ by
/// rounding, and entries that cancel are left as rounding, or are not there at all. With `conjugated` off it is k kᵀ.
template <class S>
CsrMatrix<S> assembled(Index n, double spread, bool conjugated, unsigned seed)
{
    std::mt19937                                  random(seed);
    std::uniform_real_distribution<double>        uniform(-1, 1);
    std::vector<std::vector<std::pair<Index, S>>> elements;
    std::vector<std::vector<std::vector<S>>>      terms(n, std::vector<std::vector<S>>(n));
    for (Index e = 0; e < 3 * n; ++e) {
        std::vector<std::pair<Index, S>> k;
        for (Index u = 0; u < 4; ++u) {
            const Index  i = (e + u * u) % n;
            const double unit = std::pow(10., spread * i / n);
            if constexpr (std::is_same_v<S, Complex>)
                k.emplace_back(i, Complex(uniform(random), uniform(random)) * unit);
            else k.emplace_back(i, uniform(random) * unit);
        }
        for (const auto& [i, a] : k)
            for (const auto& [j, b] : k) {
                const S image = conjugated ? S(conj(b)) : b;
                terms[i][j].push_back(a * image);
                if (i != j) {  // what comes and goes: another element has it with the other sign
                    terms[i][j].push_back(a * image * 0.3);
                    terms[i][j].push_back(a * image * -0.3);
                }
            }
    }
    std::vector<Index> row, col;
    std::vector<S>     val;
    for (Index i = 0; i < n; ++i)
        for (Index j = 0; j < n; ++j) {
            std::shuffle(terms[i][j].begin(), terms[i][j].end(), random);
            S sum = 0;
            for (const S& term : terms[i][j]) sum += term;
            if (sum == S(0)) continue;
            row.push_back(i);
            col.push_back(j);
            val.push_back(sum);
        }
    return CsrMatrix<S>::from_triplets(n, n, row, col, val);
}

/// A with `add` at (i, j), which may be a new entry.
template <class S>
CsrMatrix<S> with(const CsrMatrix<S>& A, Index at_i, Index at_j, S add)
{
    std::vector<Index> row{at_i}, col{at_j};
    std::vector<S>     val{A.at(at_i, at_j) + add};
    for (Index i = 0; i < A.rows(); ++i)
        for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p)
            if (i != at_i || A.col()[p] != at_j) {
                row.push_back(i);
                col.push_back(A.col()[p]);
                val.push_back(A.val()[p]);
            }
    return CsrMatrix<S>::from_triplets(A.rows(), A.cols(), row, col, val);
}

template <class S>
void expect_mean(const CsrMatrix<S>& A, Mirror mirror)
{
    const auto mean = mean_with_image<S>(A, mirror);
    EXPECT_TRUE(mirror == Mirror::hermitian ? is_hermitian<S>(mean) : is_symmetric<S>(mean));
    for (Index i = 0; i < A.rows(); ++i)
        for (Index j = 0; j < A.rows(); ++j) {
            const S other = mirrored(mirror, A.at(j, i));
            EXPECT_LE(std::abs(mean.at(i, j) - (A.at(i, j) + other) / 2.), eps * std::abs(A.at(i, j))) << i << ' ' << j;
        }
}

template <class S>
void expect_rounding(Mirror mirror)
{
    int inexact = 0;
    for (const Index n : {1, 2, 5, 17, 40})
        for (const double spread : {0., 12.})
            for (unsigned seed = 1; seed <= 5; ++seed) {
                const auto A = assembled<S>(n, spread, mirror == Mirror::hermitian, seed);
                const auto found = asymmetry_of<S>(threads, A, mirror);
                EXPECT_TRUE(found.within_rounding) << n << ' ' << spread << ' ' << seed;
                const bool exact = mirror == Mirror::hermitian ? is_hermitian<S>(A) : is_symmetric<S>(A);
                EXPECT_EQ(found.exact, exact);
                inexact += exact ? 0 : 1;
                expect_mean<S>(A, mirror);
                if (n < 3) continue;
                // Sixty times what rounding makes of it is no rounding.
                const double root = std::sqrt(std::abs(A.at(0, 0)) * std::abs(A.at(n - 1, n - 1)));
                const double size = 500 * eps * (root + 2 * std::abs(A.at(0, n - 1)));
                EXPECT_FALSE(asymmetry_of<S>(threads, with<S>(A, 0, n - 1, S(size)), mirror).within_rounding) << n;
            }
    EXPECT_GE(inexact, 30);
}

TEST(NearSymmetry, HoldsForWhatIsAssembledInAnotherOrder)
{
    expect_rounding<double>(Mirror::hermitian);
    expect_rounding<Complex>(Mirror::hermitian);
    expect_rounding<Complex>(Mirror::symmetric);
}

/// Terms that cancel leave rounding in a row without a diagonal, too: of its largest entry, in any unit.
TEST(NearSymmetry, HoldsWhereADiagonalIsZero)
{
    for (const double unit : {1e-9, 1., 1e9}) {
        const auto flow = [&](double above, double below) {
            return CsrMatrix<>::from_triplets(4, 4, std::vector<Index>{0, 1, 0, 1, 2, 2, 3, 1, 3, 2},
                                              std::vector<Index>{0, 1, 2, 2, 0, 1, 1, 3, 2, 3},
                                              std::vector<double>{4, 4, unit, above * unit, unit, below * unit, unit,
                                                                  unit, above * unit, below * unit});
        };
        const double noise = 4 * eps;
        EXPECT_TRUE(asymmetry_of<double>(threads, flow(noise, 0), Mirror::hermitian).within_rounding) << unit;
        EXPECT_TRUE(asymmetry_of<double>(threads, flow(1, 1 + noise), Mirror::hermitian).within_rounding) << unit;
        EXPECT_FALSE(asymmetry_of<double>(threads, flow(100 * noise, 0), Mirror::hermitian).within_rounding) << unit;
        EXPECT_FALSE(asymmetry_of<double>(threads, flow(1, 1 + 100 * noise), Mirror::hermitian).within_rounding)
            << unit;
    }
}

TEST(NearSymmetry, IsThatOfExactSymmetryWhereThatHolds)
{
    for (unsigned seed = 1; seed <= 5; ++seed) {
        const auto A = test::random_spd(30, 3, seed);
        const auto found = asymmetry_of<double>(threads, A, Mirror::hermitian);
        EXPECT_TRUE(found.within_rounding && found.exact);
        EXPECT_EQ(found.largest, 0);
        EXPECT_FALSE(
            asymmetry_of<double>(threads, test::random_dominant(30, 3, seed), Mirror::hermitian).within_rounding);
    }
}

TEST(NearSymmetry, IsTheSameOnAnyNumberOfThreads)
{
    Cpu         three(3);
    const Index n = 20'000;
    const auto  A = test::random_spd(n, 3, 1);
    const auto  small = with<double>(A, 3, n - 120, 1e-16), large = with<double>(A, n - 120, 3, 1e-3);
    for (const auto* one : {&A, &small, &large}) {
        const auto found = asymmetry_of<double>(three, *one, Mirror::hermitian);
        const auto serial = asymmetry_of<double>(threads, *one, Mirror::hermitian);
        EXPECT_EQ(found.within_rounding, serial.within_rounding);
        EXPECT_EQ(found.exact, serial.exact);
        EXPECT_EQ(found.largest, serial.largest);
        EXPECT_EQ(found.entry, serial.entry);
        EXPECT_EQ(found.within_rounding, one != &large);
        EXPECT_EQ(found.exact, one == &A);
    }
}

TEST(NearSymmetry, CountsAMissingEntryAsZero)
{
    // [2 x; 0 8]: allowed is 8 ε (|x| + √(2·8)).
    const auto holds = [](double x, bool below) {
        const std::vector<Index>  row{0, 1, below ? 1 : 0}, col{0, 1, below ? 0 : 1};
        const std::vector<double> val{2, 8, x};
        return asymmetry_of<double>(threads, CsrMatrix<>::from_triplets(2, 2, row, col, val), Mirror::hermitian);
    };
    for (const bool below : {false, true}) {
        EXPECT_TRUE(holds(31 * eps, below).within_rounding);
        EXPECT_FALSE(holds(31 * eps, below).exact);
        EXPECT_EQ(holds(31 * eps, below).largest, 31 * eps);
        EXPECT_EQ(holds(31 * eps, below).entry, 8);
        EXPECT_FALSE(holds(33 * eps, below).within_rounding);
    }
}

TEST(NearSymmetry, AsksZeroDiagonalsForEntriesThatAgreeThemselves)
{
    const auto holds = [](double x, double y) {
        const std::vector<Index>  row{0, 1}, col{1, 0};
        const std::vector<double> val{x, y};
        return asymmetry_of<double>(threads, CsrMatrix<>::from_triplets(2, 2, row, col, val), Mirror::hermitian)
            .within_rounding;
    };
    for (const double unit : {1e-300, 1e-20, 1., 1e300, 1e308}) {
        EXPECT_TRUE(holds(unit, unit * (1 + 4 * eps))) << unit;
        EXPECT_FALSE(holds(unit, unit * (1 + 40 * eps))) << unit;
        EXPECT_FALSE(holds(unit, 0)) << unit;
    }
}

TEST(NearSymmetry, AsksAHermitianDiagonalToBeReal)
{
    const auto holds = [](Complex a) {
        const std::vector<Index>   at{0};
        const std::vector<Complex> val{a};
        return asymmetry_of<Complex>(threads, CsrMatrix<Complex>::from_triplets(1, 1, at, at, val), Mirror::hermitian)
            .within_rounding;
    };
    EXPECT_TRUE(holds({1, 0}));
    EXPECT_TRUE(holds({1, 4 * eps}));
    EXPECT_FALSE(holds({1, 40 * eps}));
}

TEST(NearSymmetry, IsNotThatOfNaNOrOfARectangle)
{
    const std::vector<Index>  row{0, 1}, col{1, 0};
    const std::vector<double> val{1, 1};
    auto                      A = CsrMatrix<>::from_triplets(2, 2, row, col, val);
    EXPECT_TRUE(asymmetry_of<double>(threads, A, Mirror::hermitian).exact);
    A.val()[0] = A.val()[1] = std::nan("");
    EXPECT_FALSE(asymmetry_of<double>(threads, A, Mirror::hermitian).within_rounding);
    EXPECT_FALSE(
        asymmetry_of<double>(threads, CsrMatrix<>::from_triplets(2, 3, {}, {}, {}), Mirror::hermitian).within_rounding);
}

}  // namespace
}  // namespace ilux
