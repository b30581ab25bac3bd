#pragma once
// Large arrays that threads fill: made without a pass over their memory, whose pages each thread then touches itself.

#include <memory>
#include <new>
#include <type_traits>
#include <vector>

namespace ilux {

/// std::allocator, but values that are not given one are left unset.
template <class T>
struct UnsetAllocator : std::allocator<T> {
    static_assert(std::is_trivially_copyable_v<T>);

    template <class U>
    struct rebind {
        using other = UnsetAllocator<U>;
    };
    UnsetAllocator() = default;
    template <class U>
    UnsetAllocator(const UnsetAllocator<U>&) noexcept
    {}
    template <class U>
    void construct(U* at) noexcept
    {
        ::new (static_cast<void*>(at)) U;
    }
};

/// A std::vector whose resize() sets nothing.
template <class T>
using UnsetVector = std::vector<T, UnsetAllocator<T>>;

}  // namespace ilux
