#pragma once
// A coarse space whose vectors are found: constants first, then what M and the space so far do not reduce.

#include <memory>
#include <string>

#include "ilux/precond/coarse/coarse_space.hpp"
#include "ilux/precond/coarse/two_level.hpp"

namespace ilux {

/// Vectors of a coarse space.
template <Backend B, Scalar T>
struct FoundVectors {
    NearNull<B, T> all = {};
    Index          given = 0, found = 0;  ///< of them
};

/// A coarse space, and how it came about.
template <Backend B, Scalar T>
struct FoundSpace {
    std::shared_ptr<const CoarseLevel<B, T>> level = {};  ///< null: there is none
    FoundVectors<B, T>                       vectors = {};
    bool                                     constants = false;   ///< the first vectors, not the caller's
    bool                                     smoothed = false;    ///< the first vectors, by M
    bool                                     kept = false;        ///< the vectors of an earlier matrix
    bool                                     indefinite = false;  ///< A is, which was said to be positive
    Index                                    steps = 0;           ///< steps that the search took
    double        left = 1;     ///< what M₂ leaves of the last error that was looked at, in one step
    double        seconds = 0;  ///< in all
    CoarseSeconds parts = {};

    std::string text(Offset nnz) const;  ///< "2106 unknowns on 2 levels, ..."
};

/// The system that a coarse space is sought for.
template <Backend B, Scalar T>
struct CoarseSystem {
    const CsrView<T>&                     host_A;  ///< on the host: what kinds of unknowns there are
    const SparseView<B, T>&               A;
    const LinearOperator<B, T>&           product;      ///< with A
    std::unique_ptr<Preconditioner<B, T>> M;            ///< of A
    FoundVectors<B, T>                    former = {};  ///< of an earlier matrix of this pattern
};

/// The space of the vectors given, or of a constant for each kind of unknowns, or of former vectors; and as long as M₂
/// is too slow at an error, which left_by_cg() or left_by_steps() finds, that joins the vectors, and the space is made
/// anew.
/// @param options  with near_null in options.M
/// @throws as MlIlu::build(); InvalidInput as given_near_null()
template <Backend B, Scalar T>
FoundSpace<B, T> found_space(const CoarsePlace<B>& at, CoarseSystem<B, T> system, const CoarseOptions& options);

}  // namespace ilux
