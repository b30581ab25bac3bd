#pragma once
// A stable sort by small keys, on a device: entries by columns, unknowns by groups.

#include "ilux/base/gpu/gpu.hpp"

namespace ilux {

/// Items put together by key, in the order of their numbers.
template <class Item>
struct ByKey {
    DeviceBuffer<Offset> begin;  ///< keys + 1, in `item`
    DeviceBuffer<Item>   item;   ///< every item; those of key −1 behind begin[keys]
};

/// @param key  of each item, from −1 to keys − 1. Cost: a radix sort.
/// @throws OutOfMemory, DeviceError
template <class Item>
ByKey<Item> by_key(Gpu& gpu, DeviceSpan<const Index> key, Index keys);

/// Sums up: value_i ← Σ_k≤i value_k. Lengths of rows, behind a 0, become row pointers. @return the last, or 0
template <class Value>
Value add_up(Gpu& gpu, DeviceBuffer<Value>& values);

}  // namespace ilux
