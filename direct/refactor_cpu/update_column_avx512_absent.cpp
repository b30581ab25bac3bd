// In place of update_column_avx512.cpp where the processors are of another family.

#include "ilux/direct/refactor_cpu/update_column.hpp"

namespace ilux::detail {

const ColumnKernels<double>* avx512_kernels() { return nullptr; }

}  // namespace ilux::detail
