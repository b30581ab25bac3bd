#pragma once
// A machine whose LU is so slow that mode auto begins with an iteration.

#include "ilux/solver/machine/machine_rates.hpp"

namespace ilux::test {

/// While it stands.
class SlowLu {
public:
    SlowLu() : before_(machine_rates())
    {
        constexpr double times = 30;
        Rates            slow = before_;
        for (double* rate :
             {&slow.entry_flop, &slow.front_flop, &slow.entry_number, &slow.front_number, &slow.order_arc})
            *rate *= times;
        use_rates(slow);
    }
    ~SlowLu() { use_rates(before_); }
    SlowLu(const SlowLu&) = delete;
    SlowLu& operator=(const SlowLu&) = delete;

private:
    Rates before_;
};

}  // namespace ilux::test
