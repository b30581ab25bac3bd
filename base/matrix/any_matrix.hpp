#pragma once
// A matrix whose values are known at run time only: those of a file, or of a model problem.

#include <complex>
#include <variant>

#include "ilux/base/matrix/csr.hpp"

namespace ilux {

/// A matrix of real or of complex values. What is done with it is done by std::visit.
using AnyMatrix = std::variant<CsrMatrix<double>, CsrMatrix<std::complex<double>>>;

}  // namespace ilux
