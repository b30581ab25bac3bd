// Whether arrays in device memory are a CSR matrix, and how long its rows are.

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

__global__ void find_longest(Index rows, const Offset* row_ptr, unsigned long long* longest)
{
    const auto i = static_cast<Index>(blockIdx.x * blockDim.x + threadIdx.x);
    auto       length = i < rows ? static_cast<unsigned long long>(row_ptr[i + 1] - row_ptr[i]) : 0;
    for (int step = 16; step > 0; step /= 2) length = max(length, __shfl_xor_sync(~0U, length, step));
    if (threadIdx.x % 32 == 0 && length > 0) atomicMax(longest, length);
}

unsigned blocks_for(Index rows) { return (static_cast<unsigned>(rows) + block_size - 1) / block_size; }

}  // namespace

Offset longest_row(Gpu& gpu, DeviceSpan<const Offset> row_ptr)
{
    const Index rows = static_cast<Index>(row_ptr.size()) - 1;
    if (rows <= 0) return 0;
    const auto                       stream = cuda::stream(gpu);
    DeviceBuffer<unsigned long long> on_device(1);
    find_longest<<<blocks_for(rows), block_size, 0, stream>>>(rows, row_ptr.data(), on_device.data());
    cuda::check_launch("find_longest");
    unsigned long long longest = 0;
    download_bytes(gpu, on_device.data(), &longest, sizeof longest);
    return static_cast<Offset>(longest);
}

Index first_wrong_row(Gpu& gpu, Index rows, Index cols, DeviceSpan<const Offset> row_ptr, DeviceSpan<const Index> col)
{
    Index wrong = rows;
    if (rows == 0) return wrong;
    const auto          stream = cuda::stream(gpu);
    DeviceBuffer<Index> on_device(1);
    upload_bytes(gpu, &wrong, on_device.data(), sizeof wrong);
    find_wrong_row<<<blocks_for(rows), block_size, 0, stream>>>(rows, cols, row_ptr.data(), col.data(),
                                                                on_device.data());
    cuda::check_launch("find_wrong_row");
    download_bytes(gpu, on_device.data(), &wrong, sizeof wrong);
    return wrong;
}

}  // namespace ilux::detail
