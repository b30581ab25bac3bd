#pragma once
// Matrices that are symmetric but for rounding, as those assembled from finite elements, whose terms are added in
// another order at (j, i) than at (i, j).

#include <optional>
#include <string>

#include "ilux/base/cpu.hpp"
#include "ilux/base/matrix/csr.hpp"

namespace ilux {

/// How A differs from an image of itself; a missing entry counts as 0.
struct Asymmetry {
    /// |a_ij − a'_ij| ≤ 8 ε (|a_ij| + |a'_ij| + √|a_ii a_jj|) everywhere, a' the image. The root is what a term of a_ij
    /// may be as large as, where elements are positive semidefinite: terms that cancel leave rounding of that size, and
    /// it has the unit of a_ij, whatever the units of the unknowns. Where a_ii or a_jj is 0,
    /// the largest entry of that row takes the place of the root; where both are, the smaller of the two.
    bool   within_rounding = false;
    bool   exact = false;  ///< and A is that image
    double largest = 0;    ///< of |a_ij − a'_ij|, where these are within rounding
    double entry = 0;      ///< the largest |a_ij|, likewise
};

/// @param mirror  Aᴴ, or Aᵀ of complex values; not none
/// Cost O(nnz log(nnz / n)), by threads, and the length of a row for an entry of it that differs by more than 8 ε
/// (|a_ij| + |a'_ij|) where its a_ii is 0; ends at the first entry beyond rounding.
template <class T>
Asymmetry asymmetry_of(Cpu& be, const CsrView<T>& A, Mirror mirror);

/// (A + A') / 2, exactly the image of itself. Entries with a partner of the same value keep it.
template <class T>
CsrMatrix<T> mean_with_image(const CsrView<T>& A, Mirror mirror);

/// Whether every Re a_ii is positive, by threads.
template <class T>
bool has_positive_diagonal(Cpu& be, const CsrView<T>& A);

/// What stands for A where M is to be as symmetric as A is but for rounding.
template <class T>
struct ExactImage {
    Mirror                      mirror = Mirror::none;  ///< A, or its mean, is exactly this image of itself
    std::optional<CsrMatrix<T>> mean = {};              ///< with that image, where A differs from it by rounding
    std::string                 told = {};              ///< about the mean
};
/// Cost as asymmetry_of(), at most twice, and on one thread a transposition where there is a mean.
/// @param of_adjoint  asymmetry_of(A, Mirror::hermitian), where it is known
template <class T>
ExactImage<T> exact_image(Cpu& be, const CsrView<T>& A, const std::optional<Asymmetry>& of_adjoint = {});

}  // namespace ilux
