// M of a symmetric or Hermitian A stored by half is the M that is stored whole.

#include <gtest/gtest.h>

#include "ilux/base/matrix/single.hpp"
#include "ilux/gallery/gallery.hpp"
#include "ilux/precond/gpu/apply_systems.hpp"
#include "ilux/precond/mlilu/mlilu_levels.hpp"
#include "ilux/tests/support/complex_on_device.hpp"
#include "ilux/tests/support/checks.hpp"

namespace ilux::test {
namespace {

/// Crout's sweep with both kinds of blocks, over one level and many, and rounds.
std::vector<MlIluOptions> ways_to_halve()
{
    std::vector<MlIluOptions> all;
    for (OffDiagonal off_diagonal : {OffDiagonal::keep, OffDiagonal::save})
        for (double bound : {5., 1.3})
            all.push_back({.setup = MlIluSetup::crout, .inverse_bound = bound, .off_diagonal = off_diagonal});
    all.push_back({.setup = MlIluSetup::rounds});
    for (auto& options : all) options.matching = MatchingChoice::off;
    return all;
}

template <Scalar S>
std::vector<S> image_of(MlIluPreconditioner<S> M, const std::vector<S>& r, bool adjoint)
{
    Cpu            cpu(2);
    std::vector<S> z(r.size());
    if (adjoint) M.apply_adjoint(cpu, r, z);
    else M.apply(cpu, r, z);
    return z;
}

template <Scalar S>
std::vector<S> some_vector(Index n)
{
    if constexpr (is_complex<S>) return random_complex_vector(n, 3);
    else return random_vector(n, 3);
}

template <Scalar S>
double distance(std::span<const S> x, std::span<const S> y)
{
    double most = 0, scale = 1e-300;
    for (std::size_t i = 0; i < x.size(); ++i) {
        most = std::max(most, static_cast<double>(std::abs(x[i] - y[i])));
        scale = std::max(scale, static_cast<double>(std::abs(y[i])));
    }
    return most / scale;
}

template <Scalar S>
void expect_the_same_m(const CsrMatrix<S>& A, MlIluOptions options, const std::string& name)
{
    Cpu cpu(2);
    options.half = false;
    const auto whole = MlIlu<S>::build(cpu, A, options);
    options.half = true;
    const auto half = MlIlu<S>::build(cpu, A, options);
    ASSERT_EQ(half.factors().levels.size(), whole.factors().levels.size());
    for (std::size_t l = 0; l < half.factors().levels.size(); ++l) {
        const auto &less = half.factors().levels[l], &all = whole.factors().levels[l];
        EXPECT_NE(less.half, Mirror::none);
        EXPECT_EQ(less.L_B.nnz() + less.lower.nnz(), 0);
        EXPECT_EQ(less.U_B.nnz(), all.U_B.nnz());
        EXPECT_EQ(lower_factor(less).nnz(), all.L_B.nnz());
        EXPECT_EQ(half.report().levels[l].nnz_L, all.L_B.nnz());
        EXPECT_EQ(half.report().levels[l].nnz_G, all.lower.nnz());
        EXPECT_EQ(half.report().levels[l].depth_L, whole.report().levels[l].depth_L);
    }
    const auto r = some_vector<S>(A.rows());
    for (bool adjoint : {false, true}) {
        const auto expected = image_of<S>(MlIluPreconditioner<S>(whole), r, adjoint);
        EXPECT_LE(distance<S>(image_of<S>(MlIluPreconditioner<S>(half), r, adjoint), expected), 1e-9)
            << name << ' ' << adjoint;
        const auto     systems = apply_systems<S>(cpu, half.factors(), adjoint);  // what a GPU is given
        std::vector<S> z(r.size()), work(static_cast<std::size_t>(systems.work));
        solve_serial<S>(systems, r, z, work);
        EXPECT_LE(distance<S>(z, expected), 1e-9) << name << ' ' << adjoint;
    }
    EXPECT_EQ(apply_size(half.factors()).entries, apply_size(whole.factors()).entries);
}

TEST(HalfOfM, IsTheWholeOfRealValues)
{
    std::vector<CsrMatrix<>> all{gallery::build("poisson2d:n=30"), gallery::build("stokes2d:n=10"),
                                 gallery::build("elasticity2d:n=10")};
    for (Index n : {0, 1, 2, 31, 32, 33}) all.push_back(random_spd(n, 4, n));
    for (const auto& A : all)
        for (const auto& options : ways_to_halve()) expect_the_same_m(A, options, "order " + std::to_string(A.rows()));
}

TEST(HalfOfM, IsTheWholeOfComplexSymmetricAndHermitianValues)
{
    for (const char* spec : {"helmholtz2d_open:n=30", "ac_mesh:n=20", "maxwell3d:n=5"})
        for (const auto& options : ways_to_halve())
            expect_the_same_m(std::get<CsrMatrix<Complex>>(gallery::build_any(spec)), options, spec);
    for (const auto& options : ways_to_halve())
        expect_the_same_m(turned_hermitian(gallery::build("poisson2d:n=30"), 7), options, "Hermitian");
}

TEST(HalfOfM, TakesHalfTheBytes)
{
    Cpu        cpu(1);
    const auto A = gallery::build("poisson3d:n=16");
    for (auto options : ways_to_halve()) {
        const auto whole = MlIlu<>::build(cpu, A, options).report();
        options.half = true;
        const auto half = MlIlu<>::build(cpu, A, options).report();
        EXPECT_LE(static_cast<double>(half.bytes), 0.7 * static_cast<double>(whole.bytes));
        EXPECT_LE(static_cast<double>(half.stored), 0.65 * static_cast<double>(whole.stored));
    }
}

TEST(HalfOfM, LeavesRoomForMoreWithinALimit)
{
    Cpu          cpu(1);
    const auto   A = gallery::build("poisson3d:n=16");
    MlIluOptions options{.drop_tol = 1e-4, .setup = MlIluSetup::crout};
    options.memory_limit = Bytes{MlIlu<>::build(cpu, A, options).report().bytes / 2};
    const auto whole = MlIlu<>::build(cpu, A, options).report();
    options.half = true;
    const auto half = MlIlu<>::build(cpu, A, options).report();
    EXPECT_TRUE(whole.limited);
    EXPECT_LE(half.bytes, options.memory_limit.value);
    EXPECT_GE(half.levels[0].nnz_U, whole.levels[0].nnz_U * 5 / 4);
}

TEST(HalfOfM, InSinglePrecisionIsTheWholeInIt)
{
    Cpu          cpu(1);
    const auto   A = std::get<CsrMatrix<Complex>>(gallery::build_any("ac_mesh:n=20"));
    MlIluOptions options{.setup = MlIluSetup::crout, .matching = MatchingChoice::off};
    const auto   whole = MlIlu<Complex>::build(cpu, A, options).in_single({});
    options.half = true;
    const auto half = MlIlu<Complex>::build(cpu, A, options).in_single({});
    EXPECT_LT(half.report().bytes, whole.report().bytes);
    std::vector<std::complex<float>> r, z(A.rows()), expected(A.rows());
    for (const Complex x : random_complex_vector(A.rows(), 3)) r.emplace_back(x);
    for (bool adjoint : {false, true}) {
        MlIluPreconditioner<std::complex<float>> M(half), N(whole);
        if (adjoint) M.apply_adjoint(cpu, r, z), N.apply_adjoint(cpu, r, expected);
        else M.apply(cpu, r, z), N.apply(cpu, r, expected);
        EXPECT_LE(distance<std::complex<float>>(z, expected), 1e-4);
    }
}

TEST(HalfOfM, IsRefusedInWordsWhereLIsNoImage)
{
    Cpu        cpu(1);
    const auto expect = [&](const char* spec, const MlIluOptions& options, std::string_view why) {
        const auto M = MlIlu<>::build(cpu, gallery::build(spec), options);
        EXPECT_GT(M.factors().levels[0].L_B.nnz(), 0);
        EXPECT_TRUE(std::ranges::any_of(M.report().decisions, [&](const std::string& said) {
            return said.find("precond.half has no effect") != std::string::npos && said.find(why) != std::string::npos;
        })) << spec;
    };
    expect("convdiff2d:n=20", {.half = true}, "not symmetric");
    expect("poisson2d:n=20", {.setup = MlIluSetup::crout, .matching = MatchingChoice::on, .half = true}, "matching");
}

}  // namespace
}  // namespace ilux::test
