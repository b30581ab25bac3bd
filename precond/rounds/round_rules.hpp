#pragma once
// Rules of the rounds that threads of a CPU and of a GPU follow alike.

#include <cstdint>

#include "ilux/base/host_device.hpp"
#include "ilux/base/types.hpp"

namespace ilux::rounds {

constexpr double dominance_slack = 1e-8;  // rounding of a row that is dominant with equality, as the Laplacian's
constexpr double long_row = 4;            // times the mean, and
constexpr double long_row_least = 8;      // so many more: left for later
constexpr double tie_over_detours = 4;    // so many times what its detours carry a tie between pivots may be
constexpr double least_diagonal = 0.1;    // share of the diagonal that a compensation leaves at least
constexpr double few_waiting = 0.01;      // of the rows are left for the next round: they take a sixth of the sweeps

/// A row that waits holds its priority, any other one of these.
using Status = unsigned long long;
constexpr Status chosen = 0, tentative = 1, rejected = 2, excluded = ~Status{0};

ILUX_HOST_DEVICE inline bool waits(Status status) { return status > rejected && status != excluded; }

// Couplings, weighted by t, are conductances between unknowns; what a diagonal has beyond the sum of its row is one to
// the ground. Beside a tie of two unknowns go detours: one by the ground, and one by each third unknown that both are
// tied to. A pivot may be tied to another one of its round, which cuts the tie, where the detours carry a fourth of it:
// then no part of the matrix floats for want of that tie.

/// What two conductances in series carry. @param a, b  of one unit
ILUX_HOST_DEVICE inline double in_series(double a, double b) { return a > 0 && b > 0 ? a * (b / (a + b)) : 0; }

/// A bijection of 32 bits, so that no two rows have the same priority.
ILUX_HOST_DEVICE inline std::uint32_t shuffled(std::uint32_t x)
{
    x = (x ^ (x >> 16)) * 0x7feb352dU;
    x = (x ^ (x >> 15)) * 0x846ca68bU;
    return x ^ (x >> 16);
}

/// Rows of low degree come first, |row| · |column|, then by a fixed shuffle of their numbers.
ILUX_HOST_DEVICE inline Status priority(Offset row_degree, Offset col_degree, Index number)
{
    const Offset product = row_degree * col_degree;
    const Offset most = 0xfffffffe;
    const Offset first = product < 1 ? 1 : product > most ? most : product;
    return static_cast<Status>(first) << 32 | shuffled(static_cast<std::uint32_t>(number));
}

}  // namespace ilux::rounds
