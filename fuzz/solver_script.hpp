#pragma once
// A sequence of calls of LinearSolver, decoded from bytes before the first of them, so that it can be played again.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ilux/base/matrix/csr.hpp"
#include "ilux/engine/machine/options.hpp"

namespace ilux::fuzz {

using Vector = std::vector<double>;

struct ScriptCall {
    enum class Kind {
        analyse,
        factor,
        factor_values,
        refactor_values,
        refactor_matrix,
        solve,
        refactor_and_solve,
        listen,
        move,          ///< into another object, and back
        analyse_own,   ///< the matrix that the solver holds
        refactor_own,  ///< the same
        kMaxValue = refactor_own
    } kind = Kind::analyse;
    CsrMatrix<double> A;            ///< of analyse and refactor_matrix
    double            systems = 1;  ///< of analyse
    Vector            values, b;
    Vector            x;  ///< the guess
    /// Of listen: the question at which a token says to stop, and the try at which the listener throws, counted from 0;
    /// -1: never.
    int questions = -1, fault_after = -1;
};

struct SolverScript {
    SolverOptions           options;
    bool                    twice = false;  ///< to be played again, which takes the time of others
    std::vector<ScriptCall> calls;
};

/// Sensible or not: sizes may be wrong, values NaN. Orders are 0 to 40; for mode auto also 75, with so many
/// entries that it has to choose.
SolverScript solver_script(const std::uint8_t* data, std::size_t size);

}  // namespace ilux::fuzz
