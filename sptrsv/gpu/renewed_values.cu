// New values into the layout of an engine: a thread to a number, each of which it alone reads and writes. Repeatable.

#include "ilux/base/gpu/cuda.hpp"
#include "ilux/base/gpu/device_division.hpp"
#include "ilux/base/instances.hpp"
#include "ilux/sptrsv/gpu/renewed_system.hpp"
#include "ilux/sptrsv/gpu/renewed_values.hpp"

namespace ilux {
namespace {

constexpr int           block_size = 256;
constexpr std::uint32_t constant = ~std::uint32_t{0};

/// Number k of val, then of inv_diag.
template <class V>
struct Numbers {
    V*             val;
    working_of<V>* inv_diag;
    std::size_t    entries, rows;
};

__device__ std::size_t thread_number() { return blockIdx.x * std::size_t{block_size} + threadIdx.x; }

/// renewed_position, on the device.
__device__ std::uint32_t position_in(double value)
{
    const auto bits = static_cast<unsigned long long>(__double_as_longlong(value));
    return bits - 1 < constant ? static_cast<std::uint32_t>(bits - 1) : constant;
}

/// That of renewed_in_float.
__device__ std::uint32_t position_in(float value)
{
    constexpr std::uint32_t one = 0x3F80'0000u, minus_one = 0xBF80'0000u;  // 1.0f and −1.0f
    const std::uint32_t     bits = __float_as_uint(value);
    if (bits == 0 || bits == one || bits == minus_one) return constant;
    return bits - 1 - (bits > one) - (bits > minus_one);
}

/// The real part of a complex number has the position.
template <class R>
__device__ std::uint32_t position_in(cuda::Complex<R> value)
{
    return position_in(value.re);
}

template <class V>
__global__ void __launch_bounds__(block_size) take_positions(Numbers<V> numbers, std::uint32_t* position)
{
    const std::size_t k = thread_number(), entries = numbers.entries;
    if (k >= entries + numbers.rows) return;
    position[k] = k < entries ? position_in(numbers.val[k]) : position_in(numbers.inv_diag[k - entries]);
}

__device__ double inverse(double d) { return 1 / d; }
__device__ cuda::Complex<double> inverse(cuda::Complex<double> d)
{
    return Divisor<cuda::Complex<double>>(d)(cuda::from_real<cuda::Complex<double>>(1));
}

template <class V>
__global__ void __launch_bounds__(block_size)
    fill_numbers(Numbers<V> numbers, const std::uint32_t* position, const V* values)
{
    const std::size_t k = thread_number(), entries = numbers.entries;
    if (k >= entries + numbers.rows) return;
    const std::uint32_t p = position[k];
    if (p == constant) return;
    if (k < entries) numbers.val[k] = values[p];
    else numbers.inv_diag[k - entries] = inverse(cuda::widened(values[p]));
}

template <class T>
Numbers<cuda::Value<T>> as_numbers(const EngineNumbers<T>& engine)
{
    return {cuda::as_values(engine.val.data()), cuda::as_values(engine.inv_diag.data()), engine.val.size(),
            engine.inv_diag.size()};
}

unsigned blocks_for(std::size_t count) { return static_cast<unsigned>((count + block_size - 1) / block_size); }

}  // namespace

template <class T>
RenewedValues<T>::RenewedValues(Gpu& gpu, EngineNumbers<T> numbers)
    : numbers_(numbers), position_(numbers.val.size() + numbers.inv_diag.size())
{
    if (position_.empty()) return;
    const cuda::Range range("sptrsv: positions");
    const auto        blocks = blocks_for(position_.size());
    take_positions<<<blocks, block_size, 0, cuda::stream(gpu)>>>(as_numbers(numbers_), position_.data());
    cuda::check_launch("take_positions");
    gpu.synchronize();
}

template <class T>
void RenewedValues<T>::fill(Gpu& gpu, const T* values) const
{
    if (position_.empty()) return;
    const cuda::Range range("sptrsv: fill");
    const auto        blocks = blocks_for(position_.size());
    fill_numbers<<<blocks, block_size, 0, cuda::stream(gpu)>>>(as_numbers(numbers_), position_.data(),
                                                               cuda::as_values(values));
    cuda::check_launch("fill_numbers");
}

#define ILUX_INSTANTIATE(T) template class RenewedValues<T>;
ILUX_STORED(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
