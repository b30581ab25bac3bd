// gpu_lu.hpp for the values that no GPU takes in any build.

#include "ilux/base/instances.hpp"
#include "ilux/direct/lu/gpu_lu_absent.hpp"

namespace ilux {

ILUX_HOST_LU_SCALARS(ILUX_ABSENT_GPU_LU)

}  // namespace ilux
