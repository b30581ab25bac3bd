#pragma once
// What values add to a FrontPlan: scales of rows and columns. And when a pivot is too small to stay.

#include <limits>
#include <memory>
#include <span>

#include "ilux/direct/factor/lu_factors.hpp"
#include "ilux/direct/supernodal/front_plan.hpp"

namespace ilux {

/// Within a front pivots come from its pivot rows alone. One below this part of its column's largest entry in B is
/// replaced by a number of that size: it is what rounding leaves of a 0. Refinement makes good what the exchange does,
/// or new pivots are chosen.
constexpr double least_pivot = std::numeric_limits<double>::epsilon();

/// Permutations, scales, blocks and F as LuFactors has them with fronts. Rows are scaled for these values where
/// options.scaling is rows; other scales are the analysis's. O(nnz), the same on any number of threads
/// @throws InvalidInput naming row and column of a NaN or Inf, or when values has another length
template <class S>
std::shared_ptr<const LuPattern> front_pattern(Cpu& be, const LuSymbolic& symbolic, const FrontPlan& plan,
                                               const LuOptions& options, std::span<const NotDeduced<S>> values);

}  // namespace ilux
