#pragma once
// Arrays of the caller's: of the host, or in the memory of a GPU.

#include <fmt/core.h>

#include <concepts>
#include <span>
#include <type_traits>

#include "ilux/base/cpu.hpp"
#include "ilux/base/error.hpp"
#include "ilux/base/gpu/gpu.hpp"
#include "ilux/base/scalar.hpp"

namespace ilux {

/// A view of numbers on the host, or on a GPU, where they are read and written in the order of a stream. Borrowed.
/// @tparam T  S, or const S
template <class T>
class Array {
public:
    Array() = default;
    /// Makes a view of host memory from anything that converts to std::span<T>.
    template <class Range>
    Array(Range& host) requires std::convertible_to<Range&, std::span<T>> : host_(host)
    {}
    template <class Range>
    Array(const Range& host) requires std::convertible_to<const Range&, std::span<T>> : host_(host)
    {}
    /// Numbers that may be written are read, too: x of one call is b of the next.
    template <class U>
    Array(const Array<U>& other) requires std::same_as<const U, T>
        : gpu_(other.gpu()), host_(other.host()), there_(other.there())
    {}
    /// @param gpu  whose stream it is  @param there  of its device; complex numbers may stand on multiples of 8 bytes
    Array(Gpu& gpu, DeviceSpan<T> there) : gpu_(&gpu), there_(there) {}

    std::size_t   size() const { return gpu_ ? there_.size() : host_.size(); }
    Gpu*          gpu() const { return gpu_; }  ///< null: it is of the host
    std::span<T>  host() const { return host_; }
    DeviceSpan<T> there() const { return there_; }
    Array         subspan(std::size_t first, std::size_t count) const
    {
        return gpu_ ? Array(*gpu_, there_.subspan(first, count)) : Array(host_.subspan(first, count));
    }

private:
    Gpu*          gpu_ = nullptr;
    std::span<T>  host_;
    DeviceSpan<T> there_;
};

/// What a backend computes on, as an array.
template <class T>
Array<T> array_of(Cpu&, std::span<T> here)
{
    return here;
}
template <class T>
Array<T> array_of(Gpu& gpu, DeviceSpan<T> there)
{
    return {gpu, there};
}

/// @throws InvalidInput unless both are of the host, or of one GPU
template <class T, class U>
void require_one_memory(const Array<T>& a, const Array<U>& b, const char* name_a, const char* name_b)
{
    const bool one = a.gpu() && b.gpu() ? a.gpu()->device() == b.gpu()->device() : a.gpu() == b.gpu();
    require(one, [&] { return fmt::format("{} and {} are in different memories", name_a, name_b); });
}

/// Whether there is neither NaN nor Inf. Waits for a GPU.
template <class T>
bool is_finite(const Array<T>& array)
{
    using S = std::remove_const_t<T>;
    if (array.gpu() == nullptr) {
        Cpu serial(1);
        return is_finite<S>(serial, array.host());
    }
    constexpr std::size_t parts = is_complex<S> ? 2 : 1;  // which stand on multiples of 8 bytes
    const auto*           first = reinterpret_cast<const double*>(array.there().data());
    return is_finite<double>(*array.gpu(), {first, parts * array.size()});
}

}  // namespace ilux
