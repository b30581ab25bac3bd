// The calls of ilux.h with arrays of a GPU.

#include <gtest/gtest.h>

#include <cstring>

#include "ilux/base/gpu/device_copy.hpp"
#include "ilux/base/gpu/gpu.hpp"
#include "ilux/base/gpu/host_transfers.hpp"
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

/// The arrays of a system with 32-bit row pointers, on the device.
template <class S>
struct SystemThere {
    SystemThere(Gpu& gpu, const CSystem<S>& A)
        : n(A.n),
          ptr(on_device<std::int32_t>(gpu, std::vector<std::int32_t>(A.ptr.begin(), A.ptr.end()))),
          col(on_device<std::int32_t>(gpu, A.col)),
          val(on_device<S>(gpu, A.val))
    {}
    ilux_csr csr() const
    {
        ilux_csr A{};
        A.n = n;
        A.row_ptr = ptr.data();
        A.row_ptr_bits = 32;
        A.col = col.data();
        A.values = val.data();
        A.memory = ILUX_DEVICE;
        return A;
    }
    std::int64_t               n;
    DeviceBuffer<std::int32_t> ptr, col;
    DeviceBuffer<S>            val;
};

/// A⁻¹ as an operator, by LU: then x = A b.
TYPED_TEST(GpuCSolve, AnOperatorOfTheDevice)
{
    using S = TypeParam;
    Gpu                  gpu;
    auto                 A = line<S>(200);
    const auto           inverse = c_solver(values_of<S>, {{"device", "gpu"}, {"method", "lu"}});
    const auto           by_host = c_solver(values_of<S>, {{"device", "cpu"}, {"method", "lu"}});
    const auto           solver = c_solver(values_of<S>, {{"device", "gpu"}, {"krylov.restart", "100"}});
    const SystemThere<S> there(gpu, A);
    const ilux_csr       csr = there.csr(), here = A.csr();
    ASSERT_EQ(ilux_analyse(inverse.get(), &csr, 1, 1), ILUX_OK) << ilux_message(inverse.get());
    ASSERT_EQ(ilux_factor(inverse.get(), nullptr), ILUX_OK);
    ASSERT_EQ(ilux_analyse(by_host.get(), &here, 1, 1), ILUX_OK);
    ASSERT_EQ(ilux_factor(by_host.get(), nullptr), ILUX_OK);
    const auto b = right_hand_side<S>(200);
    const auto B = on_device<S>(gpu, b);
    auto       X = on_device<S>(gpu, std::vector<S>(200));
    ASSERT_EQ(ilux_solve_operator(solver.get(), 200, ilux_apply_preconditioner, inverse.get(), nullptr, nullptr,
                                  B.data(), X.data()),
              ILUX_OK)
        << ilux_message(solver.get());
    std::vector<S> back(200);
    const auto     x = on_host<S>(gpu, X);
    ASSERT_EQ(ilux_solve(by_host.get(), ILUX_PLAIN, 1, x.data(), 200, back.data(), 200), ILUX_OK);
    for (std::size_t i = 0; i < b.size(); ++i) EXPECT_NEAR(std::abs(back[i] - b[i]), 0, 1e-6);
    const auto with = [&](ilux_solver* M) {
        return ilux_solve_operator(solver.get(), 200, ilux_apply_preconditioner, inverse.get(),
                                   ilux_apply_preconditioner, M, B.data(), X.data());
    };
    EXPECT_EQ(with(by_host.get()), ILUX_BAD_INPUT);
    EXPECT_NE(std::strstr(ilux_message(solver.get()), "of a GPU"), nullptr) << ilux_message(solver.get());
}

TYPED_TEST(GpuCSolve, ArraysOfTheDevice)
{
    using S = TypeParam;
    Gpu gpu;
    for (const bool shuffled : {false, true})
        for (const char* device : {"cpu", "gpu"})
            for (const char* method : {"lu", "gmres"}) {
                auto                 A = line<S>(200, shuffled);
                const auto           solver = c_solver(values_of<S>, {{"device", device}, {"method", method}});
                const SystemThere<S> there(gpu, A);
                const ilux_csr       csr = there.csr();
                ASSERT_EQ(ilux_analyse(solver.get(), &csr, 1, 1), ILUX_OK) << ilux_message(solver.get());
                ASSERT_EQ(ilux_factor(solver.get(), nullptr), ILUX_OK);
                ASSERT_EQ(ilux_refactor(solver.get(), there.val.data()), ILUX_OK) << ilux_message(solver.get());
                const auto b = right_hand_side<S>(400);
                auto       X = on_device<S>(gpu, std::vector<S>(400));
                const auto B = on_device<S>(gpu, b);
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

TYPED_TEST(GpuCSolve, VectorsStayOnTheDevice)
{
    using S = TypeParam;
    constexpr std::size_t n = 2000, ld = 2003, columns = 3, few_bytes = 4096;
    Gpu                   gpu;
    auto                  A = line<S>(n, false);
    const SystemThere<S>  arrays(gpu, A);
    const auto            b = right_hand_side<S>(ld * columns);
    const auto            B = on_device<S>(gpu, b);
    for (const char* method : {"lu", "gmres"}) {
        const auto     there = c_solver(values_of<S>, {{"device", "gpu"}, {"method", method}});
        const auto     host = c_solver(values_of<S>, {{"device", "gpu"}, {"method", method}});
        const ilux_csr csr = A.csr(), csr_there = arrays.csr();
        ASSERT_EQ(ilux_analyse(there.get(), &csr_there, 3, 1), ILUX_OK) << ilux_message(there.get());
        ASSERT_EQ(ilux_analyse(host.get(), &csr, 3, 1), ILUX_OK);
        ASSERT_EQ(ilux_factor(there.get(), nullptr), ILUX_OK);
        ASSERT_EQ(ilux_factor(host.get(), nullptr), ILUX_OK);
        ASSERT_EQ(ilux_refactor(there.get(), arrays.val.data()), ILUX_OK);
        ASSERT_EQ(ilux_refactor(host.get(), A.val.data()), ILUX_OK);
        std::vector<S> x(ld * columns, S(7)), seen(ld * columns);
        auto           X = on_device<S>(gpu, x);
        ASSERT_EQ(ilux_solve(there.get(), ILUX_PLAIN, 1, B.data(), ld, X.data(), ld),
                  ILUX_OK);  // sets up what is measured with
        const auto before = host_transfers();
        ASSERT_EQ(ilux_solve(there.get(), ILUX_PLAIN, columns, B.data(), ld, X.data(), ld), ILUX_OK);
        EXPECT_LE(host_transfers().total() - before.total(), few_bytes) << method;
        ASSERT_EQ(ilux_solve(host.get(), ILUX_PLAIN, columns, b.data(), ld, x.data(), ld), ILUX_OK);
        download<S>(gpu, X, std::span<S>(seen));
        EXPECT_TRUE(seen == x) << method;  // the numbers between the columns, too
        ASSERT_EQ(ilux_precondition(there.get(), ILUX_PLAIN, columns, B.data(), ld, X.data(), ld), ILUX_OK);
        ASSERT_EQ(ilux_precondition(host.get(), ILUX_PLAIN, columns, b.data(), ld, x.data(), ld), ILUX_OK);
        download<S>(gpu, X, std::span<S>(seen));
        EXPECT_TRUE(seen == x) << method;
        EXPECT_EQ(ilux_solve(there.get(), ILUX_PLAIN, 1, b.data(), ld, X.data(), ld),
                  ILUX_BAD_INPUT);  // b is of the host
        ilux_result result{};
        result.size = sizeof result;
        ASSERT_EQ(ilux_solve(there.get(), ILUX_PLAIN, columns, B.data(), ld, X.data(), ld), ILUX_OK);
        ASSERT_EQ(ilux_result_of(there.get(), columns - 1, &result), ILUX_OK);
        EXPECT_LE(result.relative_residual, 1e-8);
        EXPECT_NE(ilux_report(there.get(), 0), nullptr);
    }
}

TYPED_TEST(GpuCSolve, ComplexNumbersMayStandOnMultiplesOf8Bytes)
{
    using S = TypeParam;
    constexpr std::size_t n = 300, parts = sizeof(S) / sizeof(double);
    Gpu                   gpu;
    auto                  A = line<S>(n, false);
    const SystemThere<S>  arrays(gpu, A);
    const auto            b = right_hand_side<S>(n);
    DeviceBuffer<double>  odd_b(parts * n + 1), odd_x(parts * n + 1);
    const auto            after_one = [&](DeviceBuffer<double>& of) {
        return DeviceSpan<S>(reinterpret_cast<S*>(of.data() + 1), n);
    };
    upload<S>(gpu, b, after_one(odd_b));
    for (const char* method : {"lu", "gmres"}) {
        const auto     solver = c_solver(values_of<S>, {{"device", "gpu"}, {"method", method}});
        const ilux_csr csr = arrays.csr();
        ASSERT_EQ(ilux_analyse(solver.get(), &csr, 1, 1), ILUX_OK) << ilux_message(solver.get());
        ASSERT_EQ(ilux_factor(solver.get(), nullptr), ILUX_OK);
        ASSERT_EQ(ilux_solve(solver.get(), ILUX_PLAIN, 1, after_one(odd_b).data(), n, after_one(odd_x).data(), n),
                  ILUX_OK)
            << ilux_message(solver.get());
        std::vector<S> x(n);
        download<S>(gpu, after_one(odd_x), std::span<S>(x));
        EXPECT_LE(c_residual<S>(A, ILUX_PLAIN, std::span<const S>(x), std::span<const S>(b)), 1.01e-8);
    }
}

}  // namespace
}  // namespace ilux
