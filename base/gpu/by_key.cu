#include "ilux/base/gpu/by_key.hpp"

#include <algorithm>
#include <bit>

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>

#include "ilux/base/gpu/cuda.hpp"
#include "ilux/base/gpu/device_value.hpp"
#include "ilux/base/instances.hpp"

namespace ilux {
namespace {

using cuda::check;

constexpr int block_size = 256, lanes_of_row = 8;

template <class... Parameters, class... Arguments>
void launch(Gpu& gpu, void (*kernel)(Parameters...), Offset count, const Arguments&... arguments)
{
    if (count == 0) return;
    const auto blocks = static_cast<unsigned>((count + block_size - 1) / block_size);
    kernel<<<blocks, block_size, 0, cuda::stream(gpu)>>>(arguments...);
    cuda::check_launch("by_key");
}

template <class Item>
__global__ void number_items(Offset count, Item* item)
{
    const Offset p = static_cast<Offset>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (p < count) item[p] = static_cast<Item>(p);
}

/// Where the items of each key begin. Keys ascend; −1, as an unsigned number, is the last.
__global__ void find_begins(Offset count, const unsigned* key, Index keys, Offset* begin)
{
    const Offset k = static_cast<Offset>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (k > keys) return;
    Offset low = 0, high = count;
    while (low < high) {
        const Offset middle = (low + high) / 2;
        if (key[middle] < k) low = middle + 1;
        else high = middle;
    }
    begin[k] = low;
}

/// The row of every entry.
__global__ void find_rows(Index rows, const Offset* ptr, Index* row)
{
    const Offset thread = static_cast<Offset>(blockIdx.x) * blockDim.x + threadIdx.x, i = thread / lanes_of_row;
    if (i >= rows) return;
    for (Offset p = ptr[i] + thread % lanes_of_row; p < ptr[i + 1]; p += lanes_of_row) row[p] = static_cast<Index>(i);
}

template <class T>
__global__ void gather(Offset count, const Offset* entry, const Index* row, const T* val, Index* to_col, T* to_val)
{
    const Offset p = static_cast<Offset>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (p >= count) return;
    to_col[p] = row[entry[p]];
    to_val[p] = cuda::conjugate(val[entry[p]]);
}

/// A call of CUB: once to learn of its scratch memory, once to work; waits for it.
template <class Call>
void with_scratch(Gpu& gpu, Call&& call, const char* name)
{
    std::size_t bytes = 0;
    check(call(nullptr, bytes), name);
    DeviceBuffer<std::byte> scratch(bytes + 1);
    check(call(scratch.data(), bytes), name);
    gpu.synchronize();
}

}  // namespace

template <class Item>
ByKey<Item> by_key(Gpu& gpu, DeviceSpan<const Index> key, Index keys)
{
    gpu.make_current();
    const auto count = static_cast<Offset>(key.size());
    const auto stream = cuda::stream(gpu);
    const int  bits = std::bit_width(static_cast<unsigned>(keys));  // −1 has them all, and keys − 1 less
    DeviceBuffer<unsigned> sorted(key.size());
    DeviceBuffer<Item>     numbers(key.size());
    ByKey<Item>            made{DeviceBuffer<Offset>(keys + std::size_t{1}), DeviceBuffer<Item>(key.size())};
    launch(gpu, number_items<Item>, count, count, numbers.data());
    const auto* const unsorted = reinterpret_cast<const unsigned*>(key.data());
    if (count > 0)
        with_scratch(
            gpu,
            [&](void* scratch, std::size_t& bytes) {
                return cub::DeviceRadixSort::SortPairs(scratch, bytes, unsorted, sorted.data(), numbers.data(),
                                                       made.item.data(), count, 0, std::max(1, bits), stream);
            },
            "cub::DeviceRadixSort");
    launch(gpu, find_begins, Offset{keys} + 1, count, sorted.data(), keys, made.begin.data());
    gpu.synchronize();  // for `sorted`
    return made;
}

template <class Value>
Value add_up(Gpu& gpu, DeviceBuffer<Value>& values)
{
    const auto stream = cuda::stream(gpu);
    const auto count = static_cast<Offset>(values.size());
    if (count == 0) return 0;
    with_scratch(
        gpu,
        [&](void* scratch, std::size_t& bytes) {
            return cub::DeviceScan::InclusiveSum(scratch, bytes, values.data(), values.data(), count, stream);
        },
        "cub::DeviceScan");
    Value last = 0;
    detail::download_bytes(gpu, values.data() + (count - 1), &last, sizeof last);
    return last;
}

template Index         add_up(Gpu&, DeviceBuffer<Index>&);
template Offset        add_up(Gpu&, DeviceBuffer<Offset>&);
template ByKey<Index>  by_key(Gpu&, DeviceSpan<const Index>, Index);
template ByKey<Offset> by_key(Gpu&, DeviceSpan<const Index>, Index);

template <class T>
DeviceRowArrays<T> adjoint_rows(Gpu& gpu, DeviceSpan<const Offset> row_ptr, DeviceSpan<const Index> col,
                                DeviceSpan<const T> val, Index cols)
{
    const auto          entries = static_cast<Offset>(col.size());
    const auto          rows = static_cast<Index>(row_ptr.size()) - 1;
    auto                sorted = by_key<Offset>(gpu, col, cols);
    DeviceBuffer<Index> row(col.size());  // only now: the sort had needed more
    DeviceRowArrays<T>  made{std::move(sorted.begin), DeviceBuffer<Index>(col.size()), DeviceBuffer<T>(col.size())};
    launch(gpu, find_rows, Offset{rows} * lanes_of_row, rows, row_ptr.data(), row.data());
    launch(gpu, gather<cuda::Value<T>>, entries, entries, sorted.item.data(), row.data(), cuda::as_values(val.data()),
           made.col.data(), cuda::as_values(made.val.data()));
    gpu.synchronize();  // for what goes now
    return made;
}

#define ILUX_INSTANTIATE(T)                                                                           \
    template DeviceRowArrays<T> adjoint_rows(Gpu&, DeviceSpan<const Offset>, DeviceSpan<const Index>, \
                                             DeviceSpan<const T>, Index);
ILUX_STORED(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
