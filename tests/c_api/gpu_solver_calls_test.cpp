// The calls of ilux.h with arrays of a GPU.

#include <gtest/gtest.h>

#include "ilux/base/gpu/gpu.hpp"
#include "ilux/tests/c_api/c_system.hpp"
#include "ilux/tests/support/checks.hpp"

namespace ilux {
namespace {

using namespace ilux::test;

template <class S>
class GpuCSolve : public testing::Test {
protected:
    void SetUp() override { ILUX_SKIP_WITHOUT_GPU(); }
};
using GpuValues = testing::Types<double, std::complex<double>>;
TYPED_TEST_SUITE(GpuCSolve, GpuValues);

template <class T>
DeviceBuffer<T> on_gpu(Gpu& gpu, const std::vector<T>& host)
{
    DeviceBuffer<T> device(host.size());
    upload<T>(gpu, host, device);
    return device;
}

TYPED_TEST(GpuCSolve, ArraysOfTheDevice)
{
    using S = TypeParam;
    Gpu gpu;
    for (const bool shuffled : {false, true})
        for (const char* device : {"cpu", "gpu"})
            for (const char* method : {"lu", "gmres"}) {
                auto       A = line<S>(200, shuffled);
                const auto solver = c_solver(values_of<S>, {{"device", device}, {"method", method}});
                ilux_csr   csr = A.csr(32);
                const auto ptr = on_gpu(gpu, A.ptr32), col = on_gpu(gpu, A.col);
                const auto val = on_gpu(gpu, A.val);
                csr.row_ptr = ptr.data();
                csr.col = col.data();
                csr.values = val.data();
                csr.memory = ILUX_DEVICE;
                ASSERT_EQ(ilux_analyse(solver.get(), &csr, 1), ILUX_OK) << ilux_message(solver.get());
                ASSERT_EQ(ilux_factor(solver.get(), nullptr), ILUX_OK);
                ASSERT_EQ(ilux_refactor(solver.get(), val.data()), ILUX_OK) << ilux_message(solver.get());
                const auto b = right_hand_side<S>(400);
                auto       X = on_gpu(gpu, std::vector<S>(400));
                const auto B = on_gpu(gpu, b);
                ASSERT_EQ(ilux_solve(solver.get(), ILUX_TRANSPOSED, 2, B.data(), 200, X.data(), 200), ILUX_OK)
                    << ilux_message(solver.get());
                std::vector<S> x(400);
                download<S>(gpu, X, std::span<S>(x));
                for (std::size_t k = 0; k < 2; ++k)
                    EXPECT_LE(c_residual<S>(A, ILUX_TRANSPOSED, std::span(x).subspan(200 * k, 200),
                                            std::span(b).subspan(200 * k, 200)),
                              1.01e-8);
            }
}

}  // namespace
}  // namespace ilux
