#include "ilux/base/cpu.hpp"

#include <omp.h>

#include <algorithm>
#include <cstring>

#include "ilux/base/granted_threads.hpp"

namespace ilux {

Cpu::Cpu(int threads) : threads_(threads > 0 ? threads : omp_get_max_threads()) {}

int Cpu::team(bool worth) const { return worth && threads_ > 1 ? detail::granted_threads(threads_) : 1; }

namespace detail {

void copy_in_parallel(void* to, const void* from, std::size_t bytes)
{
    constexpr std::size_t piece = std::size_t{128} << 10, worth = 2 * piece;
    const std::size_t     pieces = (bytes + piece - 1) / piece;
    const Cpu             be(std::min(8, omp_get_max_threads()));
#pragma omp parallel for schedule(static) num_threads(be.team(bytes > worth))
    for (std::size_t p = 0; p < pieces; ++p)
        std::memcpy(static_cast<char*>(to) + p * piece, static_cast<const char*>(from) + p * piece,
                    std::min(piece, bytes - p * piece));
}

}  // namespace detail
}  // namespace ilux
