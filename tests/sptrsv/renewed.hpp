#pragma once
// Systems whose values are renewed, made from ordinary ones.

#include <utility>
#include <vector>

#include "ilux/sptrsv/gpu/renewed_system.hpp"
#include "ilux/tests/sptrsv/systems.hpp"

namespace ilux::test {

/// The array, and the system that takes every number but `kept` of L from it, scattered.
struct Renewed {
    RenewedSystem       renewed;
    std::vector<double> values;
};

/// @param kept  entries of L that stay constants: one of so many; 0: none
inline Renewed renewed_from(const ForwardSystem<double>& system, std::uint64_t seed, Index kept = 0)
{
    const auto  place = random_permutation(static_cast<Index>(system.L.nnz() + std::ssize(system.inv_diag)), seed);
    Renewed     made{{system}, std::vector<double>(place.size())};
    std::size_t next = 0;
    const auto  take = [&](double& number, double value) {
        const auto p = static_cast<std::uint32_t>(place[next++]);
        made.values[p] = value;
        number = renewed(p);
    };
    Index count = 0;
    for (double& l : made.renewed.system.L.val())
        if (kept == 0 || count++ % kept != 0) take(l, l);
    for (double& inverse : made.renewed.system.inv_diag) take(inverse, 1 / inverse);
    return made;
}

}  // namespace ilux::test
