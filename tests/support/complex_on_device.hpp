#pragma once
// Complex vectors to a device and back.

#include "ilux/base/gpu/gpu.hpp"
#include "ilux/tests/support/real_form.hpp"

namespace ilux::test {

inline DeviceBuffer<Complex> on_device(Gpu& gpu, const ComplexVector& host)
{
    gpu.make_current();
    DeviceBuffer<Complex> device(host.size());
    upload<Complex>(gpu, host, device);
    return device;
}

inline ComplexVector on_host(Gpu& gpu, const DeviceBuffer<Complex>& device)
{
    ComplexVector host(device.size());
    download<Complex>(gpu, device, host);
    return host;
}

inline bool identical(const ComplexVector& x, const ComplexVector& y) { return identical(real_form(x), real_form(y)); }

inline double relative_difference(const ComplexVector& x, const ComplexVector& y)
{
    return relative_difference(real_form(x), real_form(y));
}

/// The same numbers with imaginary part zero.
inline ComplexVector      as_complex(const std::vector<double>& x) { return {x.begin(), x.end()}; }
inline CsrMatrix<Complex> as_complex(const CsrMatrix<double>& A)
{
    return CsrMatrix<Complex>::from_sorted(A.rows(), A.cols(), {A.row_ptr().begin(), A.row_ptr().end()},
                                           {A.col().begin(), A.col().end()}, {A.val().begin(), A.val().end()});
}

inline std::vector<double> real_parts(const ComplexVector& x)
{
    std::vector<double> parts;
    for (const Complex& z : x) parts.push_back(z.real());
    return parts;
}

}  // namespace ilux::test
