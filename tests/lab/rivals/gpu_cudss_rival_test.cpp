// cuDSS on a device, where it is built in; judged by the componentwise backward error of x.

#include <gtest/gtest.h>

#include "ilux/base/error.hpp"
#include "ilux/lab/rivals/cudss_rival.hpp"
#include "ilux/engine/report/accuracy.hpp"
#include "ilux/tests/lab/rivals/rival_systems.hpp"

namespace ilux {
namespace {

template <Scalar S>
void expect_cudss_solutions(Index n, int threads)
{
    const test::RivalSystems<S> system(n);
    Gpu                         gpu;
    DeviceBuffer<S>             first(system.first.val().size()), second(first.size()), b(system.b.size()), x(b.size());
    upload<S>(gpu, system.first.val(), first);
    upload<S>(gpu, system.second.val(), second);
    upload<S>(gpu, system.b, b);
    app::CudssRival<S> cudss(gpu, system.first, threads);
    const auto         expect_solution = [&](const CsrMatrix<S>& A) {
        std::vector<S> found(system.b.size());
        cudss.solve(b.data(), x.data());
        download<S>(gpu, x, found);
        EXPECT_LE(measure<S>(A, found, system.b).rowwise, 1e-10) << "n = " << n << ", host threads " << threads;
    };
    cudss.analyse(first.data());
    cudss.factor(first.data());
    expect_solution(system.first);
    for (int round = 0; round < 2; ++round) {
        cudss.refactor(second.data());
        expect_solution(system.second);
        cudss.refactor(first.data());
        expect_solution(system.first);
    }
    EXPECT_NE(cudss.facts().version, "");
}

TEST(GpuCudssRival, SolvesAndFollowsNewValuesOrSaysWhyItIsNotThere)
{
    ILUX_SKIP_WITHOUT_GPU();
    if (const std::string why = app::why_no_cudss(); !why.empty()) {
        Gpu        gpu;
        const auto A = CsrMatrix<double>::identity(1);
        EXPECT_THROW(app::CudssRival<double>(gpu, A, 1), InvalidInput);
        GTEST_SKIP()
        << why;
    }
    for (const Index n : {1, 31, 32, 33, 500})
        for (const int threads : {1, 4}) {
            expect_cudss_solutions<double>(n, threads);
            expect_cudss_solutions<std::complex<double>>(n, threads);
        }
}

}  // namespace
}  // namespace ilux
