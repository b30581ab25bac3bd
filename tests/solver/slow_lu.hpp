#pragma once
// A machine whose LU is so slow that mode auto begins with an iteration.

#include "ilux/engine/machine/machine_rates.hpp"

namespace ilux::test {

/// While it stands.
class SlowLu {
public:
    /// @param iterations_too  all but ILU(0) is as slow
    explicit SlowLu(double times = 30, bool iterations_too = false) : before_(machine_rates())
    {
        Rates slow = before_;
        for (double* rate :
             {&slow.entry_flop, &slow.front_flop, &slow.entry_number, &slow.front_number, &slow.order_arc})
            *rate *= times;
        if (iterations_too)
            for (double* rate : {&slow.crout_entry, &slow.rounds_entry, &slow.iteration_entry}) *rate *= times;
        use_rates(slow);
    }
    ~SlowLu() { use_rates(before_); }
    SlowLu(const SlowLu&) = delete;
    SlowLu& operator=(const SlowLu&) = delete;

private:
    Rates before_;
};

}  // namespace ilux::test
