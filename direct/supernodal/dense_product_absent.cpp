// In place of dense_product_avx512.cpp where the processors are of another family.

#include "ilux/direct/supernodal/dense_product.hpp"

namespace ilux::detail {

const DenseKernels<double>* avx512_dense_kernels() { return nullptr; }

}  // namespace ilux::detail
