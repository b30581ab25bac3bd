#pragma once
// The rates of the machine at hand.

#include <string>

#include "ilux/engine/machine/rates.hpp"

namespace ilux {

/// Those of a calibration of this machine, where there is one; else the built-in ones. Read once by a process.
const Rates& machine_rates();
/// These from now on, in place of what was read. Not while another thread analyses a system.
void use_rates(const Rates& rates);

/// Where a calibration is kept: ilux/rates in $XDG_CACHE_HOME, or in .cache of the user's folder; "" where neither is
/// known.
std::string rates_file();
/// Lines of a name and a value, the first one naming the processor. @throws InvalidInput where it cannot be written
void save_rates(const Rates& rates, const std::string& file, const std::string& processor);
/// What save_rates() has written. The built-in rates where there is no such file, or it is of another processor, or
/// damaged; `origin` says which.
Rates load_rates(const std::string& file, const std::string& processor);

}  // namespace ilux
