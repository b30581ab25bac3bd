// Values of Aᴴ gathered on a GPU, and conjugates there.

#include <gtest/gtest.h>

#include <complex>
#include <vector>

#include "ilux/base/matrix/csr.hpp"
#include "ilux/base/gpu/adjoint_values.hpp"
#include "ilux/base/gpu/device_copy.hpp"
#include "ilux/base/matrix/pattern.hpp"
#include "ilux/gallery/gallery.hpp"
#include "ilux/gallery/special.hpp"
#include "ilux/tests/support/checks.hpp"
#include "ilux/tests/support/real_form.hpp"

namespace ilux {
namespace {

using namespace ilux::test;

template <class S>
void expect_adjoint(const CsrMatrix<S>& A)
{
    Gpu        gpu;
    const auto of = transposed_pattern(A.row_ptr(), A.col(), A.cols());
    const auto from = on_device<Offset>(gpu, of.from);
    const auto val = on_device<S>(gpu, A.val());
    auto       to = DeviceBuffer<S>(of.from.size());
    gather_conjugates<S>(gpu, val, from, to);
    const auto expected = adjoint(A);
    EXPECT_TRUE(on_host<S>(gpu, to) == std::vector<S>(expected.val().begin(), expected.val().end()));
}

TEST(GpuAdjointValues, AreThoseOfTheHost)
{
    ILUX_SKIP_WITHOUT_GPU();
    for (const Index n : {1, 31, 32, 33, 300}) {
        const auto A = gallery::random_lower(n, 5, n);
        expect_adjoint<double>(A);
        expect_adjoint<Complex>(turned(A, 3));
    }
    expect_adjoint<double>(CsrMatrix<double>::identity(0));
}

TEST(GpuAdjointValues, AVectorIsConjugatedWhereItIs)
{
    ILUX_SKIP_WITHOUT_GPU();
    Gpu gpu;
    for (const Index n : {0, 1, 31, 32, 33, 1000}) {
        const auto x = random_complex_vector(n, 1);
        auto       there = on_device<Complex>(gpu, x);
        conjugate<Complex>(gpu, there);
        const auto seen = on_host<Complex>(gpu, there);
        for (std::size_t i = 0; i < x.size(); ++i) EXPECT_EQ(seen[i], std::conj(x[i]));
        const auto real = random_vector(n, 1);
        auto       real_there = on_device<double>(gpu, real);
        conjugate<double>(gpu, real_there);
        EXPECT_TRUE(identical(on_host<double>(gpu, real_there), real));
    }
}

}  // namespace
}  // namespace ilux
