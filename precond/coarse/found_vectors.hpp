#pragma once
// A coarse space whose vectors are found: constants first, then what M and the space so far do not reduce.

#include <memory>
#include <string>

#include "ilux/precond/coarse/coarse_space.hpp"
#include "ilux/precond/coarse/two_level.hpp"

namespace ilux {

/// A coarse space, and how it came about.
template <Backend B, Scalar T>
struct FoundSpace {
    std::shared_ptr<const CoarseLevel<B, T>> level = {};  ///< null: there is none
    NearNull<B, T>                           vectors = {};
    Index                                    given = 0, found = 0;  ///< of the vectors
    bool                                     smoothed = false;      ///< those given, by M
    Index                                    steps = 0;             ///< x ← x − M₂⁻¹ A x that it took
    double        left = 1;     ///< ‖x‖ after such a step over that before, where that settled
    double        seconds = 0;  ///< in all
    CoarseSeconds parts = {};

    std::string text(Offset nnz) const;  ///< "2106 unknowns on 2 levels, ..."
};

/// The system that a coarse space is sought for.
template <Backend B, Scalar T>
struct CoarseSystem {
    const CsrView<T>&                     host_A;  ///< on the host: what kinds of unknowns there are
    const SparseView<B, T>&               A;
    const LinearOperator<B, T>&           product;  ///< with A
    std::unique_ptr<Preconditioner<B, T>> M;        ///< of A
};

/// The space of the vectors given, or of a constant for each kind of unknowns; and as long as the error of a random x
/// is reduced too slowly by x ← x − M₂⁻¹ A x, x joins the vectors, and the space is made anew.
/// @param options  with near_null in options.M
/// @throws as MlIlu::build(); InvalidInput as test_vectors()
template <Backend B, Scalar T>
FoundSpace<B, T> found_space(const CoarsePlace<B>& at, CoarseSystem<B, T> system, const CoarseOptions& options);

}  // namespace ilux
