#pragma once
// What a multilevel ILU by Crout's sweep is likely to fill, told by one of a part of A.

#include <optional>

#include "ilux/base/matrix/csr.hpp"
#include "ilux/precond/mlilu/mlilu.hpp"

namespace ilux {

/// Fill of M of a part of A with some ten thousand entries: entries of M over those of the part; nothing where M cannot
/// be made, or its estimates call it hopeless. Some tens of milliseconds; the same in every run.
template <Scalar S>
std::optional<double> sampled_fill(const CsrView<S>& A, const MlIluOptions& options);

}  // namespace ilux
