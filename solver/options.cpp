#include "ilux/solver/options.hpp"

#include <fmt/core.h>

namespace ilux {

SolverOptions resolved(SolverOptions options)
{
    if (options.precond.mlilu.memory_limit.value == 0) options.precond.mlilu.memory_limit = options.memory_limit;
    if (options.lu.memory_limit.value == 0) options.lu.memory_limit = options.memory_limit;
    return options;
}

std::string limit_name(std::string_view part, Bytes limit, Bytes of_all)
{
    return limit.value > 0 && limit.value == of_all.value ? "memory_limit" : fmt::format("{}.memory_limit", part);
}

}  // namespace ilux
