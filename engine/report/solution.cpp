#include "ilux/engine/report/solution.hpp"

#include <algorithm>

#include "ilux/base/cpu.hpp"

namespace ilux {

std::size_t Solution::size() const
{
    return std::visit([](const auto& x) { return x.values.size(); }, x_);
}

bool Solution::is_finite() const
{
    return std::visit(
        []<class S>(const Values<S>& x) {
            Cpu serial(1);
            return ilux::is_finite<S>(serial, x.values);
        },
        x_);
}

void Solution::set_to_zero()
{
    std::visit([]<class S>(Values<S>& x) { std::ranges::fill(x.values, S(0)); }, x_);
}

}  // namespace ilux
