#pragma once
// A stable sort by small keys, by several threads.

#include <omp.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "ilux/base/cpu.hpp"

namespace ilux {

/// out ← `in`, ascending by key(value), which is 0 … keys − 1; equal ones stay in order. O(in.size() + threads·keys), twice
/// through `in`. @param out  of as many values; not the same memory
template <class T, class Key>
void counting_sort(Cpu& be, std::span<const T> in, std::span<T> out, std::size_t keys, Key key)
{
    constexpr std::size_t    worth = 1 << 14;  // values
    const int                team = be.team(in.size() >= worth);
    std::vector<std::size_t> next(keys * static_cast<std::size_t>(team),
                                  0);  // of a thread and key, where its next value goes
#pragma omp parallel num_threads(team)
    {
        const auto         threads = static_cast<std::size_t>(omp_get_num_threads());
        const auto         thread = static_cast<std::size_t>(omp_get_thread_num());
        const std::size_t  begin = in.size() * thread / threads, end = in.size() * (thread + 1) / threads;
        std::size_t* const own = next.data() + keys * thread;
        for (std::size_t i = begin; i < end; ++i) ++own[key(in[i])];
#pragma omp barrier
#pragma omp single
        {
            std::size_t at = 0;
            for (std::size_t k = 0; k < keys; ++k)
                for (std::size_t t = 0; t < threads; ++t) {
                    const std::size_t count = next[keys * t + k];
                    next[keys * t + k] = at;
                    at += count;
                }
        }
        for (std::size_t i = begin; i < end; ++i) out[own[key(in[i])]++] = in[i];
    }
}

}  // namespace ilux
