#include "ilux/precond/coarse_steps/first_vectors.hpp"

#include "ilux/base/instances.hpp"
#include "ilux/precond/rounds/row_blocks.hpp"

namespace ilux {

template <Scalar T>
NearNull<Cpu, T> constants_of(Cpu& be, const NodeNumbering& nodes)
{
    const auto       n = static_cast<std::size_t>(nodes.n);
    NearNull<Cpu, T> constants{.values = std::vector<T>(n * nodes.size, T(0)), .count = nodes.size};
    for_row_blocks(be, nodes.n, [&](Index, Index begin, Index end, int) {
        for (Index v = begin; v < end; ++v) constants.values[nodes.kind(v) * n + v] = 1;
    });
    return constants;
}

template <Scalar T>
std::vector<T> random_numbers(Cpu& be, Index n, Index which)
{
    std::vector<T> x(n);
    for_row_blocks(be, n, [&](Index, Index begin, Index end, int) {
        for (Index i = begin; i < end; ++i) x[i] = random_number(i, which);
    });
    return x;
}

#define ILUX_INSTANTIATE(T)                                             \
    template NearNull<Cpu, T> constants_of(Cpu&, const NodeNumbering&); \
    template std::vector<T>   random_numbers(Cpu&, Index, Index);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
