#include "ilux/engine/machine/options.hpp"

namespace ilux {

SolverOptions resolved(SolverOptions options)
{
    if (options.memory_limit.value == 0) return options;
    options.precond.mlilu.memory_limit = options.lu.memory_limit = options.memory_limit;
    return options;
}

}  // namespace ilux
