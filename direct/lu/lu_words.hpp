#pragma once
// What Lu says of pivots, in figures and words.

#include <string>

#include "ilux/direct/lu/lu.hpp"

namespace ilux::detail {

/// Bound of max_k max(|L||U|)(:,k) / max|B(:,k)|, up to the number of terms: |l_rk u_kk| and |l_ri u_ik| are at most
/// max|l| max|U(:,k)|. Refinement repairs growth up to about 1 / ε.
double growth(const PivotMonitor& monitor);

/// @param row, column  of the caller, counted from 0; −1: no row
void blame(LuReport& report, Index row, Index column, const std::string& what);

/// What was found before, and what came of new pivots.
std::string joined(const std::string& before, const std::string& after);

/// A failure is also told in words, the shortest where there is no memory for others.
void out_of_memory(LuReport& report, const char* why);

void stopped(LuReport& report, StopReason why, Index columns, Index n);

}  // namespace ilux::detail
