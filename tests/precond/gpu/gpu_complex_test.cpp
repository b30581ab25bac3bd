// Preconditioners of complex systems on a device: M⁻¹ and M⁻ᴴ are the host's.

#include <gtest/gtest.h>

#include <limits>

#include "ilux/gallery/gallery.hpp"
#include "ilux/precond/gpu/gpu_ilu0.hpp"
#include "ilux/precond/gpu/gpu_jacobi.hpp"
#include "ilux/precond/gpu/gpu_mlilu.hpp"
#include "ilux/tests/support/complex_on_device.hpp"
#include "ilux/tests/support/gpu_test.hpp"

namespace ilux::test {
namespace {

using Single = std::complex<float>;

std::vector<CsrMatrix<Complex>> matrices()
{
    return {turned(gallery::convdiff3d({.n = 14}), 1), turned(gallery::recirculating2d({.n = 60}), 2),
            turned(gallery::stokes2d({.n = 8}), 3)};
}

std::vector<MlIluOptions> varied_options()
{
    return {{.inverse_bound = 3, .off_diagonal = OffDiagonal::keep},
            {.inverse_bound = 3, .off_diagonal = OffDiagonal::save},
            {.setup = MlIluSetup::rounds}};
}

ComplexVector applied(Preconditioner<Cpu, Complex>& M, const ComplexVector& r, bool adjoint)
{
    Cpu           cpu(2);
    ComplexVector z(r.size());
    if (adjoint) M.apply_adjoint(cpu, r, z);
    else M.apply(cpu, r, z);
    return z;
}

/// The systems that a device is given, solved one after another on the host: no device is needed.
TEST(ComplexApplySystems, AreMAndItsAdjoint)
{
    Cpu cpu(2);
    for (const auto& A : matrices())
        for (const auto& options : varied_options()) {
            const auto                   mlilu = MlIlu<Complex>::build(cpu, A, options);
            MlIluPreconditioner<Complex> M(mlilu);
            const auto                   r = random_complex_vector(A.rows(), 5);
            for (bool adjoint : {false, true}) {
                const auto    systems = apply_systems<Complex>(cpu, mlilu.factors(), adjoint);
                ComplexVector z(r.size()), work(static_cast<std::size_t>(systems.work));
                solve_serial<Complex>(systems, r, z, work);
                EXPECT_LE(relative_difference(z, applied(M, r, adjoint)), 1e-10) << adjoint;
            }
        }
}

class GpuComplexPrecond : public GpuTest {
protected:
    ComplexVector applied_there(Preconditioner<Gpu, Complex>& M, const ComplexVector& r, bool adjoint)
    {
        const auto dr = on_device(gpu(), r);
        auto       dz = on_device(gpu(), ComplexVector(r.size(), {nan, nan}));
        if (adjoint) M.apply_adjoint(gpu(), dr, dz);
        else M.apply(gpu(), dr, dz);
        return on_host(gpu(), dz);
    }
    Cpu cpu;
};

TEST_F(GpuComplexPrecond, MlIluAppliesWhatTheCpuApplies)
{
    for (const auto& A : matrices())
        for (const auto& options : varied_options()) {
            const auto                      mlilu = MlIlu<Complex>::build(cpu, A, options);
            MlIluPreconditioner<Complex>    here(mlilu);
            GpuMlIluPreconditioner<Complex> there(gpu(), gpu_mlilu<Complex>(cpu, gpu(), mlilu, {.adjoinable = true}));
            GpuMlIluPreconditioner<Single>  single(gpu(), gpu_mlilu<Single>(cpu, gpu(), mlilu, {.adjoinable = true}));
            const auto                      r = random_complex_vector(A.rows(), 5);
            for (bool adjoint : {false, true}) {
                const auto z = applied(here, r, adjoint);
                EXPECT_LE(relative_difference(applied_there(there, r, adjoint), z), 1e-10) << adjoint;
                EXPECT_LE(relative_difference(applied_there(single, r, adjoint), z), 1e-2) << adjoint;
            }
        }
}

TEST_F(GpuComplexPrecond, Ilu0AndJacobiApplyWhatTheCpuApplies)
{
    const auto                     A = turned(gallery::convdiff3d({.n = 14}), 1);
    Ilu0<Complex>                  ilu0(A);
    GpuIlu0Preconditioner<Complex> there(gpu(), gpu_ilu0<Complex>(cpu, gpu(), ilu0, {.adjoinable = true}));
    Jacobi<Complex>                jacobi(A);
    GpuJacobi<Complex>             jacobi_there(gpu(), jacobi);
    const auto                     r = random_complex_vector(A.rows(), 5);
    for (bool adjoint : {false, true}) {
        EXPECT_LE(relative_difference(applied_there(there, r, adjoint), applied(ilu0, r, adjoint)), 1e-11);
        EXPECT_LE(relative_difference(applied_there(jacobi_there, r, adjoint), applied(jacobi, r, adjoint)), 1e-15);
    }
}

TEST_F(GpuComplexPrecond, RepeatsBitForBit)
{
    const auto                      A = turned(gallery::recirculating2d({.n = 60}), 2);
    const auto                      mlilu = MlIlu<Complex>::build(cpu, A, for_gpu({}));
    GpuMlIluPreconditioner<Complex> M(gpu(), gpu_mlilu<Complex>(cpu, gpu(), mlilu));
    const auto                      r = random_complex_vector(A.rows(), 5);
    const auto                      first = applied_there(M, r, false);
    for (int run = 0; run < 100; ++run) ASSERT_TRUE(identical(applied_there(M, r, false), first)) << run;
}

TEST_F(GpuComplexPrecond, ValuesTooLargeForFloatAreRefused)
{
    auto A = turned(gallery::poisson2d({.n = 5}), 1);
    for (Complex& a : A.val()) a *= 1e60;
    EXPECT_THROW(gpu_ilu0<Single>(cpu, gpu(), Ilu0<Complex>(A)), InvalidInput);
}

}  // namespace
}  // namespace ilux::test
