// In place of update_column_avx512.cpp and update_column_complex.cpp where the processors are of another family.

#include "ilux/direct/refactor_cpu/update_column.hpp"

namespace ilux::detail {

const ColumnKernels<double>*        avx512_kernels() { return nullptr; }
ColumnKernels<std::complex<double>> complex_fma_kernels(ColumnKernels<std::complex<double>> rest) { return rest; }

}  // namespace ilux::detail
