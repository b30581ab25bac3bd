#include "ilux/engine/machine/coming_matrix.hpp"

#include "ilux/base/background.hpp"
#include "ilux/base/error.hpp"
#include "ilux/base/instances.hpp"

namespace ilux {

template <Scalar S>
ComingMatrix<S>::ComingMatrix(Gpu& gpu, const CsrView<S>& A)
    : copy_(in_background([this, &gpu, &A] {
          gpu.make_current();
          try {
              A_.emplace(gpu, A);
              gpu.synchronize();
          } catch (const OutOfMemory&) {  // who asks for more later is told how much there is
              A_.reset();
          }
      }))
{}

template <Scalar S>
std::optional<GpuMatrixOperator<S>> ComingMatrix<S>::arrived()
{
    copy_.get();
    return std::move(A_);
}

#define ILUX_INSTANTIATE(S) template class ComingMatrix<S>;
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
