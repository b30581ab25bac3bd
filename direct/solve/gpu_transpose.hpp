#pragma once
// Vectors of many members, one after another, to the numbers of all members side by side, and back. Only .cu files
// include this.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "ilux/base/gpu/gpu.hpp"

namespace ilux {

/// to[i · stride + m] ← from[m · count + i]; members beyond the last copy that one. Only enqueued.
/// @param stride  a multiple of 32
void gather_members(Gpu& gpu, const double* from, std::size_t count, Index members, Index stride, double* to);

/// Slots of results by component, of an index of components by slot (−1: none).
struct Outputs {
    std::vector<std::int32_t> slot;
    std::vector<double>       scale;

    Outputs(std::span<const std::int32_t> index, std::span<const double> scale_of)
    {
        for (std::size_t s = 0; s < index.size(); ++s) {
            if (index[s] < 0) continue;
            const std::size_t needed = static_cast<std::size_t>(index[s]) + 1;
            if (slot.size() < needed) {
                slot.resize(needed, 0);
                scale.resize(needed, 0.0);
            }
            slot[index[s]] = static_cast<std::int32_t>(s);
            scale[index[s]] = scale_of[s];
        }
    }
};

/// to[m · count + i] ← scale[i] v[slot[i] · stride + m]. Only enqueued.
void scatter_members(Gpu& gpu, const double* v, const std::int32_t* slot, const double* scale, std::size_t count,
                     Index members, Index stride, double* to);

}  // namespace ilux
