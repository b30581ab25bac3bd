// New values into the layout of an engine: a thread to a number, each of which it alone reads and writes. Repeatable.

#include "ilux/base/cuda.hpp"
#include "ilux/sptrsv/renewed_system.hpp"
#include "ilux/sptrsv/renewed_values.hpp"

namespace ilux {
namespace {

constexpr int           block_size = 256;
constexpr std::uint32_t constant = ~std::uint32_t{0};

/// Number k of val, then of inv_diag.
struct Numbers {
    double *    val, *inv_diag;
    std::size_t entries, rows;

    __device__ double& operator[](std::size_t k) const { return k < entries ? val[k] : inv_diag[k - entries]; }
};

__device__ std::size_t thread_number() { return blockIdx.x * std::size_t{block_size} + threadIdx.x; }

/// renewed_position, on the device.
__global__ void __launch_bounds__(block_size) take_positions(Numbers numbers, std::uint32_t* position)
{
    const std::size_t k = thread_number();
    if (k >= numbers.entries + numbers.rows) return;
    const auto bits = static_cast<unsigned long long>(__double_as_longlong(numbers[k]));
    position[k] = bits - 1 < constant ? static_cast<std::uint32_t>(bits - 1) : constant;
}

__global__ void __launch_bounds__(block_size)
    fill_numbers(Numbers numbers, const std::uint32_t* position, const double* values)
{
    const std::size_t k = thread_number();
    if (k >= numbers.entries + numbers.rows) return;
    const std::uint32_t p = position[k];
    if (p != constant) numbers[k] = k < numbers.entries ? values[p] : 1 / values[p];
}

Numbers as_numbers(const EngineNumbers<double>& engine)
{
    return {engine.val.data(), engine.inv_diag.data(), engine.val.size(), engine.inv_diag.size()};
}

unsigned blocks_for(std::size_t count) { return static_cast<unsigned>((count + block_size - 1) / block_size); }

}  // namespace

RenewedValues::RenewedValues(Gpu& gpu, EngineNumbers<double> numbers)
    : numbers_(numbers), position_(numbers.val.size() + numbers.inv_diag.size())
{
    if (position_.empty()) return;
    const cuda::Range range("sptrsv: positions");
    take_positions<<<blocks_for(position_.size()), block_size, 0, cuda::stream(gpu)>>>(as_numbers(numbers_),
                                                                                       position_.data());
    cuda::check_launch("take_positions");
    gpu.synchronize();
}

void RenewedValues::fill(Gpu& gpu, const double* values) const
{
    if (position_.empty()) return;
    const cuda::Range range("sptrsv: fill");
    fill_numbers<<<blocks_for(position_.size()), block_size, 0, cuda::stream(gpu)>>>(as_numbers(numbers_),
                                                                                     position_.data(), values);
    cuda::check_launch("fill_numbers");
}

}  // namespace ilux
