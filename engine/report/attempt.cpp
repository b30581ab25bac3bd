#include "ilux/engine/report/attempt.hpp"

#include <algorithm>
#include <limits>

#include "ilux/base/cpu.hpp"

namespace ilux {

void Attempt::forget_solution()
{
    constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
    report = {};
    report.relative_residual = 1;
    report.backward_error = unknown;
    accuracy = {};
    inaccurate = false;
    for (std::string* told : {&failure, &explanation, &remark, &warning}) told->clear();
    history.clear();
    x.set_to_zero();
}

bool Attempt::has_x() const { return solved() && x.is_finite(); }

}  // namespace ilux
