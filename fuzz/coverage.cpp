// What code compiled by GCC's -fsanitize-coverage=trace-pc calls at each edge, as counters of libFuzzer, whose own
// trace_pc does nothing. In programs without libFuzzer the counts are not read.

#include <array>
#include <cstddef>
#include <cstdint>

extern "C" {
[[gnu::weak]] void __sanitizer_cov_8bit_counters_init(std::uint8_t* begin, std::uint8_t* end);
[[gnu::weak]] void __sanitizer_cov_pcs_init(const std::uintptr_t* begin, const std::uintptr_t* end);
void               __sanitizer_cov_trace_pc();
void               __sanitizer_cov_trace_cmpf(float a, float b);
void               __sanitizer_cov_trace_cmpd(double a, double b);
}

namespace {

constexpr int bits = 16;  // places that share a counter are told apart no more; a target passes some 10,000

std::array<std::uint8_t, 1 << bits>                  counters;
std::array<std::array<std::uintptr_t, 2>, 1 << bits> places;  // libFuzzer wants an address and flags for each counter

struct Registration {
    Registration()
    {
        if (__sanitizer_cov_8bit_counters_init == nullptr) return;
        for (std::size_t k = 0; k < places.size(); ++k) places[k] = {k + 1, 0};
        __sanitizer_cov_8bit_counters_init(counters.data(), counters.data() + counters.size());
        __sanitizer_cov_pcs_init(places.front().data(), places.front().data() + 2 * places.size());
    }
};
const Registration registration;

}  // namespace

void __sanitizer_cov_trace_pc()
{
    const auto place = reinterpret_cast<std::uintptr_t>(__builtin_return_address(0));
    ++counters[static_cast<std::uint64_t>(place) * 0x9E3779B97F4A7C15U >> (64 - bits)];
}

// libFuzzer learns from comparisons of integers alone.
void __sanitizer_cov_trace_cmpf(float, float) {}
void __sanitizer_cov_trace_cmpd(double, double) {}
