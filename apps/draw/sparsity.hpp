#pragma once
// The picture of a sparse pattern: entries counted by cells, and drawn as shades.

#include <span>
#include <string>
#include <vector>

#include "ilux/base/types.hpp"

namespace ilux::app {

/// A square pattern of order n seen through at most 160 × 160 cells.
class SparsityGrid {
public:
    explicit SparsityGrid(Index n);

    void   add(Index i, Index j) { ++count_[static_cast<std::size_t>(cell(i)) * cells_ + cell(j)]; }
    Index  n() const { return n_; }
    Index  cells() const { return cells_; }  ///< to a side
    Offset count(Index row, Index col) const { return count_[static_cast<std::size_t>(row) * cells_ + col]; }
    Index  cell(Index i) const { return static_cast<Index>(static_cast<Offset>(i) * cells_ / n_); }

private:
    Index               n_, cells_;
    std::vector<Offset> count_;  // cells², by rows
};

/// One element `svg` whose paths have the classes s1 (few entries) to s5 (most); cells of equal shade in a row are one
/// stroke.
/// @param label  for who cannot see it
/// @param cuts   rows and columns before which a line of class cut is drawn
std::string to_svg(const SparsityGrid& grid, const std::string& label, std::span<const Index> cuts = {});

}  // namespace ilux::app
