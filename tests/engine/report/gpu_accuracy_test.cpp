#include "ilux/engine/report/gpu_accuracy.hpp"

#include <gtest/gtest.h>

#include <complex>
#include <vector>

#include "ilux/gallery/gallery.hpp"
#include "ilux/tests/support/checks.hpp"
#include "ilux/tests/support/real_form.hpp"

namespace ilux {
namespace {

using namespace ilux::test;

/// Accuracy of x by the host and by a GPU, with e as estimate of its error.
template <class S>
struct Both {
    Both(const CsrMatrix<S>& A, std::vector<S> x, std::vector<S> b, std::vector<S> e)
    {
        Cpu         cpu(1);
        Residual<S> residual;
        host = measure<S>(cpu, A, x, b, residual);
        if (host.finite) {
            note_counting_rows<S>(A, x, residual, host);
            note_own_scales<S>(A, residual, scale);
            note_error<S>(x, e, residual, host, scale);
        }
        Gpu                  gpu;
        DeviceCsr<S>         matrix(gpu, A);
        DeviceBuffer<S>      of_x(x.size()), of_b(x.size()), of_e(x.size()), r(x.size());
        DeviceBuffer<double> size(x.size()), row_size(x.size()), own(x.size());
        upload<S>(gpu, x, of_x);
        upload<S>(gpu, b, of_b);
        upload<S>(gpu, e, of_e);
        GpuAccuracy<S> accuracy(gpu, {A.rows(), matrix.row_ptr(), matrix.col(), std::as_const(matrix).val()},
                                {r, size, row_size}, own);
        device = accuracy.measure(of_x, of_b);
        if (!device) return;
        accuracy.note_own_scales();
        accuracy.note_error(of_x, of_e, *device);
        device_scale.resize(x.size());
        download<double>(gpu, own, device_scale);
    }
    Accuracy                host;
    std::optional<Accuracy> device;
    std::vector<double>     scale, device_scale;
};

template <class S>
void expect_same(const Both<S>& both)
{
    ASSERT_TRUE(both.device.has_value());
    const auto near = [](double a, double b) { EXPECT_NEAR(a, b, 1e-13 * std::abs(b)); };
    EXPECT_TRUE(both.device->finite);
    near(both.device->relative_residual, both.host.relative_residual);
    near(both.device->backward_error, both.host.backward_error);
    near(both.device->rowwise, both.host.rowwise);
    near(both.device->rowwise_counting, both.host.rowwise_counting);
    near(both.device->error, both.host.error);
    near(both.device->worst_error, both.host.worst_error);
    ASSERT_EQ(both.device_scale.size(), both.scale.size());
    for (std::size_t i = 0; i < both.scale.size(); ++i) {
        if (std::isinf(both.scale[i])) EXPECT_EQ(both.device_scale[i], both.scale[i]);
        else near(both.device_scale[i], both.scale[i]);
    }
    EXPECT_EQ(both.device->worst, both.host.worst);
    EXPECT_EQ(both.device->uncertain, both.host.uncertain);
}

TEST(GpuAccuracy, SaysWhatTheHostSays)
{
    ILUX_SKIP_WITHOUT_GPU();
    for (const Index n : {1, 33, 900}) {
        const auto A = random_dominant(n, 6, n);
        expect_same<double>(Both<double>(A, random_vector(n, 1), random_vector(n, 2), random_vector(n, 3)));
        const auto C = turned(A, 5);
        expect_same<Complex>(
            Both<Complex>(C, random_complex_vector(n, 1), random_complex_vector(n, 2), random_complex_vector(n, 3)));
        expect_same<double>(Both<double>(A, std::vector<double>(n), std::vector<double>(n), std::vector<double>(n)));
    }
    auto small = gallery::build("convdiff2d:n=30");  // rows whose terms are all small beside the largest unknown
    for (Offset p = 0; p < small.row_ptr()[400]; ++p) small.val()[p] *= 1e-30;
    auto x = random_vector(900, 1);
    x[800] = 1e15;
    expect_same<double>(Both<double>(small, x, random_vector(900, 2), random_vector(900, 3)));
}

TEST(GpuAccuracy, LeavesNumbersFarFromOneToTheHost)
{
    ILUX_SKIP_WITHOUT_GPU();
    const auto A = to_csr({2, 2, {4, 1, 1, 3}});
    const auto measured = [&](double x, double b) {
        return Both<double>(A, {x, x}, {b, b}, {0, 0}).device.has_value();
    };
    EXPECT_TRUE(measured(1, 1));
    EXPECT_FALSE(measured(1e-200, 1e-200));
    EXPECT_FALSE(measured(1e200, 1e200));
    EXPECT_FALSE(measured(nan, 1));
    EXPECT_FALSE(measured(1, infinity));
}

}  // namespace
}  // namespace ilux
