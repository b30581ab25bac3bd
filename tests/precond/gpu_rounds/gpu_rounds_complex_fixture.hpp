#pragma once
// What the tests of complex rounds on a GPU share.

#include <string>
#include <vector>

#include "ilux/gallery/circuit.hpp"
#include "ilux/gallery/waves.hpp"
#include "ilux/tests/precond/gpu_rounds/gpu_rounds_fixture.hpp"
#include "ilux/tests/support/complex_on_device.hpp"

namespace ilux::test::precond {

using ComplexMatrix = CsrMatrix<Complex>;
using ComplexRounds = GpuRounds<Complex>;

class GpuRoundsComplex : public test::GpuTest {
protected:
    ComplexRounds build(const ComplexMatrix& A, const MlIluOptions& options, bool in_single = false)
    {
        return ComplexRounds::build(cpu, gpu(), DeviceCsr<Complex>(gpu(), A), options, in_single);
    }
    ComplexRounds rebuilt(const ComplexMatrix& A, const ComplexRounds& former, const MlIluOptions& options,
                          bool in_single = false)
    {
        return ComplexRounds::rebuild(cpu, gpu(), DeviceCsr<Complex>(gpu(), A), options, in_single, former.plan());
    }
    template <Scalar S>
    std::vector<S> applied(Preconditioner<Gpu, S>& M, const std::vector<S>& r, bool adjoint = false)
    {
        DeviceBuffer<S> dr(r.size()), dz(r.size());
        upload<S>(gpu(), r, dr);
        upload<S>(gpu(), std::vector<S>(r.size(), S(std::nan(""))), dz);
        if (adjoint) M.apply_adjoint(gpu(), dr, dz);
        else M.apply(gpu(), dr, dz);
        std::vector<S> z(r.size());
        download<S>(gpu(), dz, z);
        return z;
    }
    ComplexVector applied(const ComplexRounds& rounds, const ComplexVector& r, bool adjoint = false)
    {
        return applied<Complex>(*rounds.preconditioner(gpu(), adjoint), r, adjoint);
    }
    ComplexVector product(const ComplexMatrix& A, const ComplexVector& x)
    {
        ComplexVector b(x.size());
        spmv(cpu, Complex(1), A, x, Complex(0), b);
        return b;
    }
    Cpu cpu;
};

inline MlIluOptions unmatched(Compensation compensation = Compensation::automatic)
{
    MlIluOptions options = with_small_end();
    options.matching = MatchingChoice::off;
    options.compensation = compensation;
    return options;
}

struct NamedComplex {
    std::string   name;
    ComplexMatrix A;
};

/// With larger diagonal entries: where couplings of one size fill a budget exactly, the last bit of |a| would decide.
inline ComplexMatrix without_ties(ComplexMatrix A)
{
    for (Index i = 0; i < A.rows(); ++i)
        for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p)
            if (A.col()[p] == i) A.val()[p] *= 1.01;
    return A;
}

/// Symmetric, Hermitian and neither.
inline std::vector<NamedComplex> complex_matrices()
{
    return {{"helmholtz2d_open", gallery::helmholtz2d_open({.n = 40, .kh = 0.2})},
            {"helmholtz2d_open, shift", gallery::helmholtz2d_open({.n = 37, .shift = 0.5})},
            {"maxwell3d", gallery::maxwell3d({.n = 8})},
            {"ac_mesh", gallery::ac_mesh({.n = 40})},
            {"ac_mesh, C dominates", gallery::ac_mesh({.n = 40, .f = 1e10})},
            {"Hermitian", turned_hermitian(gallery::poisson2d(40, 37), 3)},
            {"convdiff3d", turned(gallery::convdiff3d({.n = 14}), 1)},
            {"dominant", turned(random_dominant(2000, 5, 7), 2)},
            {"hub", without_ties(turned(with_hub(gallery::poisson2d(60, 60), 3), 4))}};
}

inline Complex inner(const ComplexVector& x, const ComplexVector& y)
{
    Complex sum = 0;
    for (std::size_t i = 0; i < x.size(); ++i) sum += std::conj(x[i]) * y[i];
    return sum;
}
inline double norm(const ComplexVector& x) { return std::sqrt(inner(x, x).real()); }

inline bool same_bits(const ComplexVector& x, const ComplexVector& y)
{
    return test::identical(std::span<const double>(real_form(x)), std::span<const double>(real_form(y)));
}

}  // namespace ilux::test::precond
