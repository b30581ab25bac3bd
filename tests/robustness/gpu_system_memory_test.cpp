// Lack of device memory while a whole system is put on a GPU, by two threads, and solved.

#include <gtest/gtest.h>

#include <vector>

#include "ilux/gallery/gallery.hpp"
#include "ilux/engine/gpu_system.hpp"
#include "ilux/tests/robustness/lack_of_device_memory.hpp"

namespace ilux::test {
namespace {

TEST(GpuSystemMemory, PuttingAndSolvingEndCleanly)
{
    ILUX_SKIP_WITHOUT_GPU();
    Gpu        gpu;
    Cpu        cpu(2);
    const auto A = gallery::build("recirculating2d:n=20");
    for (const Method method : {Method::gmres, Method::bicg, Method::cg}) {
        PrecondFactors<> factors;
        if (method == Method::bicg) factors.ilu0 = std::make_unique<Ilu0<>>(A);
        else if (method == Method::gmres) factors.mlilu = MlIlu<>::build(cpu, A, for_gpu({}));
        const auto&         B = method == Method::cg ? gallery::build("poisson2d:n=20") : A;
        const KrylovOptions krylov{.max_steps = 5000};
        const Operation     operation{"system", static_cast<std::size_t>(A.rows()), [&](std::span<double> x) {
                                      GpuSystem system(cpu, gpu, B, method, krylov, {});
                                      system.put(factors);
                                      std::ranges::fill(x, 0.);
                                      return from_outcome(
                                              system.solve(std::vector<double>(x.size(), 1.), x, krylov).outcome);
                                  }};
        EXPECT_GT(expect_survives_lack_of_device_memory(operation, Then::either), 5);
    }
}

}  // namespace
}  // namespace ilux::test
