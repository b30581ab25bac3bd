#pragma once
// One object that solves: directly, by a preconditioned iteration, or by whichever the facts speak for.

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ilux/base/matrix/csr.hpp"
#include "ilux/engine/machine/forecast.hpp"
#include "ilux/solver/policy/solver_state.hpp"
#include "ilux/engine/report/batch_report.hpp"
#include "ilux/engine/report/solver_report.hpp"
#include "ilux/base/gpu/array.hpp"
#include "ilux/engine/direct_solver.hpp"
#include "ilux/engine/iterative_solver.hpp"

namespace ilux {

/// Where an iteration starts: as options.sequence.reuse_x has it, at 0, or at the x that is given.
enum class Guess { by_options, none, x };

/// analyse(A) → factor(values) → solve(b, x), and refactor(values) for every further system of the same pattern.
///
/// With options.mode (or method) auto the strategy is chosen by what LU and a multilevel ILU are expected to cost, and
/// left where it fails: a stagnated iteration gets a tighter preconditioner, then LU; an LU beyond its memory or time,
/// or a singular one, gives way to an iteration. In a series the former pivots or preconditioner are kept while they
/// serve, and the strategy may change by the seconds measured. Every decision is a sentence with its figures.
///
/// Which calls are allowed when, and what each leaves, also when it throws: SolverState.
///
/// One object serves one thread at a time; several objects do not disturb one another.
/// @tparam S  of A, b and x: double or std::complex<double>
template <Scalar S = double>
class LinearSolver {
public:
    /// @throws InvalidOption for options that contradict one another
    explicit LinearSolver(const SolverOptions& options = {});
    ~LinearSolver();
    LinearSolver(LinearSolver&&) noexcept;
    LinearSolver& operator=(LinearSolver&&) noexcept;

    /// Vectors that A takes to 0, in place of krylov.null_space. Starts anew: what was analysed before goes.
    /// @param columns  count·n, one vector after another; copied. factor() and refactor() throw InvalidInput, in words,
    /// unless A takes
    ///                 each of them to 0
    /// @throws InvalidOption where the options ask for an LU or mixed precision
    void set_null_space(std::span<const S> columns, Index count = 1);

    /// Decides the strategy. The values are looked at for a matching, and are those of factor() without any. Starts
    /// anew; what was analysed before goes when that is done.
    /// @param A  n×n with finite values. Its arrays are borrowed, not copied: row pointers and columns must stand until
    /// the next analyse() or the end of this object, values until others are given
    /// @param ahead  systems of this pattern that are to come, and right-hand sides of each; the more, the more LU pays
    /// @throws InvalidInput unless A is square and finite; DeviceError when a GPU is asked for and cannot be used
    /// Cost: O(nnz), and an analysis for LU where that may win.
    void analyse(const CsrView<S>& A, const Ahead& ahead = 1);
    /// Analyses a matrix that is given away.
    void analyse(CsrMatrix<S>&& A, const Ahead& ahead = 1);

    /// Factors the analysed values, or others. What fails gives way to what may do better, as long as there are time
    /// and memory.
    /// @param values  nnz, in the order of the analysed A, of the host or of a GPU; copied, here and below, as solve()
    /// measures x with them. Those of a GPU for an LU pass through the host, which chooses pivots by them; those for an
    /// iteration stay there until the host has to look at them: methods that need Aᴴ, mixed precision, an M that the
    /// host factors
    /// @throws InvalidInput for another number of them, or NaN or Inf, as every call that factors where
    /// precond.definite is asked for and A is not symmetric (complex: Hermitian) with a positive diagonal; OutOfMemory,
    /// DeviceError for arrays of a GPU, here and below
    FactorReport factor();
    FactorReport factor(Array<const S> values);

    /// New numbers for the next system: by the former pivots or preconditioner where they serve. As factor() the first
    /// time.
    FactorReport refactor(Array<const S> values);
    /// Refactors the values of a matrix. @throws InvalidInput, naming what differs, where its pattern is not the
    /// analysed one
    FactorReport refactor(const CsrView<S>& A);

    /// Solves A x = b, Aᵀ x = b or Aᴴ x = b for the last numbers. `converged` is said of a residual recomputed from A,
    /// b and x only. With the transpose or the adjoint the same factors serve; the first such call for new numbers
    /// makes a copy of A.
    /// @param guess  where an iteration starts; NaN or Inf in x counts as none
    /// @param b, x  n, both of the host or of one GPU; x is overwritten. Those of a GPU stay there where the solver
    /// works on that device: its x is measured there and kept out of the report. They pass through the host for a
    /// solver that works elsewhere, and where x is not good at once, and other factors are tried. The stream is not
    /// waited for where that can be avoided
    /// @throws InvalidInput before factor(), after an exception that broke off the last call for new numbers before it
    /// had factors, when lengths disagree, or when b is not finite
    SolverReport solve(Array<const S> b, Array<S> x, Transpose transpose = Transpose::no,
                       Guess guess = Guess::by_options);
    /// Solves for the columns of B and X, n × k, one after another in memory. options.time_limit holds for all of
    /// them together; after a column that was cancelled or late the others are not begun, and their x is as it was.
    /// @return a report for each, without x
    /// @throws InvalidInput as solve(), before anything is solved
    std::vector<SolverReport> solve_columns(Array<const S> B, Array<S> X, Transpose transpose = Transpose::no);
    /// Solves for `count` columns that begin ldb and ldx numbers apart, at least n.
    std::vector<SolverReport> solve_columns(std::size_t count, Array<const S> B, std::size_t ldb, Array<S> X,
                                            std::size_t ldx, Transpose transpose = Transpose::no);
    /// z ← M⁻¹ r, M⁻ᵀ r or M⁻ᴴ r by the factors at hand, for an iteration of the caller's: M is the preconditioner, or
    /// A where the strategy is LU, or an earlier A whose LU serves as preconditioner.
    /// @param r, z  n, both of the host or of one GPU; they do not overlap
    /// @throws InvalidInput where the last numbers have no factors, or when lengths disagree
    void precondition(Array<const S> r, Array<S> z, Transpose transpose = Transpose::no);
    /// refactor() and solve(), on a GPU one launch while LU's pivots hold.
    SolverReport refactor_and_solve(Array<const S> values, Array<const S> b, Array<S> x);

    /// Solves A_m x_m = b_m for m = 0 … members − 1, all of the analysed pattern: sweeps, Monte-Carlo runs. While LU's
    /// pivots of one factorization serve, many members are solved together: on a GPU by lanes of one launch (refactor
    /// method auto), on the host by threads, a member each. Every x is held to what refactor_and_solve() holds it to. A
    /// member whose pivots are stale, fail, or whose x is not good enough, is solved by refactor_and_solve(), as are
    /// all of them with an iteration and the first one where there are no factors; the decisions say how many and why.
    /// Memory of a batch counts against device_memory and memory_limit; where it has no room for all, it works in
    /// pieces. What there is of the last values stays, unless members were solved alone: then it is of the last of
    /// these. time_limit holds for members that are solved alone; others end at a StopToken between pieces.
    /// @param values  members·nnz, member after member, each in the order of the analysed A
    /// @param B, X    members·n; X is overwritten, and with options.sequence.reuse_x holds the guesses of iterations
    /// @throws InvalidInput before analyse(), when lengths disagree, or naming the member whose values or b are not
    /// finite;
    ///         then X is as it was
    /// Cost: on a GPU the programs of a batch once for its pivots, on the host a refactorization's plan for each
    /// thread.
    BatchReport solve_batch(Index members, std::span<const S> values, std::span<const S> B, std::span<S> X);

    /// Who hears of progress, and of every try as soon as it ended. What `after` throws breaks the call off.
    void listen(AttemptListener listener, std::function<void(const Attempt&)> after = {});
    /// The token is asked from the next call on, in analyses, factorizations and iterations. A call that it stops
    /// reports `cancelled`, or time_limit, and solve() hands out the best x so far. It does not count for later calls
    /// once another token is set.
    void stop_by(StopToken stop);

    /// The analysed pattern with the last values, where the caller has them.
    const CsrView<S>& matrix() const;
    SolverState       state() const;
    Device            device() const;  ///< of the strategy taken last
    /// What made the factors at hand, and their facts; of a failure, why there are none. @throws InvalidInput before
    /// factor()
    const Attempt& factored_by() const;
    /// What is there of the strategy taken last; null where there is none. Valid until the next call.
    const Lu<S>*             lu() const;
    const PrecondFactors<S>* preconditioner() const;

private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace ilux
