#include "ilux/engine/machine/coming_matrix.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include "ilux/engine/gpu_system.hpp"
#include "ilux/gallery/gallery.hpp"
#include "ilux/tests/support/checks.hpp"

namespace ilux {
namespace {

Machine with_gpu()
{
    Machine machine;
    machine.gpu = std::make_unique<Gpu>();
    return machine;
}

TEST(ComingMatrix, GoesNowhereWithoutAGpu)
{
    const auto A = gallery::build("poisson2d:n=9");
    EXPECT_EQ(sent_ahead<double>(Machine(), A), nullptr);
}

TEST(GpuComingMatrix, StaysWhereTheMemoryIsLimited)
{
    ILUX_SKIP_WITHOUT_GPU();
    const auto A = gallery::build("poisson2d:n=9");
    Machine    limited = with_gpu();
    limited.memory_limit = Bytes{1 << 20};
    EXPECT_EQ(sent_ahead<double>(limited, A), nullptr);
}

TEST(GpuComingMatrix, IsTheMatrix)
{
    ILUX_SKIP_WITHOUT_GPU();
    const Machine machine = with_gpu();
    for (const char* name : {"poisson2d:n=1", "recirculating2d:n=33", "convdiff3d:n=20"}) {
        const auto A = gallery::build(name);
        auto       coming = sent_ahead<double>(machine, A);
        const auto there = coming->arrived();
        ASSERT_TRUE(there) << name;
        const auto same = [&]<class T>(DeviceSpan<const T> there_values, std::span<const T> here) {
            std::vector<T> values(here.size());
            download<T>(*machine.gpu, there_values, std::span(values));
            EXPECT_TRUE(std::ranges::equal(values, here)) << name;
        };
        same.operator()<Offset>(there->matrix().row_ptr(), A.row_ptr());
        same.operator()<Index>(there->matrix().col(), A.col());
        same.operator()<double>(there->matrix().val(), A.val());
    }
    const auto A = gallery::build("poisson2d:n=300");
    const auto unused = sent_ahead<double>(machine, A);  // its thread is waited for
}

TEST(GpuComingMatrix, ComesAgainWhereTheDeviceHadNoRoom)
{
    ILUX_SKIP_WITHOUT_GPU();
    Machine    machine = with_gpu();
    const auto A = gallery::build("poisson2d:n=33");
    detail::fail_device_allocations(1, 1);
    auto coming = sent_ahead<double>(machine, A);
    EXPECT_FALSE(coming->arrived());
    EXPECT_EQ(detail::fail_device_allocations(1, 1), 1);
    const KrylovOptions krylov{.max_steps = 500};
    GpuSystem<>         system(machine.cpu, *machine.gpu, A, Method::cg, krylov, {}, sent_ahead<double>(machine, A));
    system.put({});
    EXPECT_EQ(detail::fail_device_allocations(0, 0), 1);
    std::vector<double> x(A.rows());
    EXPECT_EQ(system.solve(std::vector<double>(x.size(), 1.), x, krylov).outcome, Outcome::converged);
}

}  // namespace
}  // namespace ilux
