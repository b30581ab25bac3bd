#pragma once
// What either strategy is expected to cost before it is tried.

#include "ilux/base/matrix/csr.hpp"
#include "ilux/direct/analysis/fill_estimate.hpp"
#include "ilux/direct/analysis/lu_symbolic.hpp"
#include "ilux/engine/machine/rates.hpp"

namespace ilux {

/// How much is to come with one pattern.
struct Ahead {
    Ahead(double of_systems, double of_columns = 1) : systems(of_systems), columns(of_columns) {}

    double systems;
    double columns;  ///< right-hand sides of each
};

/// Seconds of one strategy.
struct Forecast {
    double analyse = 0, factor = 0;  ///< of the first system; factor: of a preconditioner, too
    double renew = 0;                ///< new numbers for another one
    double solve = 0;                ///< a right-hand side

    double of(const Ahead& ahead) const
    {
        return analyse + factor + (ahead.systems - 1) * renew + ahead.systems * ahead.columns * solve;
    }
    double each() const { return renew + solve; }  ///< of one among many
};

/// Where work is done.
struct Place {
    int  threads = 1;
    bool gpu = false;
};

/// What an LU's seconds depend on.
struct LuWork {
    double entries = 0;         ///< of A
    double arcs = 0;            ///< of its compressed graph
    double nnz = 0, flops = 0;  ///< of L + U
    bool   complex = false;
    bool   matched = false;        ///< the diagonal was chosen by values
    double analysis_seconds = -1;  ///< as measured; below 0: it is still to be made
};
LuWork work_of(const LuSymbolic& symbolic, bool complex);
LuWork work_of(const FillEstimate& estimate, double entries, bool complex);

/// Whether numbers are likely to be computed by fronts.
bool fronts_are_likely(const LuWork& work);
/// Seconds of an LU, on a GPU where there is one and fronts are faster there.
Forecast forecast_direct(const LuWork& work, const Place& place, const Rates& rates);
/// Seconds of factors by entries, on one thread, pivots chosen among all rows.
double seconds_by_entries(const LuWork& work, const Rates& rates);
/// Whether first factors by fronts had better be made on a GPU that is not started yet.
bool gpu_pays_for_fronts(const LuWork& work, int threads, const Rates& rates);

/// What an iteration's seconds, and its chances, depend on.
struct IterationFacts {
    double entries = 0;         ///< of A, n counted with them
    bool   rounds = false;      ///< the host makes M in rounds; else by Crout's sweep on one thread
    bool   coarse = false;      ///< in rounds, with a coarse space beside it
    bool   dominant = false;    ///< the host would make M in rounds without a coarse space, too
    bool   gpu_rounds = false;  ///< a GPU makes M in rounds, where there is one
    double heavy = 1;           ///< share of the rows with |a_ii| ≥ 0.3 Σ_j≠i |a_ij|
    bool   positive = true;     ///< no diagonal entry is 0 or has another sign than the others
    double fill = 4;            ///< of a preconditioner by Crout's sweep; 4 is usual
    bool   hopeless = false;    ///< that of a part of A is nearly singular
    double coupling = 1;        ///< max_i Σ_j≠i |a_ij| / |a_ii|
    bool   jacobi = false;      ///< the preconditioner is the diagonal
    bool   complex = false;
    double rows = 0;
    double radius = 0;         ///< steps from a row near the middle of A's graph to the others; 0: not known
    bool   hermitian = false;  ///< and the diagonal positive, so that CG serves; asked only where that decides
};
Forecast forecast_iterative(const IterationFacts& facts, const Place& place, const Rates& rates);
/// Steps with the diagonal as preconditioner. For a coupling below 1 the condition is at most (1 + coupling) / (1 -
/// coupling); CG for a coupling of at most 1 takes about four times as many steps as a wave does from the middle of A's
/// graph to its end. Infinite where neither is known.
double steps_by_the_diagonal(const IterationFacts& facts);
/// Seconds of ILU(0) on the host, and of so many steps with it.
double seconds_of_ilu0(const IterationFacts& facts, double steps, const Place& place, const Rates& rates);
/// Seconds of a step over so many entries of A and M.
double seconds_of_step(double numbers, const Place& place, const Rates& rates);
/// Entries of A from which on an iteration gains by a GPU that is yet to be started: below, so many threads are done by
/// then.
Offset least_nnz_for_gpu(int threads, const Rates& rates);
/// Odds that an iteration does not converge: means over real systems and large ones, of which docs/design/solver.md
/// tells.
double odds_of_failure(const IterationFacts& facts);

/// All that a choice depends on beside the rates.
struct ChoiceFacts {
    LuWork         lu;
    IterationFacts iteration;
    Place          place;
    Ahead          ahead = 1;
    bool           lu_estimated = false;  ///< no order was made yet
};

/// What either strategy is expected to take, and which is taken.
struct Expected {
    Forecast lu, iterative;
    double   odds = 0;                   ///< that the iteration fails, and LU follows
    double   direct = 0, iteration = 0;  ///< seconds of all that is to come; iteration: with the odds
    bool     take_lu = true;
};
/// A pure function: LU is taken where it is expected to take no longer than the iteration plus, times the odds that
/// this fails, a second such time and the LU that follows.
Expected expect(const ChoiceFacts& facts, const Rates& rates);

}  // namespace ilux
