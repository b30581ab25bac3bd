#pragma once
// x of a direct solution, judged on the host.

#include <algorithm>
#include <span>
#include <vector>

#include "ilux/direct/lu/lu.hpp"
#include "ilux/engine/report/attempt.hpp"
#include "ilux/engine/standard.hpp"
#include "ilux/engine/matrix_or_adjoint.hpp"

namespace ilux {

inline constexpr Index most_lu_corrections = 5;
/// What ends corrections of an x by LU.
inline Standard standard_of_lu(const SolverOptions& options)
{
    return {.rowwise = lu_tolerance, .error = std::min(uncertain_from, options.krylov.etol)};
}
/// What refinement has done for x.
void note_refinement(const LuSolveReport& solved, Attempt& tried);

/// Measures x, corrects it, and says whether it is a success.
template <Scalar S = double>
class LuJudge {
public:
    /// @param n  order of the systems  @throws OutOfMemory
    LuJudge(const Cpu& cpu, const SolverOptions& options, Index n);

    /// Says what became of tried.x, which refinement has left.
    /// @param lu  with factors of A  @param solved  the refinement  @param tried  its `lu` has the factors' facts
    void judge(Lu<S>& lu, const MatrixOrAdjoint<S>& A, std::span<const S> b, double rtol, const LuSolveReport& solved,
               Attempt& tried);
    /// z ← A⁻¹ r or A⁻ᴴ r by the factors; on a GPU refined, as all solves are there.
    void substitute(Lu<S>& lu, std::span<const S> r, std::span<S> z, Transpose transpose);
    /// Takes as long as several solves.
    double condition(Lu<S>& lu, const CsrView<S>& A);

    std::size_t bytes() const { return workspace_.bytes(); }

private:
    void estimate_error(Lu<S>& lu, const MatrixOrAdjoint<S>& A, Attempt& tried);
    void improve(Lu<S>& lu, const MatrixOrAdjoint<S>& A, std::span<const S> b, Attempt& tried);

    Cpu            cpu_;
    SolverOptions  options_;
    LuWorkspace<S> workspace_;
    Residual<S>    residual_;        // of the x judged last
    std::vector<S> error_, better_;  // n each: its estimated error; a corrected x
    std::vector<S> known_;           // 4 n: of a known answer
};

}  // namespace ilux
