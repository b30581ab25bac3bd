#pragma once
// What the tests of precond/gpu_rounds share: rounds set up and applied on a GPU, the host's for comparison, matrices.

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "ilux/base/matrix/spmv.hpp"
#include "ilux/gallery/gallery.hpp"
#include "ilux/krylov/krylov.hpp"
#include "ilux/precond/gpu_rounds/gpu_rounds.hpp"
#include "ilux/tests/precond/mlilu/level_checks.hpp"
#include "ilux/tests/support/entry_list.hpp"
#include "ilux/tests/support/gpu_test.hpp"

namespace ilux::test::precond {

class GpuRoundsTest : public test::GpuTest {
protected:
    GpuRounds<> build(const CsrMatrix<>& A, const MlIluOptions& options, bool in_single = false)
    {
        return GpuRounds<>::build(cpu, gpu(), DeviceCsr<>(gpu(), A), options, in_single);
    }
    Vector applied(Preconditioner<Gpu>& M, const Vector& r, bool transposed = false)
    {
        DeviceBuffer<double> dr(r.size()), dz(r.size());
        upload<double>(gpu(), r, dr);
        upload<double>(gpu(), Vector(r.size(), std::nan("")), dz);
        if (transposed) M.apply_adjoint(gpu(), dr, dz);
        else M.apply(gpu(), dr, dz);
        Vector z(r.size());
        download<double>(gpu(), dz, z);
        return z;
    }
    Vector applied(const GpuRounds<>& rounds, const Vector& r) { return applied(*rounds.preconditioner(gpu()), r); }
    Vector applied_transposed(const GpuRounds<>& rounds, const Vector& r)
    {
        return applied(*rounds.preconditioner(gpu(), true), r, true);
    }
    GpuRounds<> rebuilt(const CsrMatrix<>& A, const GpuRounds<>& former, const MlIluOptions& options,
                        bool in_single = false)
    {
        return GpuRounds<>::rebuild(cpu, gpu(), DeviceCsr<>(gpu(), A), options, in_single, former.plan());
    }
    Index steps(const CsrMatrix<>& A, const GpuRounds<>& rounds, const Vector& b)
    {
        const GpuMatrixOperator op(gpu(), A);
        const auto              M = rounds.preconditioner(gpu());
        const KrylovOptions     krylov{.rtol = 1e-8, .restart = 30};
        GmresWorkspace<Gpu>     ws(A.rows(), krylov);
        DeviceBuffer<double>    db(b.size()), dx(b.size());
        upload<double>(gpu(), b, db);
        const auto report = gmres<Gpu>(gpu(), op, *M, db, dx, ws, krylov);
        EXPECT_EQ(report.outcome, Outcome::converged);
        return report.steps;
    }
    Cpu cpu;
};

inline Index steps_on_host(const CsrMatrix<>& A, const MlIlu<>& mlilu, const Vector& b)
{
    Cpu                   be;
    const MatrixOperator  op(A);
    MlIluPreconditioner<> M(mlilu);
    const KrylovOptions   krylov{.rtol = 1e-8, .restart = 30};
    GmresWorkspace<Cpu>   ws(A.rows(), krylov);
    Vector                x(b.size());
    const auto            report = gmres<Cpu>(be, op, M, b, x, ws, krylov);
    EXPECT_EQ(report.outcome, Outcome::converged);
    return report.steps;
}

inline MlIluOptions with_small_end()
{
    MlIluOptions options;
    options.setup = MlIluSetup::rounds;
    options.dense_order = 20;
    return options;
}

/// A mesh with a row and a column of n / every entries.
inline CsrMatrix<> with_hub(const CsrMatrix<>& mesh, Index every)
{
    EntryList   entries;
    const Index n = mesh.rows(), hub = n / 2;
    for (Index i = 0; i < n; ++i)
        for (Offset p = mesh.row_ptr()[i]; p < mesh.row_ptr()[i + 1]; ++p)
            entries.add(i, mesh.col()[p], mesh.val()[p] + (mesh.col()[p] == i ? 1 : 0));
    for (Index j = 0; j < n; j += every)
        if (j != hub) entries.add(hub, j, -0.25 / every), entries.add(j, hub, -0.5);
    return entries.matrix(n, n);
}

inline std::vector<Named> matrices()
{
    return {{"poisson2d", gallery::poisson2d(40, 37)},
            {"convdiff3d", gallery::convdiff3d({.n = 14})},
            {"recirculating2d", gallery::recirculating2d({.n = 50})},
            {"dominant", random_dominant(2000, 5, 7)},
            {"hub", with_hub(gallery::poisson2d(60, 60), 3)}};
}

/// Every allocation of make() on the device fails once, and what it held then is given back. @return how many there
/// were
template <class Make>
int refusals_survived(const Make& make)
{
    const auto before = device_use().bytes;
    int        refusals = 0;
    for (bool refused = true; refused;) {
        detail::fail_device_allocations(refusals + 1, 1);
        try {
            make();
        } catch (const OutOfMemory&) {
        }
        refused = detail::fail_device_allocations(0, 0) > 0;
        refusals += refused;
        EXPECT_EQ(device_use().bytes, before);
    }
    return refusals;
}

/// Levels, and what they store.
inline void expect_twins(const MlIluReport& made, const MlIluReport& expected, const std::string& where)
{
    ASSERT_EQ(made.levels.size(), expected.levels.size()) << where;
    for (std::size_t l = 0; l < made.levels.size(); ++l) {
        EXPECT_EQ(made.levels[l].accepted, expected.levels[l].accepted) << where << ", level " << l + 1;
        EXPECT_EQ(made.levels[l].rounds, expected.levels[l].rounds) << where << ", level " << l + 1;
        EXPECT_NEAR(made.levels[l].inverse_L, expected.levels[l].inverse_L, 1e-6) << where;
        EXPECT_NEAR(made.levels[l].inverse_U, expected.levels[l].inverse_U, 1e-6) << where;
    }
    EXPECT_EQ(made.stored, expected.stored) << where;
}

/// max |x_i − y_i| / max |y_i|
template <class T>
double distance_of(const std::vector<T>& x, const std::vector<T>& y)
{
    double largest = 0, size = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        const double difference = std::abs(x[i] - y[i]);
        largest = difference <= largest ? largest : difference;  // NaN counts
        size = std::max(size, std::abs(y[i]));
    }
    return largest / size;
}

}  // namespace ilux::test::precond
