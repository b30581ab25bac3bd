#pragma once
// The same for pieces of device memory and of page-locked memory.

#include "ilux/base/gpu/gpu.hpp"
#include "ilux/tests/robustness/lack_of_memory.hpp"

namespace ilux::test {

/// Every piece that `operation` asks for is refused: alone, and with all that follow. Afterwards the device holds as
/// many bytes of ilux's buffers as before. @param then  either, where there is a way around. @return refusals of single
/// pieces that were told
inline long expect_survives_lack_of_device_memory(const Operation& operation, Then then = Then::told)
{
    constexpr long      all_that_follow = 1L << 40, more_than_any = 20'000;
    std::vector<double> warm(operation.answers);
    EXPECT_EQ(run_caught(operation, warm), Ended::answered);  // what is made once for all stays
    const auto refusing = [&](long pieces) {
        const auto fail = [pieces](long k, const std::function<void()>& run) {
            detail::fail_device_allocations(k, pieces);
            run();
            return detail::fail_device_allocations(0, 0) > 0;
        };
        return Shortage{fail, [] { return static_cast<long>(device_use().bytes); }, more_than_any, then};
    };
    const long told = expect_clean_ends(operation, refusing(1), more_than_any);
    expect_clean_ends(operation, refusing(all_that_follow), more_than_any);
    return told;
}

}  // namespace ilux::test
