#pragma once
// What tells objects that this library made from those of others.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace ilux::klu {

/// Arrays of a public part side by side in one piece of memory, and behind them the address of that part. No object of
/// SuiteSparse's library looks so, nor does a copy of one of ours, and to ask takes nothing that is not theirs.
template <class Int>
class MarkedArrays {
public:
    /// @return where each array begins
    template <class... Array>
    std::array<Int*, sizeof...(Array)> assign(const void* owner, const Array&... arrays)
    {
        numbers_.resize((0 + ... + arrays.size()) + mark);
        std::array<Int*, sizeof...(Array)> begin;
        Int*                               to = numbers_.data();
        std::size_t                        a = 0;
        ((begin[a++] = to, to = std::copy(arrays.begin(), arrays.end(), to)), ...);
        std::memcpy(to, &owner, sizeof owner);
        return begin;
    }
    std::size_t size() const { return numbers_.size(); }

    static bool mark_follows(const Int* end, const void* owner) { return std::memcmp(end, &owner, sizeof owner) == 0; }
    static bool follows(const Int* first, std::int64_t count, const Int* next)
    {
        const auto bytes = static_cast<std::uintptr_t>(count) * sizeof(Int);
        return first != nullptr && count > 0 &&
               reinterpret_cast<std::uintptr_t>(first) + bytes == reinterpret_cast<std::uintptr_t>(next);
    }

private:
    static constexpr std::size_t mark = sizeof(void*) / sizeof(Int);
    std::vector<Int>             numbers_;
};

/// Whether this library made the object of which a caller gives the public part.
template <class Public>
bool is_ours(const Public& object)
{
    using Arrays = MarkedArrays<decltype(object.n)>;
    if constexpr (requires { object.Pnum; })
        return Arrays::follows(object.Pnum, object.n, object.Pinv) &&
               Arrays::mark_follows(object.Pinv + object.n, &object);
    else
        return Arrays::follows(object.P, object.n, object.Q) && Arrays::follows(object.Q, object.n, object.R) &&
               Arrays::mark_follows(object.R + object.nblocks + 1, &object);
}

}  // namespace ilux::klu
