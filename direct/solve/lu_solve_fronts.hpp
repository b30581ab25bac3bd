#pragma once
// lu_solve of factors stored by fronts.

#include <span>

#include "ilux/direct/solve/lu_solve.hpp"

namespace ilux::detail {

/// Solves as lu_solve does, whose requirements hold, ws.rhs() right-hand sides at a time.
template <class S>
void lu_solve_fronts(Cpu& be, const LuFactors<S>& factors, std::span<const NotDeduced<S>> b, std::span<NotDeduced<S>> x,
                     LuWorkspace<NotDeduced<S>>& ws, Transpose transpose);

}  // namespace ilux::detail
