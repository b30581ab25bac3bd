#pragma once
// A stable sort by small keys, on a device, and what it makes: entries by columns, unknowns by groups, adjoints.

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

/// Rows of a matrix on a device, as CSR has them.
template <class T>
struct DeviceRowArrays {
    DeviceBuffer<Offset> row_ptr;
    DeviceBuffer<Index>  col;
    DeviceBuffer<T>      val;
};

/// Aᴴ. Columns of each row ascend where rows are given in order. Cost: by_key(); waits for it.
/// @param row_ptr  rows + 1  @param cols  of A
template <class T>
DeviceRowArrays<T> adjoint_rows(Gpu& gpu, DeviceSpan<const Offset> row_ptr, DeviceSpan<const Index> col,
                                DeviceSpan<const T> val, Index cols);

}  // namespace ilux
