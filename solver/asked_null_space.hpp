#pragma once
// The null space that LinearSolver was asked to keep clear of, and what it does to b and x. Of solver/ alone.

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ilux/base/matrix/csr.hpp"
#include "ilux/direct/solve/lu_solve.hpp"
#include "ilux/engine/report/solver_report.hpp"
#include "ilux/engine/system_vectors.hpp"
#include "ilux/krylov/null_space.hpp"

namespace ilux {

/// The null space that krylov.null_space names, or vectors given in its place; checked against every A.
template <Scalar S = double>
class AskedNullSpace {
public:
    /// @param option  none, constant, or a file of vectors
    explicit AskedNullSpace(std::string option) : option_(std::move(option)) {}
    /// @param columns  count vectors of equal length, one after another
    void give(std::span<const S> columns, Index count);

    bool asked() const { return count_ > 0 || option_ != "none"; }
    /// For the numbers of A. The file is read once. @return what was found, or "" where that was told before
    /// @throws InvalidInput where a file cannot be read, or A does not take all of it to 0
    std::string renew(const CsrView<S>& A);
    /// Null before renew(). Another object only where the vectors, or what Aᴴ does to them, have changed.
    const std::shared_ptr<const NullSpace<S>>& space() const { return space_; }

    /// The shortest x, for what b has beside the null space: on the host.
    /// @param solve  solves for one b  @throws InvalidInput for the adjoint, unless it has this null space, too
    SolverReport solve_clear_of(SystemVectors<S>& given, Transpose transpose,
                                const std::function<SolverReport(SystemVectors<S>&)>& solve) const;

    /// b ← b − N Nᴴ b, where Aᴴ N = 0. @return what was taken off, as a share of ‖b‖₂; 0 where that was rounding
    double project_b(std::span<S> b) const;
    void   project_x(std::span<S> x) const;

private:
    std::string told(const NullSpace<S>& found) const;

    std::string                         option_;
    std::vector<S>                      columns_;  // given, or of the file
    Index                               count_ = 0;
    std::shared_ptr<const NullSpace<S>> space_;
};

}  // namespace ilux
