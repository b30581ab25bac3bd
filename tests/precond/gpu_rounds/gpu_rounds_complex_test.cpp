// Rounds of complex matrices set up and applied on a GPU: against the host's, against the real ones where nothing is
// imaginary, and against identities.

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <string>

#include "ilux/base/matrix/single.hpp"
#include "ilux/precond/mlilu/mlilu_choice.hpp"
#include "ilux/tests/precond/gpu_rounds/gpu_rounds_complex_fixture.hpp"

namespace ilux::test {
namespace {

using namespace precond;

/// Both choose the same pivots or stall on the same level, and results differ by rounding. Where the host goes on by
/// Crout's sweep, the device inverts what is left.
class GpuRoundsComplexTwins : public GpuRoundsComplex {
protected:
    /// @return whether rounds did
    bool expect_twins_of(const ComplexMatrix& A, const MlIluOptions& options, const std::string& where)
    {
        const auto rounds = build(A, options);
        const auto host = MlIlu<Complex>::build(cpu, A, options);
        for (const auto& decision : host.report().decisions)
            if (decision.find("crout from level") != std::string::npos) {
                EXPECT_TRUE(rounds.made()) << where << ": " << decision << ", " << rounds.why_not();
                EXPECT_GT(rounds.dense_order(), rounds_tail(options, A.nnz())) << where;
                return false;
            }
        EXPECT_TRUE(rounds.made()) << where << ": " << rounds.why_not();
        if (!rounds.made()) return false;
        expect_twins(rounds.report(), host.report(), where);
        EXPECT_EQ(rounds.report().damping, host.report().damping) << where;
        const ComplexVector          r = random_complex_vector(A.rows(), 5);
        ComplexVector                z(r.size());
        MlIluPreconditioner<Complex> M(host);
        M.apply(cpu, r, z);
        EXPECT_LE(distance_of(applied(rounds, r), z), 1e-8) << where;
        return true;
    }
};

TEST_F(GpuRoundsComplexTwins, OfTheDefaultTestVector)
{
    int made = 0;
    for (Compensation compensation : {Compensation::on, Compensation::off})
        for (double kappa : {1.713, 5., 1e300})
            for (const auto& [name, A] : complex_matrices()) {
                MlIluOptions options = unmatched(compensation);
                options.inverse_bound = kappa;
                made += expect_twins_of(A, options, name + ", bound " + std::to_string(kappa));
            }
    EXPECT_GE(made, 36);
}

TEST_F(GpuRoundsComplexTwins, OfTheCallersTestVectors)
{
    int made = 0;
    for (Index count : {1, 2})
        for (const auto& [name, A] : complex_matrices()) {
            Vector t = random_vector(A.rows() * count, 7);
            for (double& value : t) value += 3;
            MlIluOptions options = unmatched(Compensation::on);
            options.weak_coupling = 0;
            options.near_null = std::make_shared<const Vector>(t);
            made += expect_twins_of(A, options, name + ", vectors: " + std::to_string(count));
        }
    EXPECT_GE(made, 12);
}

TEST_F(GpuRoundsComplexTwins, WithDamping)
{
    for (double beta : {0.1, 1.})
        for (const auto& [name, A] : complex_matrices()) {
            MlIluOptions options = unmatched();
            options.damping = {beta};
            expect_twins_of(A, options, name + ", damping " + std::to_string(beta));
        }
    const auto waves = gallery::helmholtz2d_open({.n = 150, .kh = 0.3});
    EXPECT_TRUE(expect_twins_of(waves, unmatched(), "waves"));
    EXPECT_GT(build(waves, unmatched()).report().damping, 0);
}

TEST_F(GpuRoundsComplex, WithoutImaginaryPartsDoesAsTheRealRounds)
{
    for (Compensation compensation : {Compensation::on, Compensation::off})
        for (const auto& [name, A] : precond::matrices()) {
            const auto options = unmatched(compensation);
            const auto real = GpuRounds<>::build(cpu, gpu(), DeviceCsr<>(gpu(), A), options, false);
            const auto found = build(as_complex(A), options);
            ASSERT_TRUE(real.made() && found.made()) << name;
            expect_twins(found.report(), real.report(), name);
            const Vector r = random_vector(A.rows(), 3);
            const auto   z = applied(found, as_complex(r));
            EXPECT_LE(distance_of(real_parts(z), applied<double>(*real.preconditioner(gpu()), r)), 1e-11) << name;
            for (const Complex& value : z) ASSERT_EQ(value.imag(), 0) << name;
        }
}

MlIluOptions exact()
{
    MlIluOptions options = unmatched(Compensation::off);
    options.drop_tol = options.growth_bound = 0;
    return options;
}

TEST_F(GpuRoundsComplex, IsExactWithoutDropping)
{
    int made = 0;
    for (double kappa : {3., 1e300})
        for (const auto& [name, A] : complex_matrices()) {
            MlIluOptions options = exact();
            options.inverse_bound = kappa;
            const auto rounds = build(A, options);
            if (!rounds.made()) continue;
            ++made;
            const auto x = random_complex_vector(A.rows(), 3);
            EXPECT_LE(distance_of(applied(rounds, product(A, x)), x), 1e-9) << name << ", bound " << kappa;
            EXPECT_LE(distance_of(applied(rounds, product(adjoint(A), x), true), x), 1e-9) << name;
        }
    EXPECT_GE(made, 8);
}

/// Isolated rows, and a full block that becomes the dense end.
ComplexMatrix with_block(Index isolated, Index full)
{
    Random             random(full + 1);
    std::vector<Index> row, col;
    ComplexVector      val;
    const auto         add = [&](Index i, Index j, Complex value) {
        row.push_back(i);
        col.push_back(j);
        val.push_back(value);
    };
    for (Index i = 0; i < isolated; ++i) add(i, i, {1 + 0.1 * i, 2});
    for (Index i = 0; i < full; ++i)
        for (Index j = 0; j < full; ++j)
            add(isolated + i, isolated + j, {random.uniform() + (i == (j + 1) % full ? 2. : 0.), random.uniform()});
    const Index n = isolated + full;
    return ComplexMatrix::from_triplets(n, n, row, col, val);
}

TEST_F(GpuRoundsComplex, InvertsDenseEndsOfAwkwardOrders)
{
    for (Index full : {0, 1, 31, 32, 33, 64, 65, 300}) {
        const auto A = with_block(20'000, full);
        auto       options = exact();
        options.dense_order = 400;
        const auto rounds = build(A, options);
        ASSERT_TRUE(rounds.made()) << full << ": " << rounds.why_not();
        EXPECT_EQ(rounds.dense_order(), full > 1 ? full : 0);
        const auto x = random_complex_vector(A.rows(), 3);
        EXPECT_LE(distance_of(applied(rounds, product(A, x)), x), 1e-9) << full;
        EXPECT_LE(distance_of(applied(rounds, product(adjoint(A), x), true), x), 1e-9) << full;
    }
}

/// Those are left to the host, or solved without dropping.
TEST_F(GpuRoundsComplex, OfAwkwardSizes)
{
    int made = 0;
    for (Index n : {0, 1, 31, 32, 33}) {
        const auto A = turned(random_dominant(n, 3, 5), 6);
        auto       options = exact();
        options.dense_order = 0;
        const auto rounds = build(A, options);
        if (!rounds.made()) continue;
        ++made;
        const auto x = random_complex_vector(n, 3);
        EXPECT_LE(distance_of(applied(rounds, product(A, x)), x), 1e-12) << n;
    }
    EXPECT_GE(made, 3);
}

TEST_F(GpuRoundsComplex, InvertsAWholeMatrixThatIsSmall)
{
    for (Index n : {64, 100, 766, 1500, 2700}) {
        const auto A = turned(random_dominant(n, 3, 5), 6);
        auto       options = exact();
        options.dense_order = 2700;
        const auto rounds = build(A, options);
        ASSERT_TRUE(rounds.made()) << rounds.why_not();
        EXPECT_EQ(rounds.dense_order(), n);
        const auto x = random_complex_vector(n, 3);
        EXPECT_LE(distance_of(applied(rounds, product(A, x)), x), 1e-10) << n;
    }
}

/// ⟨u, M⁻¹ v⟩ = ⟨M⁻ᴴ u, v⟩
TEST_F(GpuRoundsComplex, AppliesItsAdjoint)
{
    int made = 0;
    for (const auto& [name, A] : complex_matrices())
        for (bool in_single : {false, true}) {
            const auto rounds = build(A, unmatched(), in_single);
            if (!rounds.made()) continue;
            ++made;
            const auto u = random_complex_vector(A.rows(), 1), v = random_complex_vector(A.rows(), 2);
            const auto Mv = applied(rounds, v), Mhu = applied(rounds, u, true);
            EXPECT_LE(std::abs(inner(u, Mv) - inner(Mhu, v)), 1e-12 * norm(u) * norm(Mv)) << name;
        }
    EXPECT_GE(made, 14);
}

TEST_F(GpuRoundsComplex, HermitianStaysHermitianAndDefinite)
{
    const auto   A = turned_hermitian(gallery::poisson2d(50, 41), 3);
    MlIluOptions options = with_small_end();
    options.definite = true;
    const auto rounds = build(A, options);
    ASSERT_TRUE(rounds.made()) << rounds.why_not();
    const auto u = random_complex_vector(A.rows(), 1), v = random_complex_vector(A.rows(), 2);
    const auto Mu = applied(rounds, u), Mv = applied(rounds, v);
    const auto uMu = inner(u, Mu);
    EXPECT_LE(std::abs(inner(u, Mv) - std::conj(inner(v, Mu))), 1e-11 * uMu.real());
    EXPECT_NEAR(uMu.imag(), 0, 1e-12 * uMu.real());
    EXPECT_GT(uMu.real(), 0);
    EXPECT_THROW(build(gallery::ac_mesh({.n = 40}), options), InvalidInput);
}

TEST_F(GpuRoundsComplex, SymmetricStaysSymmetric)
{
    for (const auto& A : {gallery::ac_mesh({.n = 40}), gallery::helmholtz2d_open({.n = 40, .kh = 0.2})}) {
        const auto rounds = build(A, with_small_end());
        ASSERT_TRUE(rounds.made()) << rounds.why_not();
        auto       u = random_complex_vector(A.rows(), 1), v = random_complex_vector(A.rows(), 2);
        const auto Mu = applied(rounds, u), Mv = applied(rounds, v);
        for (auto* x : {&u, &v})
            for (Complex& value : *x) value = std::conj(value);
        EXPECT_LE(std::abs(inner(u, Mv) - inner(v, Mu)), 1e-12 * norm(u) * norm(Mv));
    }
}

TEST_F(GpuRoundsComplex, BitsRepeat)
{
    for (const auto& A : {turned(with_hub(gallery::convdiff3d({.n = 12}), 2), 3), gallery::ac_mesh({.n = 40})}) {
        const auto r = random_complex_vector(A.rows(), 5);
        const auto first = build(A, with_small_end());
        ASSERT_TRUE(first.made()) << first.why_not();
        const auto expected = applied(first, r);
        for (int run = 1; run < 100; ++run)
            ASSERT_TRUE(same_bits(applied(build(A, with_small_end()), r), expected)) << run;
    }
}

/// Stored in single precision, and with vectors and scales of it.
TEST_F(GpuRoundsComplex, StoresInSinglePrecision)
{
    const auto A = turned(gallery::convdiff3d({.n = 14}), 2);
    const auto in_double = build(A, with_small_end()), in_single = build(A, with_small_end(), true);
    const auto r = random_complex_vector(A.rows(), 5);
    EXPECT_TRUE(in_single.in_single());
    EXPECT_LT(in_single.bytes(), in_double.bytes());
    const auto expected = applied(in_double, r);
    const auto difference = distance_of(applied(in_single, r), expected);
    EXPECT_LE(difference, 1e-5);
    EXPECT_GT(difference, 0);

    using Single = std::complex<float>;
    const Vector              row = sizes(A.rows(), 2, 1), col = sizes(A.rows(), 2, 2);
    const auto                M = in_single.preconditioner_in_single(gpu(), {row, col}, true);
    const auto                adjoint_of_A = applied(in_double, r, true);
    std::vector<Single>       scaled(r.size());
    const std::vector<Single> rounded(r.begin(), r.end());
    for (bool adjoint : {false, true}) {  // z = C⁻¹ M⁻¹ R⁻¹ r
        const Vector &by = adjoint ? col : row, &after = adjoint ? row : col;
        for (std::size_t i = 0; i < r.size(); ++i) scaled[i] = rounded[i] * static_cast<float>(by[i]);
        const auto    z = applied<Single>(*M, scaled, adjoint);
        ComplexVector found(z.size());
        for (std::size_t i = 0; i < z.size(); ++i) found[i] = Complex(z[i]) * after[i];
        EXPECT_LE(distance_of(found, adjoint ? adjoint_of_A : expected), 1e-4);
    }
}

TEST_F(GpuRoundsComplex, RefusesSinglePrecisionThatCannotHoldTheFactors)
{
    auto A = gallery::ac_mesh({.n = 40});
    auto options = unmatched();
    options.scaling = false;
    for (Complex& value : A.val()) value *= 1e-60;  // its inverse is too large
    const auto rounds = build(A, options, true);
    ASSERT_TRUE(rounds.made()) << rounds.why_not();
    EXPECT_FALSE(rounds.in_single());
    EXPECT_NE(rounds.remark().find("single precision"), std::string::npos) << rounds.remark();
}

TEST_F(GpuRoundsComplex, SolvesSeveralColumnsAsEachAlone)
{
    const auto A = turned(gallery::convdiff3d({.n = 12}), 2);
    const auto n = static_cast<std::size_t>(A.rows());
    for (bool in_single : {false, true}) {
        const auto M = build(A, with_small_end(), in_single).preconditioner(gpu());
        for (std::size_t columns : {0, 1, 7, 8, 9, 17}) {
            const auto            R = random_complex_vector(A.rows() * static_cast<Index>(columns), 4);
            const auto            dR = on_device(gpu(), R);
            DeviceBuffer<Complex> dZ(R.size());
            M->apply_columns(gpu(), dR, dZ);
            ComplexVector Z(R.size());
            download<Complex>(gpu(), dZ, Z);
            for (std::size_t c = 0; c < columns; ++c) {
                const auto column = [&](const ComplexVector& all) {
                    return ComplexVector(&all[c * n], &all[c * n] + n);
                };
                EXPECT_LE(distance_of(column(Z), applied<Complex>(*M, column(R))), 1e-13) << c << " of " << columns;
            }
        }
    }
}

TEST_F(GpuRoundsComplex, HasNoMForNumbersThatAreNotFinite)
{
    for (const Complex bad : {Complex(nan, 0), Complex(0, nan), Complex(HUGE_VAL, 0), Complex(1, HUGE_VAL)}) {
        auto A = gallery::ac_mesh({.n = 40});
        A.val()[A.row_ptr()[700]] = bad;
        const auto rounds = build(A, with_small_end());
        EXPECT_FALSE(rounds.made());
        EXPECT_NE(rounds.why_not(), "");
    }
}

TEST_F(GpuRoundsComplex, LeavesRowsThatAreTooWideToTheHost)
{
    const auto rounds = build(turned(with_hub(gallery::poisson2d(250, 250), 1), 2), unmatched());
    EXPECT_FALSE(rounds.made());
    EXPECT_NE(rounds.why_not().find("a row"), std::string::npos) << rounds.why_not();
}

}  // namespace
}  // namespace ilux::test
