#include "ilux/engine/machine/options.hpp"

namespace ilux {

SolverOptions resolved(SolverOptions options)
{
    if (options.precond.mlilu.memory_limit.value == 0) options.precond.mlilu.memory_limit = options.memory_limit;
    if (options.lu.memory_limit.value == 0) options.lu.memory_limit = options.memory_limit;
    return options;
}

}  // namespace ilux
