#pragma once
// A stable sort by small keys, by several threads.

#include <cstddef>
#include <span>

#include "ilux/base/cpu.hpp"
#include "ilux/base/matrix/grouping.hpp"
#include "ilux/base/tasks.hpp"

namespace ilux {

/// out ← `in`, ascending by key(value), which is 0 … keys − 1; equal ones stay in order. O(in.size() + threads·keys),
/// twice through `in`. @param out  of as many values; not the same memory
template <class T, class Key>
void counting_sort(Cpu& be, std::span<const T> in, std::span<T> out, Index keys, Key key)
{
    constexpr std::size_t worth = 1 << 14;  // values
    with_tasks(be, in.size() >= worth, [&] {
        const Index count = static_cast<Index>(in.size());
        Grouping    by_key(count, count, keys, [&](Index begin, Index end, auto&& take) {
            for (Index i = begin; i < end; ++i) take(static_cast<Index>(key(in[i])), i);
        });
        by_key.place([&](Offset q, Index i) { out[q] = in[i]; });
    });
}

}  // namespace ilux
