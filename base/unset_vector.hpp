#pragma once
// Large arrays that threads fill: made without a pass over their memory, whose pages each thread then touches itself.

#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>
#include <vector>

namespace ilux {
namespace detail {
/// Memory in pages of 2 MB where the system has them: to touch 100 MB of the usual ones first takes 20 ms and more.
void*                 allocate_large(std::size_t bytes);
void                  free_large(void* memory) noexcept;
constexpr std::size_t large_bytes = std::size_t{1} << 22;
}  // namespace detail

/// What large arrays consist of. Pages of 2 MB make a first touch of much memory cheaper where the system has such
/// pages at hand, and several times as dear where a virtual machine has to be given them.
enum class Pages { usual, large };

/// std::allocator, but values that are not given one are left unset.
template <class T, Pages pages>
struct UnsetAllocator : std::allocator<T> {
    static_assert(std::is_trivially_copyable_v<T> && alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);

    template <class U>
    struct rebind {
        using other = UnsetAllocator<U, pages>;
    };
    UnsetAllocator() = default;
    template <class U>
    UnsetAllocator(const UnsetAllocator<U, pages>&) noexcept
    {}
    T* allocate(std::size_t count)
    {
        if (count > static_cast<std::size_t>(-1) / 2 / sizeof(T)) throw std::bad_array_new_length();
        const std::size_t bytes = count * sizeof(T);
        return static_cast<T*>(is_large(count) ? detail::allocate_large(bytes) : ::operator new(bytes));
    }
    void deallocate(T* memory, std::size_t count) noexcept
    {
        if (is_large(count)) detail::free_large(memory);
        else ::operator delete(memory);
    }
    template <class U>
    void construct(U*) noexcept
    {}  // std::complex would set itself to 0

private:
    static bool is_large(std::size_t count)
    {
        return pages == Pages::large && count * sizeof(T) >= detail::large_bytes;
    }
};

/// A std::vector whose resize() sets nothing.
template <class T, Pages pages = Pages::large>
using UnsetVector = std::vector<T, UnsetAllocator<T, pages>>;

}  // namespace ilux
