#include <atomic>
#include <charconv>
#include <cstdlib>
#include <cstring>

#include "ilux/direct/klu/ilux_klu_calls.hpp"

namespace ilux::klu {
namespace {

/// What an environment variable says at the first look, until a program says something else.
int from_environment(const char* name, int otherwise)
{
    const char* const text = std::getenv(name);
    int               number = otherwise;
    if (text == nullptr) return number;
    const char* const end = text + std::strlen(text);
    const auto [stop, failure] = std::from_chars(text, end, number);
    return failure == std::errc{} && stop == end ? number : otherwise;
}

std::atomic<int>& threads_setting()
{
    static std::atomic<int> threads = from_environment("ILUX_KLU_THREADS", 1);
    return threads;
}

std::atomic<int>& repivot_setting()
{
    static std::atomic<int> repivot = from_environment("ILUX_KLU_REPIVOT", 0);
    return repivot;
}

}  // namespace

Cpu host()
{
    constexpr int beyond_sense = 4096;
    return Cpu(std::clamp(threads_setting().load(std::memory_order_relaxed), 0, beyond_sense));
}

template <class Int>
Int repivots_of(const Numeric<Int>* numeric)
{
    if (numeric == nullptr || !is_ours(*numeric)) return 0;
    return static_cast<const AnyFactorization<Int>&>(*numeric).repivots;
}

bool may_repivot() { return repivot_setting().load(std::memory_order_relaxed) != 0; }

}  // namespace ilux::klu

using namespace ilux::klu;

int ilux_klu_set_threads(int threads) { return threads_setting().exchange(threads); }
int ilux_klu_set_repivot(int repivot) { return repivot_setting().exchange(repivot); }

int     ilux_klu_repivots(const ilux_klu_numeric* numeric) { return repivots_of<int>(numeric); }
int64_t ilux_klu_l_repivots(const ilux_klu_l_numeric* numeric) { return repivots_of<std::int64_t>(numeric); }
