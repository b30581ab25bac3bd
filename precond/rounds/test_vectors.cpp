#include "ilux/precond/rounds/test_vectors.hpp"

namespace ilux {

std::vector<double> picked_rows(std::span<const double> t, Index rows, std::span<const Index> which)
{
    const std::size_t   count = rows > 0 ? t.size() / static_cast<std::size_t>(rows) : 1;
    std::vector<double> picked;
    picked.reserve(count * which.size());
    for (Index i : which)
        for (std::size_t c = 0; c < count; ++c) picked.push_back(t[static_cast<std::size_t>(i) * count + c]);
    return picked;
}

}  // namespace ilux
