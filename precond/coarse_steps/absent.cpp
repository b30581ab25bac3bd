// The steps of a coarse space on a device, in a build without CUDA: no Gpu can be made there, so nothing of it is
// reached.

#include "ilux/base/error.hpp"
#include "ilux/base/instances.hpp"
#include "ilux/precond/coarse_steps/basis.hpp"
#include "ilux/precond/coarse_steps/first_vectors.hpp"
#include "ilux/precond/coarse_steps/products.hpp"
#include "ilux/precond/coarse_steps/roots.hpp"

namespace ilux {
namespace {

[[noreturn]] void absent() { throw DeviceError("this ilux was built without CUDA; precondition on the CPU"); }

}  // namespace

Groups<Gpu>       groups_of(Gpu&, const NodeNumbering&) { absent(); }
Groups<Gpu>       grouped(Gpu&, DeviceBuffer<Index>, Index) { absent(); }
Groups<Gpu>       composed(Gpu&, const Groups<Gpu>&, const Groups<Gpu>&) { absent(); }
DeviceCsr<double> indicator(Gpu&, const Groups<Gpu>&) { absent(); }
DeviceCsr<double> strong(Gpu&, const DeviceCsr<double>&, double) { absent(); }
Groups<Gpu>       around_roots(Gpu&, const Ties<Gpu>&, int, bool) { absent(); }

template <class T>
DeviceCsr<double> magnitudes(Gpu&, const DeviceCsr<T>&)
{
    absent();
}
template <class T>
DeviceCsr<T> product(Gpu&, const DeviceCsr<NotDeduced<T>>&, const DeviceCsr<NotDeduced<T>>&)
{
    absent();
}
template <class T>
DeviceCsr<T> smoothed(Gpu&, const DeviceCsr<NotDeduced<T>>&, const DeviceCsr<NotDeduced<T>>&)
{
    absent();
}
template <class T>
DeviceCsr<T> adjoint(Gpu&, const DeviceCsr<T>&)
{
    absent();
}
template <class T>
Basis<Gpu, T> orthonormal_basis(Gpu&, const Groups<Gpu>&, const NearNull<Gpu, NotDeduced<T>>&)
{
    absent();
}
template <Scalar T>
NearNull<Gpu, T> constants_of(Gpu&, const NodeNumbering&)
{
    absent();
}
template <Scalar T>
DeviceBuffer<T> random_numbers(Gpu&, Index, Index)
{
    absent();
}

#define ILUX_INSTANTIATE(T)                                                                 \
    template DeviceCsr<double> magnitudes(Gpu&, const DeviceCsr<T>&);                       \
    template DeviceCsr<T>      product<T>(Gpu&, const DeviceCsr<T>&, const DeviceCsr<T>&);  \
    template DeviceCsr<T>      smoothed<T>(Gpu&, const DeviceCsr<T>&, const DeviceCsr<T>&); \
    template DeviceCsr<T>      adjoint(Gpu&, const DeviceCsr<T>&);                          \
    template NearNull<Gpu, T>  constants_of(Gpu&, const NodeNumbering&);                    \
    template DeviceBuffer<T>   random_numbers(Gpu&, Index, Index);                          \
    template Basis<Gpu, T>     orthonormal_basis<T>(Gpu&, const Groups<Gpu>&, const NearNull<Gpu, T>&);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
