// gpu_lu.hpp in a build without CUDA: no Gpu can be made there.

#include "ilux/base/instances.hpp"
#include "ilux/direct/lu/gpu_lu_absent.hpp"

namespace ilux {

ILUX_GPU_LU_SCALARS(ILUX_ABSENT_GPU_LU)

}  // namespace ilux
