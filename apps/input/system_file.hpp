#pragma once
// A system and its solution as raw files between this program and another on the same machine.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ilux/base/types.hpp"

namespace ilux::app {

/// In this order, in the machine's own byte order: the bytes "iluxsys1", n and nnz (64 bits each), row_ptr, col, val,
/// b.
struct RawSystem {
    std::vector<Offset> row_ptr;  ///< n + 1
    std::vector<Index>  col;      ///< nnz, from 0, ascending in a row
    std::vector<double> val;      ///< nnz
    std::vector<double> b;        ///< n
};

/// @param row_ptr, col, val  a square matrix by rows  @throws InvalidInput naming the file and the system's reason
void write_system(const std::string& file, std::span<const Offset> row_ptr, std::span<const Index> col,
                  std::span<const double> val, std::span<const double> b);

/// @throws InvalidInput naming the file when it is missing, of another kind or of another length than it promises
RawSystem read_system(const std::string& file);

/// Doubles, one after another. @throws as write_system
void write_doubles(const std::string& file, std::span<const double> values);
/// @throws InvalidInput naming the file when it is missing or does not hold just n doubles
std::vector<double> read_doubles(const std::string& file, Index n);

}  // namespace ilux::app
