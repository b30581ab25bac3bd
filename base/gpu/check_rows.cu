// Whether arrays in device memory are a CSR matrix.

#include "ilux/base/gpu/cuda.hpp"
#include "ilux/base/gpu/device_csr.hpp"

namespace ilux::detail {
namespace {

constexpr int block_size = 256;

__global__ void find_wrong_row(Index rows, Index cols, const Offset* row_ptr, const Index* col, Index* wrong)
{
    const auto i = static_cast<Index>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= rows) return;
    Index before = -1;
    for (Offset p = row_ptr[i]; p < row_ptr[i + 1]; ++p) {
        if (col[p] <= before || col[p] >= cols) {
            atomicMin(wrong, i);
            return;
        }
        before = col[p];
    }
}

}  // namespace

Index first_wrong_row(Gpu& gpu, Index rows, Index cols, DeviceSpan<const Offset> row_ptr, DeviceSpan<const Index> col)
{
    Index wrong = rows;
    if (rows == 0) return wrong;
    const auto          stream = cuda::stream(gpu);
    DeviceBuffer<Index> on_device(1);
    upload_bytes(gpu, &wrong, on_device.data(), sizeof wrong);
    const auto blocks = (static_cast<unsigned>(rows) + block_size - 1) / block_size;
    find_wrong_row<<<blocks, block_size, 0, stream>>>(rows, cols, row_ptr.data(), col.data(), on_device.data());
    cuda::check_launch("find_wrong_row");
    download_bytes(gpu, on_device.data(), &wrong, sizeof wrong);
    return wrong;
}

}  // namespace ilux::detail
