#pragma once
// A coarse space whose vectors are found: constants first, then what M and the space so far do not reduce.

#include <memory>
#include <string>

#include "ilux/precond/coarse/coarse_space.hpp"
#include "ilux/precond/coarse/two_level.hpp"

namespace ilux {

/// A coarse space, and how it came about.
template <class T>
struct FoundSpace {
    std::shared_ptr<const CoarseLevel<T>> level;  ///< null: there is none
    NearNull<T>                           vectors;
    Index                                 given = 0, found = 0;  ///< of the vectors
    Index                                 steps = 0;             ///< x ← x − M₂⁻¹ A x that it took
    double                                left = 1;  ///< ‖x‖ after such a step over that before, where that settled
    double                                seconds = 0;

    std::string text(Offset nnz) const;  ///< "2106 unknowns on 2 levels, ..."
};

/// The space of the vectors given, or of a constant for each kind of unknowns; and as long as the error of a random x
/// is reduced too slowly by x ← x − M₂⁻¹ A x, x joins the vectors, and the space is made anew.
/// @param M  of A  @param options  with near_null in options.M  @param symmetric  as TwoLevel has it
/// @throws as MlIlu::build(); InvalidInput as test_vectors()
template <class T>
FoundSpace<T> found_space(Cpu& be, const CsrView<T>& A, Preconditioner<Cpu, T>& M, const CoarseOptions& options,
                          bool symmetric, const StopToken& stop);

}  // namespace ilux
